//! The graph of events. An edge `X ⇒ Y` says: when X has happened, Y has happened before.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Applies, Arrival, CapabilityKind, Cluster, ComponentId, Gate, ObjectRef, Offer, Phase, Stage, TieTarget, WaitsFor,
};

use crate::cycles::{Deadlock, leads};
use crate::linking::{Links, is_given};

/// Something that happens once in a cold start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Event(pub u32);

/// What a component lives through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Moment {
    /// It may begin: everything it is tied to is done.
    Start,
    /// Its Namespaces and CRDs are there. Where they are a stage of their own, the rest may fail after that, and they stay.
    Defined,
    /// The API server has accepted all its objects.
    Applied,
    /// It is done, in its tool's own word.
    Done,
}

/// Why one event implies another: what a cycle is explained with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Because {
    /// Of one component, the later moment implies the earlier.
    Life,
    /// A declared tie, by its index.
    Tie(usize),
    /// The component that applies it comes first.
    Parent,
    /// Its gate waits for what it applies.
    Gate,
    /// A need, by its index.
    Need(usize),
    /// The only offer of a capability, by its index.
    Offer(usize),
}

/// The events of a cluster and what they imply.
#[derive(Debug)]
pub struct Events {
    components: usize,
    edges: Vec<Vec<(Event, Because)>>,
    /// Ties whose other end can't be judged: they order, and are left out of cycles.
    opaque: BTreeSet<usize>,
    /// The event "this need is met", by need.
    met: Vec<Option<Event>>,
    /// The event "its CRDs are there", by who installs them: all come at once.
    crds: BTreeMap<ComponentId, Event>,
    /// The event "it has worked on an object of its kinds", by who brings those.
    works: BTreeMap<ComponentId, Event>,
    /// Needs of what a store fills: that one event waits for another by them counts only in [`Events::with_filled`].
    filled: Vec<(usize, Event, Event)>,
}

const MOMENTS: usize = 4;

impl Events {
    pub fn new(cluster: &Cluster, links: &Links) -> Self {
        let components = cluster.components.len();
        let mut events = Self {
            components,
            edges: vec![Vec::new(); components * MOMENTS],
            opaque: BTreeSet::new(),
            met: vec![None; cluster.needs.len()],
            crds: BTreeMap::new(),
            works: BTreeMap::new(),
            filled: Vec::new(),
        };
        events.add_lives(cluster);
        events.add_ties(cluster);
        events.add_gates(cluster);
        events.add_needs(cluster, links);
        events.add_filled(cluster, links);
        events.add_statuses(cluster, links);
        events
    }

    pub fn of(component: ComponentId, moment: Moment) -> Event {
        let offset = match moment {
            Moment::Start => 0,
            Moment::Defined => 1,
            Moment::Applied => 2,
            Moment::Done => 3,
        };
        Event(component.0 * 4 + offset)
    }

    /// The same events without what follows from these needs.
    pub fn without(&self, needs: &BTreeSet<usize>) -> Self {
        let kept = |(_, because): &(Event, Because)| !matches!(because, Because::Need(need) if needs.contains(need));
        Self {
            components: self.components,
            edges: self.edges.iter().map(|edges| edges.iter().copied().filter(kept).collect()).collect(),
            opaque: self.opaque.clone(),
            met: self.met.clone(),
            crds: self.crds.clone(),
            works: self.works.clone(),
            filled: self.filled.clone(),
        }
    }

    /// Those edges that are wanted, and for every component the event that all it applies is done, see [`Events::waited`].
    pub(crate) fn with_waits(&self, cluster: &Cluster, is_wanted: impl Fn(Because) -> bool) -> Self {
        let kept = |(_, because): &(Event, Because)| is_wanted(*because);
        let mut events = Self {
            components: self.components,
            edges: self.edges.iter().map(|edges| edges.iter().copied().filter(kept).collect()).collect(),
            opaque: self.opaque.clone(),
            met: self.met.clone(),
            crds: self.crds.clone(),
            works: self.works.clone(),
            filled: self.filled.clone(),
        };
        events.edges.resize(self.edges.len() + self.components, Vec::new());
        for id in cluster.ids() {
            if let Some(parent) = cluster.part_of(id) {
                events.add(self.waited(parent), Self::of(id, Moment::Done), Because::Gate);
            }
        }
        events
    }

