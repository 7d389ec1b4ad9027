//! Every order and gate that is advised holds: the cluster with the edit made, analysed from the start, has what was needed and no new
//! deadlock. And what is tried on the graph as it is says the same as that, for every need of every fixture.

mod story;

use std::collections::BTreeSet;

use diagnostic::{Advice, Finding, Fix, GateAdvice, NewDependency, OrderAdvice, OtherGate, Subject, Written};
use fixtures::Shelf;
use graph::{Analysis, Attempt, Change, LooksAt, NewGate, Trials, analyse, changed};
use model::{Cluster, ComponentId, Gate, ObjectRef, Role, Verdict};

fn clusters() -> Vec<(String, read::Reading)> {
    let stories = Shelf::ALL.into_iter().flat_map(story::stories);
    stories.map(|fixture| (fixture.name.clone(), story::read(&fixture))).collect()
}

/// The edits of a fix that are orders and gates alone.
fn changes(cluster: &Cluster, fix: &Fix) -> Option<Vec<Change>> {
    match &fix.advice {
        Advice::Order(OrderAdvice::Add(new) | OrderAdvice::AddOrRetry(new) | OrderAdvice::AddWithoutBootstrap(new)) => {
            order(cluster, new)
        }
        Advice::Gate(GateAdvice::SetWait { gate, .. }) => Some(vec![gate_change(cluster, gate, LooksAt::All, None)?]),
        Advice::Gate(GateAdvice::ListOnly { gate, object, .. }) => {
            Some(vec![gate_change(cluster, gate, LooksAt::Object(object.clone()), None)?])
        }
        Advice::Gate(GateAdvice::AddExpressions { judging, gate }) => {
            Some(vec![gate_change(cluster, gate, LooksAt::All, Some(judging.kind.clone()))?])
        }
        _ => None,
    }
}

fn order(cluster: &Cluster, new: &NewDependency) -> Option<Vec<Change>> {
    let (consumer, provider) = (cluster.find(&new.consumer)?, cluster.find(&new.provider)?);
    let (Written::Own(gate) | Written::Patch(_, gate) | Written::Needs(gate)) = &new.written else { return None };
    let gate = match gate {
        OtherGate::Waits => None,
        OtherGate::NeedsWait { judging, .. } => Some((LooksAt::All, judging.as_ref())),
        OtherGate::NeedsCheck { object, judging, .. } => Some((LooksAt::Object(object.clone()), judging.as_ref())),
        OtherGate::NeedsExpression(judging) => Some((LooksAt::All, Some(judging))),
    };
    let gate = gate.map(|(looks_at, judging)| {
        Change::Gate(NewGate { of: provider, looks_at, expression: judging.map(|judging| judging.kind.clone()) })
    });
    Some(std::iter::once(Change::Tie(consumer, provider)).chain(gate).collect())
}

fn gate_change(
    cluster: &Cluster,
    gate: &ObjectRef,
    looks_at: LooksAt,
    expression: Option<ecow::EcoString>,
) -> Option<Change> {
    Some(Change::Gate(NewGate { of: cluster.find(gate)?, looks_at, expression }))
}

/// The needs that a finding is about: of its component, or of what that applies, and of its subject.
fn needs(cluster: &Cluster, finding: &Finding) -> Vec<usize> {
    let above = |id: ComponentId| std::iter::successors(Some(id), |at| cluster.component(*at).parent);
    let is_it = |(_, need): &(usize, &model::Need)| {
        let is_inside = above(need.of).any(|at| cluster.component(at).object == finding.component);
        is_inside && finding.subject == Some(Subject::from(need.capability.clone()))
    };
    cluster.needs.iter().enumerate().filter(is_it).map(|(index, _)| index).collect()
}

fn is_met(analysis: &Analysis, need: usize) -> bool {
    let judged = &analysis.judged[need];
    judged.verdict == Verdict::Guaranteed || judged.early
}

