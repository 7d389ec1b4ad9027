//! What holds of every cluster, whatever it consists of.

use std::collections::BTreeSet;

use coldstart_graph::{Analysis, Because, Event, Events, Judged, Moment, Questions, analyse};
use model::{Cluster, ComponentId, Gate, Verdict};
use proptest::prelude::*;
use proptest::sample::Index;
use source::Span;

use crate::random::{add_tie, any_tie, clusters, implied, pick, waited_for};

/// Few enough for a test that is run often. A change of the algorithm deserves some hundred thousand, once.
const CASES: u32 = 512;

/// How good a judgement is. The two kinds of weak gate count alike: which of them it is says what the gate looks like, and a
/// shorter way to the offer may pass another gate. A gate that opens a moment too early is worth more than luck without
/// one, as it is where the best of several offers is chosen.
fn rank(judged: &Judged) -> (bool, Verdict) {
    let is_weak = matches!(judged.verdict, Verdict::AppliedOnly | Verdict::FalselyReady);
    let verdict = if is_weak { Verdict::AppliedOnly } else { judged.verdict };
    (judged.early || verdict == Verdict::Guaranteed, verdict)
}

/// The deadlocks, in whatever order they are told.
fn circles(analysis: &Analysis) -> BTreeSet<String> {
    analysis.deadlocks.iter().map(|deadlock| format!("{deadlock:?}")).collect()
}

/// The first need that is judged worse than before.
fn worse(cluster: &Cluster, before: &Analysis, after: &Analysis) -> Option<String> {
    let both = before.judged.iter().zip(&after.judged);
    both.filter(|(before, after)| rank(after) < rank(before))
        .map(|(before, after)| format!("{:?} was {before:?} and is {after:?}", cluster.needs[before.need]))
        .next()
}

/// Gates that prove less than this one, and nothing that it does not.
fn weaker(gate: &Gate, which: Index) -> Option<Gate> {
    match gate {
        Gate::Healthy if which.index(2) == 0 => Some(Gate::Applied),
        Gate::Healthy => Some(Gate::LooksHealthy(Span::GENERATED)),
        Gate::Listed(objects) => {
            let mut fewer = objects.clone();
            fewer.remove(which.index(objects.len()));
            Some(if fewer.is_empty() { Gate::Applied } else { Gate::Listed(fewer) })
        }
        Gate::Applied | Gate::LooksHealthy(_) => None,
    }
}

/// Whether some event waits for itself, by the edges that can close a deadlock.
fn is_circular(events: &Events) -> bool {
    let waits = |event: Event| events.implied(event).iter().filter(|(_, because)| events.binds(*because));
    let mut left: BTreeSet<Event> = (0_u32..).take(events.len()).map(Event).collect();
    loop {
        let happens = |event: &&Event| waits(**event).all(|(to, _)| !left.contains(to));
        let Some(next) = left.iter().find(happens).copied() else { return !left.is_empty() };
        left.remove(&next);
    }
}

