//! ## What it finds
//!
//! A custom resource whose CRD is not installed, although the chart that contains it is deployed: a value leaves the
//! CRDs out (`crds.enabled: false`, an `installCRDs` that was never set), or the release says `crds: Skip`.
//!
//! ## Why it matters at a cold start
//!
//! On a running cluster the CRDs exist: they were applied by hand years ago, or an older chart installed them. On a new
//! one nothing installs them, and Flux never applies what uses them.
//!
//! ## Example
//!
//! ```yaml
//! # chart cert-manager, with neither crds.enabled nor installCRDs
//! values:
//!   replicaCount: 2
//! ```
//!
//! ## Fix
//!
//! Set the value that the finding names, deploy the chart that has only the CRDs, or let the bootstrap install them.

use std::collections::BTreeMap;

use diagnostic::{
    Absence, Advice, Also, EvidenceRole, Explains, Finding, Fix, Goal, Label, Location, NeverCost, Rule, Severity,
    Symptom,
};
use graph::Judged;
use model::{CapabilityKind, ComponentId, Consequence, Phase, Verdict, Withheld};

use crate::context::Context;
use crate::needs::needs;

pub(crate) static RULE: Rule = Rule::new(
    "uninstalled-crd-chart",
    "a deployed chart that does not install its CRDs",
    include_str!("uninstalled_crd_chart.rs"),
)
.explains(&[Explains::new(Symptom::UnknownKind, 2)]);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    // A chart that nobody knows and that is called after CRDs may well bring these.
    if context.cluster.blind.iter().any(model::BlindSpot::may_bring_crds) {
        return Vec::new();
    }
    let mut by_chart: BTreeMap<ComponentId, Vec<(&Judged, &Withheld)>> = BTreeMap::new();
    for judged in context.judged().filter(|judged| judged.verdict == Verdict::Unoffered) {
        let need = context.need(judged);
        // What a program only looks for once it runs keeps nothing from being applied.
        let is_applied = matches!(need.phase, Phase::Build | Phase::Apply);
        if need.capability.kind != CapabilityKind::Crd || need.optional || !is_applied {
            continue;
        }
        let withheld = context.cluster.facts.withheld.iter().find(|it| covers(it, &need.capability.name));
        if let Some(withheld) = withheld.filter(|it| !context.is_asleep(it.by)) {
            by_chart.entry(withheld.by).or_default().push((judged, withheld));
        }
    }
    by_chart.iter().map(|(by, lacking)| finding(context, *by, lacking)).collect()
}

fn covers(withheld: &Withheld, kind: &str) -> bool {
    let own = withheld.capability.name.as_str();
    own == kind || own.strip_suffix("/*").is_some_and(|group| kind.split('/').next() == Some(group))
}

fn finding(context: &Context<'_>, by: ComponentId, lacking: &[(&Judged, &Withheld)]) -> Finding {
    let (judged, withheld) = lacking[0];
    let need = context.need(judged);
    let consumer = &context.component(context.applier(need.of)).object;
    let chart = &context.component(by).object;
    let mut users: Vec<ComponentId> =
        lacking.iter().map(|(judged, _)| context.applier(context.need(judged).of)).collect();
    users.dedup();
    // What could not be seen might install them.
    let blind = context.may_hold_more() || context.cluster.blind.iter().any(|blind| blind.component.is_some());
    let severity = if blind { Severity::Info } else { Severity::Warning };
    let statement = Absence::ChartKeepsCrd {
        component: consumer.clone(),
        count: users.len(),
        crd: need.capability.clone(),
        chart: chart.clone(),
    };
    let switch = || withheld.switch.clone();
    let primary = Location::new(withheld.at, Label::WouldBeInstalledBy { switch: switch() });
    let advice = Advice::SetSwitch { switch: switch(), chart: chart.clone() };
    let goal = Goal::Guaranteed { component: consumer.clone(), subject: need.capability.clone().into() };
    let mut finding = Finding::new(&RULE, severity, &context.cluster.name, consumer, statement, primary)
        .with_provider(chart)
        .with_subject(need.capability.clone())
        .with_verdict(Verdict::Unoffered)
        .with_consequence(Consequence::Deadlock)
        .with_cost(NeverCost::AppliedFromHere)
        .with_evidence(EvidenceRole::Need, need.at, needs(need))
        .with_fix(Fix::by_hand(advice, goal));
    let also = users.iter().skip(1).map(|id| context.component(*id)).map(|user| Also {
        component: user.object.clone(),
        provider: Some(chart.clone()),
        at: user.at.into(),
        severity,
        cost: finding.cost.clone(),
        consequence: finding.consequence,
    });
    let also: Vec<Also> = also.collect();
    finding.also = also;
    finding
}
