//! The verdict of every need, and what losing its race costs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use model::{
    Applies, Arrival, Capability, CapabilityKind, Cluster, ComponentId, Consequence, Gate, Need, ObjectRef, Offer,
    Patience, Phase, Retry, Stage, TieTarget, Verdict, WaitsFor,
};

use crate::change::{LooksAt, NewGate};
use crate::cycles::Deadlock;
use crate::events::{Event, Events, Moment, comes_first};
use crate::gates::{Gates, Proof};
use crate::linking::{Links, is_given};
use crate::reach::{Answers, Questions};
use crate::schedule::Schedule;

/// Controllers that back off double their pause up to this.
const BACKOFF_SECONDS_MAX: u64 = 900;

/// The least that a secret store which was asked too early costs.
const STORE_SECONDS_MIN: u64 = 60;

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
    /// The gate does wait for it, but may look before its controller has reported for the first time.
    pub early: bool,
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
    let mut judge = Judge::new(cluster, events, schedule, deadlocks);
    // Once to hear what it would ask, then in earnest.
    judge.each(links);
    judge.answer();
    judge.each(links)
}

pub(crate) struct Judge<'a> {
    cluster: &'a Cluster,
    events: &'a Events,
    schedule: &'a Schedule,
    deadlocked: BTreeSet<usize>,
    gates: Gates<'a>,
    /// Pairs that are tied by mere existence.
    exists_ties: BTreeSet<(ComponentId, ComponentId)>,
    /// What a build can't succeed without, by whose build it is.
    built_with: BTreeMap<ComponentId, Vec<Event>>,
    /// What judging asks about what starts imply, as long as there are no answers.
    asked: RefCell<Questions>,
    answers: Option<Answers>,
}

impl Judge<'_> {
    /// Whether a need is part of a deadlock as things are.
    pub(crate) fn is_deadlocked(&self, need: usize) -> bool {
        self.deadlocked.contains(&need)
    }
}

/// A verdict on one offer.
struct Judgement {
    verdict: Verdict,
    weak_gate: Option<ComponentId>,
    early: bool,
}

impl Judgement {
    /// The best of several counts. A gate that may only open a moment too early is worth more than luck without one.
    fn rank(&self) -> (bool, Verdict, bool) {
        (self.early || self.verdict == Verdict::Guaranteed, self.verdict, self.early)
    }

    fn plain(verdict: Verdict) -> Self {
        Self { verdict, weak_gate: None, early: false }
    }

    fn weak(verdict: Verdict, gate: ComponentId) -> Self {
        Self { verdict, weak_gate: Some(gate), early: false }
    }
}

/// Events implied by a component's start.
#[derive(Clone, Copy)]
struct Reached<'a> {
    /// Its start, and what else is known to have happened by then.
    starts: &'a [Event],
    /// A gate that is tried on a component, instead of the one it has.
    gate: Option<&'a NewGate>,
    asked: &'a RefCell<Questions>,
    answers: Option<&'a Answers>,
}

impl Reached<'_> {
    /// While questions are gathered, nothing is implied: that way every question comes up.
    fn has(&self, event: Event) -> bool {
        if let Some(answers) = self.answers {
            return self.starts.iter().any(|start| answers.implies(*start, event));
        }
        for start in self.starts {
            self.asked.borrow_mut().ask(*start, event);
        }
        false
    }

    /// Whether a component waits for all that it applies.
    fn waits(&self, id: ComponentId, component: &model::Component) -> bool {
        let new = self.gate.filter(|gate| gate.of == id).map(|gate| &gate.looks_at);
        component.gate == Gate::Healthy || new == Some(&LooksAt::All)
    }

    /// The component whose tried gate names one of these objects.
    fn naming<'o>(&self, mut objects: impl Iterator<Item = &'o ObjectRef>) -> Option<ComponentId> {
        let gate = self.gate?;
        let LooksAt::Object(named) = &gate.looks_at else { return None };
        objects.any(|object| object == named).then_some(gate.of)
    }

    /// What a gate that looks at the object of an offer proves of it.
    fn proof(&self, gates: &Gates<'_>, id: ComponentId, offer: &Offer) -> Proof {
        let new = self.gate.filter(|gate| gate.of == id).and_then(|gate| gate.expression.as_ref());
        if new.is_some_and(|kind| *kind == offer.object.kind) { Proof::Full } else { gates.proof(id, offer) }
    }
}

