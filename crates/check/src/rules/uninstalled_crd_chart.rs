//! ## What it finds
//!
//! A custom resource whose CRD nobody installs, although the chart that has it is deployed: a value keeps the CRDs out
//! (`crds.enabled: false`, an `installCRDs` that was never set), or the release says `crds: Skip`.
//!
//! ## Why it matters at a cold start
//!
//! On the running cluster the CRDs are there: somebody applied them by hand years ago, or an older chart installed them. On
//! the new one nothing does, and whatever uses them is never applied.
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

use graph::{Consequence, Judged, Verdict};
use model::{CapabilityKind, ComponentId, Withheld};

use crate::context::Context;
use crate::finding::{Also, Finding, LocationRole, Severity};
use crate::words::{agree, and_more, quoted};

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    // A chart that nobody knows and that is called after CRDs may well bring these.
    if context.cluster.blind.iter().any(|blind| blind.component.is_none() && blind.what.contains("crd")) {
        return Vec::new();
    }
    let mut by_chart: BTreeMap<ComponentId, Vec<(&Judged, &Withheld)>> = BTreeMap::new();
    for judged in context.judged().filter(|judged| judged.verdict == Verdict::Unoffered) {
        let need = context.need(judged);
        if need.capability.kind != CapabilityKind::Crd || need.optional {
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
    let consumer = context.component(context.applier(need.of));
    let chart = context.component(by);
    let mut users: Vec<ComponentId> =
        lacking.iter().map(|(judged, _)| context.applier(context.need(judged).of)).collect();
    users.dedup();
    // What could not be seen might install them.
    let blind = context.cluster.blind.iter().any(|blind| blind.component.is_some());
    let message = format!(
        "{}{} {} {}, and the chart of {} does not install it",
        quoted(consumer),
        and_more(1, users.len()),
        agree(users.len(), "needs", "need"),
        need.capability,
        quoted(chart)
    );
    let mut finding = Finding::new(
        "uninstalled-crd-chart",
        if blind { Severity::Info } else { Severity::Warning },
        &context.cluster.name,
        &consumer.object,
        message,
        "never applied unless something outside installs the CRD",
    )
    .with(LocationRole::Primary, withheld.at, format!("`{}` would install it", withheld.switch))
    .with(LocationRole::Need, need.at, format!("{} needs {} {}", need.object.kind, need.capability, need.why));
    finding.provider = Some(chart.object.clone());
    finding.capability = Some(need.capability.to_string());
    finding.verdict = Some(Verdict::Unoffered);
    finding.consequence = Some(Consequence::Deadlock);
    finding.fix = Some(format!("set `{}` on {}, or let the bootstrap install the CRDs", withheld.switch, chart.object));
    finding.also = users
        .iter()
        .skip(1)
        .map(|id| Also {
            component: context.component(*id).object.clone(),
            provider: Some(chart.object.clone()),
            at: context.component(*id).at,
        })
        .collect();
    finding
}
