//! The verdict of every need, and what losing its race costs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use model::{
    Arrival, Capability, CapabilityKind, Cluster, ComponentId, Gate, Need, ObjectRef, Offer, Phase, Retry, Role, Stage,
    TieTarget, WaitsFor,
};

use crate::cycles::Deadlock;
use crate::events::{Event, Events, Moment};
use crate::linking::{Links, is_given};
use crate::reach::{Answers, Questions};
use crate::schedule::Schedule;

/// Controllers that back off double their pause up to this.
const BACKOFF_SECONDS_MAX: u64 = 900;

/// The least that a secret store which was asked too early costs.
const STORE_SECONDS_MIN: u64 = 60;

/// Is a need guaranteed? Best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It is met only after what itself waits for it.
    Deadlocked,
    /// Nobody who was read offers it.
    Unoffered,
    /// Nothing orders the two.
    Unordered,
    /// Ordered, but the tie waits only for the other's existence.
    ExistsOnly,
    /// Ordered, but being done proves only that the other was applied.
    AppliedOnly,
    /// Ordered, and the gate looks as if it proved it, but does not.
    FalselyReady,
    /// Only an installation before GitOps starts makes sure of it.
    BootstrapOnly,
    Guaranteed,
}

/// What losing the race costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consequence {
    /// Never converges.
    Deadlock,
    /// Stalls until somebody acts.
    Terminal { certain: bool },
    /// Goes on without it, for good, and says nothing.
    Silent,
    /// Recovers after this many seconds.
    Slow { seconds: u64 },
    /// Comes in time by this many seconds of its timeout.
    Safe { spare_seconds: u64 },
    /// Recovers by itself within seconds.
    Noise,
    /// There is no race to lose.
    Nothing,
}

/// A need with its verdict.
#[derive(Clone, Debug)]
pub struct Judged {
    pub need: usize,
    /// The offer that counts: the one with the best verdict.
    pub offer: Option<usize>,
    pub verdict: Verdict,
    pub consequence: Consequence,
    /// The component whose gate is too weak, where that is what is wrong.
    pub weak_gate: Option<ComponentId>,
    /// How long the offer takes longer than the one who needs it, by the estimates.
    pub wait_seconds: u64,
    /// It would be met in time as it stands, but only because an apply that it is ordered after fails until then.
    pub holds_by_failure: bool,
}

pub(crate) fn all(
    cluster: &Cluster,
    links: &Links,
    events: &Events,
    schedule: &Schedule,
    deadlocks: &[Deadlock],
) -> Vec<Judged> {
    let mut judge = Judge {
        cluster,
        events,
        schedule,
        deadlocked: deadlocks.iter().flat_map(Deadlock::needs).collect(),
        listed: listed(cluster),
        ignored: ignored(cluster),
        exists_ties: exists_ties(cluster),
        asked: RefCell::default(),
        answers: None,
    };
    // Once to hear what it would ask, then in earnest.
    judge.each(links);
    judge.answers = Some(events.answer(judge.asked.take()));
    judge.each(links)
}

struct Judge<'a> {
    cluster: &'a Cluster,
    events: &'a Events,
    schedule: &'a Schedule,
    deadlocked: BTreeSet<usize>,
    /// Which components' gates name an object.
    listed: BTreeMap<&'a ObjectRef, Vec<ComponentId>>,
    /// Which components would name an object, were their list not switched off.
    ignored: BTreeMap<&'a ObjectRef, Vec<ComponentId>>,
    /// Pairs that are tied by mere existence.
    exists_ties: BTreeSet<(ComponentId, ComponentId)>,
    /// What judging asks about what starts imply, as long as there are no answers.
    asked: RefCell<Questions>,
    answers: Option<Answers>,
}

/// Events implied by a component's start.
#[derive(Clone, Copy)]
struct Reached<'a> {
    start: Event,
    asked: &'a RefCell<Questions>,
    answers: Option<&'a Answers>,
}

impl Reached<'_> {
    /// While questions are gathered, nothing is implied: that way every question comes up.
    fn has(&self, event: Event) -> bool {
        if let Some(answers) = self.answers {
            return answers.implies(self.start, event);
        }
        self.asked.borrow_mut().ask(self.start, event);
        false
    }
}

