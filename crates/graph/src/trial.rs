//! Whether an edit would help, for many edits at once and without judging the cluster again for each.
//!
//! A new tie or gate adds edges to the graph of events and takes none away. So it closes a circle just where its far end already leads back
//! to its near end, and what a component can rely on then is what its start implied before, and what the far ends imply. Both are
//! questions about the graph as it is, which are answered together. [`crate::changed`] and [`crate::analyse`] say the same slowly.

use std::collections::BTreeMap;

use model::{Cluster, ComponentId, ObjectRef, Verdict};

use crate::Analysis;
use crate::change::{Change, LooksAt, NewGate};
use crate::cycles::{Step, way};
use crate::events::{Because, Event, Events, Moment};
use crate::judge::Judge;
use crate::reach::{Answers, Questions};

/// Edits to be made together for the sake of a need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub tie: Option<(ComponentId, ComponentId)>,
    pub gate: Option<NewGate>,
    /// Without one, only circles count.
    pub need: Option<usize>,
}

impl Attempt {
    /// The same as changes of the cluster.
    pub fn changes(&self) -> Vec<Change> {
        let tie = self.tie.map(|(from, to)| Change::Tie(from, to));
        tie.into_iter().chain(self.gate.clone().map(Change::Gate)).collect()
    }
}

/// What comes of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Something would wait for itself.
    pub closes_circle: bool,
    /// The verdict of the need.
    pub verdict: Verdict,
    /// See [`crate::Judged::early`].
    pub early: bool,
}

/// A cluster to try edits on.
#[derive(Debug)]
pub struct Trials<'a> {
    cluster: &'a Cluster,
    analysis: &'a Analysis,
    /// Everything that waits, and an event more for every component: that all it applies is done. Expressions of somebody's own count:
    /// what they wait for is not known, and an edit must not close a circle with them either.
    waiting: Events,
    /// What verdicts rest on, with the same events.
    proving: Events,
    by_object: BTreeMap<&'a ObjectRef, ComponentId>,
    by_resource: BTreeMap<&'a ObjectRef, ComponentId>,
}

impl<'a> Trials<'a> {
    pub fn new(cluster: &'a Cluster, analysis: &'a Analysis) -> Self {
        let events = &analysis.events;
        let fails = |because: Because| matches!(because, Because::Need(need) if analysis.failing.contains(&need));
        let by_resource = |id| Some((cluster.component(id).resource.as_ref()?, id));
        Self {
            cluster,
            analysis,
            waiting: events.with_waits(cluster, |_| true),
            proving: events.with_waits(cluster, |because| !fails(because)),
            by_object: cluster.ids().map(|id| (&cluster.component(id).object, id)).collect(),
            by_resource: cluster.ids().filter_map(by_resource).collect(),
        }
    }

    /// What comes of each attempt by itself.
    pub fn outcomes(&self, attempts: &[Attempt]) -> Vec<Outcome> {
        let edges: Vec<Vec<(Event, Event)>> = attempts.iter().map(|attempt| self.edges(attempt)).collect();
        let circles = self.waiting.answer(circle_questions(&edges));
        let mut judge = Judge::new(self.cluster, &self.proving, &self.analysis.schedule, &self.analysis.deadlocks);
        let each = |judge: &Judge<'_>| -> Vec<Outcome> {
            let both = attempts.iter().zip(&edges);
            both.map(|(attempt, edges)| self.outcome(judge, attempt, edges, &circles)).collect()
        };
        // Once to hear what it would ask, then in earnest.
        each(&judge);
        judge.answer();
        each(&judge)
    }

    fn outcome(&self, judge: &Judge<'_>, attempt: &Attempt, edges: &[(Event, Event)], circles: &Answers) -> Outcome {
        let closes_circle = closes_circle(edges, circles);
        let Some(need) = attempt.need else {
            return Outcome { closes_circle, verdict: Verdict::Guaranteed, early: false };
        };
        // One more order opens no circle.
        if judge.is_deadlocked(need) {
            return Outcome { closes_circle, verdict: Verdict::Deadlocked, early: false };
        }
        // What is known by then may lead to the near end of an edit as well as the start does.
        let known = judge.known_at(&self.cluster.needs[need]);
        let starts: Vec<Event> = known.iter().flat_map(|event| judge.starts(*event, edges)).collect();
        let offers = self.analysis.links.offers_for(need);
        let (verdict, early) = judge.with(need, offers, &starts, attempt.gate.as_ref());
        Outcome { closes_circle, verdict, early }
    }

    /// How the far end of an attempt already leads back to its near end, where it would close a circle.
    pub fn way_back(&self, attempt: &Attempt) -> Vec<Step> {
        let edges = self.edges(attempt);
        let ends = edges.iter().flat_map(|(near, _)| edges.iter().map(move |(_, far)| (*far, *near)));
        ends.filter_map(|(far, near)| way(&self.waiting, far, near)).min_by_key(Vec::len).unwrap_or_default()
    }

    /// What an attempt adds: near ends imply far ends.
    fn edges(&self, attempt: &Attempt) -> Vec<(Event, Event)> {
        let done = |id| Events::of(id, Moment::Done);
        let tie = attempt.tie.map(|(from, to)| (Events::of(from, Moment::Start), done(to)));
        let seen =
            |gate: &NewGate| self.seen_by(gate).into_iter().map(|event| (done(gate.of), event)).collect::<Vec<_>>();
        tie.into_iter().chain(attempt.gate.as_ref().map(seen).unwrap_or_default()).collect()
    }

    /// What has happened when a new gate opens.
    fn seen_by(&self, gate: &NewGate) -> Vec<Event> {
        match &gate.looks_at {
            LooksAt::All => vec![self.analysis.events.waited(gate.of)],
            LooksAt::Object(object) => {
                let own = self.by_object.get(object).filter(|id| **id != gate.of);
                let own = own.map(|id| Events::of(*id, Moment::Done));
                let of_chart = self.by_resource.get(object).map(|id| Events::of(*id, Moment::Applied));
                own.into_iter().chain(of_chart).collect()
            }
        }
    }
}

/// Whether a far end leads to a near end: its own, or that of another edge which leads back in turn.
fn circle_questions(all: &[Vec<(Event, Event)>]) -> Questions {
    let mut questions = Questions::default();
    for edges in all {
        for (near, _) in edges {
            for (_, far) in edges {
                questions.ask(*far, *near);
            }
        }
    }
    questions
}

fn closes_circle(edges: &[(Event, Event)], circles: &Answers) -> bool {
    let leads = |from: &(Event, Event), to: &(Event, Event)| circles.implies(from.1, to.0);
    let alone = edges.iter().any(|edge| leads(edge, edge));
    let together = |first: &(Event, Event)| edges.iter().any(|other| leads(first, other) && leads(other, first));
    alone || edges.iter().any(together)
}
