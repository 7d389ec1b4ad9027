//! A cluster as a list of parts, each of them one expression; components are named by their names.
//!
//! Knows the model and `graph::analyse`. The parts behave as Flux's defaults do: a Kustomization applies and does not wait,
//! a HelmRelease waits and gives up after its first failed install.

use std::collections::{BTreeMap, BTreeSet};

use coldstart_graph::{Analysis, Judged, analyse};
use model::{
    Arrival, Behaviour, BootstrapStep, Capability, CapabilityKind, Cluster, Component, ComponentId, Consequence, Gate,
    Need, ObjectRef, Offer, Patience, Phase, Purpose, Retry, Role, Stage, Tie, TieTarget, Verdict, WaitsFor,
};
use source::Span;

pub(crate) const MINUTE: u64 = 60;
/// What a Kustomization of a sketch waits before it tries again, unless it says otherwise.
pub(crate) const RETRY_SECONDS: u64 = 10 * MINUTE;
/// How long everything in a sketch waits for its objects, unless it says otherwise.
pub(crate) const TIMEOUT_SECONDS: u64 = 5 * MINUTE;

const NAMESPACE: &str = "flux-system";

/// One component with everything that is its own.
pub(crate) struct Part {
    component: Component,
    inside: Option<&'static str>,
    after: Vec<(&'static str, WaitsFor)>,
    offers: Vec<(Capability, Arrival, Option<ObjectRef>)>,
    needs: Vec<Want>,
}

/// A need that is not yet anybody's.
#[derive(Clone, Debug)]
pub(crate) struct Want {
    capability: Capability,
    phase: Phase,
    soft: bool,
    optional: bool,
    object: Option<ObjectRef>,
}

pub(crate) fn kustomization(name: &'static str) -> Part {
    Part::new(Role::Kustomization, name, Gate::Applied, Retry::Every(RETRY_SECONDS))
}

pub(crate) fn release(name: &'static str) -> Part {
    Part::new(Role::HelmRelease, name, Gate::Healthy, Retry::Never)
}

pub(crate) fn resource_set(name: &'static str) -> Part {
    Part::new(Role::ResourceSet, name, Gate::Applied, Retry::Every(RETRY_SECONDS))
}

/// What is installed before Flux starts.
pub(crate) fn bootstrap(name: &'static str) -> Part {
    let mut part = Part::new(Role::Bootstrap(BootstrapStep::Release), name, Gate::Healthy, Retry::Never);
    part.component.stage = Stage::Bootstrap;
    part
}

pub(crate) fn crd(kind: &str) -> Capability {
    Capability::crd("example.org", kind)
}

pub(crate) fn secret(name: &str) -> Capability {
    Capability::new(CapabilityKind::Secret, NAMESPACE, name)
}

pub(crate) fn cluster_wide(kind: CapabilityKind, name: &str) -> Capability {
    Capability::cluster(kind, name)
}

pub(crate) fn object(kind: &str, name: &str) -> ObjectRef {
    ObjectRef::new(kind, NAMESPACE, name)
}

pub(crate) fn need(capability: Capability, phase: Phase) -> Want {
    Want { capability, phase, soft: false, optional: false, object: None }
}

impl Want {
    pub(crate) fn soft(self) -> Self {
        Self { soft: true, ..self }
    }

    pub(crate) fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    /// The object that has the need, where it is not the component itself.
    pub(crate) fn by(self, object: ObjectRef) -> Self {
        Self { object: Some(object), ..self }
    }
}

impl Part {
    fn new(role: Role, name: &str, gate: Gate, retry: Retry) -> Self {
        let component = component(role, object(role.noun(), name), gate, retry);
        Self { component, inside: None, after: Vec::new(), offers: Vec::new(), needs: Vec::new() }
    }

    /// Applied by this one.
    pub(crate) fn inside(mut self, parent: &'static str) -> Self {
        self.inside = Some(parent);
        self
    }

    pub(crate) fn waits(self) -> Self {
        self.gate(Gate::Healthy)
    }

    pub(crate) fn does_not_wait(self) -> Self {
        self.gate(Gate::Applied)
    }

    pub(crate) fn gate(mut self, gate: Gate) -> Self {
        self.component.gate = gate;
        self
    }