impl Judge<'_> {
    fn each(&self, links: &Links) -> Vec<Judged> {
        (0..self.cluster.needs.len()).map(|need| self.need(need, links.offers_for(need))).collect()
    }

    fn need(&self, index: usize, offers: &[usize]) -> Judged {
        let need = &self.cluster.needs[index];
        let nothing = |verdict| Judged {
            need: index,
            offer: None,
            verdict,
            consequence: Consequence::Nothing,
            weak_gate: None,
            wait_seconds: 0,
            holds_by_failure: false,
        };
        if is_given(&need.capability) {
            return nothing(Verdict::Guaranteed);
        }
        if offers.is_empty() {
            return nothing(Verdict::Unoffered);
        }
        if self.deadlocked.contains(&index) {
            return Judged {
                offer: offers.first().copied(),
                consequence: Consequence::Deadlock,
                ..nothing(Verdict::Deadlocked)
            };
        }
        let best = offers
            .iter()
            .filter(|offer| !self.is_suspended(self.cluster.offers[**offer].by))
            .map(|offer| (self.verdict(index, *offer), *offer))
            .max_by_key(|((verdict, _), offer)| (*verdict, std::cmp::Reverse(*offer)));
        let Some(((verdict, weak_gate), offer)) = best else { return nothing(Verdict::Unoffered) };
        let wait_seconds = self.wait_seconds(need, &self.cluster.offers[offer]);
        let consequence = if self.is_made_beside(need, &self.cluster.offers[offer]) {
            Consequence::Noise
        } else {
            self.consequence(need, verdict, wait_seconds)
        };
        Judged { offer: Some(offer), consequence, weak_gate, wait_seconds, ..nothing(verdict) }
    }

    fn reached(&self, component: ComponentId) -> Reached<'_> {
        Reached { start: Events::of(component, Moment::Start), asked: &self.asked, answers: self.answers.as_ref() }
    }

    fn verdict(&self, index: usize, offer: usize) -> (Verdict, Option<ComponentId>) {
        let need = &self.cluster.needs[index];
        let offer = &self.cluster.offers[offer];
        match (self.cluster.component(need.of).stage, self.cluster.component(offer.by).stage) {
            (Stage::GitOps, Stage::Bootstrap) => return (Verdict::BootstrapOnly, None),
            // What only GitOps brings is not there while the bootstrap runs.
            (Stage::Bootstrap, Stage::GitOps) => return (Verdict::Unoffered, None),
            _ => {}
        }
        if let Some(verdict) = self.own(need, offer) {
            return (verdict, None);
        }
        let reached = self.reached(need.of);
        // Whoever was applied before us and needed the same thing has shown that it is there.
        let shown = self.events.met(index).is_some_and(|met| reached.has(met));
        if shown && matches!(offer.arrival, Arrival::Applied | Arrival::Installed) {
            return (Verdict::Guaranteed, None);
        }
        if self.proved(reached, need, offer) {
            return if offer.arrival == Arrival::Unreported {
                (Verdict::FalselyReady, Some(self.gate_of(offer)))
            } else {
                (Verdict::Guaranteed, None)
            };
        }
        self.ordered(reached, need, offer)
    }

    /// What a component, or one that it applies, offers to itself.
    fn own(&self, need: &Need, offer: &Offer) -> Option<Verdict> {
        if offer.by == need.of {
            // What a build needs can't come out of it: only an earlier installation breaks that circle.
            return Some(if need.phase == Phase::Build { Verdict::BootstrapOnly } else { Verdict::Guaranteed });
        }
        let inside = self.is_inside(offer.by, need.of);
        if inside && need.phase > Phase::Apply {
            return Some(Verdict::Guaranteed);
        }
        // Its own parent applies it together with what it needs: it tries again until that is there.
        self.is_inside(need.of, offer.by).then_some(Verdict::Guaranteed)
    }

    fn is_inside(&self, inner: ComponentId, outer: ComponentId) -> bool {
        let mut at = self.cluster.component(inner).parent;
        while let Some(parent) = at {
            if parent == outer {
                return true;
            }
            at = self.cluster.component(parent).parent;
        }
        false
    }

    /// Created suspended, a component brings nothing, and neither does what it would apply.
    fn is_suspended(&self, component: ComponentId) -> bool {
        let mut around = std::iter::successors(Some(component), |at| self.cluster.component(*at).parent);
        around.any(|at| self.cluster.component(at).suspended.is_some())
    }

    /// Values that a controller makes of an object which is applied together with their user: the user looks for them
    /// again until they are there, and says so meanwhile.
    fn is_made_beside(&self, need: &Need, offer: &Offer) -> bool {
        need.phase == Phase::Build
            && self.is_inside(need.of, offer.by)
            && matches!(offer.arrival, Arrival::Healthy | Arrival::Reported | Arrival::Unreported)
    }

    /// Whether what was reached proves that the offer is there.
    fn proved(&self, reached: Reached<'_>, need: &Need, offer: &Offer) -> bool {
        let by = self.cluster.component(offer.by);
        let done = reached.has(Events::of(offer.by, Moment::Done));
        let applied = reached.has(Events::of(offer.by, Moment::Applied));
        let proved = match (offer.arrival, by.role) {
            (Arrival::Applied, Role::HelmRelease) | (Arrival::Installed, _) => done,
            (Arrival::Applied, _) => applied,
            (Arrival::Healthy | Arrival::Reported | Arrival::Unreported, _) => done && by.gate == Gate::Healthy,
        };
        proved || self.listed(reached, need, offer)
    }

    /// Whether a gate that was reached names the very object.
    fn listed(&self, reached: Reached<'_>, need: &Need, offer: &Offer) -> bool {
        let by = |object: &ObjectRef| self.listed.get(object).map(Vec::as_slice).unwrap_or_default();
        // Which CRD it is that a chart brings only its user may say.
        let crd = definition(&need.capability);
        by(&offer.object)
            .iter()
            .chain(crd.as_ref().map(by).unwrap_or_default())
            .any(|id| reached.has(Events::of(*id, Moment::Done)))
    }

    fn gate_of(&self, offer: &Offer) -> ComponentId {
        let by = self.cluster.component(offer.by);
        match (by.role, by.parent) {
            (Role::HelmRelease, Some(parent)) => parent,
            _ => offer.by,
        }
    }

    /// Not proved: is there an order at all, and which gate is too weak?
    fn ordered(&self, reached: Reached<'_>, need: &Need, offer: &Offer) -> (Verdict, Option<ComponentId>) {
        if reached.has(Events::of(offer.by, Moment::Done)) {
            return (self.weakness(offer.by, offer), Some(offer.by));
        }
        let gate = self.gate_of(offer);
        let is_ancestor = gate == need.of || self.is_inside(need.of, gate);
        if reached.has(Events::of(gate, Moment::Applied)) && !is_ancestor {
            return (self.weakness(gate, offer), Some(gate));
        }
        // `healthChecks` beside `wait: true` look as if they waited for this very object.
        let ignoring = self
            .ignored
            .get(&offer.object)
            .into_iter()
            .flatten()
            .find(|id| reached.has(Events::of(**id, Moment::Done)));
        if let Some(gate) = ignoring {
            return (Verdict::FalselyReady, Some(*gate));
        }
        // The tie may name the component itself or whatever applies it.
        let mut around = std::iter::successors(Some(offer.by), |at| self.cluster.component(*at).parent);
        match around.find(|at| self.exists_ties.contains(&(need.of, *at))) {
            Some(tied) => (Verdict::ExistsOnly, Some(tied)),
            None => (Verdict::Unordered, None),
        }
    }

    fn weakness(&self, gate: ComponentId, offer: &Offer) -> Verdict {
        match self.cluster.component(gate).gate {
            Gate::LooksHealthy(_) => Verdict::FalselyReady,
            Gate::Healthy if offer.arrival == Arrival::Unreported => Verdict::FalselyReady,
            _ => Verdict::AppliedOnly,
        }
    }

    fn wait_seconds(&self, need: &Need, offer: &Offer) -> u64 {
        let there = self.schedule.offered_at(self.cluster, offer);
        let felt = match need.phase {
            Phase::Build | Phase::Apply => Moment::Start,
            Phase::Ready | Phase::Run => Moment::Applied,
        };
        // The estimate of one's own start already holds what one is known to wait for.
        let start = self.own_start(need.of, felt);
        there.saturating_sub(start)
    }

    /// When the component would begin if it were not for its unmet needs.
    fn own_start(&self, component: ComponentId, moment: Moment) -> u64 {
        let start = self.schedule.seconds(component, Moment::Start);
        if moment == Moment::Start { start } else { start + 2 }
    }

    fn consequence(&self, need: &Need, verdict: Verdict, wait_seconds: u64) -> Consequence {
        match verdict {
            Verdict::Deadlocked => return Consequence::Deadlock,
            Verdict::Guaranteed | Verdict::Unoffered | Verdict::BootstrapOnly => return Consequence::Nothing,
            _ => {}
        }
        if need.optional {
            // A build without its variables; a chart without what it renders only where the kind is known.
            let left_out = matches!(need.phase, Phase::Build | Phase::Apply);
            return if left_out { Consequence::Silent } else { Consequence::Noise };
        }
        let component = self.cluster.component(need.of);
        // Its controller asks the store again after growing pauses, about as long as it has already waited.
        if need.capability.kind == CapabilityKind::SecretStore && verdict == Verdict::Unordered {
            return Consequence::Slow { seconds: wait_seconds.clamp(STORE_SECONDS_MIN, BACKOFF_SECONDS_MAX) };
        }
        match component.role {
            Role::HelmRelease => release_consequence(need, component, verdict, wait_seconds),
            Role::Kustomization | Role::ResourceSet | Role::Bootstrap => {
                applier_consequence(need, component, wait_seconds)
            }
        }
    }
}

