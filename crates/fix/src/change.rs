//! What is to be changed, in the words of the model: a component waits for another, a gate waits for its objects.
//!
//! Knows components. How it is written in a file is [`crate::write`]'s.

use diagnostic::Action;
use ecow::EcoString;
use model::{Cluster, ComponentId, HealthExpression, ObjectRef};
use source::Span;

use crate::split::Plan;

/// One change of what the files say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Depend {
        of: ComponentId,
        on: ComponentId,
    },
    /// The item of a list that this place is in.
    Undepend {
        of: ComponentId,
        at: Span,
        on: EcoString,
    },
    /// The list that this place is in goes from a patch, which gives it to so many components.
    Unlist {
        of: ComponentId,
        at: Span,
        path: String,
        components: usize,
    },
    /// The item that this place is in names something that is not there.
    Rename {
        of: ComponentId,
        at: Span,
        from: ObjectRef,
        to: ObjectRef,
    },
    /// The item that this place is in names what another one now comes after.
    DependInstead {
        of: ComponentId,
        at: Span,
        from: ObjectRef,
        to: ObjectRef,
    },
    Wait {
        of: ComponentId,
    },
    /// It does not wait for all that it applies any more: what it lists counts.
    Unwait {
        of: ComponentId,
    },
    /// It is not suspended any more.
    Resume {
        of: ComponentId,
    },
    /// On the item that this place is in.
    AwaitReady {
        of: ComponentId,
        at: Span,
    },
    Check {
        of: ComponentId,
        object: ObjectRef,
        api_version: EcoString,
    },
    Judge {
        of: ComponentId,
        kind: EcoString,
        by: HealthExpression,
    },
    RetryOnFailure {
        of: ComponentId,
    },
    RetryInterval {
        of: ComponentId,
    },
    HelmWaits {
        of: ComponentId,
    },
    BringNamespace {
        of: ComponentId,
        namespace: EcoString,
    },
    /// Objects go to a Kustomization of their own.
    Split {
        of: ComponentId,
        plan: Plan,
    },
    /// A file that nothing lists, seen from the root, by the nearest kustomization.
    List {
        of: ComponentId,
        file: String,
        by: String,
    },
}

impl Change {
    /// The component that is edited.
    pub(crate) fn of(&self) -> ComponentId {
        match self {
            Self::Depend { of, .. }
            | Self::Undepend { of, .. }
            | Self::Unlist { of, .. }
            | Self::Rename { of, .. }
            | Self::DependInstead { of, .. }
            | Self::Wait { of }
            | Self::Unwait { of }
            | Self::Resume { of }
            | Self::AwaitReady { of, .. }
            | Self::Check { of, .. }
            | Self::Judge { of, .. }
            | Self::RetryOnFailure { of }
            | Self::RetryInterval { of }
            | Self::HelmWaits { of }
            | Self::BringNamespace { of, .. }
            | Self::Split { of, .. }
            | Self::List { of, .. } => *of,
        }
    }

    /// The same, for people.
    pub(crate) fn action(&self, cluster: &Cluster) -> Action {
        let component = cluster.component(self.of()).object.clone();
        match self {
            Self::Depend { on, .. } => Action::Depend { component, on: cluster.component(*on).object.clone() },
            Self::Undepend { on, .. } => Action::Undepend { component, on: on.clone() },
            Self::Unlist { path, components, .. } => Action::Unlist { path: path.clone(), components: *components },
            Self::Rename { from, to, .. } => {
                let is_elsewhere = from.namespace != to.namespace;
                let name = |object: &ObjectRef| if is_elsewhere { object.path().into() } else { object.name.clone() };
                Action::Rename { component, from: name(from), to: name(to) }
            }
            Self::DependInstead { from, to, .. } => {
                Action::DependInstead { component, from: from.clone(), to: to.clone() }
            }
            Self::Wait { .. } => Action::Wait { component },
            Self::Unwait { .. } => Action::Unwait { component },
            Self::Resume { .. } => Action::Resume { component },
            Self::AwaitReady { .. } => Action::AwaitReady { component },
            Self::Check { object, .. } => Action::Check { component, object: object.clone() },
            Self::Judge { kind, .. } => Action::Judge { component, kind: kind.clone() },
            Self::RetryOnFailure { .. } => Action::RetryOnFailure { component },
            Self::RetryInterval { .. } => Action::RetryInterval { component },
            Self::HelmWaits { .. } => Action::HelmWaits { component },
            Self::BringNamespace { namespace, .. } => {
                Action::BringNamespace { component, namespace: namespace.clone() }
            }
            Self::Split { plan, .. } => Action::Split {
                component,
                new: plan.new.clone(),
                directory: plan.directory.clone(),
                kinds: plan.kinds.clone(),
                handover: plan.handover,
            },
            Self::List { file, by, .. } => Action::List { file: file.clone(), by: by.clone() },
        }
    }
}
