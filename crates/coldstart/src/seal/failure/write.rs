//! Files of the repository that can't be written, or not as asked.

use std::path::{Path, PathBuf};

use ::seal::manifest::ShapeFault;
use ::seal::renewal::SwitchError;
use ::seal::{OpenError, Scope};
use diagnostic::Next;
use diagnostic::next::{Again, Edit, Seal};

use crate::seal::tree::Unread;
use source::{clean, shown};

#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteFailure {
    #[error("{} was changed by another program in the meantime; it is left as it is", shown(.path))]
    ChangedByOthers { path: PathBuf },
    #[error("{path} was changed in the meantime", path = clean(.path))]
    Changed { path: String },
    #[error("{path} is gone", path = clean(.path))]
    Gone { path: String },
    #[error(
        "{}: SealedSecrets are read from files called *.yaml, *.yml and *.json, and this is not one; nothing was written",
        shown(.path)
    )]
    NameIsNotRead { path: PathBuf },
    #[error(
        "{}{} is not in the repository {}, so nothing would apply or verify it; nothing was written",
        shown(.path),
        link(.real.as_deref()),
        shown(.root)
    )]
    Outside {
        path: PathBuf,
        /// Where a link leads to, if it is one.
        real: Option<PathBuf>,
        root: PathBuf,
    },
    #[error("{} {why}; nothing was written", shown(.path))]
    NotAFile { path: PathBuf, why: NotAFile },
    #[error("{} is not valid YAML; nothing was written", shown(.path))]
    NotYaml { path: PathBuf },
    #[error(
        "{}:{line}: Secret {name} is there in the clear, and would stay beside the sealed one; nothing was written",
        shown(.path), name = clean(.name))]
    InTheClear { path: PathBuf, line: usize, name: String },
    #[error("{} is JSON, which holds one object, and this is another one; nothing was written", shown(.path))]
    JsonHoldsOne { path: PathBuf },
    #[error("{}: `{field}` is to be {value}, and can't be set in place; nothing was written", shown(.path), field = clean(.field), value = clean(.value))]
    NotSettable { path: PathBuf, field: String, value: String },
    #[error(
        "{}: {name} is sealed {there}, and one SealedSecret has one scope: {wanted} can't be mixed in; nothing was written",
        shown(.path), name = clean(.name))]
    OtherScope { path: PathBuf, name: String, there: Scope, wanted: Scope },
    #[error(
        "{path}:{first} and {path}:{second} are both SealedSecret {name}: coldstart can't tell which one you mean; nothing was written",
        path = shown(.path), name = clean(.name))]
    Twice { path: PathBuf, first: usize, second: usize, name: String },
    #[error("{}: may hold a SealedSecret and {}\n  nothing was written", .0.place(), .0.why)]
    MayHoldMore(Unread),
    #[error("{key} of {path}: {source}\n  nothing was written", key = clean(.key), path = clean(.path))]
    DoesNotOpen { path: String, key: String, source: OpenError },
    #[error("{path}:{line}: {what}\n  nothing was written", path = clean(.path))]
    Malformed { path: String, line: u32, what: ShapeFault },
    #[error("the release is in no file")]
    ReleaseInNoFile,
    #[error("{place}: {source}; nothing was written", place = clean(.place))]
    Renewal { place: String, source: SwitchError },
    #[error(transparent)]
    Repository(repository::OpenError),
    #[error("it can't be written as JSON")]
    NotJson,
    #[error("the operating system provides no random numbers")]
    NoRandomness,
}

fn link(real: Option<&Path>) -> String {
    real.map(|real| format!(" is a link to {}, which", source::shown(real))).unwrap_or_default()
}

/// What is there instead of a file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotAFile {
    #[error("is a directory")]
    Directory,
    #[error("is not a regular file")]
    Irregular,
    #[error("is a link to a file that does not exist")]
    DanglingLink,
}

impl WriteFailure {
    pub(super) fn next(&self) -> Option<Next> {
        Some(Next::Again(match self {
            Self::ChangedByOthers { .. } | Self::Changed { .. } | Self::Gone { .. } | Self::NoRandomness => Again::Same,
            Self::NameIsNotRead { path } => Again::With(PathBuf::from(format!("{}.yaml", path.display()))),
            Self::Outside { .. } => Again::WithFileInRepositoryOrPrinted,
            Self::NotAFile { .. } => Again::WithFileOfRepository,
            Self::NotYaml { .. } => Again::OnceRepaired,
            Self::InTheClear { .. } => Again::WithOtherOut,
            Self::JsonHoldsOne { .. } => Again::WithOwnOut,
            Self::NotSettable { .. } => return Some(Next::Edit(Edit::SetThere)),
            Self::OtherScope { .. } => Again::WithScopeOrName,
            Self::Twice { .. } => return Some(Next::Edit(Edit::OneSealedSecret)),
            Self::MayHoldMore(_) | Self::DoesNotOpen { .. } | Self::Malformed { .. } => {
                return Some(Next::Seal(Seal::Verify));
            }
            Self::ReleaseInNoFile => return Some(Next::Seal(Seal::VerifyAndSet)),
            Self::Renewal { .. } => return Some(Next::Seal(Seal::VerifyWhatToSet)),
            Self::Repository(_) | Self::NotJson => return None,
        }))
    }
}
