//! What can go wrong in the lab, named by the step that failed.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::build::Missing;
use crate::{Object, Process};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    #[error(transparent)]
    Missing(#[from] Missing),
    #[error("cannot {step}: {source}")]
    Io { step: String, source: io::Error },
    #[error("{process} ended before it was ready; the end of its log:\n{log}")]
    Died { process: Process, log: String },
    #[error("{process} was not ready within {} s; the end of its log:\n{log}", within.as_secs())]
    NotReady { process: Process, within: Duration, log: String },
    #[error("{process} does not run in this lab; switch it on in `Options`")]
    NotInThisLab { process: Process },
    #[error("cannot make keys and certificates: {0}")]
    Keys(#[from] rcgen::Error),
    #[error("cannot {step}: {source}")]
    Api { step: String, source: Box<kube::Error> },
    #[error("cannot read YAML: {0}")]
    Yaml(String),
    #[error("an object of kind {kind} lacks {what}")]
    Incomplete { kind: String, what: &'static str },
    #[error(transparent)]
    NotInTime(Box<NotInTime>),
    #[error("`git {command}` failed: {output}")]
    Git { command: String, output: String },
    #[error("kubeseal: {0}")]
    Kubeseal(String),
    #[error("{} is no chart: {why}", directory.display())]
    NoChart { directory: PathBuf, why: String },
}

impl LabError {
    pub(crate) fn io(step: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let step = step.into();
        move |source| Self::Io { step, source }
    }

    pub(crate) fn api(step: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        let step = step.into();
        move |source| Self::Api { step, source: Box::new(source) }
    }

    /// Somebody else took a port between our choosing it and the process binding it: worth another try with other ports.
    pub(crate) fn is_port_taken(&self) -> bool {
        match self {
            Self::Died { log, .. } | Self::NotReady { log, .. } => log.contains("address already in use"),
            _ => false,
        }
    }
}

/// A condition that did not come to hold in time, with what stood in its way last.
#[derive(Debug, Clone)]
pub struct NotInTime {
    pub object: Box<Object>,
    pub wanted: String,
    pub last_reason: String,
    pub after: Duration,
}

impl fmt::Display for NotInTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, wanted, last_reason, after } = self;
        write!(f, "{object} was not {wanted} within {:.1} s: {last_reason}", after.as_secs_f64())
    }
}

impl std::error::Error for NotInTime {}

impl From<NotInTime> for LabError {
    fn from(late: NotInTime) -> Self {
        Self::NotInTime(Box::new(late))
    }
}
