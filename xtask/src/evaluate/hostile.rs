//! `cargo xtask evaluate hostile`: repositories that were made to break who reads them, or real ones, for every command and format, within
//! bounds of time and memory.
//!
//! Knows what no run may do. Does not know what any of these repositories is about.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use fixtures::hostile::multiplying::{self, SHAPES};
use fixtures::hostile::{BUILDERS, build};

use super::trees;
use crate::product;
use crate::table::Table;

const RUN_SECONDS_MAX: u64 = 10;
const MEMORY_KIB_MAX: u64 = 1024 * 1024;
/// What is in the file outside: no output may have it.
const OUTSIDE: &str = "only-the-outside-has-this";

/// Every command that reads a repository of a stranger, in every format.
const CALLS: [&[&str]; 29] = [
    &["check", "--pedantic", "--blind-spots"],
    &["check", "--pedantic", "--verbose", "--each"],
    &["check", "--pedantic", "--format", "json"],
    &["check", "--pedantic", "--format", "sarif"],
    &["check", "--pedantic", "--format", "github"],
    &["check", "--pedantic", "--format", "markdown"],
    &["check", "--format", "svg"],
    &["fix", "--unsafe", "--min-severity", "info"],
    &["fix", "--unsafe", "--min-severity", "info", "--format", "json"],
    &["graph"],
    &["graph", "--format", "json"],
    &["impact", "--critical"],
    &["impact", "--critical", "--format", "json"],
    &["report"],
    &["report", "--format", "json"],
    &["plan"],
    &["plan", "--format", "json"],
    &["plan", "--format", "mermaid"],
    &["simulate", "--seeds", "1"],
    &["simulate", "--seeds", "1", "--format", "json"],
    &["init", "--print"],
    &["up", "--simulate", "--yes", "--speed", "0", "--fresh", "--state", "../state"],
    &["up", "--simulate", "--yes", "--speed", "0", "--fresh", "--state", "../state", "--format", "json"],
    &["log", "--state", "../state"],
    &["seal", "verify"],
    &["seal", "verify", "--format", "json"],
    &["seal", "verify", "--format", "sarif"],
    &["seal", "verify", "--format", "github"],
    &["seal", "verify", "--format", "markdown"],
];

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Repositories of each kind
    #[arg(long, value_name = "N", default_value_t = 25)]
    seeds: u64,
    /// These repositories instead of made ones
    #[arg(long, value_name = "DIR", num_args = 1.., conflicts_with_all = ["only", "size"])]
    trees: Vec<PathBuf>,
    /// Kinds [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    only: Vec<String>,
    /// How large those are whose work multiplies
    #[arg(long, value_enum, default_value_t = Size::Large)]
    size: Size,
    /// The program to run [default: the release build, made first]
    #[arg(long, value_name = "PATH")]
    bin: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Size {
    Small,
    Large,
}

/// The worst of many runs, and what was wrong.
#[derive(Default)]
struct Worst {
    runs: usize,
    wall: Duration,
    memory_kib: u64,
    faults: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = product::binary(options.bin.as_deref())?;
    let mut table = Table::new(["kind", "repositories", "runs", "slowest ms", "memory MiB", "faults"]);
    let mut faults = Vec::new();
    let is_asked_for = |name: &str| options.only.is_empty() || options.only.iter().any(|one| one == name);
    let mut add = |name: &str, repositories: u64, worst: Worst| {
        table.row([
            name.to_owned(),
            repositories.to_string(),
            worst.runs.to_string(),
            worst.wall.as_millis().to_string(),
            (worst.memory_kib / 1024).to_string(),
            worst.faults.len().to_string(),
        ]);
        faults.extend(worst.faults);
    };
    for tree in &options.trees {
        add(&tree.file_name().unwrap_or_default().to_string_lossy(), 1, one_tree(tree, &binary)?);
    }
    let is_made = |name: &str| options.trees.is_empty() && is_asked_for(name);
    for (name, _) in BUILDERS.iter().filter(|(name, _)| is_made(name)) {
        add(name, options.seeds, one_kind(name, options.seeds, &binary)?);
    }
    for shape in SHAPES.iter().filter(|shape| is_made(shape.name)) {
        let size = if options.size == Size::Small { shape.small } else { shape.large };
        add(shape.name, 1, one_shape(shape.name, size, &binary)?);
    }
    print!("{}", table.render());
    for fault in &faults {
        println!("{fault}");
    }
    ensure!(faults.is_empty(), "{} faults", faults.len());
    Ok(())
}

/// A repository of small files whose work multiplies.
fn one_shape(name: &str, size: usize, binary: &Path) -> Result<Worst> {
    let mut worst = Worst::default();
    let scratch = tempfile::tempdir()?;
    let tree = scratch.path().join("tree");
    multiplying::build(name, size, &tree).with_context(|| format!("cannot build {name} {size}"))?;
    every_call(&format!("{name} {size}"), binary, &tree, &mut worst)?;
    Ok(worst)
}

