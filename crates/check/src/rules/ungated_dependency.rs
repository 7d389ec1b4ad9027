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

use std::collections::{BTreeMap, BTreeSet};

use graph::{Judged, Verdict};
use model::{Arrival, Component, ComponentId, Gate, ObjectRef, Offer, Role, Tie, TieTarget};

use crate::context::Context;
use crate::finding::{Also, Finding, Location, LocationRole, Severity};
use crate::pairs::{self, Pair};
use crate::rules::capability_gated::is_asked;
use crate::words::{agree, and_more, listed, quoted};

const RULE: &str = "ungated-dependency";

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let weak = |judged: &Judged| {
        matches!(judged.verdict, Verdict::AppliedOnly | Verdict::ExistsOnly)
            && !is_asked(context, judged)
            && !(judged.verdict == Verdict::AppliedOnly && context.is_between_wholes(judged))
    };
    let mut gates = by_gate(context, pairs::gather(context, weak));
    gates.retain(|gate, pairs| pairs[0].severity > Severity::Pedantic || is_all_it_holds(context, *gate, pairs));
    let mut findings: Vec<Finding> = gates.iter().map(|(gate, pairs)| finding(context, *gate, pairs)).collect();
    let live = restless(context);
    let declared = context.cluster.ids().filter(|id| live.contains(id) && !gates.contains_key(id));
    findings.extend(declared.filter_map(|id| declared_only(context, id)));
    findings
}

/// Whether the dependents' needs account for everything in there that could be unhealthy. Where they do not, the order may
/// be for the rest.
fn is_all_it_holds(context: &Context<'_>, gate: ComponentId, pairs: &[Pair<'_>]) -> bool {
    let judged = pairs.iter().flat_map(|pair| &pair.judged).filter_map(|judged| judged.offer);
    let needed: BTreeSet<&ObjectRef> = judged.map(|offer| &context.cluster.offers[offer].object).collect();
    let is_moving =
        |offer: &&Offer| offer.by == gate && !matches!(offer.arrival, Arrival::Applied | Arrival::Installed);
    let offered = context.cluster.offers.iter().filter(is_moving).map(|offer| &offer.object);
    let children = context.cluster.components.iter().filter(|component| component.parent == Some(gate));
    offered.chain(children.map(|child| &child.object)).all(|object| needed.contains(object))
}

/// Components that hold something which can be applied and not yet healthy.
fn restless(context: &Context<'_>) -> BTreeSet<ComponentId> {
    let children = context.cluster.components.iter().filter_map(|component| component.parent);
    let moving =
        context.cluster.offers.iter().filter(|offer| !matches!(offer.arrival, Arrival::Applied | Arrival::Installed));
    children.chain(moving.map(|offer| offer.by)).collect()
}

/// Somebody declared the order, and what for can't be seen here: worth knowing that it waits for nothing.
fn declared_only(context: &Context<'_>, gate: ComponentId) -> Option<Finding> {
    let gated = context.component(gate);
    let is_weak = gated.role == Role::Kustomization && gated.gate == Gate::Applied && !gated.at.is_generated();
    let is_outside = |tie: &&&Tie| !context.is_nested(tie.from, gate) && !context.is_asleep(tie.from);
    let ties: Vec<&&Tie> = context.dependents(gate).iter().filter(is_outside).collect();
    let first = ties.first().filter(|_| is_weak && !context.is_asleep(gate))?;
    let dependent = context.component(first.from);
    Some(Finding {
        rule: RULE,
        severity: Severity::Info,
        message: format!(
            "{}{} {} on {}, which does not wait for its own objects",
            quoted(dependent),
            and_more(1, ties.len()),
            agree(ties.len(), "depends", "depend"),
            quoted(gated)
        ),
        cluster: context.cluster.name.clone(),
        component: dependent.object.clone(),
        provider: Some(gated.object.clone()),
        capability: None,
        verdict: Some(Verdict::AppliedOnly),
        consequence: None,
        cost: "what the order is for can't be seen here; it ends when the objects are accepted".to_owned(),
        locations: vec![
            Location {
                span: gated.gate_at,
                role: LocationRole::Primary,
                label: "done means only: the objects were accepted".to_owned(),
            },
            Location { span: first.at, role: LocationRole::Order, label: "waits for no more than that".to_owned() },
        ],
        fix: Some(wait_for_it(context, gated)),
        notes: Vec::new(),
        also: Vec::new(),
        each: Vec::new(),
    })
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
    let mut finding = worst.finding(context, RULE);
    finding.provider = Some(gated.object.clone());
    finding.message = format!(
        "{}{} {} on {}, which is done before {} there",
        quoted(context.component(worst.consumer)),
        and_more(1, pairs.len()),
        agree(pairs.len(), "depends", "depend"),
        quoted(gated),
        worst.capabilities_are(context),
    );
    let exists_only = worst.judged[0].verdict == Verdict::ExistsOnly;
    let (span, label) = match tie_to(context, worst.consumer, gate) {
        Some(tie) if exists_only => (tie, "waits only until it exists"),
        _ if matches!(gated.gate, Gate::Listed(_)) => (gated.gate_at, "waits for other objects than this"),
        _ => (gated.gate_at, "done means only: the objects were accepted"),
    };
    finding.locations.insert(0, Location { span, role: LocationRole::Primary, label: label.to_owned() });
    finding.fix = Some(match gated.role {
        _ if exists_only && gated.gate == Gate::Healthy => "set `ready: true` on the dependency".to_owned(),
        Role::Kustomization if exists_only => {
            format!("set `ready: true` on the dependency and `wait: true` on {}", gated.object)
        }
        Role::HelmRelease => format!("remove `disableWait` from {}", gated.object),
        Role::Kustomization if matches!(gated.gate, Gate::Listed(_)) => {
            format!("list it in the `healthChecks` of {}, or set `wait: true` instead", gated.object)
        }
        Role::ResourceSet => format!("set `wait: true` on {} and `ready: true` on the dependency", gated.object),
        _ => wait_for_it(context, gated),
    });
    if gated.gate == Gate::Healthy && !exists_only {
        tell_no_gate(context, &mut finding, worst, gated);
    }
    speak_for_all(context, &mut finding, pairs);
    finding
}

