//! One tool, or many at once, from their modules into the cache.
//!
//! A tool is built in a scratch directory and moved to its place when it is complete, so that what is in its place is
//! always whole. A build that was interrupted is taken up by the next one: `go` keeps what it has compiled. A lock per
//! recipe lets two builders share a cache without doing the same work.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::go::{self, Go, GoError};
use super::recipe::Recipe;
use super::{Cache, Tool, yaml_files};

/// How much of a failed build's log is part of its error.
const LOG_TAIL_LINES: usize = 15;

/// Why a tool was not built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Go(#[from] GoError),
    #[error("{tool} does not build ({status}); the end of {}:\n{tail}", log.display())]
    Compile { tool: Tool, status: std::process::ExitStatus, log: PathBuf, tail: String },
    #[error("cannot {what} {}: {source}", path.display())]
    File { what: &'static str, path: PathBuf, source: io::Error },
    #[error("the module of {tool} has no YAML files in {directory}")]
    NoFiles { tool: Tool, directory: &'static str },
}

/// What became of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildOutcome {
    /// It was there, or another builder finished it while this one waited.
    Cached,
    Built(Duration),
}

/// What a builder tells while it works; displays only listen.
#[derive(Debug)]
pub enum BuildEvent<'a> {
    /// Another builder has the tool's lock.
    Waiting(Tool),
    Started(Tool),
    Finished(Tool, BuildOutcome),
    Failed(Tool, &'a BuildError),
}

/// A tool and what became of it.
pub type Built = (Tool, Result<BuildOutcome, BuildError>);

/// Builds tools into a cache with a Go toolchain.
#[derive(Debug, Clone)]
pub struct Builder {
    cache: Cache,
    go: Go,
}

impl Builder {
    pub fn new(cache: Cache, go: Go) -> Self {
        Self { cache, go }
    }

    /// Builds every tool, up to `jobs` at once, and goes on when one fails. Results are in the order of `tools`.
    pub fn build_all(&self, tools: &[Tool], jobs: usize, listen: &(dyn Fn(BuildEvent<'_>) + Sync)) -> Vec<Built> {
        let families = Mutex::new(families(tools).into_iter());
        let built = Mutex::new(Vec::new());
        let take = || families.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            while let Some(family) = take() {
                for tool in family {
                    let result = self.build(tool, listen);
                    built.lock().unwrap_or_else(PoisonError::into_inner).push((tool, result));
                }
            }
        };
        std::thread::scope(|scope| (0..jobs.max(1)).for_each(|_| drop(scope.spawn(work))));
        let mut built = built.into_inner().unwrap_or_else(PoisonError::into_inner);
        built.sort_by_key(|(tool, _)| tools.iter().position(|wanted| wanted == tool));
        built
    }

    /// Builds one tool, unless it is there already.
    pub fn build(&self, tool: Tool, listen: &dyn Fn(BuildEvent<'_>)) -> Result<BuildOutcome, BuildError> {
        let result = self.build_locked(&Recipe::of(tool), listen);
        match &result {
            Ok(outcome) => listen(BuildEvent::Finished(tool, *outcome)),
            Err(error) => listen(BuildEvent::Failed(tool, error)),
        }
        result
    }

    fn build_locked(&self, recipe: &Recipe, listen: &dyn Fn(BuildEvent<'_>)) -> Result<BuildOutcome, BuildError> {
        if self.cache.program(recipe).is_file() {
            return Ok(BuildOutcome::Cached);
        }
        let _lock = self.lock(recipe, listen)?;
        if self.cache.program(recipe).is_file() {
            return Ok(BuildOutcome::Cached);
        }
        listen(BuildEvent::Started(recipe.tool));
        let started = Instant::now();
        let scratch = self.cache.scratch(recipe);
        let result = self.build_in(recipe, &scratch);
        // A failed build leaves its log and nothing else; if this fails too, the next build clears the rest away.
        let _ = fs::remove_dir_all(&scratch);
        result.map(|()| BuildOutcome::Built(started.elapsed()))
    }

    /// Waits until no other builder is at this recipe. The lock goes with the file, however this process ends.
    fn lock(&self, recipe: &Recipe, listen: &dyn Fn(BuildEvent<'_>)) -> Result<File, BuildError> {
        let path = self.cache.lock(recipe);
        create_parent(&path)?;
        let failed = |source| BuildError::File { what: "lock", path: path.clone(), source };
        let file = File::options().create(true).append(true).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                listen(BuildEvent::Waiting(recipe.tool));
                file.lock().map_err(failed)?;
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        Ok(file)
    }

    fn build_in(&self, recipe: &Recipe, scratch: &Path) -> Result<(), BuildError> {
        let (module, result) = (scratch.join("module"), scratch.join("result"));
        clear(scratch)?;
        create(&module)?;
        create(&result)?;
        go::write_module(recipe, &module)?;
        self.compile(recipe, &module, &result.join(recipe.tool.name()))?;
        if !recipe.tool.files().is_empty() {
            let source = self.go.download(recipe, &module)?;
            yaml_files::copy(recipe.tool, &source, &result.join("files"))?;
        }
        let place = self.cache.directory(recipe);
        clear(&place)?;
        fs::rename(&result, &place).map_err(|source| BuildError::File { what: "move a build to", path: place, source })
    }

    fn compile(&self, recipe: &Recipe, module: &Path, output: &Path) -> Result<(), BuildError> {
        let log = self.cache.log(recipe);
        create_parent(&log)?;
        let file =
            File::create(&log).map_err(|source| BuildError::File { what: "write", path: log.clone(), source })?;
        let status = self.go.compile(recipe, module, output, file)?;
        if status.success() && output.is_file() {
            return Ok(());
        }
        let tail = tail(&log);
        Err(BuildError::Compile { tool: recipe.tool, status, log, tail })
    }
}

/// The tools grouped by family, in the order of `tools`.
fn families(tools: &[Tool]) -> Vec<Vec<Tool>> {
    let mut families: Vec<Vec<Tool>> = Vec::new();
    let mut places = BTreeMap::new();
    for tool in tools {
        let place = *places.entry(tool.family()).or_insert(families.len());
        if place == families.len() {
            families.push(Vec::new());
        }
        families[place].push(*tool);
    }
    families
}

fn tail(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_TAIL_LINES)..].join("\n")
}

fn clear(path: &Path) -> Result<(), BuildError> {
    match fs::remove_dir_all(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(BuildError::File { what: "clear away", path: path.into(), source })
        }
        _ => Ok(()),
    }
}

pub(super) fn create(path: &Path) -> Result<(), BuildError> {
    fs::create_dir_all(path).map_err(|source| BuildError::File { what: "make", path: path.into(), source })
}

fn create_parent(path: &Path) -> Result<(), BuildError> {
    path.parent().map_or(Ok(()), create)
}