    /// The event that all a component applies is done, among those of [`Events::with_waits`].
    pub(crate) fn waited(&self, by: ComponentId) -> Event {
        Event(source::to_u32(self.edges.len() + by.index()))
    }

    /// The component and moment of an event, unless it is the meeting of a need.
    pub fn component_of(&self, event: Event) -> Option<(ComponentId, Moment)> {
        let index = event.0 as usize;
        if index >= self.components * MOMENTS {
            return None;
        }
        let moment = [Moment::Start, Moment::Defined, Moment::Applied, Moment::Done][index % MOMENTS];
        Some((ComponentId(event.0 / 4), moment))
    }

    /// The event of a need's being met, if it has one.
    pub fn met(&self, need: usize) -> Option<Event> {
        self.met.get(need).copied().flatten()
    }

    /// The event of a component's CRDs being there, where somebody needs one.
    pub fn crds(&self, by: ComponentId) -> Option<Event> {
        self.crds.get(&by).copied()
    }

    /// The event of a component's having worked on an object of its kinds, where a gate asks for the status of one.
    pub fn works(&self, by: ComponentId) -> Option<Event> {
        self.works.get(&by).copied()
    }

    pub fn len(&self) -> usize {
        self.edges.len()
    }

    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    pub fn implied(&self, event: Event) -> &[(Event, Because)] {
        &self.edges[event.0 as usize]
    }

    /// Whether an edge may close a deadlock: an opaque tie may wait for anything.
    pub fn binds(&self, because: Because) -> bool {
        !matches!(because, Because::Tie(tie) if self.opaque.contains(&tie))
    }

    fn add(&mut self, from: Event, to: Event, because: Because) {
        self.edges[from.0 as usize].push((to, because));
    }

    fn add_lives(&mut self, cluster: &Cluster) {
        for id in cluster.ids() {
            self.add(Self::of(id, Moment::Done), Self::of(id, Moment::Applied), Because::Life);
            self.add(Self::of(id, Moment::Applied), Self::of(id, Moment::Defined), Because::Life);
            self.add(Self::of(id, Moment::Defined), Self::of(id, Moment::Start), Because::Life);
            if let Some(parent) = cluster.component(id).parent {
                self.add(Self::of(id, Moment::Start), Self::of(parent, Moment::Applied), Because::Parent);
            }
        }
    }

    fn add_ties(&mut self, cluster: &Cluster) {
        for (index, tie) in cluster.ties.iter().enumerate() {
            let TieTarget::Component(to) = tie.to else { continue };
            let start = Self::of(tie.from, Moment::Start);
            match tie.waits_for {
                WaitsFor::Done => self.add(start, Self::of(to, Moment::Done), Because::Tie(index)),
                WaitsFor::Opaque => {
                    self.opaque.insert(index);
                    self.add(start, Self::of(to, Moment::Done), Because::Tie(index));
                }
                WaitsFor::Exists => {
                    if let Some(parent) = cluster.component(to).parent {
                        self.add(start, Self::of(parent, Moment::Applied), Because::Tie(index));
                    }
                }
            }
        }
    }

    fn add_gates(&mut self, cluster: &Cluster) {
        let by_object: BTreeMap<_, _> = cluster.ids().map(|id| (&cluster.component(id).object, id)).collect();
        let by_resource: BTreeMap<_, _> =
            cluster.ids().filter_map(|id| Some((cluster.component(id).resource.as_ref()?, id))).collect();
        for id in cluster.ids() {
            let component = cluster.component(id);
            if let Some(parent) = cluster.part_of(id)
                && cluster.component(parent).gate == Gate::Healthy
            {
                self.add(Self::of(parent, Moment::Done), Self::of(id, Moment::Done), Because::Gate);
            }
            if let Gate::Listed(objects) = &component.gate {
                // A custom resource of a chart is there once its release was applied.
                for release in objects.iter().filter_map(|object| by_resource.get(object)) {
                    self.add(Self::of(id, Moment::Done), Self::of(*release, Moment::Applied), Because::Gate);
                }
                for listed in objects.iter().filter_map(|object| by_object.get(object)).filter(|listed| **listed != id)
                {
                    self.add(Self::of(id, Moment::Done), Self::of(*listed, Moment::Done), Because::Gate);
                }
            }
        }
    }

