//! What changes of files would close findings, and why others stay: what `fix` says.
//!
//! Knows what a repair is made of. Not how a file is changed, nor how it is shown.

use ecow::EcoString;
use model::{Capability, ObjectRef};
use source::Span;

use crate::{Fingerprint, Severity, Statement};

/// Everything that would be changed, and everything that would not.
#[derive(Clone, Debug, Default)]
pub struct Repairs {
    /// In the order in which they are made: each begins with what those before it left.
    pub made: Vec<Repair>,
    pub left: Vec<Left>,
}

/// What is changed for one cause.
#[derive(Clone, Debug)]
pub struct Repair {
    /// What is done, each once.
    pub actions: Vec<Action>,
    /// What is not found any more, the worst first.
    pub closes: Vec<Told>,
    /// Sorted by path.
    pub files: Vec<Changed>,
}

impl Repair {
    /// Whether a running cluster behaves differently after it.
    pub fn is_unsafe(&self) -> bool {
        self.actions.iter().any(Action::is_unsafe)
    }
}

/// A finding, as far as it is told again.
#[derive(Clone, Debug)]
pub struct Told {
    pub fingerprint: Fingerprint,
    pub rule: &'static str,
    pub severity: Severity,
    pub cluster: String,
    pub component: ObjectRef,
    pub statement: Statement,
    pub at: Span,
}

/// A file before and after a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    pub path: String,
    /// Nothing where it is a new file.
    pub before: Option<String>,
    /// Nothing where the file goes.
    pub after: Option<String>,
    /// Where a new file was before this: it moves, with its permissions.
    pub from: Option<String>,
}

/// One thing that is done.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// It waits for another: `dependsOn`, or `needs` in a helmfile.
    Depend { component: ObjectRef, on: ObjectRef },
    /// It does not wait for another any more.
    Undepend { component: ObjectRef, on: EcoString },
    /// A patch does not replace the dependencies of so many components any more: what it names, they wait for anyway.
    Unlist { path: String, components: usize },
    /// A name or namespace that was wrong: of a dependency, or of a health check.
    Rename { component: ObjectRef, from: EcoString, to: EcoString },
    /// It waits for another, which itself waits for the one before.
    DependInstead { component: ObjectRef, from: ObjectRef, to: ObjectRef },
    /// `wait: true`.
    Wait { component: ObjectRef },
    /// `wait: false`: its `healthChecks` count.
    Unwait { component: ObjectRef },
    /// `suspend: false`.
    Resume { component: ObjectRef },
    /// `ready: true` on a dependency of a ResourceSet.
    AwaitReady { component: ObjectRef },
    /// One more object of `healthChecks`.
    Check { component: ObjectRef, object: ObjectRef },
    /// A kind is judged by an expression on its status.
    Judge { component: ObjectRef, kind: EcoString },
    /// A failed install or upgrade is tried again.
    RetryOnFailure { component: ObjectRef },
    /// A failure is tried again sooner.
    RetryInterval { component: ObjectRef },
    /// `disableWait` goes.
    HelmWaits { component: ObjectRef },
    /// A kustomization lists one more file.
    List { file: String, by: String },
    /// It brings its Namespace along.
    BringNamespace { component: ObjectRef, namespace: EcoString },
    /// Objects of these kinds are applied by a new Kustomization, from a directory of its own.
    Split { component: ObjectRef, new: ObjectRef, directory: String, kinds: Vec<EcoString>, handover: Handover },
}

/// What becomes of objects in a cluster that runs when another Kustomization applies them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Handover {
    /// They stay: the old one does not prune them.
    Kept,
    /// The old one deletes them before the new one applies them.
    Deleted,
    /// The old one deletes them unless the new one comes first.
    Race,
}

