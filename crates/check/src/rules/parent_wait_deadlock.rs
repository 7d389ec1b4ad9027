//! ## What it finds
//!
//! A Kustomization with `wait: true` that applies a child which depends on it. And, at info, the same without `wait`: it
//! works today, and deadlocks the day the parent waits. Where others lie in between, all of them have to wait for that, and
//! the cost names those that do not.
//!
//! ## Why it matters at a cold start
//!
//! The parent is done when all it applies is healthy; the child starts when the parent is done.
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

use graph::{Consequence, Deadlock, Verdict};
use model::{ComponentId, Gate, Tie, TieTarget};

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::words::{agree, and_more, quoted};

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    // A patch that ties every child to the parent is one line, and one finding.
    let mut by_place: BTreeMap<(yaml::Span, bool), Vec<&Tie>> = BTreeMap::new();
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

/// Who would have to wait as well for the circle to close: whatever lies between the two and is done without the child.
fn open_between(context: &Context<'_>, child: ComponentId, above: ComponentId) -> Vec<String> {
    let between = context.above(child).skip(1).take_while(|at| *at != above);
    between.map(|at| context.component(at)).filter(|it| it.gate != Gate::Healthy).map(quoted).collect()
}

/// Its one declared tie leads to something above.
pub(crate) fn is_parent_wait(context: &Context<'_>, deadlock: &Deadlock) -> bool {
    let mut ties = deadlock.ties();
    let (Some(tie), None) = (ties.next(), ties.next()) else { return false };
    let tie = &context.cluster.ties[tie];
    matches!(tie.to, TieTarget::Component(to) if context.above(tie.from).skip(1).any(|at| at == to))
}

fn finding(context: &Context<'_>, ties: &[&Tie], locked: bool) -> Finding {
    let tie = ties[0];
    let more = and_more(1, ties.len());
    let waits = agree(ties.len(), "waits", "wait");
    let child = context.component(tie.from);
    let TieTarget::Component(above) = tie.to else { unreachable!("only ties to components come here") };
    let parent = context.component(above);
    let (severity, message, cost) = if locked {
        let message =
            format!("{}{more} {waits} for {}, which applies it and waits for it", quoted(child), quoted(parent));
        (Severity::Error, message, "never converges".to_owned())
    } else {
        let message = format!("{}{more} {waits} for {}, which applies it", quoted(child), quoted(parent));
        let open = open_between(context, tie.from, above);
        let cost = if open.is_empty() {
            "none today; a deadlock the day the parent waits".to_owned()
        } else {
            format!("none today; a deadlock the day {} and {} wait", quoted(parent), open.join(", "))
        };
        (Severity::Info, message, cost)
    };
    Finding {
        rule: "parent-wait-deadlock",
        severity,
        message,
        cluster: context.cluster.name.clone(),
        component: child.object.clone(),
        provider: Some(parent.object.clone()),
        capability: None,
        verdict: Some(if locked { Verdict::Deadlocked } else { Verdict::Guaranteed }),
        consequence: Some(if locked { Consequence::Deadlock } else { Consequence::Nothing }),
        cost,
        locations: vec![
            Location { span: tie.at, role: LocationRole::Primary, label: "waits for what applies it".to_owned() },
            Location {
                span: parent.gate_at,
                role: LocationRole::Order,
                label: if locked { "waits for all it applies".to_owned() } else { "does not wait now".to_owned() },
            },
        ],
        fix: Some("remove this dependency: a child never starts before its parent has applied it".to_owned()),
        notes: Vec::new(),
        also: Vec::new(),
        each: Vec::new(),
    }
}