/// The file of the patch that decides what a component waits for: it wins over the file of the object.
pub(crate) fn patch_of_gate<'a>(context: &Context<'a>, gated: &Component) -> Option<&'a str> {
    let is_patched = !gated.gate_at.is_generated() && !gated.at.is_generated() && gated.gate_at.file != gated.at.file;
    context.path(gated.gate_at).filter(|_| is_patched)
}

/// `set wait: true …` where that has an effect.
fn wait_for_it(context: &Context<'_>, gated: &Component) -> String {
    match patch_of_gate(context, gated) {
        Some(file) => format!("set `wait: true` in the patch in `{file}`, which decides it for {}", gated.object),
        None => format!("set `wait: true` on {}", gated.object),
    }
}

/// There is nothing to mend in the gate: whatever comes between waits until the need can be met, not until it is.
fn tell_no_gate(context: &Context<'_>, finding: &mut Finding, worst: &Pair<'_>, gated: &Component) {
    let consumer = context.component(worst.consumer);
    finding.message = format!(
        "{} comes after {} of {} by chance only: nothing that it depends on waits for that",
        quoted(consumer),
        worst.capabilities(context),
        quoted(gated)
    );
    let label = "names nothing that waits for it".to_owned();
    finding.locations[0] = Location { span: consumer.ties_at, role: LocationRole::Primary, label };
    finding.fix = Some(if consumer.role == gated.role {
        format!("add {} to the `dependsOn` of {}", gated.object, consumer.object)
    } else {
        format!("let whatever applies {} depend on {}", consumer.object, gated.object)
    });
}

/// Where a component declares that it waits for another.
pub(crate) fn tie_to(context: &Context<'_>, from: ComponentId, to: ComponentId) -> Option<yaml::Span> {
    let tie = context.cluster.ties.iter().find(|tie| tie.from == from && tie.to == TieTarget::Component(to));
    tie.map(|tie| tie.at)
}

/// Lets a finding about a gate speak for all who rely on it: it is the gate that has to do with them.
pub(crate) fn speak_for_all(context: &Context<'_>, finding: &mut Finding, pairs: &[Pair<'_>]) {
    finding.notes = dependents(context, pairs);
    finding.also = also(context, pairs);
    for also in &mut finding.also {
        also.provider.clone_from(&finding.provider);
    }
}

/// Everybody but the first, by name.
pub(crate) fn also(context: &Context<'_>, pairs: &[Pair<'_>]) -> Vec<Also> {
    let others = pairs.iter().skip(1);
    others
        .map(|pair| Also {
            component: context.component(pair.consumer).object.clone(),
            provider: Some(context.component(pair.provider).object.clone()),
            at: context.component(pair.consumer).at,
        })
        .collect()
}

/// Who else is concerned, when it is more than one.
pub(crate) fn dependents(context: &Context<'_>, pairs: &[Pair<'_>]) -> Vec<String> {
    const SHOWN: usize = 12;
    // A Kustomization and the release in it often have the same name, and are one thing to people.
    let mut told = BTreeSet::new();
    let names = pairs.iter().map(|pair| context.component(pair.consumer).object.path());
    let names: Vec<String> = names.filter(|name| told.insert(name.clone())).collect();
    match names.len() {
        0 | 1 => Vec::new(),
        all => vec![format!("{all} dependents: {}", listed(&names, SHOWN))],
    }
}
