//! Orders and gates that would help, tried one after the other on the graph: the first that does it is advised.
//!
//! Knows what people can write. What an edit comes to is for [`graph::Trials`] to say.

use std::collections::BTreeSet;

use diagnostic::{Hop, Severity};
use graph::{Attempt, Because, Change, LooksAt, NewGate, Outcome};
use model::{Arrival, ComponentId, Gate, Offer, Phase, Role, Verdict};

use crate::circles::hops;
use crate::context::Context;
use crate::pairs::Pair;

/// Needs of a pair that are looked at, the worst first.
const NEEDS_MAX: usize = 3;
/// Whole analyses that a rule may ask for where trying on the graph is not enough.
const ANALYSES_MAX: usize = 4;

/// How a pair can be ordered.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// A tie, and a gate at its far end where one is lacking.
    Tie { ends: (ComponentId, ComponentId), gate: Option<NewGate> },
    /// The same, in place of the tie with this index.
    Instead { tie: usize, gate: Option<NewGate> },
    /// A tie of what needs it, in a component of its own; the pair itself is ordered the other way round.
    Apart { gate: Option<NewGate>, back: Vec<Hop> },
    /// Not by one edit.
    Nowhere { back: Vec<Hop> },
}

/// How good an outcome is. A gate that opens a moment too early counts as one: see the rule about those.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    Nothing,
    /// Ordered, and not proved.
    Order,
    Proof,
}

/// An edit to try: the ends of a tie and the gate at its far end.
#[derive(Clone, Debug)]
struct Choice {
    ends: (ComponentId, ComponentId),
    gate: Option<NewGate>,
}

/// The best choice for a pair, and what it is worth.
type Best = Option<(Worth, Choice)>;

/// Finds a way for each pair, where there is one.
pub(crate) fn find_ways(context: &Context<'_>, pairs: &mut [Pair<'_>]) {
    let own = |pair: &Pair<'_>| choices(context, pair, (pair.consumer, pair.provider));
    let mut best = try_all(context, pairs, own);
    try_elsewhere(context, pairs, &mut best);
    let mut analyses = ANALYSES_MAX;
    for (pair, best) in pairs.iter_mut().zip(best) {
        let way = match best {
            Some((worth, Choice { ends, gate })) if worth > Worth::Nothing => Way::Tie { ends, gate },
            _ => without_tie(context, pair, &mut analyses),
        };
        pair.way = Some(way);
    }
}

/// Tries other ends where those of the pair itself prove nothing.
fn try_elsewhere(context: &Context<'_>, pairs: &[Pair<'_>], best: &mut [Best]) {
    let worth = |best: &Best| best.as_ref().map_or(Worth::Nothing, |(worth, _)| *worth);
    let both = pairs.iter().zip(best.iter_mut()).filter(|(_, best)| worth(best) < Worth::Proof);
    let (left, best): (Vec<Pair<'_>>, Vec<&mut Best>) = both.map(|(pair, best)| (pair.clone(), best)).unzip();
    if left.is_empty() {
        return;
    }
    let elsewhere = |pair: &Pair<'_>| -> Vec<Choice> {
        other_ends(context, pair).into_iter().flat_map(|ends| choices(context, pair, ends)).collect()
    };
    for (best, other) in best.into_iter().zip(try_all(context, &left, elsewhere)) {
        if worth(&other) > worth(best) {
            *best = other;
        }
    }
}

