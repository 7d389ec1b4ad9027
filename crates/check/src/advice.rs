//! What several rules advise: an order that is to be declared, and where.

use diagnostic::{
    Advice, Entry, Fix, Item, Judging, Label, List, Location, NewDependency, OrderAdvice, OtherGate, Site, Written,
};
use ecow::EcoString;
use graph::{LooksAt, NewGate};
use model::{CapabilityKind, Component, ComponentId, Gate, HealthExpression, ObjectRef, RetryField, Role};
use source::{FileId, Span};

use crate::context::Context;
use crate::gates::patch_of_gate;
use crate::pairs::Pair;
use crate::place;
use crate::remedy::Way;

/// The fix of a pair that lacks an order: what was tried and holds, as its files would have it.
pub(crate) fn order(context: &Context<'_>, pair: &Pair<'_>, advice: impl FnOnce(NewDependency) -> OrderAdvice) -> Fix {
    if let Some(advice) = own_namespace(context, pair).or_else(|| release_apart(context, pair)) {
        return pair.fix(context, advice);
    }
    let (new, entry) = new_dependency(context, pair);
    pair.fix(context, advice(new)).with_entries(entry)
}

/// The Namespace that a component had better bring itself: the provider waits for its own health, and needs something of the component
/// for it, so that a dependency would block both.
fn own_namespace(context: &Context<'_>, pair: &Pair<'_>) -> Option<Advice> {
    let needs = || pair.judged.iter().map(|judged| context.need(judged));
    let is_namespace = needs().all(|need| need.capability.kind == CapabilityKind::Namespace);
    let (consumer, provider) = (context.component(pair.consumer), context.component(pair.provider));
    let would_block = pair.is_mutual && provider.gate == Gate::Healthy && consumer.role == Role::Kustomization;
    let namespace = needs().next().filter(|_| is_namespace && would_block)?.capability.name.clone();
    Some(Advice::BringNamespace { component: consumer.object.clone(), namespace })
}

/// The release that had better be in a Kustomization of its own, so that another one can depend on that.
fn release_apart(context: &Context<'_>, pair: &Pair<'_>) -> Option<Advice> {
    let (component, release) = pair.objects(context);
    let has_no_retry = context.component(pair.consumer).patience.retry_field == Some(RetryField::Interval);
    pair.is_beside_release(context).then_some(Advice::MoveRelease { component, release, has_no_retry })
}

/// The order that a pair lacks, and the item that declares it.
fn new_dependency(context: &Context<'_>, pair: &Pair<'_>) -> (NewDependency, Option<Entry>) {
    let own = (pair.consumer, pair.provider);
    let (ends, written) = match &pair.way {
        Some(Way::Tie { ends, gate }) => (*ends, written(context, pair, *ends, gate.as_ref())),
        Some(Way::Instead { tie, gate }) => {
            let (place, gate) = (context.cluster.ties[*tie].at, other_gate(context, pair, own.1, gate.as_ref()));
            (own, Written::Instead { place, gate })
        }
        Some(Way::Apart { gate, back }) => {
            let gate = other_gate(context, pair, own.1, gate.as_ref());
            (own, Written::Apart { places: places(context, pair), gate, back: back.clone() })
        }
        Some(Way::Nowhere { back }) => (own, Written::Nowhere { back: back.clone() }),
        None => (own, written(context, pair, own, None)),
    };
    let has_entry = !matches!(written, Written::Nowhere { .. } | Written::Apart { .. });
    let object = |id: ComponentId| context.component(id).object.clone();
    let new = NewDependency { consumer: object(ends.0), provider: object(ends.1), written };
    (new, has_entry.then(|| entry(context, ends)))
}

fn written(
    context: &Context<'_>,
    pair: &Pair<'_>,
    (of, by): (ComponentId, ComponentId),
    gate: Option<&NewGate>,
) -> Written {
    let gate = other_gate(context, pair, by, gate);
    match patched_in(context, of) {
        _ if context.component(of).role.is_bootstrap() => Written::Needs(gate),
        Some(file) => Written::Patch(file, gate),
        None => Written::Own(gate),
    }
}

/// Where the objects are that need it.
fn places(context: &Context<'_>, pair: &Pair<'_>) -> Vec<Site> {
    let needs = pair.judged.iter().map(|judged| context.need(judged));
    let place =
        |at: Span, object: &ObjectRef| if context.is_in_file(at) { at.into() } else { Site::Object(object.clone()) };
    let mut places: Vec<Site> = needs.map(|need| place(need.at, &need.object)).collect();
    places.dedup();
    places
}