    /// Its gate asks these objects, whoever applies them.
    pub(crate) fn checks(self, objects: &[ObjectRef]) -> Self {
        self.gate(Gate::Listed(objects.to_vec()))
    }

    /// It seems to check this object, and does not.
    pub(crate) fn ignores_its_check_of(mut self, object: ObjectRef) -> Self {
        self.component.ignored_checks.push((object, Span::GENERATED));
        self
    }

    /// Its gate judges objects of this kind by an expression on their status.
    pub(crate) fn judges_by_expression(mut self, kind: &str) -> Self {
        self.component.expressions.insert(kind.into());
        self
    }

    pub(crate) fn suspended(mut self) -> Self {
        self.component.suspended = Some(Span::GENERATED);
        self
    }

    pub(crate) fn starts_in(mut self, seconds: u64) -> Self {
        self.component.startup_seconds = seconds;
        self
    }

    pub(crate) fn times_out_after(mut self, seconds: u64) -> Self {
        self.component.patience.timeout_seconds = seconds;
        self
    }

    pub(crate) fn retries_every(mut self, seconds: u64) -> Self {
        self.component.patience.retry = Retry::Every(seconds);
        self
    }

    /// How often it tries before the last failure counts, and how long it rests between those tries in all.
    pub(crate) fn tries(mut self, attempts: u64, pause_seconds: u64) -> Self {
        self.component.patience.attempts = attempts;
        self.component.patience.pause_seconds = pause_seconds;
        self
    }

    /// Its chart consists of this custom resource, and an operator does the work.
    pub(crate) fn made_of(mut self, resource: ObjectRef) -> Self {
        self.component.resource = Some(resource);
        self
    }

    pub(crate) fn after(mut self, other: &'static str) -> Self {
        self.after.push((other, WaitsFor::Done));
        self
    }

    pub(crate) fn after_a(mut self, other: &'static str, waits_for: WaitsFor) -> Self {
        self.after.push((other, waits_for));
        self
    }

    pub(crate) fn offers(mut self, capability: Capability, arrival: Arrival) -> Self {
        self.offers.push((capability, arrival, None));
        self
    }

    /// An offer whose health an object of its own shows.
    pub(crate) fn offers_by(mut self, object: ObjectRef, capability: Capability, arrival: Arrival) -> Self {
        self.offers.push((capability, arrival, Some(object)));
        self
    }

    pub(crate) fn needs(mut self, capability: Capability, phase: Phase) -> Self {
        self.needs.push(need(capability, phase));
        self
    }