    /// Who was applied had what it needs to be applied. Where only one component offers that, that one came before.
    fn add_needs(&mut self, cluster: &Cluster, links: &Links) {
        let mut shared: BTreeMap<&model::Capability, Event> = BTreeMap::new();
        let fills = Fills::new(cluster);
        let mut offered: BTreeSet<Event> = BTreeSet::new();
        for (index, need) in cluster.needs.iter().enumerate() {
            if !is_binding(cluster, need) || is_given(cluster, &need.capability) {
                continue;
            }
            let offers = links.offers_for(index);
            // What a component brings itself is there in an earlier stage of the same apply.
            let own = offers.iter().any(|offer| cluster.offers[*offer].by == need.of);
            if offers.is_empty() || own {
                continue;
            }
            let met = *shared.entry(&need.capability).or_insert_with(|| self.another());
            if offered.insert(met) {
                self.add_offer(cluster, met, offers);
                for store in fills.of(cluster, offers) {
                    let capability = &cluster.needs[store].capability;
                    let filled = *shared.entry(capability).or_insert_with(|| self.another());
                    if offered.insert(filled) {
                        self.add_offer(cluster, filled, links.offers_for(store));
                    }
                    self.add(met, filled, Because::Need(store));
                }
            }
            self.met[index] = Some(met);
            let needs_it = match cluster.component(need.of).behaviour.applies {
                // Without its source there is nothing to begin with.
                _ if need.capability.kind == CapabilityKind::Source => Moment::Start,
                Applies::AsRelease if need.phase == Phase::Apply => Moment::Done,
                // Nothing at all is applied of what was not built.
                Applies::InStages if need.phase == Phase::Build => Moment::Defined,
                _ => Moment::Applied,
            };
            self.add(Self::of(need.of, needs_it), met, Because::Need(index));
        }
    }

    /// The same events, and that what several bring, each of them only after it is there, never comes; and the offers of that. Deadlocks
    /// that are known take no part: what they stop is told with them. Nothing where there is nothing of the kind.
    ///
    /// Not for verdicts: an edit may take such an edge away.
    pub(crate) fn with_hopeless(
        &self,
        cluster: &Cluster,
        links: &Links,
        known: &[Deadlock],
    ) -> Option<(Self, BTreeSet<usize>)> {
        let told: BTreeSet<Because> =
            known.iter().flat_map(|deadlock| &deadlock.steps).map(|step| step.because).collect();
        let is_told = |because| matches!(because, Because::Tie(_) | Because::Need(_)) && told.contains(&because);
        let (mut seen, mut found): (BTreeSet<Event>, Vec<(Event, Event, usize)>) = (BTreeSet::new(), Vec::new());
        for (index, need) in cluster.needs.iter().enumerate() {
            let offers = links.offers_for(index);
            let met = self.met(index).filter(|_| need.capability.kind == CapabilityKind::Crd && offers.len() > 1);
            let Some(met) = met.filter(|met| seen.insert(*met)) else { continue };
            let is_early = |by| cluster.component(by).stage == Stage::Bootstrap;
            let may_be_there = |offer: &Offer| offer.is_guess || is_early(offer.by);
            let is_guess = offers.iter().any(|offer| may_be_there(&cluster.offers[*offer]));
            let arrivals = offers.iter().map(|offer| (arrival(cluster, &cluster.offers[*offer]), *offer));
            let waits = |there| leads(self, there, met, |because| self.binds(because) && !is_told(because));
            if !is_guess && arrivals.clone().all(|(there, _)| waits(there)) {
                found.extend(arrivals.map(|(there, offer)| (met, there, offer)));
            }
        }
        let mut events = (!found.is_empty()).then(|| self.without(&BTreeSet::new()))?;
        for (met, there, offer) in &found {
            events.add(*met, *there, Because::Offer(*offer));
        }
        Some((events, found.into_iter().map(|(_, _, offer)| offer).collect()))
    }

    /// Needs of what a store fills, which count only in [`Events::with_filled`].
    pub(crate) fn filled(&self) -> BTreeSet<usize> {
        self.filled.iter().map(|(need, _, _)| *need).collect()
    }

