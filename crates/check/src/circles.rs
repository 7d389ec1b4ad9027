//! Sorts of circles that rules tell apart.

use graph::Deadlock;
use model::{CapabilityKind, TieTarget};

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
