//! `cargo xtask evaluate fix`: `fix --unsafe --write` on copies of whole repositories, and what `check`, a second run and the real
//! kustomize say afterwards.

mod boots;
mod builds;
mod meant;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;
use tempfile::TempDir;

use boots::Boots;
use builds::{Target, reached};
use meant::{Beside, Meant, Objects};

use super::trees;
use crate::table::Table;
use crate::{parallel, product};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Directories to run, each a repository; they are copied
    #[arg(long, value_name = "DIR", num_args = 1.., required_unless_present = "generated")]
    trees: Vec<PathBuf>,
    /// Where generated repositories that break a promise are written to, each below its number
    #[arg(long, value_name = "DIR", requires = "generated")]
    keep: Option<PathBuf>,
    /// Generated repositories with several defects instead, so many
    #[arg(long, value_name = "N", conflicts_with = "trees")]
    generated: Option<u64>,
    /// The number of the first one that is generated
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    first: u64,
    /// The real kustomize: what edits reach must build, and differ only where they say so
    #[arg(long, value_name = "PATH")]
    kustomize: Option<PathBuf>,
    /// Boots in the simulated world, before and after
    #[arg(long, value_name = "N", default_value_t = 0)]
    boots: u32,
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// The program to run [default: the release build, made first]
    #[arg(long, value_name = "PATH")]
    bin: Option<PathBuf>,
}

/// What came of one repository.
#[derive(Default)]
struct Row {
    name: String,
    before: BTreeSet<String>,
    after: BTreeSet<String>,
    /// Of each rule, how many were closed and how many stay.
    rules: BTreeMap<String, (usize, usize)>,
    reasons: BTreeMap<String, usize>,
    /// Lines that come or go.
    lines: usize,
    files: usize,
    /// Repairs of a second run.
    second: usize,
    /// Builds of the real kustomize, those of them that fail only after the edits, and what is different though no edit names it.
    built: usize,
    broken: Vec<String>,
    otherwise: Vec<String>,
    boots: Vec<Boots>,
    check: Duration,
    fix: Duration,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(count) = options.generated {
        return generated(options.first..options.first + count, options);
    }
    let binary = product::binary(options.bin.as_deref())?;
    let rows = parallel::map(&options.trees, options.jobs, |tree| one(&binary, tree, options));
    let rows: Vec<Row> = rows.into_iter().collect::<Result<Vec<Option<Row>>>>()?.into_iter().flatten().collect();
    print!("{}", table(&rows).render());
    report(&rows);
    print!("{}", boots::table(rows.iter().map(|row| (row.name.as_str(), row.boots.as_slice()))));
    let new: usize = rows.iter().map(|row| row.after.difference(&row.before).count()).sum();
    let second: usize = rows.iter().map(|row| row.second).sum();
    let broken: usize = rows.iter().map(|row| row.broken.len()).sum();
    let otherwise: usize = rows.iter().map(|row| row.otherwise.len()).sum();
    let worse = rows.iter().flat_map(|row| &row.boots).filter(|boots| boots.is_worse()).count();
    ensure!(
        new + second + broken + otherwise + worse == 0,
        "{new} new findings, {second} repairs of second runs, {broken} broken builds, {otherwise} unmeant differences of builds, {worse} clusters that come up worse"
    );
    Ok(())
}

/// Fixes repositories by their numbers, in memory, and names each that does not keep a promise.
fn generated(numbers: Range<u64>, options: &Options) -> Result<()> {
    let numbers: Vec<u64> = numbers.collect();
    let all = parallel::map(&numbers, options.jobs, |number| trial::fixed(&trial::broken(*number).files));
    let mut rules: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let (mut wrong, mut repairs, mut files) = (0, 0, 0);
    for (number, one) in numbers.iter().zip(all) {
        let one = one.with_context(|| format!("repository {number}"))?;
        for it in &one.wrong {
            println!("repository {number}: {it:?}");
        }
        if let Some(keep) = options.keep.as_deref().filter(|_| !one.wrong.is_empty()) {
            write(&keep.join(number.to_string()), &trial::broken(*number).files)?;
        }
        (wrong, repairs, files) = (wrong + one.wrong.len(), repairs + one.repairs, files + one.files);
        one.found.iter().for_each(|(rule, found)| rules.entry(rule).or_default().0 += found);
        one.left.iter().for_each(|(rule, left)| rules.entry(rule).or_default().1 += left);
    }
    let mut table = Table::new(["rule", "before", "after"]);
    for (rule, (found, left)) in &rules {
        table.row([(*rule).to_owned(), found.to_string(), left.to_string()]);
    }
    print!("{}", table.render());
    println!("\n{} repositories, {repairs} fixes in {files} files", numbers.len());
    ensure!(wrong == 0, "{wrong} promises are not kept");
    Ok(())
}