/// What is wrong with the fix of a finding.
fn fault(cluster: &Cluster, before: &Analysis, finding: &Finding) -> Option<String> {
    let changes = changes(cluster, finding.fix.as_ref()?)?;
    let after = analyse(&changed(cluster, &changes));
    if after.deadlocks.len() > before.deadlocks.len() {
        return Some(format!("{} closes a circle: {changes:?}", finding.component));
    }
    let unmet = needs(cluster, finding).into_iter().filter(|need| !is_met(before, *need));
    let left: Vec<usize> = unmet.filter(|need| !is_met(&after, *need)).collect();
    (!left.is_empty()).then(|| {
        let verdicts: Vec<Verdict> = left.iter().map(|need| after.judged[*need].verdict).collect();
        format!("{} {} still {verdicts:?} with {changes:?}", finding.rule.id, finding.component)
    })
}

#[test]
fn every_order_and_gate_that_is_advised_holds() {
    let (mut tried, mut wrong) = (0, Vec::new());
    for (name, reading) in clusters() {
        let findings = coldstart_check::run(&reading, None).findings;
        for cluster in &reading.clusters {
            let before = analyse(cluster);
            for finding in findings.iter().filter(|finding| finding.cluster == cluster.name) {
                tried += usize::from(finding.fix.as_ref().is_some_and(|fix| changes(cluster, fix).is_some()));
                wrong.extend(fault(cluster, &before, finding).map(|fault| format!("{name}: {fault}")));
            }
        }
    }
    assert!(tried > 100, "only {tried} fixes were tried");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

/// A tie between what applies the two ends of a need, alone and with a gate.
fn attempts(cluster: &Cluster, analysis: &Analysis) -> Vec<Attempt> {
    let applier = |id: ComponentId| {
        let mut above = std::iter::successors(Some(id), |at| cluster.component(*at).parent);
        above.find(|at| cluster.component(*at).role != Role::HelmRelease).unwrap_or(id)
    };
    let mut attempts = Vec::new();
    for judged in analysis.judged.iter().filter(|judged| judged.verdict != Verdict::Guaranteed) {
        let Some(offer) = judged.offer.map(|offer| &cluster.offers[offer]) else { continue };
        let (of, by) = (applier(cluster.needs[judged.need].of), applier(offer.by));
        let is_open = matches!(cluster.component(by).gate, Gate::Applied | Gate::LooksHealthy(_));
        let gate = is_open.then_some(NewGate { of: by, looks_at: LooksAt::All, expression: None });
        let tie = Some((of, by)).filter(|_| of != by && cluster.component(of).stage == cluster.component(by).stage);
        let need = Some(judged.need);
        let some = [(tie, None), (tie, gate.clone()), (None, gate)].into_iter();
        let some = some.filter(|(tie, gate)| tie.is_some() || gate.is_some());
        attempts.extend(some.map(|(tie, gate)| Attempt { tie, gate, need }));
    }
    attempts
}

#[test]
fn what_is_tried_on_the_graph_is_what_a_whole_analysis_says() {
    const PER_CLUSTER_MAX: usize = 24;
    let mut tried = 0;
    for (name, reading) in clusters() {
        for cluster in &reading.clusters {
            let before = analyse(cluster);
            let attempts: Vec<Attempt> = attempts(cluster, &before).into_iter().take(PER_CLUSTER_MAX).collect();
            let outcomes = Trials::new(cluster, &before).outcomes(&attempts);
            for (attempt, outcome) in attempts.iter().zip(outcomes) {
                tried += 1;
                let after = analyse(&changed(cluster, &attempt.changes()));
                let new: BTreeSet<String> = after.deadlocks.iter().map(|deadlock| format!("{deadlock:?}")).collect();
                let is_new = before.deadlocks.iter().map(|it| format!("{it:?}")).collect::<BTreeSet<_>>() != new;
                assert!(outcome.closes_circle || !is_new, "{name}: {attempt:?} closes a circle unseen");
                let need = attempt.need.expect("a need to look at");
                let is_promised = outcome.verdict == Verdict::Guaranteed || outcome.early;
                assert!(outcome.closes_circle || !is_promised || is_met(&after, need), "{name}: {attempt:?}");
            }
        }
    }
    assert!(tried > 200, "only {tried} were tried");
}
