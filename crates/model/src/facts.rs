//! What rules ask about a cluster beside its needs and offers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ecow::EcoString;
use source::Span;
use yaml::Node;

use crate::boot::Boot;
use crate::bootstrap::BootstrapFiles;
use crate::capability::Capability;
use crate::cluster::ComponentId;
use crate::object::ObjectRef;

#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Directories of the repository that Kustomizations with the kubeconfig of another cluster apply there.
    pub handed_over: Arc<[String]>,
    /// The namespace of the source that the root is built from: it is there before Flux applies anything.
    pub source_namespace: Option<EcoString>,
    /// Components that are applied together with the root, or by a script, before Flux applies anything, and that are yet part of what one
    /// applies: who that is.
    pub beside_root: BTreeMap<ComponentId, ComponentId>,
    /// The address that Flux has the repository itself from, if the files say it.
    pub own_address: Option<String>,
    pub flux: Option<FluxVersion>,
    /// Flux's controllers by name, the one that fetches sources first; none where no file tells which there are.
    pub flux_controllers: Vec<EcoString>,
    /// A Kustomization is tried again as soon as a Secret or ConfigMap is there that it names.
    pub watches_settings: bool,
    /// Variables that a build uses and nothing sets, where everything that could set them was seen.
    pub undefined: Vec<UndefinedVariable>,
    /// Variables of builds that get no variable at all unless somebody makes their optional sources: nothing is
    /// substituted then, not even defaults.
    pub unsubstituted: Vec<UndefinedVariable>,
    /// Charts with their versions, of releases that the bootstrap installs and Flux adopts.
    pub charts: Vec<Chart>,
    /// Kustomizations that delete what leaves their build, with the place that says so.
    pub prunes: BTreeMap<ComponentId, Span>,
    /// Objects that are never pruned.
    pub kept: BTreeSet<ObjectRef>,
    /// Components that apply pods themselves, as Deployments and alike.
    pub runs_pods: BTreeSet<ComponentId>,
    /// CRDs that a deployed chart has, and does not install under its values.
    pub withheld: Vec<Withheld>,
    /// A program that seems to bootstrap the cluster and is not read: what it brings is not known.
    pub unread_bootstrap: Option<EcoString>,
    /// A script of the bootstrap that applies the CRDs of charts which no file tells.
    pub unclear_crds: Option<EcoString>,
    /// `healthChecks` that name an object which nothing applies or makes, as far as was seen.
    pub missing_checks: Vec<MissingCheck>,
    /// The files that its bootstrap is made of.
    pub bootstrap: BootstrapFiles,
    /// What is known of the steps before GitOps, beyond what they install.
    pub boot: Boot,
    /// Releases of the controller of sealed-secrets that make new keys by themselves.
    pub renewals: Vec<Renewal>,
    /// How many releases had their charts rendered.
    pub rendered: usize,
    /// Expressions that tell the health of a kind (`group/Kind`) by its status, where one is known.
    pub expressions: BTreeMap<EcoString, HealthExpression>,
}

/// What an entry of `healthCheckExprs` says of a kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HealthExpression {
    pub api_version: EcoString,
    /// True when an object of the kind does its work.
    pub current: EcoString,
}

/// An entry of `healthChecks` that names nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingCheck {
    /// The Kustomization that waits for it.
    pub of: ComponentId,
    pub object: ObjectRef,
    pub at: Span,
    /// An object of that Kustomization whose name differs by a slip.
    pub near: Option<ObjectRef>,
}

/// Which Flux runs there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FluxVersion {
    /// As it is written: `v2.7.5`, `2.x`.
    pub written: EcoString,
    /// Major and minor of Flux, where they are fixed.
    pub minor: Option<(u64, u64)>,
    /// Undefined variables fail a build whatever the version says, or never: the feature gate is set.
    pub strict: Option<bool>,
    pub at: Span,
}

/// `${name}` with no default, which nothing sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndefinedVariable {
    /// The component whose build it is in.
    pub of: ComponentId,
    pub name: EcoString,
    pub at: Span,
    /// Where the variables of that build are set.
    pub set_at: Span,
}

/// A chart as a release installs it.
#[derive(Clone, Debug)]
pub struct Chart {
    pub of: ComponentId,
    /// The last part of its address.
    pub name: EcoString,
    /// Helm's own name of the release, and where it lands.
    pub release: (EcoString, EcoString),
    /// A version that is written out, not a range.
    pub version: Option<(EcoString, Span)>,
    /// All its values, where all of them can be seen.
    pub values: Option<Node>,
    /// It has values that can't be seen.
    pub hides_values: bool,
}

/// A controller of sealed-secrets that makes new keys by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewal {
    pub of: ComponentId,
    /// The value that says how often, else the release's chart.
    pub at: Span,
    /// How often, where a value says so that the chart reads.
    pub every: Option<EcoString>,
    /// A value of that name where the chart does not look for it: its path and its place.
    pub unread: Option<(EcoString, Span)>,
}

/// CRDs that a chart would install if a value were set otherwise.
#[derive(Clone, Debug)]
pub struct Withheld {
    pub by: ComponentId,
    pub capability: Capability,
    /// What to change: `values.crds.enabled: true`.
    pub switch: EcoString,
    pub at: Span,
}
