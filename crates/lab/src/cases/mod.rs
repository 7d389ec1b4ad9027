//! The case suite: small repositories, what `check` says of them (`expect.yaml`), and what real Flux does with them
//! (`lab.yaml`). One lab per run of a case, so no case sees another's CRDs.
//!
//! Knows cases, charts and operators in small; does not know how a lab is started or what `check` does.

mod bootstrap;
mod charts;
mod copy;
mod expected;
mod names;
mod pace;
mod record;
mod run;
mod seal;
mod standins;
mod told;
mod verify;
mod webhook;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use expected::Expected;
pub use run::{Run, run};
pub use told::{CaseEnding, DEFAULT_PACE, Told};

/// What can go wrong with a case before it is told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    #[error("cannot {step} {}: {source}", path.display())]
    Io { step: &'static str, path: PathBuf, source: io::Error },
    #[error("{}: {message}", path.display())]
    Yaml { path: PathBuf, message: String },
    #[error("`{0}` is no object: `Kind namespace/name` or `Kind name`, of a kind that the case suite knows")]
    Object(String),
    #[error("{step}: {message}")]
    Step { step: String, message: String },
    #[error(transparent)]
    Lab(#[from] crate::LabError),
    #[error(transparent)]
    Fixture(#[from] fixtures::FixtureError),
}

impl CaseError {
    fn io(step: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { step, path, source }
    }

    fn step(step: impl Into<String>, message: impl std::fmt::Display) -> Self {
        Self::Step { step: step.into(), message: format!("{message}") }
    }
}

/// One directory of the suite.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    pub directory: PathBuf,
    pub told: Told,
    pub expected: Expected,
}

impl Case {
    pub fn load(directory: &Path) -> Result<Self, CaseError> {
        let name = directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let told = directory.join("lab.yaml");
        let expected = directory.join("expect.yaml");
        Ok(Self { name, directory: directory.to_owned(), told: parse(&told)?, expected: parse(&expected)? })
    }

    /// Nothing but guarantees: worth many runs with shuffled delays.
    pub fn is_guaranteed(&self) -> bool {
        self.told.happens.clean && self.expected.all_guaranteed()
    }
}

/// The cases below a directory, by name.
pub fn all(directory: &Path) -> Result<Vec<Case>, CaseError> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(CaseError::io("read", directory))? {
        let path = entry.map_err(CaseError::io("read", directory))?.path();
        if path.join("lab.yaml").is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| Case::load(path)).collect()
}

fn parse<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, CaseError> {
    let text = fs::read_to_string(path).map_err(CaseError::io("read", path))?;
    serde_saphyr::from_str(&text).map_err(|error| CaseError::Yaml { path: path.to_owned(), message: error.to_string() })
}
