//! ## What it finds
//!
//! A Kustomization or HelmRelease whose source (HelmRepository, OCIRepository, GitRepository, Bucket, ExternalArtifact)
//! is not defined.
//!
//! ## Why it matters at a cold start
//!
//! It never gets an artifact. On a running cluster the old source object may still exist, although a commit removed it
//! from the repository.
//!
//! ## Example
//!
//! ```yaml
//! chart:
//!   spec:
//!     chart: app-template
//!     sourceRef: {kind: HelmRepository, name: bjw-s, namespace: flux-system}
//! ```
//!
//! ## Fix
//!
//! Define the source, or correct its kind, name or namespace. Where a part of the cluster was not seen that may define it, this is
//! info.

use diagnostic::{
    Absence, Advice, Explains, Finding, Fix, Goal, Label, Location, NeverCost, Note, Quiet, Rule, Severity, Symptom,
    Together,
};
use model::{CapabilityKind, Consequence, Need, ObjectRef, Verdict};

use crate::context::Context;

pub(crate) static RULE: Rule =
    Rule::new("missing-source", "a source that is not defined", include_str!("missing_source.rs"))
        .folding(Together::Subject, Quiet::Alone)
        .explains(&[Explains::new(Symptom::SourceNotFound, 1)]);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let unoffered = context.judged().filter(|judged| judged.verdict == Verdict::Unoffered);
    let sources =
        unoffered.map(|judged| context.need(judged)).filter(|need| need.capability.kind == CapabilityKind::Source);
    // What could not be seen might define it; but not what comes from that source itself.
    let may_define = |need: &Need| {
        let mut others = context.cluster.blind.iter().filter(|blind| blind.component != Some(need.of));
        others.any(|blind| blind.may_define_objects() || blind.why.may_hold_components())
    };
    // What a build that fails yields was never so: a patch that does not fit may name another source.
    let is_of_broken = |need: &Need| {
        let parent = context.component(need.of).parent;
        context.cluster.broken.iter().any(|broken| Some(broken.component) == parent)
    };
    sources.map(|need| finding(context, need, may_define(need) || is_of_broken(need))).collect()
}

fn finding(context: &Context<'_>, need: &Need, is_blind: bool) -> Finding {
    let component = &context.component(need.of).object;
    let (kind, name) = need.capability.name.split_once(':').unwrap_or(("source", &need.capability.name));
    let source = ObjectRef::new(kind, need.capability.namespace.clone(), name);
    let statement = Absence::NotDefined { component: component.clone(), source: source.clone() };
    let primary = Location::new(need.at, Label::NoSuchSource { kind: kind.into() });
    let severity = if is_blind { Severity::Info } else { Severity::Warning };
    let goal = Goal::Exists { object: source.clone() };
    let mut finding = Finding::new(&RULE, severity, &context.cluster.name, component, statement, primary)
        .with_subject(need.capability.clone())
        .with_verdict(Verdict::Unoffered)
        .with_consequence(Consequence::Deadlock)
        .with_cost(NeverCost::Gets)
        .with_fix(Fix::by_hand(Advice::DefineSource { source }, goal));
    finding.notes.extend(is_blind.then_some(Note::UnseenMayDefine));
    finding
}
