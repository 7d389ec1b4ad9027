//! `cargo xtask parse`: only parses the YAML files of a tree, on all cores. `check` cannot be faster than this.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Args;

use crate::parallel;

/// `check` does not read larger ones.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The tree to parse
    directory: PathBuf,
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
    println!("found in {} ms, parsed by {} ms", walked.as_millis(), started.elapsed().as_millis());
    Ok(())
}

pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The YAML files of a tree, in order: those that `check` reads, which are those that Git would not ignore.
pub(crate) fn yaml_files(tree: &Path) -> Vec<PathBuf> {
    let mut walk = ignore::WalkBuilder::new(tree);
    walk.hidden(false).follow_links(true).require_git(false).parents(false);
    let walk = walk.filter_entry(|entry| entry.file_name() != ".git").build();
    let files = walk.filter_map(Result::ok).filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let mut files: Vec<PathBuf> = files
        .map(ignore::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml"))
        .collect();
    files.sort();
    files
}

fn parse(path: &Path) -> Option<Parsed> {
    if std::fs::metadata(path).ok()?.len() > FILE_BYTES_MAX {
        return None;
    }
    let text = String::from_utf8(std::fs::read(path).ok()?).ok()?;
    let documents = yaml::parse(yaml::FileId(0), &text, yaml::Limits::default());
    let problems = documents.iter().map(|document| document.problems.len()).sum();
    Some(Parsed { bytes: text.len(), documents: documents.len(), problems })
}
