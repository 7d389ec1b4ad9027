//! What to do about a finding, as data.

use ecow::EcoString;
use model::{Capability, HealthExpression, ObjectRef};
use source::{FileId, Span};

use crate::boot::BootAdvice;
use crate::label::Hop;
use crate::layer::LayerAdvice;
use crate::next::Next;
use crate::site::Site;
use crate::waiting::WaitAdvice;

/// The title of a fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// A command to type.
    Type(Next),
    Plain(PlainAdvice),
    Boot(BootAdvice),
    Layer(LayerAdvice),
    Wait(WaitAdvice),
    Order(OrderAdvice),
    Gate(GateAdvice),
    BringNamespace {
        component: ObjectRef,
        namespace: EcoString,
    },
    /// It must be there before Flux builds the component, or the component does without it.
    BringBefore {
        component: ObjectRef,
        needed: Capability,
    },
    DefineSource {
        source: ObjectRef,
    },
    KeepFromPruning {
        object: ObjectRef,
        has_others: bool,
    },
    DidYouMeanFile {
        path: String,
    },
    MakeBefore {
        needed: Capability,
    },
    MakeBuildSucceed {
        path: String,
    },
    MakeIt {
        needed: Capability,
    },
    MakeOrSubstituteAlways {
        needed: Capability,
    },
    /// Objects with a need go into a Kustomization of their own.
    MoveNeeds {
        places: Vec<Site>,
    },
    /// A release goes into a Kustomization of its own, on which the component can depend; or the component is retried sooner, where it
    /// has no `retryInterval`.
    MoveRelease {
        component: ObjectRef,
        release: ObjectRef,
        has_no_retry: bool,
    },
    MoveResources(Moved),
    Resume {
        target: ObjectRef,
    },
    /// For failures of all of these.
    SetRetryInterval {
        components: Vec<ObjectRef>,
    },
    SetSwitch {
        switch: EcoString,
        chart: ObjectRef,
    },
    SetVariable {
        name: EcoString,
    },
    WriteVersion {
        version: EcoString,
    },
}

/// What needs no names to be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainAdvice {
    AddReason,
    CorrectCommand,
    CorrectName,
    CorrectCheck,
    CorrectNeeds,
    CorrectPath,
    EscapeText,
    KeepSealingKey,
    ListFileOrDelete,
    ListRules,
    NameSameKind,
    /// The values of the two are to be one.
    ReadValues,
    RemoveDependencyOnParent,
    /// Each of several circles has a declared order of its own.
    RemoveMoreThanOne,
    RemoveOneEdge,
    RemoveOrKeep,
    RenameVariable,
    SetDecryption,
    SetReady,
    TakeCommentAway,
    WaitForWhatUsesIt,
    WriteComment,
}

/// Orders to declare, to correct or to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderAdvice {
    Add(NewDependency),
    /// As [`OrderAdvice::Add`], though with the bootstrap it is not needed.
    AddWithoutBootstrap(NewDependency),
    /// As [`OrderAdvice::Add`], or let the release try again.
    AddOrRetry(NewDependency),
    AddToDependencies {
        gate: ObjectRef,
        component: ObjectRef,
    },
    /// Whatever applies the component is to depend on the gate.
    ApplierDependsOn {
        gate: ObjectRef,
        component: ObjectRef,
    },
    DependOnApplierOf {
        object: ObjectRef,
    },
    /// Depend on what applies a release, which waits, or has to wait, for its resource.
    DependInstead {
        applier: ObjectRef,
        resource: ObjectRef,
        waits: bool,
        by: Option<HealthExpression>,
    },
    DidYouMean {
        object: ObjectRef,
    },
    DidYouMeanRelease {
        release: ObjectRef,
    },
    /// A dependency on an object of another kind belongs on what applies the two.
    Move {
        consumer: ObjectRef,
        target: ObjectRef,
    },
    OtherNamespace {
        namespace: EcoString,
    },
    /// It, or what applies it where that is another, waits for the target already.
    RemoveEntry {
        waits_by: Option<ObjectRef>,
        target: ObjectRef,
    },
    RemoveOneOf {
        places: Vec<Span>,
    },
    RemoveOnly {
        place: Span,
    },
    /// Without any other, a circle is left.
    RemoveThis {
        place: Span,
    },
}