impl<'a> Judge<'a> {
    pub(crate) fn new(
        cluster: &'a Cluster,
        events: &'a Events,
        schedule: &'a Schedule,
        deadlocks: &[Deadlock],
    ) -> Self {
        Self {
            cluster,
            events,
            schedule,
            deadlocked: deadlocks.iter().flat_map(Deadlock::needs).collect(),
            gates: Gates::new(cluster),
            exists_ties: exists_ties(cluster),
            built_with: built_with(cluster, events),
            asked: RefCell::default(),
            answers: None,
        }
    }

    /// Answers what was asked until now: from here on it is judged in earnest.
    pub(crate) fn answer(&mut self) {
        self.answers = Some(self.events.answer(self.asked.take()));
    }

    /// What is known to have happened at an event if these edges are added: far ends of those whose near ends are.
    pub(crate) fn starts(&self, start: Event, edges: &[(Event, Event)]) -> Vec<Event> {
        let all: Vec<Event> = std::iter::once(start).chain(edges.iter().map(|(_, far)| *far)).collect();
        let Some(answers) = &self.answers else {
            let mut asked = self.asked.borrow_mut();
            for (near, _) in edges {
                for from in &all {
                    asked.ask(*from, *near);
                }
            }
            return all;
        };
        let (mut starts, mut left) = (vec![start], edges.to_vec());
        let is_known = |starts: &[Event], near: Event| starts.iter().any(|start| answers.implies(*start, near));
        while let Some(next) = left.iter().position(|(near, _)| is_known(&starts, *near)) {
            starts.push(left.remove(next).1);
        }
        starts
    }

