//! Needs that are not guaranteed, gathered by the two components that somebody would have to order.

use std::collections::{BTreeMap, BTreeSet};

use graph::{Events, Judged, Moment, Questions, Verdict};
use model::{CapabilityKind, ComponentId, Phase, Role, Stage};

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::words::{agree, cost, listed, quoted};

/// Said where nobody loses as it stands.
const HELD_BY_FAILURE: &str =
    "as it stands it comes in time, but only because something it is ordered after fails to be applied until then";

/// Said where both ties are suggested.
const MUTUAL: &str = "the other needs something of this one, too: only one of the two can wait";

/// All that one component needs of another, the worst first.
#[derive(Clone)]
pub(crate) struct Pair<'a> {
    pub(crate) consumer: ComponentId,
    pub(crate) provider: ComponentId,
    pub(crate) judged: Vec<&'a Judged>,
    pub(crate) severity: Severity,
    /// The provider itself waits for the consumer: a tie would close a circle.
    pub(crate) closes_circle: bool,
    /// Nothing orders them the other way round either, and something should.
    pub(crate) is_mutual: bool,
}

/// Needs with one of these verdicts, by pair. `keep` decides on each need.
pub(crate) fn gather<'a>(context: &Context<'a>, keep: impl Fn(&Judged) -> bool) -> Vec<Pair<'a>> {
    let mut pairs: BTreeMap<(ComponentId, ComponentId), Vec<&'a Judged>> = BTreeMap::new();
    for judged in context.judged().filter(|judged| keep(judged)) {
        let need = context.need(judged);
        let Some(provider) = provider(context, judged) else { continue };
        let provider = context.operator(judged).unwrap_or(provider);
        let (consumer, provider) = context.pair(need.of, provider);
        if consumer != provider && !context.is_nested(consumer, provider) && !context.is_asleep(provider) {
            pairs.entry((consumer, provider)).or_default().push(judged);
        }
    }
    pairs
        .into_iter()
        .map(|((consumer, provider), mut judged)| {
            worst_first(context, &mut judged);
            let severity = judged.iter().map(|judged| context.severity(judged)).max().unwrap_or(Severity::Pedantic);
            Pair { consumer, provider, judged, severity, closes_circle: false, is_mutual: false }
        })
        .collect()
}

/// Finds the pairs of which no tie, or only one of two, could be declared.
pub(crate) fn mark_circles(context: &Context<'_>, pairs: &mut [Pair<'_>]) {
    let ends = |pair: &Pair<'_>| (Events::of(pair.provider, Moment::Done), Events::of(pair.consumer, Moment::Start));
    let mut questions = Questions::default();
    for (done, start) in pairs.iter().map(ends) {
        questions.ask(done, start);
    }
    // What is declared: a need that was read from content may be met in another way.
    let answers = context.analysis.events.without(&(0..context.cluster.needs.len()).collect()).answer(questions);
    let known: BTreeSet<(ComponentId, ComponentId)> = pairs.iter().map(|pair| (pair.consumer, pair.provider)).collect();
    for pair in pairs {
        let (done, start) = ends(pair);
        pair.closes_circle = answers.implies(done, start);
        pair.is_mutual = known.contains(&(pair.provider, pair.consumer));
    }
}

/// Lowers what most of those concerned leave as it is, and what is theirs to leave: one `dependsOn` that is missing among
/// many is a slip, thirty that are missing are the custom of the house.
pub(crate) fn leave_customs<'a>(
    context: &Context<'a>,
    mut pairs: Vec<Pair<'a>>,
    is_theirs: impl Fn(&Judged) -> bool,
) -> Vec<Pair<'a>> {
    const CUSTOM_MIN: usize = 4;
    let mut unordered: BTreeMap<ComponentId, usize> = BTreeMap::new();
    for pair in &pairs {
        *unordered.entry(pair.provider).or_default() += 1;
    }
    for pair in &mut pairs {
        let without = unordered[&pair.provider];
        let is_custom =
            || without >= CUSTOM_MIN && without > context.ordered_after(pair.provider, || count_ordered(context));
        if pair.severity == Severity::Info && pair.judged.iter().all(|judged| is_theirs(judged)) && is_custom() {
            pair.severity = Severity::Pedantic;
        }
    }
    pairs
}