impl Action {
    /// The word that programs read.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Depend { .. } => "depend",
            Self::Undepend { .. } => "undepend",
            Self::Unlist { .. } => "unlist",
            Self::Rename { .. } => "rename",
            Self::DependInstead { .. } => "depend-instead",
            Self::Wait { .. } => "wait",
            Self::Unwait { .. } => "unwait",
            Self::Resume { .. } => "resume",
            Self::AwaitReady { .. } => "await-ready",
            Self::Check { .. } => "health-check",
            Self::Judge { .. } => "health-expression",
            Self::RetryOnFailure { .. } => "retry-on-failure",
            Self::RetryInterval { .. } => "retry-interval",
            Self::HelmWaits { .. } => "helm-waits",
            Self::List { .. } => "list",
            Self::BringNamespace { .. } => "namespace",
            Self::Split { .. } => "split",
        }
    }

    /// The object that is edited, where it is one.
    pub fn component(&self) -> Option<&ObjectRef> {
        match self {
            Self::Depend { component, .. }
            | Self::Undepend { component, .. }
            | Self::Rename { component, .. }
            | Self::DependInstead { component, .. }
            | Self::Wait { component }
            | Self::Unwait { component }
            | Self::Resume { component }
            | Self::AwaitReady { component }
            | Self::Check { component, .. }
            | Self::Judge { component, .. }
            | Self::RetryOnFailure { component }
            | Self::RetryInterval { component }
            | Self::HelmWaits { component }
            | Self::BringNamespace { component, .. }
            | Self::Split { component, .. } => Some(component),
            Self::Unlist { .. } | Self::List { .. } => None,
        }
    }

    /// What it is about beside that: who is waited for, what is named, listed or judged.
    pub fn target(&self) -> Option<String> {
        match self {
            Self::Depend { on, .. } => Some(on.to_string()),
            Self::Undepend { on, .. } => Some(on.to_string()),
            Self::Unlist { path, .. } => Some(path.clone()),
            Self::Rename { to, .. } => Some(to.to_string()),
            Self::DependInstead { to, .. } => Some(to.to_string()),
            Self::Check { object, .. } => Some(object.to_string()),
            Self::Judge { kind, .. } => Some(kind.to_string()),
            Self::List { file, .. } => Some(file.clone()),
            Self::BringNamespace { namespace, .. } => Some(namespace.to_string()),
            Self::Split { new, .. } => Some(new.to_string()),
            _ => None,
        }
    }

    /// Whether a running cluster behaves differently after it, beyond the order of its next reconciliations.
    pub fn is_unsafe(&self) -> bool {
        match self {
            Self::Depend { .. } | Self::Rename { .. } | Self::DependInstead { .. } | Self::RetryInterval { .. } => {
                false
            }
            Self::Undepend { .. }
            | Self::Unlist { .. }
            | Self::Wait { .. }
            | Self::Unwait { .. }
            | Self::Resume { .. }
            | Self::AwaitReady { .. }
            | Self::Check { .. }
            | Self::Judge { .. }
            | Self::RetryOnFailure { .. }
            | Self::HelmWaits { .. }
            | Self::List { .. }
            | Self::BringNamespace { .. }
            | Self::Split { .. } => true,
        }
    }
}

/// A finding that stays, and why.
#[derive(Clone, Debug)]
pub struct Left {
    pub finding: Told,
    pub why: WhyLeft,
}

impl Left {
    /// Whether it would be closed where a running cluster may behave differently after it.
    pub fn is_held(&self) -> bool {
        matches!(self.why, WhyLeft::Unsafe { .. })
    }
}

/// Why a finding is not closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyLeft {
    /// It takes a person to tell what is meant.
    NoEdit,
    /// What would close it changes what a running cluster does, and that was not asked for.
    Unsafe { actions: Vec<Action> },
    /// The lines to edit are not in a file: a tool makes them.
    NotInFile { component: ObjectRef },
    /// The lines to edit are written in a way that is not edited.
    Unedited { at: Span, how: Unedited },
    /// Together with other edits it would be a cycle.
    Cycle,
    /// Objects can't be moved out of a component.
    Unsplit { component: ObjectRef, how: Unsplit },
    /// With the edit it is found again.
    StillFound,
    /// With the edit something else is found.
    FindsOther { rule: String, component: String },
    /// Installs would begin before what they need is there, because what provides it can't be waited for by an edit.
    TooSoon { needed: Capability, gate: ObjectRef },
}

impl WhyLeft {
    /// The word that programs read.
    pub fn word(&self) -> &'static str {
        match self {
            Self::NoEdit => "no-edit",
            Self::Unsafe { .. } => "unsafe",
            Self::NotInFile { .. } => "not-in-file",
            Self::Unedited { how: Unedited::Shared { .. }, .. } => "shared",
            Self::Unedited { how: Unedited::Anchor, .. } => "anchor",
            Self::Unedited { .. } => "not-edited",
            Self::Cycle => "cycle",
            Self::Unsplit { .. } => "not-split",
            Self::StillFound => "still-found",
            Self::FindsOther { .. } => "finds-other",
            Self::TooSoon { .. } => "too-soon",
        }
    }
}

/// A way to write lines that are not edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unedited {
    /// Others get the same lines: by a patch, or a base.
    Shared { by: usize },
    /// The lines are an alias, or an anchor that is used elsewhere.
    Anchor,
    /// A JSON patch, a folded or quoted text.
    InText,
    /// A template.
    Template,
    /// What is there is not what was expected.
    Unexpected,
    /// The file is UTF-16.
    Encoding,
    /// The file is not YAML after it.
    NotYaml,
    /// So much was edited before that this would take too long.
    TooMuch,
}

/// Why objects are not moved to a Kustomization of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsplit {
    /// What installs their kinds would have to move as well: the component applies the new one itself, or is not ready without them.
    WithProvider,
    /// A file holds other objects, too.
    Mixed { path: String },
    /// A file is not in the directory of the component, or not in the lists of its kustomizations alone.
    Elsewhere { path: String },
    /// The Kustomization has patches, images or the like, which may be about them.
    Patched { at: Span },
    /// There is no directory, or no name, that is free: this one is not.
    Taken { name: String },
    /// Another Kustomization applies everything below a directory that the new one would be in.
    Scanned { by: ObjectRef },
    /// With the edit, an object would be built in another way, or in none.
    BuiltOtherwise { object: ObjectRef },
}
