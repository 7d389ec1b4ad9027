//! What several rules advise: an order that is to be declared, and where.

use diagnostic::{Label, Location, NewDependency, OtherGate, Written};
use model::{Component, ComponentId, Gate, Role};
use source::FileId;

use crate::context::Context;
use crate::gates::patch_of_gate;
use crate::pairs::Pair;

/// The order that a pair lacks, as its files would have it.
pub(crate) fn new_dependency(context: &Context<'_>, pair: &Pair<'_>) -> NewDependency {
    let (consumer, provider) = pair.objects(context);
    NewDependency { consumer, provider, written: written(context, pair) }
}

fn written(context: &Context<'_>, pair: &Pair<'_>) -> Written {
    let gate = other_gate(context, context.component(pair.provider));
    match patched_in(context, pair.consumer) {
        _ if pair.closes_circle => Written::Nowhere,
        _ if context.component(pair.consumer).role.is_bootstrap() => Written::Needs(gate),
        Some(file) => Written::Patch(file, gate),
        None => Written::Own(gate),
    }
}

fn other_gate(context: &Context<'_>, provider: &Component) -> OtherGate {
    match provider.gate {
        Gate::Healthy | Gate::Listed(_) => OtherGate::Waits,
        _ if provider.role == Role::HelmRelease => OtherGate::Waits,
        _ => patch_of_gate(context, provider).map_or(OtherGate::NeedsWait, OtherGate::NeedsWaitInPatch),
    }
}

/// The file of the patch that sets what a component waits for, where one does.
fn patched_in(context: &Context<'_>, consumer: ComponentId) -> Option<FileId> {
    let own = context.component(consumer).at;
    let mut ties = context.cluster.ties.iter().filter(|tie| tie.from == consumer);
    let patched = ties.find(|tie| !tie.at.is_generated() && !own.is_generated() && tie.at.file != own.file)?;
    context.path(patched.at).map(|_| patched.at.file)
}

/// The component that lacks the order, as the place to look at first.
pub(crate) fn not_awaited(context: &Context<'_>, pair: &Pair<'_>) -> Location {
    let provider = context.component(pair.provider).object.clone();
    Location::new(context.component(pair.consumer).at, Label::DoesNotWaitFor { provider })
}
