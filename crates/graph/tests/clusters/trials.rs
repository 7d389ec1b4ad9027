//! Edits that are tried on the graph as it is, held against the cluster with the edits made, analysed from the start.

use coldstart_graph::{Analysis, Attempt, Event, Events, LooksAt, Moment, NewGate, Trials, analyse, changed};
use model::{Arrival, CapabilityKind, Cluster, ComponentId, Gate, Phase, Verdict, WaitsFor};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::random::{clusters, pick};
use crate::sketch::{crd, kustomization, object, release, sketch};

/// What to try, before it is known on which cluster.
#[derive(Clone, Debug)]
struct Idea {
    tie: Option<(Index, Index)>,
    gate: Option<(Index, Option<Index>)>,
    expression: bool,
    need: Index,
}

fn ideas() -> impl Strategy<Value = Idea> {
    let gate = (any::<Index>(), prop::option::of(any::<Index>()));
    let tie = prop::option::weighted(0.8, (any::<Index>(), any::<Index>()));
    (tie, prop::option::of(gate), prop::bool::weighted(0.2), any::<Index>())
        .prop_map(|(tie, gate, expression, need)| Idea { tie, gate, expression, need })
}

/// The edits on a cluster, unless nobody would make them.
fn attempt(cluster: &Cluster, idea: &Idea) -> Option<Attempt> {
    let id = |index| pick(cluster, index).0;
    let stage = |id| cluster.component(id).stage;
    let need = (!cluster.needs.is_empty()).then(|| idea.need.index(cluster.needs.len()))?;
    let tie = idea.tie.map(|(from, to)| (id(from), id(to)));
    let tie = tie.filter(|(from, to)| from != to && stage(*from) == stage(*to));
    let gate = idea.gate.map(|(of, object)| NewGate {
        of: id(of),
        looks_at: object.map_or(LooksAt::All, |object| LooksAt::Object(pick(cluster, object).1)),
        expression: idea.expression.then(|| "Widget".into()),
    });
    // A list goes where there is one or nothing, and `wait: true` where nothing is listed.
    let can_be = |gate: &NewGate| match (&gate.looks_at, &cluster.component(gate.of).gate) {
        (LooksAt::All, Gate::Applied | Gate::LooksHealthy(_)) => true,
        (LooksAt::Object(object), Gate::Applied | Gate::LooksHealthy(_) | Gate::Listed(_)) => {
            *object != cluster.component(gate.of).object
        }
        _ => false,
    };
    let gate = gate.filter(can_be);
    (tie.is_some() || gate.is_some()).then_some(Attempt { tie, gate, need: Some(need) })
}

/// Whether one event leads to another.
fn leads(events: &Events, from: Event, to: Event) -> bool {
    let (mut seen, mut next) = (vec![false; events.len()], vec![from]);
    while let Some(event) = next.pop() {
        if !std::mem::replace(&mut seen[event.0 as usize], true) {
            next.extend(events.implied(event).iter().map(|(to, _)| *to));
        }
    }
    seen[to.0 as usize]
}

/// Whether an edge that the edits added stands in a circle.
fn has_new_circle(cluster: &Cluster, after: &Analysis, attempt: &Attempt) -> bool {
    let of = |id, moment| Events::of(id, moment);
    let tie = attempt.tie.is_some_and(|(from, to)| leads(&after.events, of(to, Moment::Done), of(from, Moment::Start)));
    let gated = attempt.gate.as_ref().is_some_and(|gate| {
        let back = |event| leads(&after.events, event, of(gate.of, Moment::Done));
        match &gate.looks_at {
            LooksAt::All => {
                let mut inside = cluster.ids().filter(|id| cluster.component(*id).parent == Some(gate.of));
                inside.any(|id| back(of(id, Moment::Done)))
            }
            LooksAt::Object(object) => {
                let own = cluster.find(object).map(|id| of(id, Moment::Done));
                // A custom resource of a chart is there once its release was applied.
                let is_of_chart = |id: &ComponentId| cluster.component(*id).resource.as_ref() == Some(object);
                let charts = cluster.ids().filter(is_of_chart).map(|id| of(id, Moment::Applied));
                own.into_iter().chain(charts).any(back)
            }
        }
    });
    tie || gated
}

