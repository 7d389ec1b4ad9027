//! ## What it finds
//!
//! A Kustomization that can't be built: a file that does not exist, YAML that does not parse, a patch without a target,
//! a path that does not exist, two objects with the same name; or one that builds, but in which Flux can't substitute
//! the variables; or one that holds a Secret which SOPS encrypted, without `spec.decryption`. Or a step of the bootstrap
//! that applies a file of this repository, where neither the file nor its directory exists; or a release of a helmfile whose values file, or the command of whose hook, does not exist.
//!
//! Where nothing defines the source of the Kustomization, its path may be meant for another repository, and this is an info.
//!
//! ## Why it matters at a cold start
//!
//! Flux applies none of it, and nothing that depends on it starts. On a running cluster the last good state stays, and
//! only a condition of the Kustomization shows the failure. A bootstrap stops at such a step, and it usually runs only
//! when the cluster is rebuilt.
//!
//! ## Example
//!
//! ```yaml
//! resources:
//!   - ./helmrelease.yml   # the file is called helmrelease.yaml
//! ```
//!
//! ## Fix
//!
//! Make `kustomize build` of the directory succeed. Where it does, and a `${` is not meant for Flux, write `$${`, or
//! give the object the annotation `kustomize.toolkit.fluxcd.io/substitute: disabled`.

use std::collections::BTreeMap;

use diagnostic::{
    Advice, Cost, EvidenceRole, Explains, Finding, Fix, Goal, InstallFault, Label, Location, PlainAdvice, Rule,
    Severity, Symptom,
};
use model::{BootstrapStep, BrokenBuild, BuildFault, CapabilityKind, ComponentId, Consequence, Need, Role, Verdict};

use crate::context::Context;

pub(crate) static RULE: Rule =
    Rule::new("broken-build", "a build that fails, so Flux applies none of it", include_str!("broken_build.rs"))
        .explains(&[Explains::new(Symptom::BuildFailed, 1)]);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut by_component: BTreeMap<ComponentId, Vec<&BrokenBuild>> = BTreeMap::new();
    for broken in context.cluster.broken.iter().filter(|broken| !context.is_asleep(broken.component)) {
        by_component.entry(broken.component).or_default().push(broken);
    }
    by_component.iter().map(|(id, broken)| finding(context, *id, broken)).collect()
}

/// Failures of one build that are shown.
const SHOWN_MAX: usize = 3;

fn finding(context: &Context<'_>, id: ComponentId, broken: &[&BrokenBuild]) -> Finding {
    let component = context.component(id);
    let first = broken[0];
    let is_early = first.fault.is_of_bootstrap();
    let (object, fault, count) = (component.object.clone(), first.fault.clone(), broken.len());
    let is_release =
        matches!(component.role, Role::Bootstrap(step) if step.is_release() || step == BootstrapStep::Crds);
    let statement = if is_early {
        InstallFault::BootstrapStops { release: Some(object).filter(|_| is_release), fault, count }
    } else {
        InstallFault::CantBeBuilt { component: object, fault, count }
    };
    let label = |broken: &BrokenBuild| {
        let fault = broken.fault.clone();
        if is_early { Label::BrokenCommand { fault } } else { Label::Broken { fault } }
    };
    // A bootstrap may be run by hand, past what fails.
    let (severity, consequence, cost) = if is_early {
        (Severity::Warning, Consequence::Terminal { certain: false }, Cost::BootstrapEnds)
    } else if has_no_source(context, id) {
        (Severity::Info, Consequence::Deadlock, Cost::NothingApplied)
    } else {
        (Severity::Error, Consequence::Deadlock, Cost::NothingApplied)
    };
    let goal = Goal::Builds { component: component.object.clone() };
    let primary = Location::new(first.at, label(first));
    let mut finding = Finding::new(&RULE, severity, &context.cluster.name, &component.object, statement, primary)
        .with_consequence(consequence)
        .with_cost(cost)
        .with_fix(Fix::by_hand(advice(&first.fault, component.path.as_deref()), goal));
    for broken in &broken[1..broken.len().min(SHOWN_MAX)] {
        finding = finding.with_evidence(EvidenceRole::Related, broken.at, label(broken));
    }
    finding
}

/// Whether the source of a Kustomization is not defined: its path was looked up in this repository, and may be meant for another.
fn has_no_source(context: &Context<'_>, id: ComponentId) -> bool {
    let is_its = |need: &Need| need.of == id && need.capability.kind == CapabilityKind::Source;
    let mut unoffered = context.judged().filter(|judged| judged.verdict == Verdict::Unoffered);
    unoffered.any(|judged| is_its(context.need(judged)))
}

fn advice(fault: &BuildFault, path: Option<&str>) -> Advice {
    match (fault, path) {
        (BuildFault::Encrypted { .. }, _) => PlainAdvice::SetDecryption.into(),
        (BuildFault::Text(_), _) => PlainAdvice::EscapeText.into(),
        (BuildFault::VariableName(_), _) => PlainAdvice::RenameVariable.into(),
        (BuildFault::Kustomize(_) | BuildFault::NoPath { .. }, Some(path)) => {
            Advice::MakeBuildSucceed { path: path.to_owned() }
        }
        (BuildFault::NoFile { meant: Some(meant), .. }, _) => Advice::DidYouMeanFile { path: meant.clone() },
        (BuildFault::NoFile { meant: None, .. }, _) => PlainAdvice::CorrectCommand.into(),
        (BuildFault::Kustomize(_) | BuildFault::NoPath { .. }, None) => PlainAdvice::CorrectPath.into(),
    }
}