    /// The same events, and that what has one of these needs is not done before the store was there that fills it.
    ///
    /// Not for verdicts: that a store comes in time because something would fail without it is no order.
    pub(crate) fn with_filled(&self, needs: &BTreeSet<usize>) -> Self {
        let mut events = self.without(&BTreeSet::new());
        for (need, from, to) in self.filled.iter().filter(|(need, _, _)| needs.contains(need)) {
            events.add(*from, *to, Because::Need(*need));
        }
        events
    }

    fn add_filled(&mut self, cluster: &Cluster, links: &Links) {
        let fills = Fills::new(cluster);
        for (index, need) in cluster.needs.iter().enumerate() {
            if need.phase != Phase::Ready
                || need.soft
                || need.optional
                || cluster.component(need.of).gate != Gate::Healthy
            {
                continue;
            }
            let done = Self::of(need.of, Moment::Done);
            if need.capability.kind == CapabilityKind::Secret && cluster.component(need.of).behaviour.is_release() {
                for store in fills.of(cluster, links.offers_for(index)) {
                    let (made, there) = (self.another(), self.another());
                    self.add(made, there, Because::Need(store));
                    self.add_offer(cluster, there, links.offers_for(store));
                    self.filled.push((index, done, made));
                }
            } else if need.capability.kind == CapabilityKind::SecretStore
                && cluster.component(need.of).behaviour.is_staged()
            {
                let there = self.another();
                self.add_offer(cluster, there, links.offers_for(index));
                self.filled.push((index, done, there));
            }
        }
    }

    fn add_offer(&mut self, cluster: &Cluster, met: Event, offers: &[usize]) {
        // Where one is a guess, it may come from anywhere.
        if offers.iter().any(|offer| cluster.offers[*offer].is_guess) {
            return;
        }
        let [only] = offers else { return self.add_offers(cluster, met, offers) };
        let offer = &cluster.offers[*only];
        if cluster.component(offer.by).stage == Stage::Bootstrap {
            return;
        }
        self.add(met, arrival(cluster, offer), Because::Offer(*only));
        if offer.capability.kind == CapabilityKind::Crd && offer.arrival == Arrival::Installed {
            let crds = self.crds_of(offer.by);
            self.add(met, crds, Because::Offer(*only));
        }
    }

    /// Whoever of several brings it, whatever applies them all was applied before.
    fn add_offers(&mut self, cluster: &Cluster, met: Event, offers: &[usize]) {
        let above = |offer: &usize| -> Vec<ComponentId> {
            let by = cluster.offers[*offer].by;
            std::iter::successors(cluster.component(by).parent, |at| cluster.component(*at).parent).collect()
        };
        let mut all = offers.iter().map(above);
        let Some(first) = all.next() else { return };
        let others: Vec<BTreeSet<ComponentId>> = all.map(|ids| ids.into_iter().collect()).collect();
        if let Some(nearest) = first.into_iter().find(|id| others.iter().all(|other| other.contains(id))) {
            self.add(met, Self::of(nearest, Moment::Applied), Because::Offer(offers[0]));
        }
    }

    fn another(&mut self) -> Event {
        self.edges.push(Vec::new());
        Event(source::to_u32(self.edges.len() - 1))
    }

    fn crds_of(&mut self, by: ComponentId) -> Event {
        let known = self.crds.get(&by).copied();
        let event = known.unwrap_or_else(|| self.another());
        self.crds.insert(by, event);
        event
    }

    /// Who works on an object of its kinds has brought these before.
    fn works_of(&mut self, by: ComponentId, offer: usize) -> Event {
        if let Some(known) = self.works.get(&by) {
            return *known;
        }
        let (works, crds) = (self.another(), self.crds_of(by));
        self.add(works, crds, Because::Offer(offer));
        self.works.insert(by, works);
        works
    }