    pub(crate) fn wants(mut self, want: Want) -> Self {
        self.needs.push(want);
        self
    }
}

/// As the readers of these tools set it.
fn behaviour(role: Role) -> Behaviour {
    match role {
        Role::Kustomization => Behaviour::RECONCILED_IN_STAGES,
        Role::HelmRelease => Behaviour::RECONCILED_RELEASE,
        Role::ResourceSet => Behaviour::RECONCILED_AT_ONCE,
        Role::Bootstrap(BootstrapStep::Release) => Behaviour::INSTALLED_ONCE,
        Role::Bootstrap(_) => Behaviour::APPLIED_ONCE,
    }
}

/// A component as everything in these tests has it: written nowhere, up at once.
pub(crate) fn component(role: Role, object: ObjectRef, gate: Gate, retry: Retry) -> Component {
    Component {
        object,
        role,
        behaviour: behaviour(role),
        stage: Stage::GitOps,
        at: Span::GENERATED,
        parent: None,
        gate,
        gate_at: Span::GENERATED,
        suspended: None,
        patience: Patience {
            timeout_seconds: TIMEOUT_SECONDS,
            attempts: 1,
            pause_seconds: 0,
            retry,
            retry_at: Span::GENERATED,
            retry_field: None,
        },
        startup_seconds: 0,
        known_as: None,
        path: None,
        ties_at: Span::GENERATED,
        objects: 1,
        ignored_checks: Vec::new(),
        expressions: BTreeSet::new(),
        resource: None,
        target_namespace: None,
    }
}

pub(crate) fn offer(by: ComponentId, capability: Capability, arrival: Arrival, object: ObjectRef) -> Offer {
    Offer { by, capability, arrival, object, at: Span::GENERATED, is_guess: false }
}

pub(crate) fn tie(from: ComponentId, to: ComponentId, waits_for: WaitsFor) -> Tie {
    Tie { from, to: TieTarget::Component(to), at: Span::GENERATED, waits_for }
}

/// A need of a component, for no reason but the test's.
pub(crate) fn need_of(of: ComponentId, want: Want, own: &ObjectRef) -> Need {
    let Want { capability, phase, soft, optional, object } = want;
    let object = object.unwrap_or_else(|| own.clone());
    Need { of, capability, phase, soft, object, at: Span::GENERATED, why: Purpose::Apply, optional }
}

/// A cluster and what the graph says about it.
pub(crate) struct Story {
    pub(crate) cluster: Cluster,
    pub(crate) analysis: Analysis,
}

/// The cluster that consists of these parts, analysed.
pub(crate) fn story<const N: usize>(parts: [Part; N]) -> Story {
    Story::of(sketch(parts))
}

/// The cluster that consists of these parts.
pub(crate) fn sketch<const N: usize>(parts: [Part; N]) -> Cluster {
    let ids: BTreeMap<String, ComponentId> =
        (0_u32..).zip(&parts).map(|(id, part)| (part.component.object.name.to_string(), ComponentId(id))).collect();
    assert_eq!(ids.len(), N, "two parts of one name");
    let mut cluster = Cluster { name: "sketch".to_owned(), ..Cluster::default() };
    for (id, part) in (0_u32..).map(ComponentId).zip(parts) {
        let Part { mut component, inside, after, offers, needs } = part;
        component.parent = inside.map(|parent| ids[parent]);
        let own = component.object.clone();
        let made = |(capability, arrival, by): (_, _, Option<ObjectRef>)| {
            offer(id, capability, arrival, by.unwrap_or_else(|| own.clone()))
        };
        cluster.offers.extend(offers.into_iter().map(made));
        cluster.needs.extend(needs.into_iter().map(|want| need_of(id, want, &own)));
        for (to, waits_for) in after {
            let target = ids.get(to).map_or_else(
                || TieTarget::Unknown(object(component.role.noun(), to)),
                |known| TieTarget::Component(*known),
            );
            cluster.ties.push(Tie { from: id, to: target, at: Span::GENERATED, waits_for });
        }
        cluster.components.push(component);
    }
    cluster
}

impl Story {
    pub(crate) fn of(cluster: Cluster) -> Self {
        let analysis = analyse(&cluster);
        Self { cluster, analysis }
    }

    /// The judgement of the only need that this component has.
    pub(crate) fn judged(&self, name: &str) -> &Judged {
        let of = |judged: &&Judged| self.name(self.cluster.needs[judged.need].of) == name;
        let mut found = self.analysis.judged.iter().filter(of);
        let only = found.next().unwrap_or_else(|| panic!("{name} needs nothing"));
        assert!(found.next().is_none(), "{name} needs several things");
        only
    }

    pub(crate) fn verdict(&self, name: &str) -> Verdict {
        self.judged(name).verdict
    }

    pub(crate) fn consequence(&self, name: &str) -> Consequence {
        self.judged(name).consequence
    }

    /// The component whose gate is blamed for the only need of this one.
    pub(crate) fn weak_gate(&self, name: &str) -> Option<&str> {
        self.judged(name).weak_gate.map(|gate| self.name(gate))
    }

    /// The component whose offer counted.
    pub(crate) fn offered_by(&self, name: &str) -> Option<&str> {
        self.judged(name).offer.map(|offer| self.name(self.cluster.offers[offer].by))
    }

    /// The components of each deadlock, in the order of its walk.
    pub(crate) fn deadlocks(&self) -> Vec<Vec<&str>> {
        let told = self.analysis.deadlocks.iter().map(|deadlock| deadlock.components(&self.analysis.events));
        told.map(|components| components.into_iter().map(|id| self.name(id)).collect()).collect()
    }

    pub(crate) fn name(&self, id: ComponentId) -> &str {
        &self.cluster.component(id).object.name
    }

    pub(crate) fn id(&self, name: &str) -> ComponentId {
        let named = |id: &ComponentId| self.name(*id) == name;
        self.cluster.ids().find(named).unwrap_or_else(|| panic!("no component {name}"))
    }
}
