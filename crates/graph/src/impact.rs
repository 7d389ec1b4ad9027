//! What stops when something is lost: at once, when pods start again, when something is reconciled, and at the next cold start.
//!
//! [`crate::onset`] says what one lost need comes to; here it is followed from component to component. What a cold start loses is
//! [`Standing`]'s to say.

use std::collections::{BTreeMap, BTreeSet};

use model::{CapabilityKind, Cluster, ComponentId, Done, Gate, Need, ObjectRef, Purpose, Stage};

use crate::Analysis;
use crate::linking::is_given;
use crate::loss::{Loss, Onset, onset};
use crate::standing::{Lost, Standing, Taken, network_of, runs_pods};

/// Services that stop fewer components than this are like any other.
const CRITICAL_MIN: usize = 3;
/// What the catalogue calls the program that applies everything else.
const GITOPS: &str = "gitops";

/// What is lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// With what they apply, and with the same releases that others install as well.
    pub components: BTreeSet<ComponentId>,
    /// Only these objects of them, where not all is lost.
    pub objects: Option<BTreeSet<ObjectRef>>,
}

/// Why a component is affected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// It is deleted with what applied it.
    Part,
    /// A need of it, by its place in [`Cluster::needs`].
    Need(usize),
    /// Its pods have no network.
    Network,
    /// Its pods find no name.
    Names,
    /// Nothing applies it any more.
    Flux,
}

/// A component that stops, or will.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affected {
    pub id: ComponentId,
    pub onset: Onset,
    pub cause: Cause,
    /// What it needed that from.
    pub from: ComponentId,
}

/// What comes of losing something.
#[derive(Clone, Debug)]
pub struct Impact {
    pub subject: Subject,
    /// While the cluster runs, by what happens to it; the earliest first.
    pub running: BTreeMap<Loss, Vec<Affected>>,
    /// Flux deletes it when it leaves Git. Nothing where Flux does not apply it.
    pub is_pruned: Option<bool>,
    /// What never comes up at the next cold start if this does not.
    pub cold_start: Lost,
    /// All that stops while the cluster runs and it, in the order in which to bring it back.
    pub order: Vec<ComponentId>,
}

/// A service that others can't do without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Critical {
    pub id: ComponentId,
    pub at_once: usize,
    pub pod_start: usize,
    pub reconcile: usize,
    pub cold_start: usize,
}

/// A cluster, ready to be asked.
#[derive(Debug)]
pub struct Impacts<'a> {
    cluster: &'a Cluster,
    analysis: &'a Analysis,
    standing: Standing,
    /// Hard needs by the components that could meet them.
    needs_of: BTreeMap<ComponentId, Vec<usize>>,
    children: BTreeMap<ComponentId, Vec<ComponentId>>,
    network: BTreeSet<ComponentId>,
    names: BTreeSet<ComponentId>,
    flux: BTreeSet<ComponentId>,
    with_pods: Vec<ComponentId>,
}

impl<'a> Impacts<'a> {
    pub fn new(cluster: &'a Cluster, analysis: &'a Analysis) -> Self {
        let mut needs_of: BTreeMap<ComponentId, Vec<usize>> = BTreeMap::new();
        for (index, need) in cluster.needs.iter().enumerate().filter(|(_, need)| is_hard(need)) {
            if is_given(cluster, &need.capability) {
                continue;
            }
            let by: BTreeSet<ComponentId> =
                analysis.links.offers_for(index).iter().map(|offer| cluster.offers[*offer].by).collect();
            for by in by.into_iter().filter(|by| *by != need.of) {
                needs_of.entry(by).or_default().push(index);
            }
        }
        let mut children: BTreeMap<ComponentId, Vec<ComponentId>> = BTreeMap::new();
        for id in cluster.ids() {
            if let Some(parent) = cluster.component(id).parent {
                children.entry(parent).or_default().push(id);
            }
        }
        let of = |is_it: &dyn Fn(&model::Capability) -> bool| -> BTreeSet<ComponentId> {
            cluster.offers.iter().filter(|offer| is_it(&offer.capability)).map(|offer| offer.by).collect()
        };
        Self {
            cluster,
            analysis,
            standing: Standing::new(cluster, &analysis.links),
            needs_of,
            children,
            network: network_of(cluster),
            names: of(&|capability| capability.kind == CapabilityKind::ClusterDns),
            flux: of(&|capability| capability.kind == CapabilityKind::Other && capability.name == GITOPS),
            with_pods: cluster.ids().filter(|id| runs_pods(cluster, *id)).collect(),
        }
    }

    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// A component with all that it applies, and the same releases wherever else they are installed.
    #[must_use]
    pub fn subject(&self, id: ComponentId) -> Subject {
        let mut components = BTreeSet::new();
        let mut next = vec![id];
        while let Some(at) = next.pop() {
            if components.insert(at) {
                next.extend(self.children.get(&at).into_iter().flatten().copied());
                next.extend(self.same(at));
            }
        }
        Subject { components, objects: None }
    }