/// Whether a tie or a need leads back to where it comes from, by the edges that can close a deadlock.
fn has_circle_of_ties_and_needs(events: &Events) -> bool {
    let waits = |event: Event| events.implied(event).iter().filter(|(_, because)| events.binds(*because));
    let leads = |from: Event, back: Event| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(event) = next.pop().filter(|_| !seen.contains(&back)) {
            if seen.insert(event) {
                next.extend(waits(event).map(|(to, _)| *to));
            }
        }
        seen.contains(&back)
    };
    (0_u32..).take(events.len()).map(Event).any(|event| {
        let mut starts = waits(event).filter(|(_, because)| matches!(because, Because::Tie(_) | Because::Need(_)));
        starts.any(|(to, _)| leads(*to, event))
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        max_global_rejects: CASES * 8,
        ..ProptestConfig::default()
    })]

    /// Only one that closes a circle may: that is a deadlock then.
    #[test]
    fn adding_a_tie_makes_no_verdict_worse(cluster in clusters(), (from, to, waits_for) in any_tie()) {
        let before = analyse(&cluster);
        let ((start, _), (end, _)) = (pick(&cluster, from), pick(&cluster, to));
        let closes_circle = waited_for(&cluster, end, waits_for)
            .is_some_and(|event| implied(&before.events, event)[Events::of(start, Moment::Start).0 as usize]);
        let mut tied = cluster.clone();
        prop_assume!(add_tie(&mut tied, from, to, waits_for) && !closes_circle);
        let after = analyse(&tied);
        prop_assert_eq!(circles(&before), circles(&after));
        prop_assert_eq!(worse(&cluster, &before, &after), None);
    }

    /// Where there is a circle, a gate less may open it, and that does make things better.
    #[test]
    fn weakening_a_gate_makes_no_verdict_better(cluster in clusters(), of in any::<Index>(), which in any::<Index>()) {
        let before = analyse(&cluster);
        let (id, _) = pick(&cluster, of);
        let gate = weaker(&cluster.component(id).gate, which);
        prop_assume!(gate.is_some() && !is_circular(&before.events));
        let mut weakened = cluster.clone();
        weakened.components[id.index()].gate = gate.expect("one that is weaker");
        let after = analyse(&weakened);
        prop_assert!(after.deadlocks.is_empty());
        prop_assert_eq!(worse(&cluster, &after, &before), None);
    }

    #[test]
    fn every_deadlock_is_a_circle_of_the_graph(cluster in clusters()) {
        let Analysis { deadlocks, events, .. } = analyse(&cluster);
        for deadlock in &deadlocks {
            let next = deadlock.steps.iter().cycle().skip(1);
            for (step, next) in deadlock.steps.iter().zip(next) {
                prop_assert!(events.implied(step.event).contains(&(next.event, step.because)), "{:?}", deadlock);
                prop_assert!(events.binds(step.because), "{:?}", deadlock);
            }
            let events: BTreeSet<Event> = deadlock.steps.iter().map(|step| step.event).collect();
            prop_assert_eq!(events.len(), deadlock.steps.len(), "no event is passed twice");
        }
    }

    /// A circle of gates alone is not: see `deadlocks::a_circle_of_gates_alone_is_not_told_yet`.
    #[test]
    fn every_circle_of_ties_and_needs_is_told_as_a_deadlock(cluster in clusters()) {
        let analysis = analyse(&cluster);
        prop_assert_eq!(has_circle_of_ties_and_needs(&analysis.events), !analysis.deadlocks.is_empty());
    }

    #[test]
    fn a_need_is_deadlocked_just_where_a_deadlock_names_it(cluster in clusters()) {
        let analysis = analyse(&cluster);
        let named: BTreeSet<usize> = analysis.deadlocks.iter().flat_map(|it| it.needs().collect::<Vec<_>>()).collect();
        let judged: BTreeSet<usize> =
            analysis.judged.iter().filter(|it| it.verdict == Verdict::Deadlocked).map(|it| it.need).collect();
        prop_assert_eq!(named, judged);
    }

    #[test]
    fn the_same_cluster_gets_the_same_analysis(cluster in clusters()) {
        prop_assert_eq!(format!("{:?}", analyse(&cluster)), format!("{:?}", analyse(&cluster.clone())));
    }

    #[test]
    fn answers_are_those_of_a_plain_walk(cluster in clusters()) {
        let events = analyse(&cluster).events;
        let all = || (0_u32..).take(events.len()).map(Event);
        let mut questions = Questions::default();
        for source in all() {
            all().for_each(|target| questions.ask(source, target));
        }
        let answers = events.answer(questions);
        for source in all() {
            let walked = implied(&events, source);
            let answered: Vec<bool> = all().map(|target| answers.implies(source, target)).collect();
            prop_assert_eq!(walked, answered, "of {:?}", source);
        }
    }

    #[test]
    fn every_component_has_one_tier_behind_all_it_is_tied_to(cluster in clusters()) {
        let Analysis { schedule, events, .. } = analyse(&cluster);
        let mut placed: Vec<ComponentId> = schedule.tiers.iter().flatten().copied().collect();
        placed.sort();
        prop_assert_eq!(placed, cluster.ids().collect::<Vec<_>>());
        let is_plain = cluster.ties.iter().all(|tie| tie.waits_for == model::WaitsFor::Done);
        if !is_circular(&events) && !bootstrap_awaits_gitops(&cluster) && is_plain {
            for tie in &cluster.ties {
                let model::TieTarget::Component(to) = tie.to else { continue };
                prop_assert!(schedule.tier(to) < schedule.tier(tie.from));
            }
        }
    }
}

/// Whether a gate of the bootstrap names what only Flux applies, which starts after it: such a cluster has no order.
fn bootstrap_awaits_gitops(cluster: &Cluster) -> bool {
    let is_late = |object: &model::ObjectRef| {
        let names = |one: &&model::Component| one.object == *object || one.resource.as_ref() == Some(object);
        cluster.components.iter().filter(names).any(|one| one.stage == model::Stage::GitOps)
    };
    let early = cluster.components.iter().filter(|one| one.stage == model::Stage::Bootstrap);
    early.into_iter().any(|one| matches!(&one.gate, Gate::Listed(objects) if objects.iter().any(is_late)))
}

/// The passes carry some hundred targets at once: a chain that is longer needs several.
#[test]
fn answers_hold_for_more_targets_than_one_pass_carries() {
    const COMPONENTS: u32 = 400;
    let mut cluster = Cluster::default();
    for id in 0..COMPONENTS {
        let object = crate::sketch::object("Kustomization", &format!("k{id}"));
        let retry = model::Retry::Every(600);
        cluster.components.push(crate::sketch::component(model::Role::Kustomization, object, Gate::Healthy, retry));
        if id > 0 {
            cluster.ties.push(crate::sketch::tie(ComponentId(id), ComponentId(id - 1), model::WaitsFor::Done));
        }
    }
    let events = analyse(&cluster).events;
    let all = || (0_u32..).take(events.len()).map(Event);
    let sources = [0, COMPONENTS / 2, COMPONENTS - 1].map(|id| Events::of(ComponentId(id), Moment::Start));
    let mut questions = Questions::default();
    for source in sources {
        all().for_each(|target| questions.ask(source, target));
    }
    let answers = events.answer(questions);
    for source in sources {
        let answered: Vec<bool> = all().map(|target| answers.implies(source, target)).collect();
        assert_eq!(implied(&events, source), answered);
    }
}