/// The best of each pair's choices that close no circle, and what it is worth.
fn try_all<'p>(context: &Context<'_>, pairs: &[Pair<'p>], choices: impl Fn(&Pair<'p>) -> Vec<Choice>) -> Vec<Best> {
    let choices: Vec<Vec<Choice>> = pairs.iter().map(choices).collect();
    let mut attempts = Vec::new();
    for (pair, choices) in pairs.iter().zip(&choices) {
        for choice in choices {
            attempts.extend(attempts_of(pair, choice));
        }
    }
    let mut outcomes = context.trials().outcomes(&attempts).into_iter();
    let mut one = |(pair, choices): (&Pair<'_>, Vec<Choice>)| {
        let mut best: Option<((Worth, usize), Choice)> = None;
        for choice in choices {
            let outcomes: Vec<Outcome> = outcomes.by_ref().take(looked_at(pair).count()).collect();
            let Some(first) = outcomes.first().copied().filter(|first| !first.closes_circle) else { continue };
            let rank = (worth(first), outcomes.iter().filter(|it| worth(**it) == Worth::Proof).count());
            if best.as_ref().is_none_or(|(known, _)| rank > *known) {
                best = Some((rank, choice));
            }
        }
        best.map(|((worth, _), choice)| (worth, choice))
    };
    pairs.iter().zip(choices).map(&mut one).collect()
}

fn looked_at<'p>(pair: &'p Pair<'_>) -> impl Iterator<Item = usize> + 'p {
    pair.judged.iter().take(NEEDS_MAX).map(|judged| judged.need)
}

fn attempts_of<'p>(pair: &'p Pair<'_>, choice: &'p Choice) -> impl Iterator<Item = Attempt> + 'p {
    looked_at(pair).map(|need| Attempt { tie: Some(choice.ends), gate: choice.gate.clone(), need: Some(need) })
}

fn worth(outcome: Outcome) -> Worth {
    match outcome.verdict {
        Verdict::Guaranteed => Worth::Proof,
        _ if outcome.early => Worth::Proof,
        Verdict::AppliedOnly | Verdict::FalselyReady | Verdict::ExistsOnly => Worth::Order,
        _ => Worth::Nothing,
    }
}

/// What people could write for a tie between these ends, the least first.
fn choices(context: &Context<'_>, pair: &Pair<'_>, ends: (ComponentId, ComponentId)) -> Vec<Choice> {
    if !can_be_tied(context, ends) {
        return Vec::new();
    }
    let offer = pair.judged[0].offer.map(|offer| &context.cluster.offers[offer]);
    let gates = std::iter::once(None).chain(gates(context, ends.1, offer).into_iter().map(Some));
    gates.map(|gate| Choice { ends, gate }).collect()
}

/// Whether `dependsOn` of the one takes the other.
fn can_be_tied(context: &Context<'_>, (of, by): (ComponentId, ComponentId)) -> bool {
    let (own, other) = (context.component(of).role, context.component(by).role);
    own == other || (own == Role::ResourceSet && !other.is_bootstrap()) || (own.is_bootstrap() && other.is_bootstrap())
}

/// Gates that a component could have for the sake of an offer, the least first.
pub(crate) fn gates(context: &Context<'_>, of: ComponentId, offer: Option<&Offer>) -> Vec<NewGate> {
    let component = context.component(of);
    if component.role != Role::Kustomization {
        return Vec::new();
    }
    let gate = |looks_at, expression| NewGate { of, looks_at, expression };
    let judged = offer.filter(|offer| matches!(offer.arrival, Arrival::Reported | Arrival::Unreported));
    let kind = judged.map(|offer| offer.object.kind.clone());
    let named = offer.map(|offer| LooksAt::Object(checked(context, offer)));
    let with = |looks_at: LooksAt| {
        let judging = kind.clone().map(|kind| gate(looks_at.clone(), Some(kind)));
        std::iter::once(gate(looks_at, None)).chain(judging).collect::<Vec<NewGate>>()
    };
    match component.gate {
        // What the chart of a release consists of, the release does not wait for.
        Gate::Healthy if offer.is_some_and(|offer| is_beyond(context, offer)) => {
            kind.zip(named).map(|(kind, named)| gate(named, Some(kind))).into_iter().collect()
        }
        Gate::Healthy => kind.map(|kind| gate(LooksAt::All, Some(kind))).into_iter().collect(),
        Gate::Listed(_) => named.map(with).unwrap_or_default(),
        Gate::Applied | Gate::LooksHealthy(_) => {
            with(LooksAt::All).into_iter().chain(named.map(with).unwrap_or_default()).collect()
        }
    }
}

