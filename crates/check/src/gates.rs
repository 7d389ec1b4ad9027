//! Gates that are too weak for what depends on them, and what decides them.

use std::collections::BTreeMap;

use diagnostic::GateAdvice;
use graph::{LooksAt, NewGate};
use model::{Component, ComponentId, Gate, TieTarget};
use source::{FileId, Span};

use crate::context::Context;
use crate::pairs::{Pair, sort_worst_first};
use crate::remedy::Opening;

/// Pairs by the gate that is too weak, the worst pair first.
pub(crate) fn by_gate<'a>(context: &Context<'a>, pairs: Vec<Pair<'a>>) -> BTreeMap<ComponentId, Vec<Pair<'a>>> {
    let mut gates: BTreeMap<ComponentId, Vec<Pair<'a>>> = BTreeMap::new();
    for pair in pairs {
        let gate = pair.judged[0].weak_gate.unwrap_or(pair.provider);
        gates.entry(gate).or_default().push(pair);
    }
    for pairs in gates.values_mut() {
        sort_worst_first(context, pairs);
    }
    gates
}

/// Where a component declares that it waits for another.
pub(crate) fn tie_to(context: &Context<'_>, from: ComponentId, to: ComponentId) -> Option<Span> {
    let tie = context.own_ties(from).iter().find(|tie| tie.to == TieTarget::Component(to));
    tie.map(|tie| tie.at)
}

/// The file of the patch that decides what a component waits for: it wins over the file of the object.
pub(crate) fn patch_of_gate(context: &Context<'_>, gated: &Component) -> Option<FileId> {
    let is_patched = !gated.gate_at.is_generated() && !gated.at.is_generated() && gated.gate_at.file != gated.at.file;
    context.path(gated.gate_at).filter(|_| is_patched).map(|_| gated.gate_at.file)
}

/// To wait for all, or for as much as closes no circle.
pub(crate) fn wait_or_less(context: &Context<'_>, gated: &Component, opening: &Opening) -> GateAdvice {
    let gate = gated.object.clone();
    match opening {
        Opening::Nothing { back } => GateAdvice::NoGate { gate, back: back.clone() },
        Opening::Only { gate: NewGate { looks_at: LooksAt::Object(object), .. }, back } => {
            GateAdvice::ListOnly { gate, object: object.clone(), back: back.clone() }
        }
        Opening::Gate(new) if new.looks_at != LooksAt::All || matches!(gated.gate, Gate::Listed(_)) => {
            let object = match &new.looks_at {
                LooksAt::Object(object) => Some(object.clone()),
                LooksAt::All => None,
            };
            GateAdvice::ListInChecks { gate, object }
        }
        Opening::Gate(_) | Opening::Only { .. } => set_wait(context, gated),
    }
}

/// To wait, where that has an effect.
pub(crate) fn set_wait(context: &Context<'_>, gated: &Component) -> GateAdvice {
    GateAdvice::SetWait { gate: gated.object.clone(), patch: patch_of_gate(context, gated) }
}