fn write(directory: &Path, files: &BTreeMap<String, String>) -> Result<()> {
    for (path, text) in files {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap_or(directory))?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Nothing where there is nothing of Flux.
fn one(binary: &Path, tree: &Path, options: &Options) -> Result<Option<Row>> {
    let copy = TempDir::new()?;
    let root = copy.path().join("tree");
    trees::copy(tree, &root)?;
    let started = Instant::now();
    let Some(before) = json(binary, &root, &["check", "--each", "--min-severity", "warning"])? else { return Ok(None) };
    let check = started.elapsed();
    let name = tree.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut row = Row { name, before: keys(&before["findings"]), check, ..Row::default() };
    let started = Instant::now();
    let shown = json(binary, &root, &["fix", "--unsafe"])?.unwrap_or_default();
    row.fix = started.elapsed();
    let simulated =
        |root: &Path| if options.boots > 0 { simulated(binary, root, options.boots) } else { Ok(Vec::new()) };
    let booted = simulated(&root)?;
    let mut builds = Builds::before(options, &root, &shown)?;
    let made = json(binary, &root, &["fix", "--unsafe", "--write"])?.unwrap_or_default();
    count(&mut row, &made);
    builds.compare(&made, &mut row)?;
    row.boots = boots::beside(&booted, &simulated(&root)?);
    row.after = json(binary, &root, &["check", "--each", "--min-severity", "warning"])?
        .map(|after| keys(&after["findings"]))
        .unwrap_or_default();
    row.second = json(binary, &root, &["fix", "--unsafe"])?.map_or(0, |second| list(&second["repairs"]).len());
    Ok(Some(row))
}

/// The clusters of a repository, as `simulate` brings them up.
fn simulated(binary: &Path, root: &Path, boots: u32) -> Result<Vec<Value>> {
    let json = json(binary, root, &["simulate", "--seeds", &boots.to_string()])?.unwrap_or_default();
    Ok(list(&json["clusters"]).to_vec())
}

fn json(binary: &Path, root: &Path, words: &[&str]) -> Result<Option<Value>> {
    let output = Command::new(binary).args(words).args(["--format", "json"]).arg(root).output()?;
    if output.status.code() == Some(3) {
        return Ok(None);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).map(Some).with_context(|| format!("{words:?} on {}: {said}", root.display()))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn keys(findings: &Value) -> BTreeSet<String> {
    let key = |it: &Value| format!("{} {} {} {}", it["rule"], it["cluster"], it["component"], it["provider"]);
    list(findings).iter().map(key).collect()
}

/// The builds that edits reach, as they were before.
struct Builds<'o> {
    kustomize: Option<&'o Path>,
    root: &'o Path,
    before: BTreeMap<Target, Option<Objects>>,
    /// What is in the files that move.
    moved: Objects,
}

impl<'o> Builds<'o> {
    fn before(options: &'o Options, root: &'o Path, shown: &Value) -> Result<Self> {
        let repairs = list(&shown["repairs"]).iter().flat_map(|repair| list(&repair["files"]));
        let removed = repairs.filter(|file| file["is_removed"] == true).filter_map(|file| file["path"].as_str());
        let moved = removed.filter_map(|path| fs::read_to_string(root.join(path)).ok());
        let moved = moved.flat_map(|text| meant::objects(&text)).collect();
        let mut builds = Self { kustomize: options.kustomize.as_deref(), root, before: BTreeMap::new(), moved };
        if builds.kustomize.is_some() {
            for target in reached(root, &files(shown)) {
                let build = builds.build(&target)?;
                builds.before.insert(target, build);
            }
        }
        Ok(builds)
    }

    fn build(&self, target: &Target) -> Result<Option<Objects>> {
        let is_there = target.is_there(self.root);
        let kustomize = self.kustomize.filter(|_| is_there);
        kustomize.map_or(Ok(None), |kustomize| target.build(kustomize, self.root, &self.root.with_extension("alone")))
    }

    /// The same builds after the edits, and those that are new.
    fn compare(&mut self, made: &Value, row: &mut Row) -> Result<()> {
        if self.kustomize.is_none() {
            return Ok(());
        }
        let meant = Meant::new(list(&made["repairs"]), |path| fs::read_to_string(self.root.join(path)).ok());
        let mut beside = Beside::new(&meant);
        let new = reached(self.root, &files(made));
        let all: BTreeSet<Target> = self.before.keys().cloned().chain(new).collect();
        for target in all {
            let before = self.before.remove(&target);
            // What did not build, or can't without a network, says nothing.
            if before.as_ref().is_some_and(Option::is_none) {
                continue;
            }
            let after = self.build(&target)?;
            row.built += usize::from(after.is_some());
            if after.is_none() && target.is_there(self.root) {
                row.broken.push(target.path().to_owned());
                continue;
            }
            beside.add(target.path(), before.flatten().unwrap_or_default(), after);
        }
        let mut applied = Objects::new();
        for path in beside.new_paths() {
            applied.extend(self.build(&Target::Directory(path))?.unwrap_or_default());
        }
        row.otherwise = beside.otherwise(&applied, &self.moved);
        Ok(())
    }
}

/// The files of all repairs.
fn files(repairs: &Value) -> BTreeSet<String> {
    let files = list(&repairs["repairs"]).iter().flat_map(|repair| list(&repair["files"]));
    files.filter_map(|file| file["path"].as_str()).map(str::to_owned).collect()
}

fn count(row: &mut Row, made: &Value) {
    let rule = |it: &Value| it["rule"].as_str().unwrap_or_default().to_owned();
    for repair in list(&made["repairs"]) {
        for it in list(&repair["closes"]) {
            row.rules.entry(rule(it)).or_default().0 += 1;
        }
        for file in list(&repair["files"]) {
            row.files += 1;
            for edit in list(&file["edits"]) {
                let gone = edit["lines"].as_u64().and_then(|it| usize::try_from(it).ok()).unwrap_or_default();
                row.lines += gone + edit["replacement"].as_str().unwrap_or_default().lines().count();
            }
        }
    }
    for it in list(&made["left"]) {
        row.rules.entry(rule(it)).or_default().1 += 1;
        *row.reasons.entry(it["why"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        "repository",
        "before",
        "after",
        "new",
        "files",
        "lines",
        "second",
        "builds",
        "broken",
        "otherwise",
        "fix/check",
    ]);
    for row in rows.iter().filter(|row| !row.before.is_empty()) {
        let new = row.after.difference(&row.before).count();
        let (broken, otherwise) = (row.broken.len(), row.otherwise.len());
        let numbers =
            [row.before.len(), row.after.len(), new, row.files, row.lines, row.second, row.built, broken, otherwise];
        let ratio = format!("{:.1}", row.fix.as_secs_f64() / row.check.as_secs_f64());
        let cells = numbers.iter().map(ToString::to_string).chain([ratio]);
        table.row(std::iter::once(row.name.clone()).chain(cells));
    }
    table
}

/// Sums over all repositories.
fn report(rows: &[Row]) {
    let mut rules: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        for (rule, (closed, left)) in &row.rules {
            let sum = rules.entry(rule).or_default();
            *sum = (sum.0 + closed, sum.1 + left);
        }
        row.reasons.iter().for_each(|(why, number)| *reasons.entry(why).or_default() += number);
    }
    let mut table = Table::new(["rule", "fixed", "left"]);
    for (rule, (closed, left)) in rules {
        table.row([rule.to_owned(), closed.to_string(), left.to_string()]);
    }
    table.gap();
    for (why, number) in reasons {
        table.row([why.to_owned(), number.to_string()]);
    }
    let before: usize = rows.iter().map(|row| row.before.len()).sum();
    let gone: usize = rows.iter().map(|row| row.before.difference(&row.after).count()).sum();
    print!("\n{}", table.render());
    for row in rows {
        row.broken.iter().for_each(|place| println!("broken: {} {place}", row.name));
        row.otherwise.iter().for_each(|what| println!("otherwise: {} {what}", row.name));
        row.after.difference(&row.before).for_each(|what| println!("new: {} {what}", row.name));
    }
    println!("\n{gone} of {before} findings at warning or above are closed ({} %)", gone * 100 / before.max(1));
}
