//! ## What it finds
//!
//! A `dependsOn` whose other end is done as soon as its objects are accepted: a Kustomization with neither `wait: true`
//! nor `healthChecks`, a HelmRelease with `disableWait`, a ResourceSet dependency without `ready: true`.
//!
//! ## Why it matters at a cold start
//!
//! The order looks declared, and is not kept: the other end is "Ready" the moment its HelmRelease object exists, minutes
//! before the chart's CRDs, webhook or pods are there. Whoever depends on it starts into nothing.
//!
//! ## Example
//!
//! ```yaml
//! # app → external-secrets
//! metadata: {name: external-secrets}
//! spec:
//!   wait: false
//! ```
//!
//! ## Fix
//!
//! ```yaml
//! spec:
//!   wait: true
//! ```
//!
//! or `healthChecks` that name the HelmRelease. One finding stands for all dependents of the same weak gate.

use std::collections::BTreeMap;

use graph::{Judged, Verdict};
use model::ComponentId;

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole};
use crate::pairs::{self, Pair};
use crate::words::{and_more, quoted};

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let weak = |judged: &Judged| matches!(judged.verdict, Verdict::AppliedOnly | Verdict::ExistsOnly);
    by_gate(context, pairs::gather(context, weak)).iter().map(|(gate, pairs)| finding(context, *gate, pairs)).collect()
}

/// Pairs by the gate that is too weak, the worst pair first.
pub(crate) fn by_gate<'a>(context: &Context<'a>, pairs: Vec<Pair<'a>>) -> BTreeMap<ComponentId, Vec<Pair<'a>>> {
    let mut gates: BTreeMap<ComponentId, Vec<Pair<'a>>> = BTreeMap::new();
    for pair in pairs {
        let gate = pair.judged[0].weak_gate.unwrap_or(pair.provider);
        gates.entry(gate).or_default().push(pair);
    }
    for pairs in gates.values_mut() {
        pairs.sort_by_key(|pair| (std::cmp::Reverse(pair.severity), context.component(pair.consumer).object.clone()));
    }
    gates
}

fn finding(context: &Context<'_>, gate: ComponentId, pairs: &[Pair<'_>]) -> Finding {
    let worst = &pairs[0];
    let gated = context.component(gate);
    let mut finding = worst.finding(context, "ungated-dependency");
    finding.provider = Some(gated.object.clone());
    finding.message = format!(
        "{}{} depends on {}, which is done before {} is there",
        quoted(context.component(worst.consumer)),
        and_more(1, pairs.len()),
        quoted(gated),
        worst.capabilities(context),
    );
    finding.locations.insert(
        0,
        Location {
            span: gated.gate_at,
            role: LocationRole::Primary,
            label: "done means only: the objects were accepted".to_owned(),
        },
    );
    finding.fix = Some(match gated.role {
        model::Role::HelmRelease => format!("remove `disableWait` from {}", gated.object),
        model::Role::ResourceSet => format!("set `wait: true` on {} and `ready: true` on the dependency", gated.object),
        _ => format!("set `wait: true` on {}", gated.object),
    });
    finding.notes = dependents(context, pairs);
    finding
}

/// Who else is concerned, when it is more than one.
pub(crate) fn dependents(context: &Context<'_>, pairs: &[Pair<'_>]) -> Vec<String> {
    const SHOWN: usize = 12;
    if pairs.len() < 2 {
        return Vec::new();
    }
    let names: Vec<String> =
        pairs.iter().take(SHOWN).map(|pair| context.component(pair.consumer).object.path()).collect();
    vec![format!("{} dependents: {}{}", pairs.len(), names.join(", "), and_more(SHOWN, pairs.len()))]
}