    /// Single objects that components apply.
    #[must_use]
    pub fn objects(&self, objects: BTreeSet<ObjectRef>) -> Subject {
        let offers = self.cluster.offers.iter().filter(|offer| objects.contains(&offer.object));
        Subject { components: offers.map(|offer| offer.by).collect(), objects: Some(objects) }
    }

    /// The components that install the same release of Helm.
    fn same(&self, id: ComponentId) -> impl Iterator<Item = ComponentId> + '_ {
        let charts = &self.cluster.facts.charts;
        let own = charts.iter().filter(move |chart| chart.of == id);
        own.flat_map(|chart| charts.iter().filter(|other| other.release == chart.release).map(|other| other.of))
    }

    /// Whether the bootstrap installs it, and Flux has the same release.
    fn is_adopted(&self, id: ComponentId) -> bool {
        let is_early = |id: ComponentId| self.cluster.component(id).stage == Stage::Bootstrap;
        is_early(id) && self.same(id).any(|other| !is_early(other))
    }

    /// What comes of losing something, in every way in which it can be lost.
    #[must_use]
    pub fn of(&self, subject: Subject) -> Impact {
        let running: BTreeMap<Loss, Vec<Affected>> =
            Loss::ALL.into_iter().map(|loss| (loss, self.running(&subject, loss))).collect();
        let cold_start = self.cold_start(&subject);
        let down = running.get(&Loss::Down).into_iter().flatten();
        let stops = down.filter(|affected| affected.onset <= Onset::PodStart).map(|affected| affected.id);
        let own = subject.components.iter().copied().filter(|id| !self.is_adopted(*id));
        let order = self.in_order(own.chain(stops).collect());
        let is_pruned = self.is_pruned(&subject);
        Impact { subject, running, is_pruned, cold_start, order }
    }

    /// What never comes up at a cold start without it.
    fn cold_start(&self, subject: &Subject) -> Lost {
        let taken = match &subject.objects {
            None => Taken { components: subject.components.clone(), offers: BTreeSet::new() },
            Some(objects) => {
                let offers = self.cluster.offers.iter().enumerate();
                let lost = offers.filter(|(_, offer)| objects.contains(&offer.object)).map(|(index, _)| index);
                Taken { components: BTreeSet::new(), offers: lost.collect() }
            }
        };
        self.standing.without(&taken)
    }

    /// Whether Flux deletes what leaves Git, by the Kustomization that applies it.
    fn is_pruned(&self, subject: &Subject) -> Option<bool> {
        let roots: Vec<ComponentId> = self.roots(subject).collect();
        let by_flux = roots.iter().filter(|id| self.cluster.component(**id).stage == Stage::GitOps);
        let mut answers = by_flux.filter_map(|id| match &subject.objects {
            None => Some(
                self.prunes(self.cluster.component(*id).parent?) && !self.keeps(&self.cluster.component(*id).object),
            ),
            Some(objects) => Some(self.prunes(*id) && !objects.iter().all(|object| self.keeps(object))),
        });
        let first = answers.next()?;
        Some(answers.fold(first, |all, one| all || one))
    }

    fn prunes(&self, by: ComponentId) -> bool {
        self.cluster.facts.prunes.contains_key(&by)
    }

    fn keeps(&self, object: &ObjectRef) -> bool {
        self.cluster.facts.kept.contains(object)
    }

    /// Those that are not applied by others of them.
    fn roots<'s>(&'s self, subject: &'s Subject) -> impl Iterator<Item = ComponentId> + 's {
        let is_inside = |id: &ComponentId| {
            self.cluster.component(*id).parent.is_some_and(|parent| subject.components.contains(&parent))
        };
        subject.components.iter().copied().filter(move |id| !is_inside(id))
    }

    /// What of it is gone, by how it is lost.
    fn taken(&self, subject: &Subject, loss: Loss) -> BTreeSet<ComponentId> {
        match loss {
            Loss::Pruned if self.is_pruned(subject) != Some(true) => BTreeSet::new(),
            Loss::Pruned | Loss::Deleted if subject.objects.is_none() => {
                let mut gone = BTreeSet::new();
                let mut next: Vec<ComponentId> = self.roots(subject).collect();
                while let Some(at) = next.pop() {
                    // Without `prune`, what a Kustomization applied stays when it goes itself.
                    if gone.insert(at) && self.prunes(at) {
                        next.extend(self.children.get(&at).into_iter().flatten().copied());
                    }
                }
                gone
            }
            _ => subject.components.clone(),
        }
    }

    /// What is affected while the cluster runs.
    fn running(&self, subject: &Subject, loss: Loss) -> Vec<Affected> {
        let taken = self.taken(subject, loss);
        if taken.is_empty() {
            return Vec::new();
        }
        let mut wave =
            Wave { of: self, subject, loss, lost: BTreeMap::new(), weak: BTreeSet::new(), found: Vec::new() };
        wave.lost.extend(taken.iter().map(|id| (*id, Onset::AtOnce)));
        for level in [Onset::AtOnce, Onset::PodStart] {
            wave.spread(level);
        }
        wave.last();
        // Once Flux has a release, the bootstrap's hand in it is told with it.
        wave.found.retain(|affected| !self.is_adopted(affected.id));
        wave.found.sort_by_key(|affected| (affected.onset, self.place(affected.id)));
        wave.found
    }

    fn place(&self, id: ComponentId) -> (bool, Option<u64>, u32, ComponentId) {
        let schedule = &self.analysis.schedule;
        let done = schedule.done(id);
        (done.is_none(), done, schedule.tier(id), id)
    }

    /// What would be done first comes first.
    fn in_order(&self, ids: BTreeSet<ComponentId>) -> Vec<ComponentId> {
        let mut order: Vec<ComponentId> = ids.into_iter().collect();
        order.sort_by_key(|id| self.place(*id));
        order
    }

    /// The services that must not be disrupted, those that take most down first.
    #[must_use]
    pub fn critical(&self) -> Vec<Critical> {
        let mut known: BTreeSet<ComponentId> = BTreeSet::new();
        let mut all: Vec<Critical> = Vec::new();
        // What Flux applies is called by that, and the bootstrap's hand in it is known with it.
        let mut candidates: Vec<ComponentId> = self.cluster.ids().filter(|id| self.may_be_critical(*id)).collect();
        candidates.sort_by_key(|id| (std::cmp::Reverse(self.cluster.component(*id).stage), *id));
        for id in candidates {
            let subject = self.subject(id);
            if !known.insert(id) || subject.components.iter().any(|same| *same != id && known.contains(same)) {
                continue;
            }
            let running = self.running(&subject, Loss::Down);
            let count = |onset: Onset| running.iter().filter(|affected| affected.onset == onset).count();
            let cold = self.cold_start(&subject);
            let others = cold.components.keys().filter(|lost| !subject.components.contains(lost));
            let cold_start = others.filter(|lost| !self.is_above(**lost, id)).count();
            let critical = Critical {
                id,
                at_once: count(Onset::AtOnce),
                pod_start: count(Onset::PodStart),
                reconcile: count(Onset::Reconcile),
                cold_start,
            };
            if critical.at_once + critical.pod_start + critical.reconcile >= CRITICAL_MIN || cold_start >= CRITICAL_MIN
            {
                all.push(critical);
            }
        }
        all.sort_by_key(|it| {
            let stops = it.at_once + it.pod_start;
            (std::cmp::Reverse((stops, it.cold_start, it.reconcile)), self.place(it.id))
        });
        all
    }

    /// Whether something runs, or is offered, that others could need: not what only applies others.
    fn may_be_critical(&self, id: ComponentId) -> bool {
        let component = self.cluster.component(id);
        let applies_others = !component.behaviour.is_release() && self.children.contains_key(&id);
        let is_service = component.stage == Stage::GitOps || component.behaviour.done == Done::Healthy;
        is_service
            && !applies_others
            && (self.needs_of.contains_key(&id) || self.network.contains(&id) || self.names.contains(&id))
    }

    fn is_above(&self, above: ComponentId, id: ComponentId) -> bool {
        let mut parents =
            std::iter::successors(self.cluster.component(id).parent, |at| self.cluster.component(*at).parent);
        parents.any(|parent| parent == above && self.cluster.component(parent).gate != Gate::Applied)
    }
}