/// Objects that gates name. A workload that a chart makes stands for the chart's release.
/// The CustomResourceDefinition of a kind, by the name that the API machinery would guess.
fn definition(capability: &Capability) -> Option<ObjectRef> {
    let (group, kind) = capability.name.split_once('/').filter(|_| capability.kind == CapabilityKind::Crd)?;
    Some(ObjectRef::new("CustomResourceDefinition", "", format!("{}.{group}", model::plural(kind))))
}

fn listed(cluster: &Cluster) -> BTreeMap<&ObjectRef, Vec<ComponentId>> {
    let mut listed: BTreeMap<&ObjectRef, Vec<ComponentId>> = BTreeMap::new();
    let releases: Vec<&ObjectRef> = cluster
        .components
        .iter()
        .filter(|component| component.role == Role::HelmRelease)
        .map(|component| &component.object)
        .collect();
    for id in cluster.ids() {
        if let Gate::Listed(objects) = &cluster.component(id).gate {
            for object in objects {
                listed.entry(object).or_default().push(id);
                for release in releases.iter().filter(|release| is_workload_of(object, release)) {
                    listed.entry(release).or_default().push(id);
                }
            }
        }
    }
    listed
}

/// Charts name their workloads after the release, with more before or behind it.
fn is_workload_of(object: &ObjectRef, release: &ObjectRef) -> bool {
    matches!(object.kind.as_str(), "Deployment" | "StatefulSet" | "DaemonSet")
        && object.namespace == release.namespace
        && (object.name.contains(release.name.as_str()) || release.name.contains(object.name.as_str()))
}

