//! The boot before GitOps, beyond what it installs: single steps of it that do something else than they seem to.
//!
//! Knows no tool. Who reads one states here what its steps get wrong; a rule for each defect says what that costs.

use std::collections::BTreeMap;

use ecow::EcoString;
use source::Span;

use crate::gate_defect::GateDefect;
use crate::object::ObjectRef;
use crate::step::{BootStep, Doing, ExpectedNode, StepId, StepOrder};

/// What is known of the boot of one cluster before GitOps starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boot {
    /// The machines that the cluster is to have, as far as files tell.
    pub nodes: Vec<ExpectedNode>,
    /// The address that the control planes share, which is there only once etcd runs.
    pub virtual_address: Option<EcoString>,
    /// Nodes come without a pod network: something has to install one.
    pub lacks_network: bool,
    pub steps: Vec<BootStep>,
    /// Where the credentials of the API server are written to, in the order in which that is found.
    pub credentials: Vec<CredentialsFile>,
    /// Directories of infrastructure as code that no script runs, where scripts run others.
    pub not_run: Vec<EcoString>,
    /// What is wrong with something that is no step itself: the steps around it.
    pub near: BTreeMap<ObjectRef, Near>,
    /// Steps that do something else than they seem to, sorted by place.
    pub faults: Vec<StepFault>,
}

impl Boot {
    /// Whether there is nothing to say of it.
    pub fn is_empty(&self) -> bool {
        self.faults.is_empty() && self.steps.is_empty()
    }

    pub fn step(&self, id: StepId) -> &BootStep {
        &self.steps[id.index()]
    }

    /// The steps that start GitOps.
    pub fn starts(&self) -> impl Iterator<Item = StepId> {
        self.ids().filter(|id| self.step(*id).does == Doing::StartsGitOps)
    }

    /// Those machines that are no control planes.
    pub fn has_workers(&self) -> bool {
        self.nodes.iter().any(|node| !node.is_control_plane)
    }

    /// What of it is written in the places that are kept.
    pub fn only(&self, keeps: impl Fn(Span) -> bool) -> Self {
        let kept: Vec<StepId> = self.ids().filter(|id| keeps(self.step(*id).at)).collect();
        let place = |id: StepId| kept.binary_search(&id).ok().map(|at| StepId(source::to_u32(at)));
        let with_places = |step: &BootStep| {
            let after = step.after.iter().filter_map(|order| Some(StepOrder { on: place(order.on)?, ..order.clone() }));
            BootStep { after: after.collect(), ..step.clone() }
        };
        Self {
            steps: kept.iter().map(|id| with_places(self.step(*id))).collect(),
            near: self.near.iter().map(|(object, near)| (object.clone(), near.only(place))).collect(),
            credentials: self.credentials.iter().filter(|file| keeps(file.at)).cloned().collect(),
            faults: self.faults.iter().filter(|fault| keeps(fault.at)).cloned().collect(),
            ..self.clone()
        }
    }

    pub fn ids(&self) -> impl Iterator<Item = StepId> + use<> {
        (0..source::to_u32(self.steps.len())).map(StepId)
    }
}

/// A file that the credentials of the API server are written to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CredentialsFile {
    /// From the root of the repository, as far as files tell where it is.
    pub path: EcoString,
    /// What writes it.
    pub at: Span,
}

/// The steps around something that is none itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Near {
    /// Those that it comes after.
    pub after: Vec<StepId>,
    /// Those that come after it.
    pub before: Vec<StepId>,
}

impl Near {
    fn only(&self, place: impl Fn(StepId) -> Option<StepId>) -> Self {
        let kept = |ids: &[StepId]| ids.iter().copied().filter_map(&place).collect();
        Self { after: kept(&self.after), before: kept(&self.before) }
    }
}

/// A step of the boot that does something else than it seems to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StepFault {
    /// The line a person would edit.
    pub at: Span,
    /// A script by its path, a resource by its directory and its address.
    pub step: ObjectRef,
    pub defect: Defect,
    /// What else shows it, in the order in which it is to be read.
    pub shown: Vec<Span>,
}

/// What a step gets wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Defect {
    /// A command that waits, and lets the boot go on too early or never.
    Gate(GateDefect),
    /// Infrastructure as code that is applied too early, in the wrong order, or keeps what it should not.
    Layer(LayerDefect),
}

/// What is wrong with a directory of infrastructure as code, or something in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LayerDefect {
    /// The configuration of a provider depends on a resource of the same run. `reader` is a block that uses it already when the run is
    /// planned. `is_file`: the path of a file, which is known by then; the file is not there.
    ProviderFromResource { resource: EcoString, reader: Option<EcoString>, is_file: bool },
    /// An object whose kind must be served when the run is planned, and which the same run installs.
    KindAtPlan { kind: EcoString, by: EcoString },
    /// A script enters it, and it does not exist.
    MissingDirectory { directory: EcoString },
    /// Runs that each take something from the next, the last one from the first.
    Cycle { directories: Vec<EcoString> },
    /// A provider reads a file in the directory of another run that neither that run nor a script writes; `instead` is what it writes.
    MissingFile { file: EcoString, instead: EcoString },
    /// A run that comes before GitOps, or starts it, needs a service that GitOps brings. `at_plan`: before anything is made. `forward`:
    /// the address of this machine that it is asked at, which no script forwards.
    ServiceFromGitOps { service: EcoString, start: EcoString, at_plan: bool, forward: Option<EcoString> },
    /// It asks a service of the cluster at an address of this machine, and no script forwards that.
    NotForwarded { service: EcoString, address: EcoString },
    /// It waits for an object that GitOps brings, before a later run starts that, or before this run does.
    AwaitsGitOps { object: EcoString, start: EcoString },
    /// It reads, when the run is planned, an object in a namespace that GitOps brings, which the same run starts.
    ObjectFromGitOps { object: ObjectRef, start: EcoString },
    /// It speaks to the API server of the cluster that the same run makes, and waits for no part of that.
    ApiOfSameRun { maker: EcoString },
    /// It makes an object in a namespace that this of the same run makes, and does not wait for it.
    NamespaceOfSameRun { namespace: EcoString, by: EcoString },
    /// It does not wait until what it makes works, and this comes after it.
    WaitOff { argument: EcoString, dependent: Option<EcoString> },
    /// The state of the run holds it in clear.
    KeyInState { kept: KeptKey },
    /// It commits what GitOps is to read, and nothing pushes that.
    NotPushed { start: EcoString },
    /// A file in a Secret that is written out by hand around values.
    HandWritten { key: EcoString, is_json: bool },
}

/// What a state holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeptKey {
    PrivateKey,
    Token,
    /// The secrets that a cluster is made of.
    ClusterSecrets,
    /// A key that is read from elsewhere.
    Copied,
    /// What a program printed.
    Printed,
}
