//! Needs that are not guaranteed, gathered by the two components that somebody would have to order.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use diagnostic::{
    Advice, Cost, Evidence, EvidenceRole, Finding, Fix, Goal, Label, Level, Location, Note, Rule, Severity, Statement,
};
use graph::{Events, Judged, Moment, Questions};
use model::{Capability, CapabilityKind, ComponentId, ObjectRef, Phase, Role, Stage, Verdict};

use crate::context::Context;
use crate::cost::cost;
use crate::needs::needs;
use crate::remedy::Way;

/// All that one component needs of another, the worst first.
#[derive(Clone)]
pub(crate) struct Pair<'a> {
    pub(crate) consumer: ComponentId,
    pub(crate) provider: ComponentId,
    pub(crate) judged: Vec<&'a Judged>,
    pub(crate) severity: Severity,
    /// Providers of other pairs that this one brings along, see [`reduce`].
    covers: BTreeSet<ComponentId>,
    /// Who has a need and who offers what it needs: the two themselves, or releases that they apply.
    ends: BTreeSet<(ComponentId, ComponentId)>,
    /// The provider itself waits for the consumer: a tie would close a circle.
    pub(crate) closes_circle: bool,
    /// Nothing orders them the other way round either, and something should.
    pub(crate) is_mutual: bool,
    /// How the two can be ordered, where that was tried.
    pub(crate) way: Option<Way>,
}

/// What makes a pair.
#[derive(Default)]
struct Gathered<'a> {
    judged: Vec<&'a Judged>,
    ends: BTreeSet<(ComponentId, ComponentId)>,
}

/// Sorts pairs that one finding speaks for: the one that loses most speaks.
pub(crate) fn sort_worst_first(context: &Context<'_>, pairs: &mut [Pair<'_>]) {
    let lost = |pair: &Pair<'_>| pair.judged[0].consequence.cost_seconds().unwrap_or(u64::MAX);
    let object = |pair: &Pair<'_>| context.component(pair.consumer).object.clone();
    pairs.sort_by_key(|pair| (Reverse(pair.severity), Reverse(lost(pair)), object(pair)));
}

/// Needs with one of these verdicts, by pair. `keep` decides on each need.
pub(crate) fn gather<'a>(context: &Context<'a>, keep: impl Fn(&Judged) -> bool) -> Vec<Pair<'a>> {
    let mut pairs: BTreeMap<(ComponentId, ComponentId), Gathered<'a>> = BTreeMap::new();
    for judged in context.judged().filter(|judged| keep(judged)) {
        let need = context.need(judged);
        let Some(provider) = provider(context, judged) else { continue };
        let provider = context.operator(judged).unwrap_or(provider);
        let ends = (need.of, provider);
        let (consumer, provider) =
            if is_beside_release(context, judged, provider) { ends } else { context.pair(need.of, provider) };
        if consumer != provider && !context.is_nested(consumer, provider) && !context.is_asleep(provider) {
            let gathered = pairs.entry((consumer, provider)).or_default();
            gathered.judged.push(judged);
            gathered.ends.insert(ends);
        }
    }
    pairs
        .into_iter()
        .map(|((consumer, provider), Gathered { mut judged, ends })| {
            worst_first(context, &mut judged);
            let severity = judged.iter().map(|judged| context.severity(judged)).max().unwrap_or(Severity::Pedantic);
            let covers = BTreeSet::new();
            Pair {
                consumer,
                provider,
                judged,
                severity,
                covers,
                ends,
                closes_circle: false,
                is_mutual: false,
                way: None,
            }
        })
        .collect()
}

/// Whether a Kustomization needs the CRD that a release brings, both are applied by the same one, directly or further down, and by the
/// estimates the release is the later. Between the two as they are no order can be declared: `dependsOn` of a Kustomization names no
/// release, and what applies both can't be waited for.
fn is_beside_release(context: &Context<'_>, judged: &Judged, provider: ComponentId) -> bool {
    let need = context.need(judged);
    let applier = context.applier(provider);
    let is_kustomization = |id: ComponentId| context.component(id).role == Role::Kustomization;
    let is_needed = need.capability.kind == CapabilityKind::Crd && need.phase == Phase::Apply && !need.optional;
    let is_lost = judged.verdict == Verdict::Unordered && judged.wait_seconds > 0;
    let are_meant = context.component(provider).role == Role::HelmRelease
        && [need.of, applier].into_iter().all(is_kustomization)
        && need.of != applier;
    is_needed && is_lost && are_meant && context.above(need.of).any(|at| at == applier)
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
pub(crate) fn lower_if_usual<'a>(
    context: &Context<'a>,
    mut pairs: Vec<Pair<'a>>,
    is_theirs: impl Fn(&Judged) -> bool,
) -> Vec<Pair<'a>> {
    const USUAL_MIN: usize = 4;
    let mut unordered: BTreeMap<ComponentId, usize> = BTreeMap::new();
    for pair in &pairs {
        *unordered.entry(pair.provider).or_default() += 1;
    }
    for pair in &mut pairs {
        let without = unordered[&pair.provider];
        let is_usual =
            || without >= USUAL_MIN && without > context.ordered_after(pair.provider, || count_ordered(context));
        if pair.severity == Severity::Info && pair.judged.iter().all(|judged| is_theirs(judged)) && is_usual() {
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
    judged.sort_by_key(|judged| (Reverse(context.severity(judged)), context.need(judged).phase, judged.need));
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
        self.covers.insert(other.provider);
        self.covers.extend(other.covers);
        self.judged.extend(other.judged);
        worst_first(context, &mut self.judged);
    }
}

