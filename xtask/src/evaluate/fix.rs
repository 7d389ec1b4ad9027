//! `cargo xtask evaluate fix`: `fix --unsafe --write` on copies of whole repositories, and what `check`, a second run and the real
//! kustomize say afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;
use tempfile::TempDir;

use crate::table::Table;
use crate::{parallel, product};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Directories to run, each a repository; they are copied
    #[arg(long, value_name = "DIR", num_args = 1.., required_unless_present = "generated")]
    trees: Vec<PathBuf>,
    /// Generated repositories with several defects instead, so many
    #[arg(long, value_name = "N", conflicts_with = "trees")]
    generated: Option<u64>,
    /// The number of the first one that is generated
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    first: u64,
    /// The real kustomize: what was touched must build as before
    #[arg(long, value_name = "PATH")]
    kustomize: Option<PathBuf>,
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
    /// Directories that no longer build, and all that were built.
    broken: usize,
    built: usize,
    check: Duration,
    fix: Duration,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(count) = options.generated {
        return generated(options.first..options.first + count, options.jobs);
    }
    let binary = product::binary(options.bin.as_deref())?;
    let rows = parallel::map(&options.trees, options.jobs, |tree| one(&binary, tree, options));
    let rows: Vec<Row> = rows.into_iter().collect::<Result<Vec<Option<Row>>>>()?.into_iter().flatten().collect();
    print!("{}", table(&rows).render());
    report(&rows);
    let new: usize = rows.iter().map(|row| row.after.difference(&row.before).count()).sum();
    let second: usize = rows.iter().map(|row| row.second).sum();
    let broken: usize = rows.iter().map(|row| row.broken).sum();
    ensure!(new + second + broken == 0, "{new} new findings, {second} repairs of second runs, {broken} broken builds");
    Ok(())
}

/// Fixes repositories by their numbers, in memory, and names each that does not keep a promise.
fn generated(numbers: Range<u64>, jobs: usize) -> Result<()> {
    let numbers: Vec<u64> = numbers.collect();
    let all = parallel::map(&numbers, jobs, |number| trial::fixed(&trial::broken(*number).files));
    let mut rules: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let (mut wrong, mut repairs, mut files) = (0, 0, 0);
    for (number, one) in numbers.iter().zip(all) {
        let one = one.with_context(|| format!("repository {number}"))?;
        for it in &one.wrong {
            println!("repository {number}: {it:?}");
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

/// Nothing where there is nothing of Flux.
fn one(binary: &Path, tree: &Path, options: &Options) -> Result<Option<Row>> {
    let copy = TempDir::new()?;
    let root = copy.path().join("tree");
    let copied = Command::new("cp").arg("-r").arg(tree).arg(&root).status().context("cannot copy")?;
    ensure!(copied.success(), "cannot copy {}", tree.display());
    let started = Instant::now();
    let Some(before) = json(binary, &root, &["check", "--each", "--min-severity", "warning"])? else { return Ok(None) };
    let check = started.elapsed();
    let name = tree.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut row = Row { name, before: keys(&before["findings"]), check, ..Row::default() };
    let started = Instant::now();
    let shown = json(binary, &root, &["fix", "--unsafe"])?.unwrap_or_default();
    row.fix = started.elapsed();
    let touched = touched(&shown, &root);
    let built = build_all(options, &root, &touched);
    let made = json(binary, &root, &["fix", "--unsafe", "--write"])?.unwrap_or_default();
    count(&mut row, &made);
    // With the directories that are new, and without those that are gone.
    let now = touched
        .iter()
        .filter(|at| at.join("kustomization.yaml").is_file())
        .cloned()
        .chain(new_directories(&made, &root))
        .collect();
    let again = build_all(options, &root, &now);
    row.built = again.len();
    row.broken = again.iter().filter(|(at, is_good)| !**is_good && built.get(*at) != Some(&false)).count();
    row.after = json(binary, &root, &["check", "--each", "--min-severity", "warning"])?
        .map(|after| keys(&after["findings"]))
        .unwrap_or_default();
    row.second = json(binary, &root, &["fix", "--unsafe"])?.map_or(0, |second| list(&second["repairs"]).len());
    Ok(Some(row))
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

/// The directories with a kustomization that hold a file which is edited, or lie above it.
fn touched(shown: &Value, root: &Path) -> BTreeSet<PathBuf> {
    let repairs = list(&shown["repairs"]).iter().flat_map(|repair| list(&repair["files"]));
    let paths = repairs.filter_map(|file| file["path"].as_str()).map(|path| root.join(path));
    let nearest = |path: PathBuf| {
        let above = path.ancestors().skip(1).take_while(|at| at.starts_with(root)).map(Path::to_path_buf);
        above.into_iter().find(|at| at.join("kustomization.yaml").is_file())
    };
    paths.filter_map(nearest).collect()
}

/// The directories that get a kustomization.
fn new_directories(made: &Value, root: &Path) -> Vec<PathBuf> {
    let files = list(&made["repairs"]).iter().flat_map(|repair| list(&repair["files"]));
    let new = files.filter(|file| file["is_new"] == true).filter_map(|file| file["path"].as_str());
    let new = new.filter_map(|path| path.strip_suffix("/kustomization.yaml"));
    new.map(|directory| root.join(directory)).collect()
}

fn build_all(options: &Options, root: &Path, directories: &BTreeSet<PathBuf>) -> BTreeMap<PathBuf, bool> {
    let Some(kustomize) = &options.kustomize else { return BTreeMap::new() };
    let build = |at: &PathBuf| {
        let output = Command::new(kustomize)
            .args(["build", "--load-restrictor=LoadRestrictionsNone"])
            .arg(at)
            .current_dir(root)
            .output();
        (at.clone(), output.is_ok_and(|output| output.status.success()))
    };
    directories.iter().map(build).collect()
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
        "fix/check",
    ]);
    for row in rows.iter().filter(|row| !row.before.is_empty()) {
        let new = row.after.difference(&row.before).count();
        let numbers = [row.before.len(), row.after.len(), new, row.files, row.lines, row.second, row.built, row.broken];
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
    println!("\n{gone} of {before} findings at warning or above are closed ({} %)", gone * 100 / before.max(1));
}
