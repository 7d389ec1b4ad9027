//! ## What it finds
//!
//! A `dependsOn` on a Kustomization or HelmRelease with `suspend: true`.
//!
//! ## Why it matters at a cold start
//!
//! On a running cluster the suspended object keeps the Ready condition it had. Created suspended, it never gets one,
//! and its dependents wait forever.
//!
//! ## Example
//!
//! ```yaml
//! metadata: {name: spegel}
//! spec:
//!   suspend: true
//! ```
//!
//! ## Fix
//!
//! Remove `suspend`, or the dependency on it.

use diagnostic::{
    Advice, EvidenceRole, Explains, Finding, Fix, Goal, Location, NeverCost, OrderFault, Remark, Rule, Severity,
    Symptom,
};
use model::{Consequence, Tie, TieTarget, Verdict};

use crate::context::Context;

pub(crate) static RULE: Rule = Rule::new(
    "suspended-dependency",
    "a dependency on something that is suspended",
    include_str!("suspended_dependency.rs"),
)
.explains(&[Explains::new(Symptom::DependencyNotReady, 1)]);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let ties = context.cluster.ties.iter().filter(|tie| !context.is_asleep(tie.from));
    ties.filter_map(|tie| finding(context, tie)).collect()
}

fn finding(context: &Context<'_>, tie: &Tie) -> Option<Finding> {
    let TieTarget::Component(to) = tie.to else { return None };
    let suspended = context.above(to).find_map(|at| context.component(at).suspended)?;
    let (component, target) = (&context.component(tie.from).object, &context.component(to).object);
    let statement = OrderFault::WaitsForSuspended { component: component.clone(), target: target.clone() };
    let primary = Location::new(tie.at, Remark::WaitsForEver);
    let finding = Finding::new(&RULE, Severity::Error, &context.cluster.name, component, statement, primary)
        .with_provider(target)
        .with_verdict(Verdict::Deadlocked)
        .with_consequence(Consequence::Deadlock)
        .with_cost(NeverCost::ConvergesSuspended)
        .with_evidence(EvidenceRole::Order, suspended, Remark::SwitchedOff)
        .with_fix(Fix::by_hand(Advice::Resume { target: target.clone() }, Goal::Gone));
    Some(finding)
}
