//! What a lab is made of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use crate::Process;

/// How to start a lab. The default is a control plane with kwok and Flux; the sealed-secrets controller is on demand.
#[derive(Debug, Clone)]
pub struct Options {
    pub(crate) name: String,
    pub(crate) processes: BTreeSet<Process>,
    pub(crate) requeue_dependency: Duration,
    pub(crate) flags: BTreeMap<Process, Vec<String>>,
    pub(crate) directory: Option<PathBuf>,
}

impl Options {
    /// `name` says whose lab it is: in messages, in the name of its directory and of what is kept after a failure.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            processes: Process::ALL.into_iter().filter(|process| *process != Process::SealedSecrets).collect(),
            requeue_dependency: Duration::from_secs(1),
            flags: BTreeMap::new(),
            directory: None,
        }
    }

    pub fn with(mut self, process: Process) -> Self {
        self.processes.insert(process);
        self
    }

    pub fn without(mut self, process: Process) -> Self {
        self.processes.remove(&process);
        self
    }

    /// Kubernetes and kwok only.
    pub fn without_flux(self) -> Self {
        self.without(Process::SourceController).without(Process::KustomizeController).without(Process::HelmController)
    }

    /// How long the Flux controllers wait before they look at a dependency again (their `--requeue-dependency`, 30 s by
    /// default; one second in the lab).
    pub fn requeue_dependency(mut self, every: Duration) -> Self {
        self.requeue_dependency = every;
        self
    }

    /// A further flag for one process; it comes last, so it wins.
    pub fn flag(mut self, process: Process, flag: impl Into<String>) -> Self {
        self.flags.entry(process).or_default().push(flag.into());
        self
    }

    /// Keep the lab's files here instead of in a temporary directory; it must not exist yet.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }
}