    /// The verdict of a need if these events are known to have happened before, and with this gate; and whether it is early.
    pub(crate) fn with(
        &self,
        need: usize,
        offers: &[usize],
        starts: &[Event],
        gate: Option<&NewGate>,
    ) -> (Verdict, bool) {
        if is_given(self.cluster, &self.cluster.needs[need].capability) {
            return (Verdict::Guaranteed, false);
        }
        let reached = Reached { starts, gate, asked: &self.asked, answers: self.answers.as_ref() };
        let there = offers.iter().filter(|offer| !self.is_suspended(self.cluster.offers[**offer].by));
        let best = there.map(|offer| self.verdict(need, *offer, reached)).max_by_key(Judgement::rank);
        best.map_or((Verdict::Unoffered, false), |best| (best.verdict, best.early))
    }

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
            early: false,
            wait_seconds: 0,
            holds_by_failure: false,
        };
        if is_given(self.cluster, &need.capability) {
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
        let starts = self.known_at(need);
        let reached = Reached { starts: &starts, gate: None, asked: &self.asked, answers: self.answers.as_ref() };
        let best = offers
            .iter()
            .filter(|offer| !self.is_suspended(self.cluster.offers[**offer].by))
            .map(|offer| (self.verdict(index, *offer, reached), *offer))
            .max_by_key(|(judgement, offer)| (judgement.rank(), std::cmp::Reverse(*offer)));
        let Some((Judgement { verdict, weak_gate, early }, offer)) = best else { return nothing(Verdict::Unoffered) };
        let wait_seconds = self.wait_seconds(need, &self.cluster.offers[offer]);
        let consequence = if self.is_made_beside(need, &self.cluster.offers[offer]) {
            Consequence::Noise
        } else {
            self.consequence(need, verdict, wait_seconds)
        };
        Judged { offer: Some(offer), consequence, weak_gate, early, wait_seconds, ..nothing(verdict) }
    }

    /// What is known to have happened when a need is felt. A build that does without something still has all that it can't do without.
    pub(crate) fn known_at(&self, need: &Need) -> Vec<Event> {
        let required = self.built_with.get(&need.of).filter(|_| need.optional && need.phase == Phase::Build);
        let start = Events::of(need.of, Moment::Start);
        std::iter::once(start).chain(required.into_iter().flatten().copied()).collect()
    }

    fn verdict(&self, index: usize, offer: usize, reached: Reached<'_>) -> Judgement {
        let need = &self.cluster.needs[index];
        let offer = &self.cluster.offers[offer];
        match (self.cluster.component(need.of).stage, self.cluster.component(offer.by).stage) {
            (Stage::GitOps, Stage::Bootstrap) => return Judgement::plain(Verdict::BootstrapOnly),
            // What only GitOps brings is not there while the bootstrap runs.
            (Stage::Bootstrap, Stage::GitOps) => return Judgement::plain(Verdict::Unoffered),
            _ => {}
        }
        if let Some(verdict) = self.own(need, offer) {
            return Judgement::plain(verdict);
        }
        // Whoever was applied before us and needed the same thing has shown that it is there.
        let shown = |event: Option<Event>| event.is_some_and(|event| reached.has(event));
        let is_shown = match offer.arrival {
            Arrival::Installed if need.capability.kind == CapabilityKind::Crd => {
                shown(self.events.met(index)) || shown(self.events.crds(offer.by))
            }
            Arrival::Applied | Arrival::Installed => shown(self.events.met(index)),
            _ => need.capability.kind == CapabilityKind::Controller && shown(self.events.works(offer.by)),
        };
        if is_shown {
            return Judgement::plain(Verdict::Guaranteed);
        }
        match self.proof(reached, need, offer) {
            (Proof::Full, _) => Judgement::plain(Verdict::Guaranteed),
            (Proof::Early, gate) => Judgement { early: true, ..Judgement::weak(Verdict::FalselyReady, gate) },
            (Proof::Blind, gate) => Judgement::weak(Verdict::FalselyReady, gate),
            (Proof::Nothing, _) => self.ordered(reached, need, offer),
        }
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

    /// How far what was reached proves that the offer is there, and which gate does.
    fn proof(&self, reached: Reached<'_>, need: &Need, offer: &Offer) -> (Proof, ComponentId) {
        // Which CRD it is that a chart brings only its user may say.
        let crd = definition(&need.capability);
        let of_crd = crd.as_ref().map(|crd| self.gates.naming(crd)).unwrap_or_default();
        let naming = self.gates.naming(&offer.object).iter().chain(of_crd);
        let tried = reached.naming(crd.iter().chain([&offer.object]));
        let naming = naming.copied().chain(tried);
        let passed = naming.filter(|id| reached.has(Events::of(*id, Moment::Done)));
        let named = passed.map(|id| (reached.proof(&self.gates, id, offer), id)).max();
        let mut serving = self.gates.serving(&need.capability);
        if let Some(gate) = serving.find(|id| reached.has(Events::of(*id, Moment::Done))) {
            return (Proof::Full, gate);
        }
        let own = (self.own_proof(reached, offer), offer.by);
        named.map_or(own, |named| named.max(own))
    }

    /// What its own component's being done proves.
    fn own_proof(&self, reached: Reached<'_>, offer: &Offer) -> Proof {
        let by = self.cluster.component(offer.by);
        let done = reached.has(Events::of(offer.by, Moment::Done));
        let applied = if comes_first(self.cluster, offer) { Moment::Defined } else { Moment::Applied };
        let applied = reached.has(Events::of(offer.by, applied));
        let is_passed = match (offer.arrival, by.behaviour.applies) {
            (Arrival::Applied, Applies::AsRelease) | (Arrival::Installed, _) => done,
            (Arrival::Applied, _) => applied,
            // Helm waits for workloads. Custom resources are done when they are stored.
            (Arrival::Reported | Arrival::Unreported, Applies::AsRelease) => false,
            (Arrival::Healthy | Arrival::Reported | Arrival::Unreported, _) => done && reached.waits(offer.by, by),
        };
        if is_passed { reached.proof(&self.gates, offer.by, offer) } else { Proof::Nothing }
    }

    fn gate_of(&self, offer: &Offer) -> ComponentId {
        let by = self.cluster.component(offer.by);
        by.parent.filter(|_| by.behaviour.is_release()).unwrap_or(offer.by)
    }

    /// Not proved: is there an order at all, and which gate is too weak?
    fn ordered(&self, reached: Reached<'_>, need: &Need, offer: &Offer) -> Judgement {
        let gate = self.gate_of(offer);
        let is_ancestor = gate == need.of || self.is_inside(need.of, gate);
        let passes_gate = reached.has(Events::of(gate, Moment::Done)) && !is_ancestor;
        if reached.has(Events::of(offer.by, Moment::Done)) {
            // Where the release is done and its resource is not, whoever applies the release could wait for that.
            let weak = if passes_gate && self.is_beyond(offer) { gate } else { offer.by };
            return Judgement::weak(self.weakness(offer.by, offer), weak);
        }
        if reached.has(Events::of(gate, Moment::Applied)) && !is_ancestor {
            return Judgement::weak(self.weakness(gate, offer), gate);
        }
        // `healthChecks` beside `wait: true` look as if they waited for this very object.
        let mut ignoring = self.gates.ignoring(&offer.object).iter();
        if let Some(gate) = ignoring.find(|id| reached.has(Events::of(**id, Moment::Done))) {
            return Judgement::weak(Verdict::FalselyReady, *gate);
        }
        // The tie may name the component itself or whatever applies it.
        let mut around = std::iter::successors(Some(offer.by), |at| self.cluster.component(*at).parent);
        match around.find(|at| self.exists_ties.contains(&(need.of, *at))) {
            Some(tied) => Judgement::weak(Verdict::ExistsOnly, tied),
            None => Judgement::plain(Verdict::Unordered),
        }
    }

    fn weakness(&self, gate: ComponentId, offer: &Offer) -> Verdict {
        match self.cluster.component(gate).gate {
            Gate::LooksHealthy(_) => Verdict::FalselyReady,
            Gate::Healthy if offer.arrival == Arrival::Unreported || self.is_beyond(offer) => Verdict::FalselyReady,
            _ => Verdict::AppliedOnly,
        }
    }

    /// Whether it comes of a custom resource in a chart, which the release's being done does not wait for.
    fn is_beyond(&self, offer: &Offer) -> bool {
        self.cluster.component(offer.by).behaviour.is_release()
            && matches!(offer.arrival, Arrival::Reported | Arrival::Unreported)
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

    /// Whether its controller looks again at the moment at which what it named is made.
    fn is_woken(&self, need: &Need) -> bool {
        self.cluster.facts.watches_settings
            && need.phase == Phase::Build
            && matches!(need.capability.kind, CapabilityKind::Secret | CapabilityKind::ConfigMap)
            && self.cluster.component(need.of).behaviour.may_watch_settings
    }

    fn consequence(&self, need: &Need, verdict: Verdict, wait_seconds: u64) -> Consequence {
        match verdict {
            Verdict::Deadlocked => return Consequence::Deadlock,
            Verdict::Guaranteed | Verdict::Unoffered | Verdict::BootstrapOnly => return Consequence::Nothing,
            _ => {}
        }
        if self.is_woken(need) {
            return Consequence::Noise;
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
        match component.behaviour.applies {
            Applies::AsRelease => release_consequence(need, component, verdict, wait_seconds),
            Applies::InStages | Applies::AtOnce => applier_consequence(need, component, wait_seconds),
        }
    }
}

/// The CustomResourceDefinition of a kind, by the name that the API machinery would guess.
fn definition(capability: &Capability) -> Option<ObjectRef> {
    let (group, kind) = capability.name.split_once('/').filter(|_| capability.kind == CapabilityKind::Crd)?;
    Some(ObjectRef::new("CustomResourceDefinition", "", format!("{}.{group}", model::plural(kind))))
}

fn built_with(cluster: &Cluster, events: &Events) -> BTreeMap<ComponentId, Vec<Event>> {
    let mut found: BTreeMap<ComponentId, Vec<Event>> = BTreeMap::new();
    for (index, need) in cluster.needs.iter().enumerate() {
        let met = events.met(index).filter(|_| need.phase == Phase::Build && !need.optional);
        if let Some(met) = met {
            found.entry(need.of).or_default().push(met);
        }
    }
    found
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
    let is_felt_later = matches!(need.phase, Phase::Ready | Phase::Run);
    let retry = match component.patience.retry {
        Retry::Every(seconds) => seconds,
        // Its run has ended by the time its pods find out.
        Retry::Never if is_felt_later && component.gate == Gate::Applied => return Consequence::Noise,
        Retry::Never => return Consequence::Terminal { certain: false },
    };
    match need.phase {
        // The first artifact of a source wakes all that wait for it, at once.
        Phase::Build if need.capability.kind == CapabilityKind::Source => Consequence::Noise,
        Phase::Build | Phase::Apply => Consequence::Slow { seconds: retry },
        Phase::Ready if component.gate == Gate::Healthy => {
            let timeout = component.patience.timeout_seconds;
            if wait_seconds <= timeout {
                Consequence::Safe { spare_seconds: timeout - wait_seconds }
            } else if !need.object.is_seen_from_the_start() {
                Consequence::Noise
            } else {
                Consequence::Slow { seconds: timeout.saturating_add(retry) }
            }
        }
        Phase::Ready | Phase::Run => Consequence::Noise,
    }
}

/// A chart that is installed: what fails before a release is stored is tried again, what fails after is counted.
fn release_consequence(need: &Need, component: &model::Component, verdict: Verdict, wait_seconds: u64) -> Consequence {
    const REINSTALL_SECONDS: u64 = 60;
    let timeout = component.patience.timeout_seconds;
    let patience = component.patience.total_seconds();
    match need.phase {
        Phase::Build => match need.capability.kind {
            CapabilityKind::Secret | CapabilityKind::ConfigMap | CapabilityKind::Source => Consequence::Noise,
            _ => Consequence::Slow { seconds: wait_seconds.min(BACKOFF_SECONDS_MAX) },
        },
        // Only what is installed between a webhook's registration and its first answer is refused.
        Phase::Apply if need.capability.kind == CapabilityKind::Webhook => {
            let Patience { attempts, pause_seconds: pause, .. } = component.patience;
            // The last try is made after all pauses: by then it answers.
            let outlasts = attempts.saturating_sub(1).saturating_mul(pause) >= wait_seconds && pause > 0;
            if outlasts { Consequence::Slow { seconds: pause } } else { failed_install(component, verdict, false) }
        }
        Phase::Apply => Consequence::Slow { seconds: wait_seconds.clamp(REINSTALL_SECONDS, BACKOFF_SECONDS_MAX) },
        Phase::Ready if component.gate != Gate::Healthy => Consequence::Noise,
        // Its own pods start after that, and within the same time.
        Phase::Ready if wait_seconds + component.startup_seconds <= timeout => {
            Consequence::Safe { spare_seconds: timeout - wait_seconds - component.startup_seconds }
        }
        // The try that is under way when it comes succeeds: only taking the failed one away costs.
        Phase::Ready if wait_seconds + component.startup_seconds <= patience => {
            Consequence::Slow { seconds: REINSTALL_SECONDS }
        }
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
