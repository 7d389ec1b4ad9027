//! Clusters by chance: few components and fewer capabilities, so that they meet.
//!
//! Stricter than chance only where Flux is: what applies another is a Kustomization or a ResourceSet, and what runs before
//! Flux is tied to its like alone.

use coldstart_graph::{Event, Events, Moment};
use model::{
    Arrival, BootstrapStep, Capability, CapabilityKind, Cluster, Component, ComponentId, Gate, ObjectRef, Phase, Retry,
    Role, Stage, WaitsFor,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use source::Span;

use crate::sketch::{Want, component, need, need_of, object, offer, tie};

const COMPONENTS_MAX: usize = 7;
const OF_EACH_MAX: usize = 7;

pub(crate) fn clusters() -> impl Strategy<Value = Cluster> {
    let components = prop::collection::vec(any_component(), 1..=COMPONENTS_MAX);
    let offers = prop::collection::vec(any_offer(), 0..=OF_EACH_MAX);
    let needs = prop::collection::vec(any_need(), 0..=OF_EACH_MAX);
    let ties = prop::collection::vec(any_tie(), 0..=OF_EACH_MAX);
    (components, offers, needs, ties).prop_map(|(components, offers, needs, ties)| {
        let mut cluster = Cluster { name: "random".to_owned(), ..Cluster::default() };
        for (at, part) in components.into_iter().enumerate() {
            let component = part.build(at, &cluster.components);
            cluster.components.push(component);
        }
        for (by, capability, arrival, shown_by) in offers {
            let (by, own) = pick(&cluster, by);
            let made = offer(by, capability, arrival, shown_by.unwrap_or(own));
            cluster.offers.push(made);
        }
        for (of, want) in needs {
            let (of, own) = pick(&cluster, of);
            cluster.needs.push(need_of(of, want, &own));
        }
        for (from, to, waits_for) in ties {
            add_tie(&mut cluster, from, to, waits_for);
        }
        cluster
    })
}

/// Two ends and what is waited for; which components those are depends on the cluster.
pub(crate) fn any_tie() -> impl Strategy<Value = (Index, Index, WaitsFor)> {
    let waits_for = prop_oneof![4 => Just(WaitsFor::Done), 1 => Just(WaitsFor::Exists), 1 => Just(WaitsFor::Opaque)];
    (any::<Index>(), any::<Index>(), waits_for)
}

/// Ties the two, unless they are one, or of different stages.
pub(crate) fn add_tie(cluster: &mut Cluster, from: Index, to: Index, waits_for: WaitsFor) -> bool {
    let ((from, _), (to, _)) = (pick(cluster, from), pick(cluster, to));
    let is_one = from == to || cluster.component(from).stage != cluster.component(to).stage;
    if !is_one {
        cluster.ties.push(tie(from, to, waits_for));
    }
    !is_one
}

pub(crate) fn pick(cluster: &Cluster, index: Index) -> (ComponentId, ObjectRef) {
    let id = cluster.ids().nth(index.index(cluster.components.len())).expect("an index of a component");
    (id, cluster.component(id).object.clone())
}

/// Everything that an event implies, found in the plainest way. It implies itself.
pub(crate) fn implied(events: &Events, from: Event) -> Vec<bool> {
    let mut seen = vec![false; events.len()];
    let mut next = vec![from];
    while let Some(event) = next.pop() {
        if !std::mem::replace(&mut seen[event.0 as usize], true) {
            next.extend(events.implied(event).iter().map(|(to, _)| *to));
        }
    }
    seen
}

/// The event that a tie makes its lower end wait for.
pub(crate) fn waited_for(cluster: &Cluster, to: ComponentId, waits_for: WaitsFor) -> Option<Event> {
    match waits_for {
        WaitsFor::Done | WaitsFor::Opaque => Some(Events::of(to, Moment::Done)),
        WaitsFor::Exists => cluster.component(to).parent.map(|parent| Events::of(parent, Moment::Applied)),
    }
}

/// A component before it is known which others there are.
#[derive(Clone, Debug)]
struct Chance {
    role: Role,
    parent: Option<Index>,
    gate: Gate,
    is_suspended: bool,
    retry: Retry,
    startup_seconds: u64,
    expressions: Vec<&'static str>,
    ignored: Option<ObjectRef>,
    resource: Option<ObjectRef>,
}

impl Chance {
    fn build(self, at: usize, before: &[Component]) -> Component {
        let mut built = component(self.role, object(self.role.noun(), &format!("c{at}")), self.gate, self.retry);
        let appliers: Vec<ComponentId> = (0_u32..)
            .zip(before)
            .filter(|(_, it)| matches!(it.role, Role::Kustomization | Role::ResourceSet))
            .map(|(id, _)| ComponentId(id))
            .collect();
        if self.role.is_bootstrap() {
            built.stage = Stage::Bootstrap;
        } else if !appliers.is_empty() {
            built.parent = self.parent.map(|index| *index.get(&appliers));
        }
        built.suspended = self.is_suspended.then_some(Span::GENERATED);
        built.startup_seconds = self.startup_seconds;
        built.expressions = self.expressions.into_iter().map(Into::into).collect();
        built.ignored_checks = self.ignored.map(|object| (object, Span::GENERATED)).into_iter().collect();
        built.resource = self.resource.filter(|_| self.role == Role::HelmRelease);
        built
    }
}

fn any_component() -> impl Strategy<Value = Chance> {
    let role = prop_oneof![
        4 => Just(Role::Kustomization),
        3 => Just(Role::HelmRelease),
        1 => Just(Role::ResourceSet),
        1 => Just(Role::Bootstrap(BootstrapStep::Release)),
    ];
    let gate = prop_oneof![
        4 => Just(Gate::Healthy),
        3 => Just(Gate::Applied),
        2 => prop::collection::vec(any_object(), 1..4).prop_map(Gate::Listed),
        1 => Just(Gate::LooksHealthy(Span::GENERATED)),
    ];
    let retry = prop_oneof![Just(Retry::Never), Just(Retry::Every(600))];
    let expressions = prop::collection::vec(select(vec!["Widget", "Store", ""]), 0..2);
    let rare_object = || prop::option::weighted(0.1, any_object());
    let first = (role, prop::option::weighted(0.6, any::<Index>()), gate, prop::bool::weighted(0.05), retry);
    let second = (0_u64..900, expressions, rare_object(), rare_object());
    (first, second).prop_map(
        |((role, parent, gate, is_suspended, retry), (startup_seconds, expressions, ignored, resource))| Chance {
            role,
            parent,
            gate,
            is_suspended,
            retry,
            startup_seconds,
            expressions,
            ignored,
            resource,
        },
    )
}

fn any_offer() -> impl Strategy<Value = (Index, Capability, Arrival, Option<ObjectRef>)> {
    let arrival =
        select(vec![Arrival::Applied, Arrival::Installed, Arrival::Healthy, Arrival::Reported, Arrival::Unreported]);
    (any::<Index>(), any_capability(), arrival, prop::option::of(any_object()))
}

fn any_need() -> impl Strategy<Value = (Index, Want)> {
    let phase = select(vec![Phase::Build, Phase::Apply, Phase::Ready, Phase::Run]);
    let flags = (prop::bool::weighted(0.2), prop::bool::weighted(0.1));
    (any::<Index>(), any_capability(), phase, flags, prop::option::of(any_object())).prop_map(
        |(of, capability, phase, (soft, optional), by)| {
            let want = need(capability, phase);
            let want = if soft { want.soft() } else { want };
            let want = if optional { want.optional() } else { want };
            (of, by.into_iter().fold(want, Want::by))
        },
    )
}

fn any_capability() -> impl Strategy<Value = Capability> {
    let cluster = Capability::cluster;
    prop_oneof![
        4 => select(vec![Capability::crd("example.org", "Widget"), Capability::crd("example.org", "Store")]),
        1 => Just(Capability::crd("example.org", "*")),
        2 => Just(cluster(CapabilityKind::Source, "charts")),
        2 => Just(Capability::new(CapabilityKind::Secret, "flux-system", "variables")),
        1 => Just(cluster(CapabilityKind::Secret, "variables")),
        1 => Just(Capability::new(CapabilityKind::Service, "flux-system", "c1")),
        1 => Just(cluster(CapabilityKind::Namespace, "apps")),
        1 => Just(cluster(CapabilityKind::SecretStore, "vault")),
        1 => Just(cluster(CapabilityKind::Controller, "example.org/Widget")),
        1 => Just(cluster(CapabilityKind::Webhook, "policy")),
    ]
}

/// Objects that gates, offers and needs may share: some are those of components, or workloads named after them.
fn any_object() -> impl Strategy<Value = ObjectRef> {
    let kinds = select(vec!["Kustomization", "HelmRelease", "Widget", "Store", "Deployment"]);
    (kinds, 0..COMPONENTS_MAX).prop_map(|(kind, at)| object(kind, &format!("c{at}")))
}
