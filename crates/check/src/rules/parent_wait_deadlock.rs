//! ## What it finds
//!
//! A Kustomization with `wait: true` that applies a child which depends on it. And, at info, the same without `wait`:
//! it works today, and deadlocks as soon as the parent gets `wait: true`. Where other Kustomizations lie in between,
//! all of them must wait for that to happen, and the cost names those that do not.
//!
//! ## Why it matters at a cold start
//!
//! The parent is ready when everything it applies is healthy; the child starts when the parent is ready.
//!
//! ## Example
//!
//! ```yaml
//! metadata: {name: storage}
//! spec: {path: ./storage, wait: true}
//! ---
//! # in ./storage
//! metadata: {name: volsync}
//! spec:
//!   dependsOn: [{name: storage}]
//! ```
//!
//! ## Fix
//!
//! Remove the dependency: a child never starts before its parent has applied it.

use std::collections::BTreeMap;

use diagnostic::{
    Cost, EvidenceRole, Explains, Finding, Fix, Goal, Location, NeverCost, OrderFault, PlainAdvice, Quiet, Remark,
    Rule, Severity, Symptom, Together,
};
use model::{ComponentId, Consequence, Gate, ObjectRef, Tie, TieTarget, Verdict};

use crate::circles::is_parent_wait;
use crate::context::Context;

pub(crate) static RULE: Rule = Rule::new(
    "parent-wait-deadlock",
    "a Kustomization that waits for a child that waits for it",
    include_str!("parent_wait_deadlock.rs"),
)
.folding(Together::Provider, Quiet::Alone)
.explains(&[Explains::new(Symptom::Circle, 2), Explains::new(Symptom::DependencyNotReady, 3)]);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    // A patch that ties every child to the parent is one line, and one finding.
    let mut by_place: BTreeMap<(source::Span, bool), Vec<&Tie>> = BTreeMap::new();
    for (index, tie) in context.cluster.ties.iter().enumerate().filter(|(_, tie)| !context.is_asleep(tie.from)) {
        let TieTarget::Component(parent) = tie.to else { continue };
        if context.above(tie.from).skip(1).any(|at| at == parent) {
            let locked = context
                .analysis
                .deadlocks
                .iter()
                .any(|deadlock| is_parent_wait(context, deadlock) && deadlock.ties().any(|it| it == index));
            by_place.entry((tie.at, locked)).or_default().push(tie);
        }
    }
    by_place.iter().map(|((_, locked), ties)| finding(context, ties, *locked)).collect()
}

/// What would have to wait as well for the circle to close: whatever lies between the two and is done without the child.
fn open_between(context: &Context<'_>, child: ComponentId, above: ComponentId) -> Vec<ObjectRef> {
    let between = context.above(child).skip(1).take_while(|at| *at != above).map(|at| context.component(at));
    between.filter(|it| it.gate != Gate::Healthy).map(|it| it.object.clone()).collect()
}

fn finding(context: &Context<'_>, ties: &[&Tie], is_locked: bool) -> Finding {
    let tie = ties[0];
    let child = &context.component(tie.from).object;
    let TieTarget::Component(above) = tie.to else { unreachable!("only ties to components come here") };
    let parent = context.component(above);
    let statement = OrderFault::WaitsForParent {
        component: child.clone(),
        count: ties.len(),
        parent: parent.object.clone(),
        parent_waits: is_locked,
    };
    let (severity, verdict, consequence, cost, label) = if is_locked {
        let cost = NeverCost::Converges.into();
        (Severity::Error, Verdict::Deadlocked, Consequence::Deadlock, cost, Remark::WaitsForAllItApplies)
    } else {
        let between = open_between(context, tie.from, above);
        let cost = Cost::DeadlockIfTheyWait { parent: parent.object.clone(), between };
        (Severity::Info, Verdict::Guaranteed, Consequence::Nothing, cost, Remark::DoesNotWaitNow)
    };
    let goal = Goal::NotOrdered { component: child.clone(), after: parent.object.clone() };
    let primary = Location::new(tie.at, Remark::WaitsForParent);
    Finding::new(&RULE, severity, &context.cluster.name, child, statement, primary)
        .with_provider(&parent.object)
        .with_verdict(verdict)
        .with_consequence(consequence)
        .with_cost(cost)
        .with_evidence(EvidenceRole::Order, parent.gate_at, label)
        .with_fix(Fix::by_hand(PlainAdvice::RemoveDependencyOnParent, goal))
}