fn count_ordered(context: &Context<'_>) -> BTreeMap<ComponentId, usize> {
    let is_ordered = |judged: &Judged| {
        matches!(
            judged.verdict,
            Verdict::Guaranteed | Verdict::AppliedOnly | Verdict::FalselyReady | Verdict::ExistsOnly
        )
    };
    let mut ordered: BTreeMap<ComponentId, usize> = BTreeMap::new();
    for pair in gather(context, is_ordered) {
        *ordered.entry(pair.provider).or_default() += 1;
    }
    ordered
}

fn worst_first(context: &Context<'_>, judged: &mut [&Judged]) {
    judged.sort_by_key(|judged| (std::cmp::Reverse(context.severity(judged)), context.need(judged).phase, judged.need));
}

/// Who offers it: where the bootstrap does, the component that GitOps installs it with as well.
fn provider(context: &Context<'_>, judged: &Judged) -> Option<ComponentId> {
    let offers = context.analysis.links.offers_for(judged.need);
    let by = |offer: &usize| context.cluster.offers[*offer].by;
    let chosen = by(judged.offer.as_ref()?);
    if judged.verdict != Verdict::BootstrapOnly {
        return Some(chosen);
    }
    offers.iter().map(by).find(|by| context.component(*by).stage == Stage::GitOps)
}

/// Leaves out what another suggestion for the same component already brings: a store is made of its operator's kinds and
/// waits for it, so a tie to the store orders both. What was left out counts for the one that stays.
pub(crate) fn reduce<'a>(context: &Context<'a>, pairs: Vec<Pair<'a>>) -> Vec<Pair<'a>> {
    let operators = Operators::new(context);
    let mut by_consumer: BTreeMap<ComponentId, Vec<Pair<'a>>> = BTreeMap::new();
    for pair in pairs {
        by_consumer.entry(pair.consumer).or_default().push(pair);
    }
    let mut kept = Vec::new();
    for (_, group) in by_consumer {
        let mut stay: Vec<Pair<'a>> = Vec::new();
        let mut covered: Vec<Pair<'a>> = Vec::new();
        let above: Vec<BTreeSet<ComponentId>> = group.iter().map(|pair| operators.of(pair)).collect();
        for (index, pair) in group.into_iter().enumerate() {
            let is_covered =
                above.iter().enumerate().any(|(other, set)| other != index && set.contains(&pair.provider));
            if is_covered { covered.push(pair) } else { stay.push(pair) }
        }
        for pair in covered {
            match stay.iter_mut().find(|other| operators.of(other).contains(&pair.provider)) {
                Some(heir) => heir.inherit(context, pair),
                None => stay.push(pair),
            }
        }
        kept.append(&mut stay);
    }
    kept
}

/// Who brings the kinds that offered things are made of, where those are ordered after it.
struct Operators<'c, 'a> {
    context: &'c Context<'a>,
    by_component: BTreeMap<ComponentId, BTreeSet<ComponentId>>,
    by_kind: BTreeMap<(ComponentId, &'a str), BTreeSet<ComponentId>>,
}

impl<'c, 'a> Operators<'c, 'a> {
    fn new(context: &'c Context<'a>) -> Self {
        let mut operators = Self { context, by_component: BTreeMap::new(), by_kind: BTreeMap::new() };
        for judged in &context.analysis.judged {
            let need = context.need(judged);
            let is_own_kind = need.capability.kind == CapabilityKind::Crd && need.phase == Phase::Apply;
            let Some(offer) = judged.offer.filter(|_| is_own_kind) else { continue };
            if judged.verdict >= Verdict::AppliedOnly {
                let operator = context.applier(context.cluster.offers[offer].by);
                operators.by_component.entry(need.of).or_default().insert(operator);
                operators.by_kind.entry((need.of, &need.object.kind)).or_default().insert(operator);
            }
        }
        operators
    }