/// The object to list for an offer: the release it comes of, unless it is a resource that the release does not wait for.
fn checked(context: &Context<'_>, offer: &Offer) -> model::ObjectRef {
    let by = context.component(offer.by);
    let is_release = by.role == Role::HelmRelease && !is_beyond(context, offer);
    if is_release { by.object.clone() } else { offer.object.clone() }
}

/// Whether it comes of the resource that the chart of a release consists of.
fn is_beyond(context: &Context<'_>, offer: &Offer) -> bool {
    context.component(offer.by).resource.as_ref() == Some(&offer.object)
}

/// The same order at another level, and with what applies the provider where the consumer can't name that itself.
fn other_ends(context: &Context<'_>, pair: &Pair<'_>) -> BTreeSet<(ComponentId, ComponentId)> {
    let mut ends = pair.other_levels(context);
    let of = context.applier(pair.consumer);
    let role = context.component(of).role;
    let above = context.above(pair.provider).filter(|at| context.component(*at).role == role && *at != pair.provider);
    ends.extend(above.map(|by| (of, by)).filter(|(of, by)| of != by && !context.is_nested(*of, *by)));
    ends.remove(&(pair.consumer, pair.provider));
    ends
}

/// A pair that can't be tied as it is: without a tie that is in the way, or with what needs it apart.
fn without_tie(context: &Context<'_>, pair: &Pair<'_>, analyses: &mut usize) -> Way {
    let ends = (pair.consumer, pair.provider);
    let need = Some(pair.judged[0].need);
    let steps = context.trials().way_back(&Attempt { tie: Some(ends), gate: None, need });
    if pair.severity == Severity::Pedantic || !can_be_tied(context, ends) {
        return Way::Nowhere { back: hops(context, &steps) };
    }
    let gate = proving(context, pair, ends);
    let gated = || context.trials().way_back(&Attempt { tie: Some(ends), gate: gate.clone(), need });
    let steps = if steps.is_empty() { gated() } else { steps };
    let back = hops(context, &steps);
    let mut tie = steps.iter().filter_map(|step| match step.because {
        Because::Tie(tie) => Some(tie),
        _ => None,
    });
    let gated = gate.clone().map(Change::Gate);
    if let (Some(tie), None) = (tie.next(), tie.next()) {
        let changes = [Change::Untie(tie), Change::Tie(ends.0, ends.1)].into_iter().chain(gated.clone());
        if holds(context, pair, &changes.collect::<Vec<_>>(), analyses) {
            return Way::Instead { tie, gate };
        }
    }
    if let Some(needs) = movable(context, pair) {
        let changes: Vec<Change> = std::iter::once(Change::Split { needs, after: ends.1 }).chain(gated).collect();
        if holds(context, pair, &changes, analyses) {
            return Way::Apart { gate, back };
        }
    }
    Way::Nowhere { back }
}

/// The least gate with which a tie proves what is needed, whatever circle it closes.
fn proving(context: &Context<'_>, pair: &Pair<'_>, ends: (ComponentId, ComponentId)) -> Option<NewGate> {
    let need = pair.judged.first().map(|judged| judged.need);
    let choices = choices(context, pair, ends);
    let attempts: Vec<Attempt> =
        choices.iter().map(|choice| Attempt { tie: Some(ends), gate: choice.gate.clone(), need }).collect();
    let outcomes = context.trials().outcomes(&attempts);
    let mut proved = choices.into_iter().zip(outcomes).filter(|(_, outcome)| worth(*outcome) == Worth::Proof);
    proved.next().and_then(|(choice, _)| choice.gate)
}