/// Gates to set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateAdvice {
    AddExpressions {
        judging: Judging,
        gate: ObjectRef,
    },
    HaveWait {
        applier: ObjectRef,
        resource: ObjectRef,
        by: Option<HealthExpression>,
    },
    /// To name one object: to wait for all would close a circle.
    ListOnly {
        gate: ObjectRef,
        object: ObjectRef,
        back: Vec<Hop>,
    },
    /// Nothing that it could wait for: whatever it is, it waits for the gate itself.
    NoGate {
        gate: ObjectRef,
        back: Vec<Hop>,
    },
    ListInChecks {
        gate: ObjectRef,
        /// What is to be listed, where that was tried.
        object: Option<ObjectRef>,
    },
    RemoveDisableWait {
        gate: ObjectRef,
    },
    SetReadyAndWait {
        gate: ObjectRef,
    },
    /// On the object, or in the patch that decides it.
    SetWait {
        gate: ObjectRef,
        patch: Option<FileId>,
    },
    SetWaitAndReady {
        gate: ObjectRef,
    },
    TakeWaitOff {
        gate: ObjectRef,
    },
}

/// An order that is to be declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDependency {
    pub consumer: ObjectRef,
    pub provider: ObjectRef,
    pub written: Written,
}

/// Where and how the order is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// By objects of the consumer, in a Kustomization of their own: the provider waits for the consumer.
    Apart { places: Vec<Site>, gate: OtherGate, back: Vec<Hop> },
    /// Where the provider does not wait for the consumer any more: the tie at this place is in the way, and nothing else needs it.
    Instead { place: Span, gate: OtherGate },
    /// `needs` of a release in a helmfile.
    Needs(OtherGate),
    /// Nowhere: the provider waits for the consumer, in this way.
    Nowhere { back: Vec<Hop> },
    /// `dependsOn` of the consumer's own object.
    Own(OtherGate),
    /// `dependsOn` in the patch of this file.
    Patch(FileId, OtherGate),
}

/// What the other end of a new order lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherGate {
    /// Nothing: what it is done by proves what is needed.
    Waits,
    /// To wait; decided by the patch in this file, where one does.
    NeedsWait { patch: Option<FileId>, judging: Option<Judging> },
    /// To name this object in its `healthChecks`, which `wait: true` would switch off.
    NeedsCheck { object: ObjectRef, judging: Option<Judging>, waits_now: bool },
    /// To judge a kind by its status.
    NeedsExpression(Judging),
}

/// A kind that is to be judged by an expression on its status, and the expression where it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judging {
    pub kind: EcoString,
    pub by: Option<HealthExpression>,
}

/// Custom resources that are to move away from what brings their kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub kinds: Vec<EcoString>,
    /// Where the first of each kind is.
    pub places: Vec<Span>,
    /// The health checks of the Kustomization name them.
    pub with_checks: bool,
    pub awaited: Awaited,
}

/// What the new Kustomization is to wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// What brings the kinds, whatever that is.
    Provider,
    /// A second new one that takes the provider along.
    NewOne {
        provider: ObjectRef,
    },
    /// The one that they come from.
    This {
        needs_wait: bool,
    },
    Other {
        holder: ObjectRef,
        needs_wait: bool,
    },
}

impl From<LayerAdvice> for Advice {
    fn from(advice: LayerAdvice) -> Self {
        Self::Layer(advice)
    }
}

impl From<BootAdvice> for Advice {
    fn from(advice: BootAdvice) -> Self {
        Self::Boot(advice)
    }
}

impl From<WaitAdvice> for Advice {
    fn from(advice: WaitAdvice) -> Self {
        Self::Wait(advice)
    }
}

impl From<Next> for Advice {
    fn from(next: Next) -> Self {
        Self::Type(next)
    }
}

impl From<PlainAdvice> for Advice {
    fn from(advice: PlainAdvice) -> Self {
        Self::Plain(advice)
    }
}

impl From<OrderAdvice> for Advice {
    fn from(advice: OrderAdvice) -> Self {
        Self::Order(advice)
    }
}

impl From<GateAdvice> for Advice {
    fn from(advice: GateAdvice) -> Self {
        Self::Gate(advice)
    }
}