fn ignored(cluster: &Cluster) -> BTreeMap<&ObjectRef, Vec<ComponentId>> {
    let mut ignored: BTreeMap<&ObjectRef, Vec<ComponentId>> = BTreeMap::new();
    for id in cluster.ids() {
        for (object, _) in &cluster.component(id).ignored_checks {
            ignored.entry(object).or_default().push(id);
        }
    }
    ignored
}

fn exists_ties(cluster: &Cluster) -> BTreeSet<(ComponentId, ComponentId)> {
    let exists = cluster.ties.iter().filter(|tie| tie.waits_for == WaitsFor::Exists);
    exists
        .filter_map(|tie| match tie.to {
            TieTarget::Component(to) => Some((tie.from, to)),
            TieTarget::Unknown(_) => None,
        })
        .collect()
}

fn applier_consequence(need: &Need, component: &model::Component, wait_seconds: u64) -> Consequence {
    let retry = match component.patience.retry {
        Retry::Every(seconds) => seconds,
        Retry::Never => return Consequence::Terminal { certain: false },
    };
    match need.phase {
        Phase::Build | Phase::Apply => Consequence::Slow { seconds: retry },
        Phase::Ready if component.gate == Gate::Healthy => {
            let timeout = component.patience.timeout_seconds;
            if wait_seconds <= timeout {
                Consequence::Safe { spare_seconds: timeout - wait_seconds }
            } else if !is_seen_from_the_start(&need.object) {
                Consequence::Noise
            } else {
                Consequence::Slow { seconds: timeout.saturating_add(retry) }
            }
        }
        Phase::Ready | Phase::Run => Consequence::Noise,
    }
}

