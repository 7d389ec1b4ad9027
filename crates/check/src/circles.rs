//! Sorts of circles that rules tell apart, and the steps that they consist of.

use diagnostic::{Deed, EvidenceRole, Hop};
use graph::{Because, Deadlock, Step};
use model::{CapabilityKind, ComponentId, Gate, Need, ObjectRef, Offer, TieTarget, WaitsFor};
use source::Span;

use crate::context::Context;

/// A need on a CRD that comes out of what needs it, and no declared tie: containment alone closes the circle.
pub(crate) fn is_one_stage(context: &Context<'_>, deadlock: &Deadlock) -> bool {
    let mut needs = deadlock.needs();
    let (Some(need), None) = (needs.next(), needs.next()) else { return false };
    deadlock.ties().next().is_none() && context.cluster.needs[need].capability.kind == CapabilityKind::Crd
}

/// Its one declared tie leads to something above.
pub(crate) fn is_parent_wait(context: &Context<'_>, deadlock: &Deadlock) -> bool {
    let mut ties = deadlock.ties();
    let (Some(tie), None) = (ties.next(), ties.next()) else { return false };
    let tie = &context.cluster.ties[tie];
    matches!(tie.to, TieTarget::Component(to) if context.above(tie.from).skip(1).any(|at| at == to))
}

/// The steps of a way as what its components do.
pub(crate) fn hops(context: &Context<'_>, steps: &[Step]) -> Vec<Hop> {
    let edges = steps.windows(2).filter_map(|two| edge(context, &two[0], &two[1]));
    edges.map(|edge| edge.hop).collect()
}

/// One step of the circle, from one component to the next, and where it is written.
pub(crate) struct Edge {
    pub(crate) span: Span,
    pub(crate) role: EvidenceRole,
    pub(crate) hop: Hop,
    /// A person wrote this very order down, and can take it away again.
    pub(crate) is_declared: bool,
    /// The tie that it is.
    pub(crate) tie: Option<usize>,
}

/// What a step of the circle is; nothing where it stays with one component.
pub(crate) fn edge(context: &Context<'_>, step: &Step, next: &Step) -> Option<Edge> {
    let component = |step: &Step| context.analysis.events.component_of(step.event).map(|(id, _)| id);
    match step.because {
        Because::Life => None,
        Because::Tie(tie) => tied(context, tie),
        Because::Need(need) => Some(needed(context, &context.cluster.needs[need])),
        Because::Offer(offer) => Some(offered(context, &context.cluster.offers[offer])),
        Because::Parent => Some(applied(context, component(step)?, component(next)?)),
        Because::Gate => Some(waited_for(context, component(step)?, component(next)?)),
    }
}

fn object(context: &Context<'_>, id: ComponentId) -> ObjectRef {
    context.component(id).object.clone()
}

fn tied(context: &Context<'_>, index: usize) -> Option<Edge> {
    let tie = &context.cluster.ties[index];
    let TieTarget::Component(to) = tie.to else { return None };
    let target = object(context, to);
    let does = match (tie.waits_for, context.component(to).parent) {
        (WaitsFor::Exists, Some(parent)) => Deed::WaitsUntilExists { target, applied_by: object(context, parent) },
        _ => Deed::WaitsFor { target },
    };
    let hop = Hop { component: object(context, tie.from), does };
    Some(Edge { span: tie.at, role: EvidenceRole::Order, hop, is_declared: true, tie: Some(index) })
}

fn needed(context: &Context<'_>, need: &Need) -> Edge {
    let does = Deed::Needs { needed: need.capability.clone(), purpose: need.why.clone() };
    let hop = Hop { component: object(context, need.of), does };
    Edge { span: need.at, role: EvidenceRole::Need, hop, is_declared: false, tie: None }
}

fn offered(context: &Context<'_>, offer: &Offer) -> Edge {
    let does = Deed::Brings { brought: offer.capability.clone() };
    let hop = Hop { component: object(context, offer.by), does };
    Edge { span: offer.at, role: EvidenceRole::Offer, hop, is_declared: false, tie: None }
}

fn applied(context: &Context<'_>, child: ComponentId, parent: ComponentId) -> Edge {
    let does = Deed::IsApplied { by: object(context, parent) };
    let hop = Hop { component: object(context, child), does };
    Edge { span: context.component(child).at, role: EvidenceRole::Related, hop, is_declared: false, tie: None }
}

/// A gate waits for all that its component applies, or for what its list names, which may be anywhere.
fn waited_for(context: &Context<'_>, gated: ComponentId, other: ComponentId) -> Edge {
    let component = context.component(gated);
    let awaited = object(context, other);
    let is_listed = matches!(component.gate, Gate::Listed(_));
    let does =
        if is_listed { Deed::WaitsForListed { object: awaited } } else { Deed::WaitsForApplied { object: awaited } };
    let is_declared = is_listed && !context.is_nested(gated, other);
    let role = if is_declared { EvidenceRole::Order } else { EvidenceRole::Related };
    Edge {
        span: component.gate_at,
        role,
        hop: Hop { component: component.object.clone(), does },
        is_declared,
        tie: None,
    }
}
