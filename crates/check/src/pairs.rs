//! Needs that are not guaranteed, gathered by the two components that somebody would have to order.

use std::collections::{BTreeMap, BTreeSet};

use graph::{Event, Events, Judged, Moment, Verdict};
use model::{ComponentId, Stage};

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

/// Leaves out what another suggestion for the same component already brings: a tie to a store that itself waits for its
/// operator orders both. What was left out counts for the one that stays.
pub(crate) fn reduce<'a>(context: &Context<'a>, pairs: Vec<Pair<'a>>) -> Vec<Pair<'a>> {
    let mut reach = Reach { context, known: BTreeMap::new() };
    let mut by_consumer: BTreeMap<ComponentId, Vec<Pair<'a>>> = BTreeMap::new();
    for pair in pairs {
        by_consumer.entry(pair.consumer).or_default().push(pair);
    }
    let mut kept = Vec::new();
    for (_, mut group) in by_consumer {
        let providers: Vec<ComponentId> = group.iter().map(|pair| pair.provider).collect();
        let covers = |reach: &mut Reach<'_, '_>, provider: ComponentId| {
            providers
                .iter()
                .copied()
                .filter(|other| *other != provider)
                .find(|other| reach.after(*other, provider) && !reach.after(provider, *other))
        };
        let mut moved: BTreeMap<ComponentId, Vec<&'a Judged>> = BTreeMap::new();
        let mut stay = Vec::new();
        for pair in group.drain(..) {
            match last_cover(&mut reach, &covers, pair.provider) {
                Some(other) => moved.entry(other).or_default().extend(pair.judged),
                None => stay.push(pair),
            }
        }
        for mut pair in stay {
            if let Some(more) = moved.remove(&pair.provider) {
                pair.severity = more
                    .iter()
                    .map(|judged| context.severity(judged))
                    .max()
                    .unwrap_or(pair.severity)
                    .max(pair.severity);
                pair.judged.extend(more);
                pair.judged.sort_by_key(|judged| {
                    (std::cmp::Reverse(context.severity(judged)), context.need(judged).phase, judged.need)
                });
            }
            kept.push(pair);
        }
    }
    kept
}

fn last_cover(
    reach: &mut Reach<'_, '_>,
    covers: &impl Fn(&mut Reach<'_, '_>, ComponentId) -> Option<ComponentId>,
    provider: ComponentId,
) -> Option<ComponentId> {
    let mut at = covers(reach, provider)?;
    let mut seen = BTreeSet::from([provider, at]);
    while let Some(next) = covers(reach, at) {
        if !seen.insert(next) {
            break;
        }
        at = next;
    }
    Some(at)
}

/// What a component's being done implies, remembered.
struct Reach<'c, 'a> {
    context: &'c Context<'a>,
    known: BTreeMap<ComponentId, BTreeSet<Event>>,
}

impl Reach<'_, '_> {
    /// Whether `later` is never done before `earlier` is.
    fn after(&mut self, later: ComponentId, earlier: ComponentId) -> bool {
        let events = &self.context.analysis.events;
        let implied = self.known.entry(later).or_insert_with(|| {
            let mut seen = BTreeSet::new();
            let mut work = vec![Events::of(later, Moment::Done)];
            while let Some(event) = work.pop() {
                if seen.insert(event) {
                    work.extend(events.implied(event).iter().map(|(to, _)| *to));
                }
            }
            seen
        });
        implied.contains(&Events::of(earlier, Moment::Done))
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
