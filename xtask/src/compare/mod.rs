//! `cargo xtask compare`: two binaries side by side on the same trees, every difference of their JSON listed.
//!
//! Knows the commands that print JSON and which of their fields are wording. Does not know which of two answers is right.

mod differ;
mod fields;
mod names;
mod report;
mod runs;
mod time;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use fixtures::Fixture;
use tempfile::TempDir;

use self::differ::Difference;
use self::report::Report;
use crate::{parallel, parse};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The program as it was
    old: PathBuf,
    /// The program as it is
    new: PathBuf,
    /// Trees to run both on
    trees: Vec<PathBuf>,
    /// Run both on every directory of this one; of a fixture, on its repository
    #[arg(long, value_name = "DIR")]
    each_below: Vec<PathBuf>,
    /// Only these commands [default: all]
    #[arg(long, value_name = "COMMAND,…", value_delimiter = ',')]
    only: Vec<Asked>,
    /// Also show, and count, what differs in wording alone
    #[arg(long)]
    wording: bool,
    /// Seeds of `simulate`
    #[arg(long, value_name = "N", default_value_t = 3)]
    seeds: u32,
    /// Trees at a time [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Seconds after which a run has hung
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    limit: u64,
    /// Compare no output, but CPU time and memory over this many interleaved rounds
    #[arg(long, value_name = "ROUNDS")]
    time: Option<usize>,
}

/// A command whose JSON is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Asked {
    Check,
    Graph,
    Plan,
    Simulate,
}

impl Asked {
    fn word(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Graph => "graph",
            Self::Plan => "plan",
            Self::Simulate => "simulate",
        }
    }

    fn arguments(self, seeds: u32) -> Vec<String> {
        let own: &[&str] = match self {
            Self::Check => &["--each", "--pedantic"],
            Self::Graph | Self::Plan => &[],
            Self::Simulate => &["--seeds", &seeds.to_string()],
        };
        let all = [self.word(), "."].into_iter().chain(own.iter().copied()).chain(["--format", "json"]);
        all.map(str::to_owned).collect()
    }
}

/// A tree and what it is called in the report.
#[derive(Debug)]
struct Tree {
    name: String,
    path: PathBuf,
    /// Where a fixture was put together; goes with the value.
    _whole: Option<TempDir>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let old = binary(&options.old)?;
    let new = binary(&options.new)?;
    let trees = trees(options)?;
    ensure!(!trees.is_empty(), "no tree: name some, or a directory of them with --each-below");
    let commands = if options.only.is_empty() { Asked::value_variants() } else { &options.only };
    if let Some(rounds) = options.time {
        return time::run(&old, &new, &trees, commands, options.seeds, rounds);
    }
    let scratch = tempfile::tempdir().context("cannot make a temporary directory")?;
    let runner = runs::Runner { scratch: scratch.path(), seeds: options.seeds, limit_seconds: options.limit };
    let jobs = options.jobs.unwrap_or_else(parse::cores);
    let found = parallel::map(&trees, jobs, |tree| -> Result<Vec<Difference>> {
        let mut all = Vec::new();
        for asked in commands {
            let (was, is) = (runner.run(&old, "old", tree, *asked)?, runner.run(&new, "new", tree, *asked)?);
            all.extend(runs::compare(*asked, &was, &is));
        }
        Ok(all)
    });
    let mut report = Report::new(options.wording);
    for (tree, found) in trees.iter().zip(found) {
        report.add(&tree.name, found.with_context(|| tree.name.clone())?);
    }
    print!("{}", report.render());
    ensure!(report.is_equal(), "{} differences in {} of {} trees", report.count(), report.trees(), trees.len());
    Ok(())
}

fn binary(path: &Path) -> Result<PathBuf> {
    path.canonicalize().with_context(|| format!("no binary at {}", path.display()))
}

fn trees(options: &Options) -> Result<Vec<Tree>> {
    let mut trees = options.trees.iter().map(|path| tree(path)).collect::<Result<Vec<_>>>()?;
    for directory in &options.each_below {
        let entries = std::fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
        let entries = entries.collect::<std::io::Result<Vec<_>>>()?;
        let mut below: Vec<PathBuf> =
            entries.iter().map(std::fs::DirEntry::path).filter(|path| path.is_dir()).collect();
        below.sort();
        trees.extend(below.iter().map(|path| tree(path)).collect::<Result<Vec<_>>>()?);
    }
    Ok(trees)
}

/// A directory as it is, or the repository of a fixture.
fn tree(path: &Path) -> Result<Tree> {
    let name = path.display().to_string();
    let path = path.canonicalize().with_context(|| format!("no tree at {name}"))?;
    if !path.join("expect.yaml").is_file() || !path.join("repo").is_dir() {
        return Ok(Tree { name, path, _whole: None });
    }
    let whole = Fixture::open(&path)?.repository()?;
    Ok(Tree { name, path: whole.path().to_owned(), _whole: Some(whole) })
}