impl Pair<'_> {
    /// The finding all pair rules share.
    pub(crate) fn finding(
        &self,
        context: &Context<'_>,
        rule: &'static Rule,
        statement: impl Into<Statement>,
        primary: Location,
    ) -> Finding {
        let worst = self.judged[0];
        let need = context.need(worst);
        let (consumer, provider) = self.objects(context);
        let mut finding = Finding::new(rule, self.severity, &context.cluster.name, &consumer, statement, primary)
            .with_provider(&provider)
            .with_subject(need.capability.clone())
            .with_verdict(worst.verdict)
            .with_consequence(worst.consequence)
            .with_cost(self.cost(context));
        finding.evidence = self.evidence(context);
        finding.covers = self.covers.iter().map(|id| context.component(*id).object.clone()).collect();
        finding.levels = self.levels(context);
        finding.notes.extend(worst.holds_by_failure.then_some(Note::HoldsByFailure));
        finding.notes.extend(self.is_mutual.then_some(Note::IsMutual));
        finding
    }

    /// The same order at the other level: between releases where the pair is of Kustomizations, and the other way round.
    pub(crate) fn other_levels(&self, context: &Context<'_>) -> BTreeSet<(ComponentId, ComponentId)> {
        let is_release = |id: ComponentId| context.component(id).role == Role::HelmRelease;
        let mut levels = BTreeSet::new();
        for (of, by) in self.ends.iter().copied().filter(|(of, _)| is_release(*of)) {
            // What stands beside the only release of a Kustomization is applied together with it.
            levels.extend(context.release(by).map(|by| (of, by)));
            levels.extend(is_release(by).then(|| (context.applier(of), context.applier(by))));
        }
        levels.remove(&(self.consumer, self.provider));
        levels.retain(|(of, by)| of != by && !context.is_nested(*of, *by));
        levels
    }

    fn levels(&self, context: &Context<'_>) -> Vec<Level> {
        let object = |id: ComponentId| context.component(id).object.clone();
        let level = |(of, by)| Level { component: object(of), provider: object(by) };
        self.other_levels(context).into_iter().map(level).collect()
    }

    /// The worst need and the offer that would meet it.
    fn evidence(&self, context: &Context<'_>) -> Vec<Evidence> {
        let worst = self.judged[0];
        let need = context.need(worst);
        let offer = worst.offer.map(|offer| &context.cluster.offers[offer]);
        let evidence = |role, at: source::Span, label| Evidence { role, at: at.into(), label: Some(label) };
        let brings = offer.map(|offer| {
            let label = Label::Brings { by: context.component(offer.by).object.clone() };
            evidence(EvidenceRole::Offer, offer.at, label)
        });
        std::iter::once(evidence(EvidenceRole::Need, need.at, needs(need))).chain(brings).collect()
    }

    /// A fix that makes sure of the worst need.
    pub(crate) fn fix(&self, context: &Context<'_>, advice: impl Into<Advice>) -> Fix {
        let subject = context.need(self.judged[0]).capability.clone().into();
        let component = context.component(self.consumer).object.clone();
        Fix::by_hand(advice, Goal::Guaranteed { component, subject })
    }

    /// What the pair costs, by its worst need.
    pub(crate) fn cost(&self, context: &Context<'_>) -> Cost {
        let need = context.need(self.judged[0]);
        cost(self.judged[0], need, context.component(need.of))
    }

    /// Whether the consumer is a Kustomization, and the provider a release that something above it applies.
    pub(crate) fn is_beside_release(&self, context: &Context<'_>) -> bool {
        let applier = context.applier(self.provider);
        context.component(self.consumer).role == Role::Kustomization
            && applier != self.provider
            && context.above(self.consumer).any(|at| at == applier)
    }

    /// What is needed, each once, the worst first.
    pub(crate) fn needed(&self, context: &Context<'_>) -> Vec<Capability> {
        let mut needed: Vec<Capability> = Vec::new();
        for capability in self.judged.iter().map(|judged| &context.need(judged).capability) {
            if !needed.contains(capability) {
                needed.push(capability.clone());
            }
        }
        needed
    }

    /// The consumer and the provider.
    pub(crate) fn objects(&self, context: &Context<'_>) -> (ObjectRef, ObjectRef) {
        (context.component(self.consumer).object.clone(), context.component(self.provider).object.clone())
    }
}