/// A copy of somebody's repository.
fn one_tree(original: &Path, binary: &Path) -> Result<Worst> {
    let mut worst = Worst::default();
    let scratch = tempfile::tempdir()?;
    let tree = scratch.path().join("tree");
    trees::copy(original, &tree)?;
    every_call(&original.display().to_string(), binary, &tree, &mut worst)?;
    Ok(worst)
}

fn every_call(what: &str, binary: &Path, tree: &Path, worst: &mut Worst) -> Result<()> {
    let before = files(tree)?;
    for words in CALLS {
        let place = format!("{what}: coldstart {}", words.join(" "));
        one_run(binary, words, tree, &place, worst)?;
    }
    if files(tree)? != before {
        worst.faults.push(format!("{what}: a file of the repository was made, removed or changed"));
    }
    Ok(())
}

/// Every file of a repository, with what tells that it was changed. Links are not followed.
fn files(tree: &Path) -> Result<BTreeMap<PathBuf, (u64, SystemTime)>> {
    let mut found = BTreeMap::new();
    let mut work = vec![tree.to_path_buf()];
    while let Some(directory) = work.pop() {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                work.push(entry.path());
            }
            found.insert(entry.path(), (metadata.len(), metadata.modified()?));
        }
    }
    Ok(found)
}

fn one_kind(name: &str, seeds: u64, binary: &Path) -> Result<Worst> {
    let mut worst = Worst::default();
    for seed in 0..seeds {
        let scratch = tempfile::tempdir()?;
        let (tree, outside) = (scratch.path().join("tree"), scratch.path().join("away/outside.yaml"));
        fs::create_dir_all(scratch.path().join("away"))?;
        fs::write(&outside, format!("{OUTSIDE}: [\n"))?;
        build(name, seed, &tree, &outside).with_context(|| format!("cannot build {name} {seed}"))?;
        every_call(&format!("{name} {seed}"), binary, &tree, &mut worst)?;
        ensure!(
            fs::read_to_string(&outside)? == format!("{OUTSIDE}: [\n"),
            "{name} {seed}: the file outside was written"
        );
    }
    Ok(worst)
}

fn one_run(binary: &Path, words: &[&str], tree: &Path, place: &str, worst: &mut Worst) -> Result<()> {
    let printed = tree.with_extension("out");
    let complained = tree.with_extension("err");
    let mut command = Command::new(binary);
    command.args(words).current_dir(tree).env("HOME", tree).stdin(Stdio::null());
    command.stdout(fs::File::create(&printed)?).stderr(fs::File::create(&complained)?);
    let started = Instant::now();
    let mut child = command.spawn()?;
    let (code, memory_kib) = wait(&mut child)?;
    let wall = started.elapsed();
    worst.runs += 1;
    worst.wall = worst.wall.max(wall);
    worst.memory_kib = worst.memory_kib.max(memory_kib);
    match code {
        Some(0..=3) => {}
        Some(code) => worst.faults.push(format!("{place}: exit code {code}")),
        None => worst.faults.push(format!("{place}: ended by a signal, or after {RUN_SECONDS_MAX} s")),
    }
    if memory_kib > MEMORY_KIB_MAX {
        worst.faults.push(format!("{place}: {} MiB", memory_kib / 1024));
    }
    for path in [printed, complained] {
        let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
        worst.faults.extend(unclean(&text, words.contains(&"github")).map(|what| format!("{place}: {what}")));
    }
    Ok(())
}

/// How it ended, and the memory it had at most, as far as looking at it shows.
fn wait(child: &mut Child) -> Result<(Option<i32>, u64)> {
    let started = Instant::now();
    let mut memory_kib = 0;
    loop {
        memory_kib = memory_kib.max(peak_kib(child.id()));
        if let Some(status) = child.try_wait()? {
            return Ok((status.code(), memory_kib));
        }
        if started.elapsed() > Duration::from_secs(RUN_SECONDS_MAX) {
            child.kill()?;
            child.wait()?;
            return Ok((None, memory_kib));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn peak_kib(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}

/// What an output has that none may.
fn unclean(text: &str, is_github: bool) -> Option<String> {
    if text.contains(OUTSIDE) {
        return Some("shows what is outside".to_owned());
    }
    if let Some(raw) = text.chars().find(|c| *c != '\n' && source::sign_for(*c).is_some()) {
        return Some(format!("prints a raw {raw:?}"));
    }
    let is_ours =
        |line: &str| is_github && ["::error ", "::warning ", "::notice "].iter().any(|one| line.starts_with(one));
    let is_command = |line: &&str| line.trim_start().starts_with("::") && !is_ours(line);
    text.lines().find(is_command).map(|line| format!("prints a command: {line:?}"))
}

#[cfg(test)]
mod tests {
    use super::unclean;

    #[test]
    fn what_no_output_may_have_is_found() {
        for text in ["a\u{1b}[0m", "a\u{9b}", "  ::error::x", "a\u{202e}", "only-the-outside-has-this"] {
            assert!(unclean(text, false).is_some(), "{text:?}");
        }
        assert_eq!(unclean("::error file=a::b\nplain\n", true), None);
        assert!(unclean("::error file=a::b\n", false).is_some());
    }
}
