//! Needs that are not guaranteed, gathered by the two components that somebody would have to order.

use std::collections::{BTreeMap, BTreeSet};

use graph::{Judged, Verdict};
use model::{CapabilityKind, ComponentId, Stage};

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::words::{and_more, cost, quoted};

/// All that one component needs of another, the worst first.
pub(crate) struct Pair<'a> {
    pub(crate) consumer: ComponentId,
    pub(crate) provider: ComponentId,
    pub(crate) judged: Vec<&'a Judged>,
    pub(crate) severity: Severity,
}

/// Needs with one of these verdicts, by pair. `keep` decides on each need.
pub(crate) fn gather<'a>(context: &Context<'a>, keep: impl Fn(&Judged) -> bool) -> Vec<Pair<'a>> {
    let mut pairs: BTreeMap<(ComponentId, ComponentId), Vec<&'a Judged>> = BTreeMap::new();
    for judged in context.judged().filter(|judged| keep(judged)) {
        let need = context.need(judged);
        let Some(provider) = provider(context, judged) else { continue };
        let (consumer, provider) = context.pair(need.of, provider);
        if consumer != provider && !context.is_nested(consumer, provider) && !context.is_asleep(provider) {
            pairs.entry((consumer, provider)).or_default().push(judged);
        }
    }
    pairs
        .into_iter()
        .map(|((consumer, provider), mut judged)| {
            judged.sort_by_key(|judged| {
                (std::cmp::Reverse(context.severity(judged)), context.need(judged).phase, judged.need)
            });
            let severity = judged.iter().map(|judged| context.severity(judged)).max().unwrap_or(Severity::Pedantic);
            Pair { consumer, provider, judged, severity }
        })
        .collect()
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
    let mut made_of = MadeOf { context, known: BTreeMap::new() };
    let mut by_consumer: BTreeMap<ComponentId, Vec<Pair<'a>>> = BTreeMap::new();
    for pair in pairs {
        by_consumer.entry(pair.consumer).or_default().push(pair);
    }
    let mut kept = Vec::new();
    for (_, group) in by_consumer {
        let providers: Vec<ComponentId> = group.iter().map(|pair| pair.provider).collect();
        let (covered, mut stay): (Vec<_>, Vec<_>) =
            group.into_iter().partition(|pair| providers.iter().any(|other| made_of.holds(*other, pair.provider)));
        for pair in covered {
            let heir = stay.iter_mut().find(|other| made_of.holds(other.provider, pair.provider));
            match heir {
                Some(heir) => heir.inherit(context, pair),
                None => stay.push(pair),
            }
        }
        kept.append(&mut stay);
    }
    kept
}

/// Which components are made of another's kinds, and are ordered after it.
struct MadeOf<'c, 'a> {
    context: &'c Context<'a>,
    known: BTreeMap<ComponentId, BTreeSet<ComponentId>>,
}

impl MadeOf<'_, '_> {
    fn holds(&mut self, later: ComponentId, operator: ComponentId) -> bool {
        if later == operator {
            return false;
        }
        let context = self.context;
        let operators = self.known.entry(later).or_insert_with(|| {
            let met = context.analysis.judged.iter().filter(|judged| {
                let need = context.need(judged);
                need.capability.kind == CapabilityKind::Crd
                    && context.applier(need.of) == later
                    && judged.verdict >= Verdict::AppliedOnly
            });
            met.filter_map(|judged| Some(context.applier(context.cluster.offers[judged.offer?].by))).collect()
        });
        operators.contains(&context.applier(operator))
    }
}

impl<'a> Pair<'a> {
    fn inherit(&mut self, context: &Context<'a>, other: Self) {
        self.severity = self.severity.max(other.severity);
        self.judged.extend(other.judged);
        self.judged.sort_by_key(|judged| {
            (std::cmp::Reverse(context.severity(judged)), context.need(judged).phase, judged.need)
        });
    }
}

impl Pair<'_> {
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
            notes: Vec::new(),
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
        let mut names: Vec<String> = Vec::new();
        for judged in &self.judged {
            let name = context.need(judged).capability.to_string();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        format!("{}{}", names[..names.len().min(SHOWN)].join(", "), and_more(SHOWN, names.len()))
    }

    pub(crate) fn names(&self, context: &Context<'_>) -> (String, String) {
        (quoted(context.component(self.consumer)), quoted(context.component(self.provider)))
    }
}