/// What is lost so far, spreading.
struct Wave<'w, 'a> {
    of: &'w Impacts<'a>,
    subject: &'w Subject,
    loss: Loss,
    lost: BTreeMap<ComponentId, Onset>,
    /// Those that stop nothing else.
    weak: BTreeSet<ComponentId>,
    found: Vec<Affected>,
}

impl Wave<'_, '_> {
    /// Everything that stops at this moment, however indirectly.
    fn spread(&mut self, level: Onset) {
        let mut next: Vec<ComponentId> = self.lost.keys().copied().collect();
        while let Some(by) = next.pop() {
            let mut hit: Vec<Affected> = Vec::new();
            for index in self.of.needs_of.get(&by).into_iter().flatten() {
                let of = self.of.cluster.needs[*index].of;
                if self.is_known(of) || hit.iter().any(|known| known.id == of) {
                    continue;
                }
                if self.onset(*index) == Some(level) {
                    hit.push(Affected { id: of, onset: level, cause: Cause::Need(*index), from: by });
                }
            }
            hit.extend(self.of_all_pods(by, level, &hit));
            for affected in hit {
                self.found.push(affected);
                if self.is_weak(&affected) {
                    self.weak.insert(affected.id);
                } else {
                    self.lost.insert(affected.id, level);
                    next.push(affected.id);
                }
            }
        }
    }

