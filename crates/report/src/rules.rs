//! What many need of one, and the cycles: those that are found, and those that the bootstrap breaks.

use std::collections::{BTreeMap, BTreeSet};

use model::{CapabilityKind, ComponentId, Defect, LayerDefect, ObjectRef, Role, Verdict};
use serde::Serialize;

use crate::document::Place;
use crate::facts::Facts;

/// Fewer than this are no rule.
const DEPENDENTS_MIN: usize = 2;

/// Components that need the same of one provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DependencyRule {
    pub subject: RuleSubject,
    pub by: ObjectRef,
    pub dependents: Vec<ObjectRef>,
}

/// What is needed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RuleSubject {
    /// Where there is one of it: its name.
    pub name: Option<String>,
    /// Else what kind it is of.
    pub kind: &'static str,
    pub count: usize,
}

/// Components that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CycleFound {
    pub components: Vec<ObjectRef>,
}

/// What starts GitOps comes after something that only GitOps brings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CycleAcross {
    /// What needs it.
    pub step: ObjectRef,
    /// What it needs, by name.
    pub needs: String,
    /// What starts GitOps.
    pub start: String,
    pub at: Option<Place>,
}

/// A need that only the bootstrap meets in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BrokenCycle {
    pub of: ObjectRef,
    pub by: ObjectRef,
    pub needs: Vec<String>,
    /// Flux applies the provider after the one that needs it: without the bootstrap it would be a cycle.
    pub is_cycle: bool,
}

/// Hard ones and soft ones, those with the most dependents first.
pub(crate) fn rules(facts: &Facts<'_>) -> (Vec<DependencyRule>, Vec<DependencyRule>) {
    type Key = (ComponentId, CapabilityKind, bool);
    let cluster = facts.cluster;
    let mut found: BTreeMap<Key, (BTreeSet<String>, BTreeSet<ComponentId>)> = BTreeMap::new();
    for judged in &facts.analysis.judged {
        let need = &cluster.needs[judged.need];
        let Some(offer) = judged.offer.map(|offer| &cluster.offers[offer]).filter(|offer| offer.by != need.of) else {
            continue;
        };
        let is_soft = need.soft || need.optional;
        let (names, of) = found.entry((offer.by, need.capability.kind, is_soft)).or_default();
        names.insert(need.capability.to_string());
        of.insert(need.of);
    }
    let (mut hard, mut soft) = (Vec::new(), Vec::new());
    for ((by, kind, is_soft), (names, of)) in found {
        if of.len() < DEPENDENTS_MIN
            || matches!(kind, CapabilityKind::Namespace | CapabilityKind::Source | CapabilityKind::ConfigMap)
        {
            continue;
        }
        let object = |id: ComponentId| cluster.component(id).object.clone();
        let mut dependents: Vec<ObjectRef> = of.into_iter().map(object).collect();
        dependents.dedup();
        let count = names.len();
        let name = names.into_iter().next().filter(|_| count == 1);
        let rule =
            DependencyRule { subject: RuleSubject { name, kind: kind.noun(), count }, by: object(by), dependents };
        if is_soft { soft.push(rule) } else { hard.push(rule) }
    }
    for list in [&mut hard, &mut soft] {
        list.sort_by(|a, b| {
            let key = |rule: &DependencyRule| std::cmp::Reverse(rule.dependents.len());
            (key(a), &a.by, &a.subject).cmp(&(key(b), &b.by, &b.subject))
        });
    }
    (hard, soft)
}

pub(crate) fn cycles(facts: &Facts<'_>) -> (Vec<CycleFound>, Vec<BrokenCycle>) {
    let (cluster, analysis) = (facts.cluster, facts.analysis);
    let object = |id: ComponentId| cluster.component(id).object.clone();
    let found = analysis
        .cycles()
        .map(|cycle| CycleFound { components: cycle.components(&analysis.events).into_iter().map(object).collect() });
    let mut pairs: BTreeMap<(ComponentId, ComponentId), BTreeSet<String>> = BTreeMap::new();
    for judged in analysis.judged.iter().filter(|judged| judged.verdict == Verdict::BootstrapOnly) {
        let need = &cluster.needs[judged.need];
        if let Some(offer) = judged.offer {
            let names = pairs.entry((need.of, cluster.offers[offer].by)).or_default();
            names.insert(need.capability.to_string());
        }
    }
    // What Flux does not bring as well was never to come from there.
    let is_other = |by: ComponentId| {
        let is_release = matches!(cluster.component(by).role, Role::Bootstrap(step) if step.is_release());
        !is_release || adopted(facts, by).is_some()
    };
    let pairs = pairs.into_iter().filter(|((_, by), _)| is_other(*by));
    let broken = pairs.map(|((of, by), needs)| BrokenCycle {
        is_cycle: adopted(facts, by).is_some_and(|flux| !analysis.ties_between(flux, of).is_empty()),
        of: object(of),
        by: object(by),
        needs: needs.into_iter().collect(),
    });
    (found.collect(), broken.collect())
}

/// Those through GitOps and back, and those of runs of Terraform, as far as they are reported.
pub(crate) fn across(facts: &Facts<'_>) -> Vec<CycleAcross> {
    let is_told = |at: source::Span| facts.findings.iter().any(|finding| finding.primary.at.span() == at);
    let mut found = Vec::new();
    for fault in facts.cluster.facts.boot.faults.iter().filter(|fault| is_told(fault.at)) {
        let Defect::Layer(defect) = &fault.defect else { continue };
        let (needs, start) = match defect {
            LayerDefect::ServiceFromGitOps { service, start, .. } => (service.to_string(), start.to_string()),
            LayerDefect::ObjectFromGitOps { object, start } => (object.to_string(), start.to_string()),
            LayerDefect::Cycle { directories } => {
                let mut names: Vec<String> = directories.iter().map(ToString::to_string).collect();
                let first = names.first().cloned().unwrap_or_default();
                let by = 1.min(names.len());
                names.rotate_left(by);
                (names.join(", "), first)
            }
            _ => continue,
        };
        found.push(CycleAcross { step: fault.step.clone(), needs, start, at: facts.place(fault.at) });
    }
    found
}

/// The release of Flux that is the same as one of the bootstrap.
fn adopted(facts: &Facts<'_>, early: ComponentId) -> Option<ComponentId> {
    let charts = &facts.cluster.facts.charts;
    let own = charts.iter().find(|chart| chart.of == early)?;
    charts.iter().find(|chart| chart.of != early && chart.release == own.release).map(|chart| chart.of)
}