    /// A gate that asks for the status of a custom resource opens when the program behind its kind has written one.
    fn add_statuses(&mut self, cluster: &Cluster, links: &Links) {
        let mut asking: BTreeMap<&ObjectRef, Vec<ComponentId>> = BTreeMap::new();
        for id in cluster.ids() {
            let component = cluster.component(id);
            if let Gate::Listed(objects) = &component.gate {
                for object in objects.iter().filter(|object| component.expressions.contains(&object.kind)) {
                    asking.entry(object).or_default().push(id);
                }
            }
        }
        for (index, need) in cluster.needs.iter().enumerate() {
            let is_own = |id: ComponentId| {
                let component = cluster.component(id);
                component.gate == Gate::Healthy && component.expressions.contains(&need.object.kind)
            };
            let listed = asking.get(&need.object).map(Vec::as_slice).unwrap_or_default();
            let gates = listed.iter().copied().chain(Some(need.of).filter(|of| is_own(*of)));
            let [only] = links.offers_for(index) else { continue };
            if need.capability.kind != CapabilityKind::Crd || need.phase != Phase::Apply {
                continue;
            }
            let by = cluster.offers[*only].by;
            if cluster.offers[*only].is_guess {
                continue;
            }
            for gate in gates {
                let works = self.works_of(by, *only);
                self.add(Self::of(gate, Moment::Done), works, Because::Gate);
            }
        }
    }
}

/// The needs of stores, by the component that has them.
fn store_needs(cluster: &Cluster) -> BTreeMap<(ComponentId, &model::Capability), usize> {
    let needs = cluster.needs.iter().enumerate();
    let of_stores = needs.filter(|(_, need)| need.capability.kind == CapabilityKind::SecretStore && !need.optional);
    of_stores.map(|(index, need)| ((need.of, &need.capability), index)).collect()
}

/// Which stores must have answered before something is made of them, as needs of the component that applies what asks.
struct Fills<'a> {
    stores: BTreeMap<&'a ObjectRef, Vec<&'a model::Capability>>,
    needs: BTreeMap<(ComponentId, &'a model::Capability), usize>,
}

impl<'a> Fills<'a> {
    fn new(cluster: &'a Cluster) -> Self {
        let mut stores: BTreeMap<&ObjectRef, Vec<&model::Capability>> = BTreeMap::new();
        for (object, store) in &cluster.fills {
            stores.entry(object).or_default().push(store);
        }
        Self { stores, needs: store_needs(cluster) }
    }

    /// Those of the only one that makes a Secret.
    fn of(&self, cluster: &Cluster, offers: &[usize]) -> Vec<usize> {
        let [only] = offers else { return Vec::new() };
        let offer = &cluster.offers[*only];
        if offer.capability.kind != CapabilityKind::Secret || offer.is_guess {
            return Vec::new();
        }
        let stores = self.stores.get(&offer.object).into_iter().flatten();
        stores.filter_map(|store| self.needs.get(&(offer.by, *store)).copied()).collect()
    }
}

/// What has happened when an offer is there.
fn arrival(cluster: &Cluster, offer: &Offer) -> Event {
    let moment = match (offer.arrival, cluster.component(offer.by).behaviour.applies) {
        (Arrival::Installed, _) | (_, Applies::AsRelease) => Moment::Start,
        _ if comes_first(cluster, offer) => Moment::Defined,
        _ => Moment::Applied,
    };
    Events::of(offer.by, moment)
}

/// Whether it is among the definitions that a component applies before anything else, as a stage of their own.
pub(crate) fn comes_first(cluster: &Cluster, offer: &Offer) -> bool {
    let is_definition = matches!(offer.capability.kind, CapabilityKind::Crd | CapabilityKind::Namespace);
    is_definition && offer.arrival == Arrival::Applied && cluster.component(offer.by).behaviour.is_staged()
}

/// Needs without which nothing at all of a component is applied, and whose provider is certain.
fn is_binding(cluster: &Cluster, need: &model::Need) -> bool {
    let certain = match need.capability.kind {
        CapabilityKind::Crd | CapabilityKind::Source => true,
        CapabilityKind::Secret | CapabilityKind::ConfigMap => need.phase == Phase::Build,
        CapabilityKind::Namespace => cluster.component(need.of).behaviour.is_staged(),
        _ => false,
    };
    // A missing CRD takes the whole stage of an apply down, however soft the kind. A chart may look before it renders.
    let may_do_without = need.soft && cluster.component(need.of).behaviour.is_release();
    certain && !may_do_without && !need.optional && matches!(need.phase, Phase::Build | Phase::Apply)
}