/// Kinds that a gate sees as unfinished from the moment they are made. Any other kind has no status yet when it is first
/// looked at, milliseconds later, and counts as healthy: the gate has opened before its controller says anything.
fn is_seen_from_the_start(object: &ObjectRef) -> bool {
    matches!(
        object.kind.as_str(),
        "Deployment"
            | "StatefulSet"
            | "DaemonSet"
            | "ReplicaSet"
            | "Job"
            | "Pod"
            | "PersistentVolumeClaim"
            | "HelmRelease"
            | "Kustomization"
    )
}

/// A chart that is installed: what fails before a release is stored is tried again, what fails after is counted.
fn release_consequence(need: &Need, component: &model::Component, verdict: Verdict, wait_seconds: u64) -> Consequence {
    const REINSTALL_SECONDS: u64 = 60;
    let timeout = component.patience.timeout_seconds;
    let patience = timeout.saturating_mul(component.patience.attempts);
    match need.phase {
        Phase::Build => match need.capability.kind {
            CapabilityKind::Secret | CapabilityKind::ConfigMap | CapabilityKind::Source => Consequence::Noise,
            _ => Consequence::Slow { seconds: wait_seconds.min(BACKOFF_SECONDS_MAX) },
        },
        Phase::Apply if need.capability.kind == CapabilityKind::Webhook => failed_install(component, verdict, true),
        Phase::Apply => Consequence::Slow { seconds: wait_seconds.clamp(REINSTALL_SECONDS, BACKOFF_SECONDS_MAX) },
        Phase::Ready if component.gate != Gate::Healthy => Consequence::Noise,
        Phase::Ready if wait_seconds <= timeout => Consequence::Safe { spare_seconds: timeout - wait_seconds },
        // The try that is under way when it comes succeeds: only taking the failed one away costs.
        Phase::Ready if wait_seconds <= patience => Consequence::Slow { seconds: REINSTALL_SECONDS },
        Phase::Ready => failed_install(component, verdict, wait_seconds > patience + patience / 2),
        Phase::Run => Consequence::Noise,
    }
}

fn failed_install(component: &model::Component, verdict: Verdict, clearly: bool) -> Consequence {
    match component.patience.retry {
        Retry::Every(seconds) => Consequence::Slow { seconds },
        Retry::Never => Consequence::Terminal { certain: clearly && verdict == Verdict::Unordered },
    }
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::Deadlocked => "deadlocked",
            Self::Unoffered => "unoffered",
            Self::Unordered => "unordered",
            Self::ExistsOnly => "exists-only",
            Self::AppliedOnly => "applied-only",
            Self::FalselyReady => "falsely-ready",
            Self::BootstrapOnly => "bootstrap-only",
            Self::Guaranteed => "guaranteed",
        }
    }
}

impl Consequence {
    pub fn word(self) -> &'static str {
        match self {
            Self::Deadlock => "deadlock",
            Self::Terminal { .. } => "terminal",
            Self::Silent => "silent",
            Self::Slow { .. } => "slow",
            Self::Safe { .. } => "safe",
            Self::Noise => "noise",
            Self::Nothing => "none",
        }
    }

    pub fn cost_seconds(self) -> Option<u64> {
        match self {
            Self::Slow { seconds } => Some(seconds),
            Self::Noise | Self::Safe { .. } | Self::Nothing => Some(0),
            Self::Deadlock | Self::Terminal { .. } | Self::Silent => None,
        }
    }
}
