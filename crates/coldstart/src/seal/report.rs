//! What `coldstart seal verify` found, and where. Knows neither how it is found nor how it is printed.

use std::collections::BTreeMap;

use ::seal::key::Fingerprint;
use diagnostic::seal::{SealFault, SealedFault, SopsFault};
use diagnostic::{Next, Severity};
use model::ObjectRef;
use read::Repository;
use source::Span;

use super::tree::Unread;

/// Where something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    /// A line of a file of the repository.
    Line { span: Span, path: String, line: u32 },
    /// A whole file, of the repository or not.
    File(String),
    /// The store of the keys.
    OwnStore,
    /// Another store, as it is described.
    Store(String),
    /// The repository as a whole.
    Repository,
    /// An object of the cluster.
    Object(ObjectRef),
    /// The cluster as a whole.
    Cluster,
}

impl Spot {
    /// The line of a place; the repository where no file holds it.
    pub(crate) fn at(repository: &Repository, span: Span) -> Self {
        let found = repository.locate(span);
        found.map_or(Self::Repository, |(path, at)| Self::Line { span, path: path.to_owned(), line: at.line })
    }

    /// A file that was not read, or the line of it where that ended.
    pub(crate) fn of(repository: &Repository, unread: &Unread) -> Self {
        let path = unread.path.clone();
        match (unread.line.and_then(|line| u32::try_from(line).ok()), repository.id(&path)) {
            (Some(line), Some(file)) => Self::Line { span: Span { file, ..Span::GENERATED }, path, line },
            _ => Self::File(path),
        }
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Line { path, line, .. } => format!("{path}:{line}"),
            Self::File(path) => path.clone(),
            Self::OwnStore => "the store".to_owned(),
            Self::Store(store) => store.clone(),
            Self::Repository => "the repository".to_owned(),
            Self::Object(object) => format!("{} {}/{}", object.kind, object.namespace, object.name),
            Self::Cluster => "the cluster".to_owned(),
        }
    }
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) spot: Spot,
    pub(crate) fault: SealFault,
    /// An error where the next cold start fails without it; else it is only worth knowing.
    pub(crate) severity: Severity,
    pub(crate) next: Option<Next>,
}

impl Problem {
    /// It is one item that does not open: of these, there may be very many.
    pub(crate) fn is_item(&self) -> bool {
        matches!(self.fault, SealFault::Sealed(SealedFault::DoesNotOpen { .. }))
    }

    /// It is a file that no identity at hand could open: of these, there may be very many, too.
    pub(crate) fn lacks_identity(&self) -> bool {
        matches!(self.fault, SealFault::Sops(SopsFault::NoIdentity))
    }

    pub(crate) fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Everything that was looked at.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) secrets: usize,
    pub(crate) items: usize,
    /// How many items each key opens.
    pub(crate) by_key: BTreeMap<Fingerprint, usize>,
    pub(crate) newest: Option<Fingerprint>,
    /// Several items were sealed for other keys, and nothing opens anywhere.
    pub(crate) is_other_store: bool,
    pub(crate) sops_files: usize,
    pub(crate) problems: Vec<Problem>,
    /// What `--write` did.
    pub(crate) changed: Vec<String>,
}

impl Report {
    /// Without it, the next cold start fails.
    pub(crate) fn error(&mut self, spot: Spot, fault: SealFault, next: Option<Next>) {
        self.problems.push(Problem { spot, fault, severity: Severity::Error, next });
    }

    /// It is worth knowing.
    pub(crate) fn note(&mut self, spot: Spot, fault: SealFault, next: Option<Next>) {
        self.problems.push(Problem { spot, fault, severity: Severity::Info, next });
    }

    /// What several clusters apply is told once.
    pub(crate) fn tell_once(&mut self) {
        let mut told: Vec<Problem> = Vec::new();
        for problem in std::mem::take(&mut self.problems) {
            if !told.contains(&problem) {
                told.push(problem);
            }
        }
        self.problems = told;
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.problems.iter().any(Problem::is_error)
    }
}
