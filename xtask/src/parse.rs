//! `cargo xtask parse`: only parses the YAML files of a tree, and with `--all` its Terraform and scripts, on all cores. `check` cannot be
//! faster than this.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Args;
use read::{Repository, may_hold_objects};
use repository::FILE_BYTES_MAX;

use crate::parallel;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The tree to parse
    directory: PathBuf,
    /// Also the files of Terraform and the scripts
    #[arg(long)]
    all: bool,
    #[arg(long, value_name = "N", default_value_t = cores())]
    jobs: usize,
}

/// What was parsed.
#[derive(Clone, Copy, Debug, Default)]
struct Parsed {
    bytes: usize,
    documents: usize,
    problems: usize,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    ensure!(options.directory.is_dir(), "{} is not a directory", options.directory.display());
    let started = Instant::now();
    let files = yaml_files(&options.directory);
    let walked = started.elapsed();
    let parsed = parallel::map(&files, options.jobs, |path| parse(path));
    let sum = parsed.iter().flatten().fold(Parsed::default(), |sum, one| Parsed {
        bytes: sum.bytes + one.bytes,
        documents: sum.documents + one.documents,
        problems: sum.problems + one.problems,
    });
    let Parsed { bytes, documents, problems } = sum;
    println!("{} files, {bytes} bytes, {documents} documents, {problems} problems", files.len());
    if options.all {
        println!("{} files of Terraform and scripts", read::understood::parse(&Repository::open(&options.directory)?));
    }
    println!("found in {} ms, parsed by {} ms", walked.as_millis(), started.elapsed().as_millis());
    Ok(())
}

pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The YAML files of a tree, in order: those that `check` reads, found in the way it finds them.
pub(crate) fn yaml_files(tree: &Path) -> Vec<PathBuf> {
    let Ok(repository) = Repository::find(tree) else { return Vec::new() };
    repository.yaml_paths().map(|path| repository.root().join(path)).collect()
}

fn parse(path: &Path) -> Option<Parsed> {
    if std::fs::metadata(path).ok()?.len() > FILE_BYTES_MAX {
        return None;
    }
    let text = String::from_utf8(std::fs::read(path).ok()?).ok()?;
    if !may_hold_objects(&path.to_string_lossy(), &text) {
        return None;
    }
    let documents = yaml::parse(source::FileId(0), &text, yaml::Limits::default());
    let problems = documents.iter().map(|document| document.problems.len()).sum();
    Some(Parsed { bytes: text.len(), documents: documents.len(), problems })
}
