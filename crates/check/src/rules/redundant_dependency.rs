//! ## What it finds
//!
//! A `dependsOn` on something that another `dependsOn` of the same component already waits for. Only with `--pedantic`.
//!
//! ## Why it matters at a cold start
//!
//! It does not: the order is the same with and without it. A list of dependencies that holds only what counts is easier to
//! keep true. An entry that says what a component needs by itself may well stay, though another brings it too today.
//!
//! ## Example
//!
//! ```yaml
//! # app → stores → external-secrets
//! spec:
//!   dependsOn:
//!     - name: stores
//!     - name: external-secrets   # stores waits for it already
//! ```
//!
//! ## Fix
//!
//! Remove it, or keep it as a note to the reader.

use std::collections::{BTreeMap, BTreeSet};

use graph::{Because, Event, Events, Moment, Questions};
use model::{ComponentId, Tie, TieTarget, WaitsFor};

use crate::context::Context;
use crate::finding::{Finding, LocationRole, Severity};
use crate::words::quoted;

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let pairs = candidates(context);
    let events = &context.analysis.events;
    let mut questions = Questions::default();
    let asked =
        |through: ComponentId, to: ComponentId| (Events::of(through, Moment::Start), Events::of(to, Moment::Done));
    for (_, through, to) in &pairs {
        let (source, target) = asked(*through, *to);
        questions.ask(source, target);
    }
    let answers = events.answer(questions);
    let mut said: BTreeSet<(ComponentId, ComponentId)> = BTreeSet::new();
    let mut findings = Vec::new();
    for (tie, through, to) in pairs {
        let (source, target) = asked(through, to);
        // Only what somebody declared counts: that a need was met is no promise for tomorrow.
        if answers.implies(source, target) && is_declared(events, source, target) && said.insert((tie.from, to)) {
            findings.push(finding(context, tie, through, to));
        }
    }
    findings
}

/// A tie, another tie's end that may wait for the same, and the tie's own end.
fn candidates<'a>(context: &Context<'a>) -> Vec<(&'a Tie, ComponentId, ComponentId)> {
    let mut of: BTreeMap<ComponentId, Vec<(&'a Tie, ComponentId)>> = BTreeMap::new();
    for tie in &context.cluster.ties {
        if let (TieTarget::Component(to), WaitsFor::Done) = (&tie.to, tie.waits_for)
            && !context.is_asleep(tie.from)
            && context.component(tie.from).stage == model::Stage::GitOps
        {
            of.entry(tie.from).or_default().push((tie, *to));
        }
    }
    let mut found = Vec::new();
    for ties in of.values() {
        for (tie, to) in ties {
            let others = ties.iter().filter(|(_, other)| other != to);
            found.extend(others.map(|(_, through)| (*tie, *through, *to)));
        }
    }
    found
}

/// Whether ties, parents and gates alone lead from one event to the other. In a circle each implies the other: no answer.
fn is_declared(events: &Events, from: Event, to: Event) -> bool {
    reaches(events, from, to) && !reaches(events, to, from)
}

fn reaches(events: &Events, from: Event, to: Event) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        if at == to {
            return true;
        }
        for (next, because) in events.implied(at) {
            let counts = matches!(because, Because::Life | Because::Tie(_) | Because::Parent | Because::Gate);
            if counts && events.binds(*because) && seen.insert(*next) {
                work.push(*next);
            }
        }
    }
    false
}

fn finding(context: &Context<'_>, tie: &Tie, through: ComponentId, to: ComponentId) -> Finding {
    let [component, through, target] = [tie.from, through, to].map(|id| context.component(id));
    let message =
        format!("{} waits for {}, which {} waits for already", quoted(component), quoted(target), quoted(through));
    let cost = "none: the order is the same without it";
    let mut finding = Finding::new(
        "redundant-dependency",
        Severity::Pedantic,
        &context.cluster.name,
        &component.object,
        message,
        cost,
    )
    .with(LocationRole::Primary, tie.at, "changes nothing")
    .with(LocationRole::Order, through.ties_at, format!("{} waits for it", through.object.path()));
    finding.provider = Some(target.object.clone());
    finding.fix = Some("remove it, or keep it as a note to the reader".to_owned());
    finding
}