fn other_gate(context: &Context<'_>, pair: &Pair<'_>, by: ComponentId, gate: Option<&NewGate>) -> OtherGate {
    let Some(gate) = gate else { return OtherGate::Waits };
    let judging = gate.expression.as_ref().map(|kind| {
        let offer = pair.judged[0].offer.map(|offer| &context.cluster.offers[offer].object);
        Judging { kind: kind.clone(), by: offer.and_then(|object| expression(context, object)) }
    });
    let component = context.component(by);
    match (&gate.looks_at, judging) {
        (LooksAt::Object(object), judging) => {
            OtherGate::NeedsCheck { object: object.clone(), judging, waits_now: component.gate == Gate::Healthy }
        }
        (LooksAt::All, Some(judging)) if component.gate == Gate::Healthy => OtherGate::NeedsExpression(judging),
        (LooksAt::All, judging) => OtherGate::NeedsWait { patch: patch_of_gate(context, component), judging },
    }
}

/// The expression that tells the health of an object, where one is known for its kind.
pub(crate) fn expression(context: &Context<'_>, object: &ObjectRef) -> Option<HealthExpression> {
    if context.cluster.facts.expressions.is_empty() {
        return None;
    }
    // Which group its kind is of says the need of its CRD.
    let kind = context.index().kind(object);
    let known = &context.cluster.facts.expressions;
    let only = || {
        let mut same = known.iter().filter(|(name, _)| name.rsplit('/').next() == Some(object.kind.as_str()));
        same.next().filter(|_| same.next().is_none()).map(|(_, expression)| expression)
    };
    kind.map_or_else(only, |kind| known.get(kind)).cloned()
}

/// The file of the patch that sets what a component waits for, where one does.
fn patched_in(context: &Context<'_>, consumer: ComponentId) -> Option<FileId> {
    let own = context.component(consumer).at;
    let mut places = context.tie_places(consumer).iter();
    let patched = places.find(|at| !at.is_generated() && !own.is_generated() && at.file != own.file)?;
    context.path(*patched).map(|_| patched.file)
}

/// The item that ties one component to another.
fn entry(context: &Context<'_>, (of, by): (ComponentId, ComponentId)) -> Entry {
    let (own, other) = (context.component(of), context.component(by));
    let list = if own.role.is_bootstrap() { List::Needs } else { List::DependsOn };
    let patched = patched_in(context, of);
    let is_there = |at: &&source::Span| context.is_in_file(**at) && patched.is_none_or(|file| at.file == file);
    let behind = context.tie_places(of).iter().filter(is_there).max_by_key(|at| at.start).copied();
    let place = match behind {
        Some(item) => context.text(item).and_then(|text| place::after(text, item)),
        None => context.text(own.ties_at).and_then(|text| place::key(text, own.ties_at, own.role.is_bootstrap())),
    };
    // A patch may be for objects of several namespaces, and a ResourceSet looks nowhere without one.
    let is_elsewhere =
        own.role == Role::ResourceSet || patched.is_some() || own.object.namespace != other.object.namespace;
    Entry { list, item: item(own, other, is_elsewhere), place }
}

fn item(own: &Component, other: &Component, is_elsewhere: bool) -> Item {
    let ObjectRef { kind, namespace, name } = &other.object;
    let named = std::iter::once(("name", name.clone()));
    let named = named.chain(is_elsewhere.then(|| ("namespace", namespace.clone())));
    match own.role {
        Role::Bootstrap(_) => Item::Text(other.object.path().into()),
        Role::ResourceSet => {
            let kind = [("apiVersion", api_version(other.role)), ("kind", kind.clone())];
            Item::Fields(kind.into_iter().chain(named).chain([("ready", EcoString::inline("true"))]).collect())
        }
        Role::Kustomization | Role::HelmRelease => Item::Fields(named.collect()),
    }
}

fn api_version(role: Role) -> EcoString {
    match role {
        Role::HelmRelease => "helm.toolkit.fluxcd.io/v2".into(),
        Role::ResourceSet => "fluxcd.controlplane.io/v1".into(),
        Role::Kustomization | Role::Bootstrap(_) => "kustomize.toolkit.fluxcd.io/v1".into(),
    }
}

/// The component that lacks the order, as the place to look at first.
pub(crate) fn not_awaited(context: &Context<'_>, pair: &Pair<'_>) -> Location {
    let provider = context.component(pair.provider).object.clone();
    Location::new(context.component(pair.consumer).at, Label::DoesNotWaitFor { provider })
}
