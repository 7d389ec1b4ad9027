//! ## What it finds
//!
//! A `dependsOn` on something that another `dependsOn` of the same component already waits for. Only with `--pedantic`.
//!
//! ## Why it matters at a cold start
//!
//! It does not: the order is the same with and without it. A shorter list of dependencies is easier to keep correct. An
//! entry that documents what a component itself needs may well stay.
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

use diagnostic::{
    Cost, EvidenceRole, Finding, Fix, Goal, Label, Location, OrderFault, PlainAdvice, Quiet, Remark, Rule, Severity,
    Together,
};
use graph::{Event, Events, ImpliedByOther, Member, Moment, Questions};
use model::{ComponentId, Tie, TieTarget, WaitsFor};

use crate::FINDINGS_MAX;
use crate::context::Context;

pub(crate) static RULE: Rule = Rule::new(
    "redundant-dependency",
    "a dependency that another one already implies",
    include_str!("redundant_dependency.rs"),
)
.folding(Together::Nothing, Quiet::Cluster);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let groups = groups(context);
    let events = &context.analysis.events;
    let members: Vec<Vec<Member>> =
        groups.iter().map(|ties| ties.iter().map(|(_, to)| member(*to)).collect()).collect();
    let found = events.implied_by_others(&members);
    let ends = |it: &ImpliedByOther| (members[it.group][it.member].target, members[it.group][it.by].source);
    let mut questions = Questions::default();
    found.iter().map(ends).for_each(|(target, source)| questions.ask(target, source));
    let answers = events.answer(questions);
    // An expression of somebody's own may wait for less than the order it stands for.
    let has_opaque = context.cluster.ties.iter().any(|tie| tie.waits_for == WaitsFor::Opaque);
    let mut said: BTreeSet<(ComponentId, ComponentId)> = BTreeSet::new();
    let mut findings = Vec::new();
    for it in found {
        let (target, source) = ends(&it);
        let ((tie, to), (_, through)) = (groups[it.group][it.member], groups[it.group][it.by]);
        // In a circle each implies the other: no answer.
        let is_implied = !answers.implies(target, source) && (!has_opaque || is_plain(events, source, target));
        if is_implied && said.insert((tie.from, to)) {
            findings.push(finding(context, tie, through, to));
        }
        if findings.len() > FINDINGS_MAX {
            break;
        }
    }
    findings
}

fn member(of: ComponentId) -> Member {
    Member { source: Events::of(of, Moment::Start), target: Events::of(of, Moment::Done) }
}

/// The ties of each component with their ends.
fn groups<'a>(context: &Context<'a>) -> Vec<Vec<(&'a Tie, ComponentId)>> {
    let mut of: BTreeMap<ComponentId, Vec<(&'a Tie, ComponentId)>> = BTreeMap::new();
    for tie in &context.cluster.ties {
        if let (TieTarget::Component(to), WaitsFor::Done) = (&tie.to, tie.waits_for)
            && !context.is_asleep(tie.from)
            && context.component(tie.from).stage == model::Stage::GitOps
        {
            of.entry(tie.from).or_default().push((tie, *to));
        }
    }
    of.into_values().filter(|ties| ties.len() > 1).collect()
}

/// Whether one event implies the other without an expression of somebody's own.
fn is_plain(events: &Events, from: Event, to: Event) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        if at == to {
            return true;
        }
        let plain = events.implied(at).iter().filter(|(_, because)| events.binds(*because));
        work.extend(plain.map(|(next, _)| *next).filter(|next| seen.insert(*next)));
    }
    false
}

fn finding(context: &Context<'_>, tie: &Tie, through: ComponentId, to: ComponentId) -> Finding {
    let [component, through_it, target] = [tie.from, through, to].map(|id| &context.component(id).object);
    let statement =
        OrderFault::WaitsTwice { component: component.clone(), target: target.clone(), through: through_it.clone() };
    let primary = Location::new(tie.at, Remark::ChangesNothing);
    let label = Label::WaitsForIt { component: through_it.clone() };
    Finding::new(&RULE, Severity::Pedantic, &context.cluster.name, component, statement, primary)
        .with_provider(target)
        .with_cost(Cost::None)
        .with_evidence(EvidenceRole::Order, context.component(through).ties_at, label)
        .with_fix(Fix::by_hand(PlainAdvice::RemoveOrKeep, Goal::Gone))
}