/// How good a verdict is, see `properties::rank`.
fn rank(verdict: Verdict, early: bool) -> (bool, Verdict) {
    let is_weak = matches!(verdict, Verdict::AppliedOnly | Verdict::FalselyReady);
    let verdict = if is_weak { Verdict::AppliedOnly } else { verdict };
    (early || verdict == Verdict::Guaranteed, verdict)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1024,
        failure_persistence: None,
        max_global_rejects: 16_384,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_trial_says_what_a_whole_analysis_says(cluster in clusters(), idea in ideas()) {
        let attempt = attempt(&cluster, &idea);
        prop_assume!(attempt.is_some());
        let attempt = attempt.expect("one that can be made");
        let before = analyse(&cluster);
        let outcome = Trials::new(&cluster, &before).outcomes(std::slice::from_ref(&attempt))[0];
        let need = attempt.need.expect("one to look at");
        let edited = changed(&cluster, &attempt.changes());
        let after = analyse(&edited);
        prop_assert_eq!(outcome.closes_circle, has_new_circle(&cluster, &after, &attempt));
        let is_locked = |analysis: &Analysis| analysis.judged[need].verdict == Verdict::Deadlocked;
        prop_assume!(!outcome.closes_circle && !is_locked(&before) && !is_locked(&after));
        let judged = &after.judged[need];
        let (tried, made) = (rank(outcome.verdict, outcome.early), rank(judged.verdict, judged.early));
        prop_assert!(tried <= made, "{:?} was promised, {:?} came", outcome, judged);
        // The edits may make good what another need failed by, and that proves more than a trial can see.
        let others = |analysis: &Analysis| {
            let failing = analysis.failing.iter().copied().filter(|other| *other != need);
            failing.collect::<Vec<usize>>()
        };
        let has_expressions = attempt.gate.as_ref().is_some_and(|gate| {
            gate.expression.is_some() || !cluster.component(gate.of).expressions.is_empty()
        });
        if others(&before) == others(&after) && !has_expressions {
            prop_assert_eq!(tried, made, "{:?} and {:?}", outcome, judged);
        }
    }
}

/// An operator that waits for what needs it.
fn knot(first: &'static str) -> Cluster {
    sketch([
        kustomization("operator").after(first).waits(),
        release("chart").inside("operator").offers(crd("Widget"), Arrival::Installed),
        kustomization("app").needs(crd("Widget"), Phase::Apply),
        kustomization("base"),
    ])
}

#[test]
fn a_tie_that_closes_a_circle_says_how() {
    let cluster = knot("app");
    let analysis = analyse(&cluster);
    let trials = Trials::new(&cluster, &analysis);
    let id = |name: &str| cluster.find(&object("Kustomization", name)).expect("a component of this name");
    let attempt = Attempt { tie: Some((id("app"), id("operator"))), gate: None, need: Some(0) };
    assert!(trials.outcomes(std::slice::from_ref(&attempt))[0].closes_circle);
    let back = trials.way_back(&attempt);
    let passed: Vec<_> = back.iter().filter_map(|step| analysis.events.component_of(step.event)).collect();
    assert_eq!(passed.first(), Some(&(id("operator"), Moment::Done)));
    assert_eq!(passed.last().map(|(id, _)| *id), Some(id("app")));
}

#[test]
fn a_tie_to_what_is_beside_closes_none_and_meets_the_need() {
    let cluster = knot("base");
    let analysis = analyse(&cluster);
    let id = |name: &str| cluster.find(&object("Kustomization", name)).expect("a component of this name");
    let attempt = Attempt { tie: Some((id("app"), id("operator"))), gate: None, need: Some(0) };
    let outcome = Trials::new(&cluster, &analysis).outcomes(&[attempt])[0];
    assert_eq!((outcome.closes_circle, outcome.verdict), (false, Verdict::Guaranteed));
}

#[test]
fn what_is_moved_into_a_component_of_its_own_can_wait() {
    let cluster = knot("app");
    let id = |name: &str| cluster.find(&object("Kustomization", name)).expect("a component of this name");
    let split = coldstart_graph::Change::Split { needs: vec![0], after: id("operator") };
    let after = analyse(&changed(&cluster, &[split]));
    assert_eq!((after.deadlocks.len(), after.judged[0].verdict), (0, Verdict::Guaranteed));
    let untied = cluster.ties.iter().position(|tie| tie.waits_for == WaitsFor::Done).expect("a tie");
    let both = [coldstart_graph::Change::Untie(untied), coldstart_graph::Change::Tie(id("app"), id("operator"))];
    let after = analyse(&changed(&cluster, &both));
    assert_eq!((after.deadlocks.len(), after.judged[0].verdict), (0, Verdict::Guaranteed));
    let kind = cluster.needs[0].capability.kind;
    assert_eq!(kind, CapabilityKind::Crd);
}