    /// The operators behind what this pair is about.
    fn of(&self, pair: &Pair<'_>) -> BTreeSet<ComponentId> {
        let offers =
            pair.judged.iter().filter_map(|judged| judged.offer).map(|offer| &self.context.cluster.offers[offer]);
        let mut found = BTreeSet::new();
        for offer in offers {
            let by_kind = self.by_kind.get(&(offer.by, offer.object.kind.as_str()));
            let by_release = (self.context.component(offer.by).role == Role::HelmRelease)
                .then(|| self.by_component.get(&offer.by))
                .flatten();
            found.extend(by_kind.into_iter().chain(by_release).flatten().copied());
        }
        found.remove(&pair.provider);
        found
    }
}

impl<'a> Pair<'a> {
    fn inherit(&mut self, context: &Context<'a>, other: Self) {
        self.severity = self.severity.max(other.severity);
        self.judged.extend(other.judged);
        worst_first(context, &mut self.judged);
    }
}

impl Pair<'_> {
    fn notes(&self) -> Vec<String> {
        let failure = self.judged[0].holds_by_failure.then_some(HELD_BY_FAILURE);
        failure.into_iter().chain(self.is_mutual.then_some(MUTUAL)).map(str::to_owned).collect()
    }

    /// The finding all pair rules share; the rule sets its name, its message and its fix.
    pub(crate) fn finding(&self, context: &Context<'_>, rule: &'static str) -> Finding {
        let worst = self.judged[0];
        let need = context.need(worst);
        let consumer = context.component(self.consumer);
        let feels = context.component(need.of);
        Finding {
            rule,
            severity: self.severity,
            message: String::new(),
            cluster: context.cluster.name.clone(),
            component: consumer.object.clone(),
            provider: Some(context.component(self.provider).object.clone()),
            capability: Some(need.capability.to_string()),
            verdict: Some(worst.verdict),
            consequence: Some(worst.consequence),
            cost: cost(worst, need, feels),
            locations: self.locations(context),
            fix: None,
            notes: self.notes(),
            also: Vec::new(),
            each: Vec::new(),
        }
    }

    /// The worst need and the offer that would meet it.
    fn locations(&self, context: &Context<'_>) -> Vec<Location> {
        let worst = self.judged[0];
        let need = context.need(worst);
        let mut locations = vec![Location {
            span: need.at,
            role: LocationRole::Need,
            label: format!("{} needs {} {}", need.object.kind, need.capability, need.why),
        }];
        if let Some(offer) = worst.offer.map(|offer| &context.cluster.offers[offer]) {
            let by = context.component(offer.by);
            locations.push(Location {
                span: offer.at,
                role: LocationRole::Offer,
                label: format!("which {} brings", by.object),
            });
        }
        locations
    }

    /// The capabilities, each once, as words: `CRD x, secret store y and 2 more`.
    pub(crate) fn capabilities(&self, context: &Context<'_>) -> String {
        const SHOWN: usize = 2;
        listed(&self.needed(context), SHOWN)
    }

    /// The same as the subject of a clause: `CRD x is there`, `CRD x and 2 more are there`.
    pub(crate) fn capabilities_are(&self, context: &Context<'_>) -> String {
        format!("{} {}", self.capabilities(context), agree(self.needed(context).len(), "is", "are"))
    }

    fn needed(&self, context: &Context<'_>) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for judged in &self.judged {
            let name = context.need(judged).capability.to_string();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    pub(crate) fn names(&self, context: &Context<'_>) -> (String, String) {
        (quoted(context.component(self.consumer)), quoted(context.component(self.provider)))
    }
}