    /// Networks and names are needed by everything that runs.
    fn of_all_pods(&self, by: ComponentId, level: Onset, hit: &[Affected]) -> Vec<Affected> {
        let is_whole = self.subject.objects.is_none();
        let all_lost = |givers: &BTreeSet<ComponentId>| {
            is_whole && givers.contains(&by) && givers.iter().all(|giver| self.lost.contains_key(giver))
        };
        let cases = [
            (&self.of.network, CapabilityKind::PodNetwork, Cause::Network),
            (&self.of.names, CapabilityKind::ClusterDns, Cause::Names),
        ];
        let mut all = Vec::new();
        for (givers, kind, cause) in cases {
            let loss = self.loss_of(by);
            let shows = onset(loss, kind, model::Arrival::Healthy, model::Phase::Ready, &Purpose::StartPods);
            let since = self.lost.get(&by).copied().unwrap_or(Onset::AtOnce);
            if !all_lost(givers) || shows.map(|shows| shows.max(since)) != Some(level) {
                continue;
            }
            let others = self.of.with_pods.iter().filter(|id| !self.is_known(**id) && !givers.contains(id));
            let others = others.filter(|id| !hit.iter().any(|known| known.id == **id));
            all.extend(others.map(|id| Affected { id: *id, onset: level, cause, from: by }));
            break;
        }
        all
    }

    /// Those that notice when they are reconciled the next time. They go on running, and so does what needs them.
    fn last(&mut self) {
        let mut hit: BTreeMap<ComponentId, Affected> = BTreeMap::new();
        for by in self.lost.keys() {
            for index in self.of.needs_of.get(by).into_iter().flatten() {
                let of = self.of.cluster.needs[*index].of;
                if !self.is_known(of) && self.onset(*index) == Some(Onset::Reconcile) {
                    let affected = Affected { id: of, onset: Onset::Reconcile, cause: Cause::Need(*index), from: *by };
                    hit.entry(of).or_insert(affected);
                }
            }
        }
        let flux = &self.of.flux;
        let first = flux.iter().next().copied().filter(|_| flux.iter().all(|id| self.lost.contains_key(id)));
        if let Some(from) = first {
            for id in self.of.cluster.ids() {
                if self.of.cluster.component(id).stage == Stage::GitOps && !self.is_known(id) {
                    hit.entry(id).or_insert(Affected { id, onset: Onset::Reconcile, cause: Cause::Flux, from });
                }
            }
        }
        self.found.extend(hit.into_values());
    }

    fn is_known(&self, id: ComponentId) -> bool {
        self.lost.contains_key(&id) || self.weak.contains(&id)
    }

    /// Whether a program only fails at its work for it: it connects to what is gone, and goes on. A store of Secrets is nothing else.
    fn is_weak(&self, affected: &Affected) -> bool {
        let Cause::Need(need) = affected.cause else { return false };
        let need = &self.of.cluster.needs[need];
        let connects = matches!(need.why, Purpose::TalkTo | Purpose::AnswersAt(_) | Purpose::HiddenHost(_));
        connects && !need.object.kind.ends_with("SecretStore")
    }

    fn loss_of(&self, by: ComponentId) -> Loss {
        if self.subject.components.contains(&by) { self.loss } else { self.loss.further() }
    }

    /// When a need shows, if everything that meets it is lost.
    fn onset(&self, index: usize) -> Option<Onset> {
        let cluster = self.of.cluster;
        let need = &cluster.needs[index];
        let mut latest = Onset::AtOnce;
        for offer in self.of.analysis.links.offers_for(index) {
            let offer = &cluster.offers[*offer];
            let since = self.lost.get(&offer.by)?;
            let is_spared = |objects: &BTreeSet<ObjectRef>| {
                self.subject.components.contains(&offer.by) && !objects.contains(&offer.object)
            };
            if offer.is_guess || self.subject.objects.as_ref().is_some_and(is_spared) {
                return None;
            }
            let shows = onset(self.loss_of(offer.by), offer.capability.kind, offer.arrival, need.phase, &need.why)?;
            latest = latest.max(shows).max(*since);
        }
        Some(latest)
    }
}

/// What a component stops without. A class whose driver is gone makes no volume.
fn is_hard(need: &Need) -> bool {
    (!need.soft || need.why == Purpose::MakeVolumes) && !need.optional
}