/// The needs of a pair, where all are of objects that a Kustomization applies and that could stand elsewhere.
fn movable(context: &Context<'_>, pair: &Pair<'_>) -> Option<Vec<usize>> {
    let component = context.component(pair.consumer);
    let is_movable =
        |need: &model::Need| need.of == pair.consumer && need.phase > Phase::Build && need.object != component.object;
    let all = pair.judged.iter().all(|judged| is_movable(context.need(judged)));
    (component.role == Role::Kustomization && all).then(|| pair.judged.iter().map(|judged| judged.need).collect())
}

/// Whether changes guarantee the worst need of a pair, close no circle and make no other need worse: by analysing the cluster with them.
fn holds(context: &Context<'_>, pair: &Pair<'_>, changes: &[Change], analyses: &mut usize) -> bool {
    let Some(left) = analyses.checked_sub(1) else { return false };
    *analyses = left;
    let (before, after) = (context.analysis, graph::analyse(&graph::changed(context.cluster, changes)));
    let is_good = |verdict: Verdict, early: bool| early || verdict == Verdict::Guaranteed;
    let is_worse = before
        .judged
        .iter()
        .zip(&after.judged)
        .any(|(before, after)| is_good(before.verdict, before.early) && !is_good(after.verdict, after.early));
    let worst = &after.judged[pair.judged[0].need];
    is_good(worst.verdict, worst.early) && !is_worse && after.deadlocks.len() <= before.deadlocks.len()
}

/// What a gate can be made to wait for, for the sake of its dependents.
#[derive(Clone, Debug)]
pub(crate) enum Opening {
    Gate(NewGate),
    /// Not for all that it applies, which would close a circle.
    Only {
        gate: NewGate,
        back: Vec<Hop>,
    },
    Nothing {
        back: Vec<Hop>,
    },
}

/// Finds what each gate can be made to wait for; beside the gate a need that rests on it, where one is known.
pub(crate) fn find_gates(context: &Context<'_>, gates: &[(ComponentId, Option<&Pair<'_>>)]) -> Vec<Opening> {
    let attempts_of = |(of, pair): &(ComponentId, Option<&Pair<'_>>)| -> Vec<Attempt> {
        let judged = pair.map(|pair| pair.judged[0]);
        let offer = judged.and_then(|judged| judged.offer).map(|offer| &context.cluster.offers[offer]);
        let need = judged.map(|judged| judged.need);
        let some = self::gates(context, *of, offer);
        let some = if some.is_empty() { vec![all(*of)] } else { some };
        some.into_iter().map(|gate| Attempt { tie: None, gate: Some(gate), need }).collect()
    };
    let attempts: Vec<Vec<Attempt>> = gates.iter().map(attempts_of).collect();
    let mut outcomes = context.trials().outcomes(&attempts.concat()).into_iter();
    let mut one = |attempts: &Vec<Attempt>| {
        let tried: Vec<(&Attempt, Outcome)> = attempts.iter().zip(outcomes.by_ref()).collect();
        opening(context, &tried)
    };
    attempts.iter().map(&mut one).collect()
}

fn all(of: ComponentId) -> NewGate {
    NewGate { of, looks_at: LooksAt::All, expression: None }
}

fn opening(context: &Context<'_>, tried: &[(&Attempt, Outcome)]) -> Opening {
    let back = || tried.first().map(|(first, _)| hops(context, &context.trials().way_back(first))).unwrap_or_default();
    let open = || tried.iter().filter(|(_, outcome)| !outcome.closes_circle);
    let best = open().rev().max_by_key(|(_, outcome)| worth(*outcome));
    match best.and_then(|(attempt, _)| attempt.gate.clone()) {
        None => Opening::Nothing { back: back() },
        Some(gate) if gate.looks_at != LooksAt::All && tried[0].1.closes_circle => Opening::Only { gate, back: back() },
        Some(gate) => Opening::Gate(gate),
    }
}
