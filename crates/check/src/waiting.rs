//! Findings about commands of the boot that wait.

use diagnostic::{EvidenceRole, Finding, Fix, Goal, Location, Remark, Rule, Severity, Statement, WaitAdvice, WaitCost};
use model::{Stage, StepFault};

use crate::context::Context;
use crate::layers::not_run;

/// What a rule says of a fault.
pub(crate) struct Told {
    pub(crate) severity: Severity,
    pub(crate) cost: WaitCost,
    pub(crate) advice: WaitAdvice,
    /// What is said beside the line to edit.
    pub(crate) primary: Remark,
    /// What is said beside what else shows it.
    pub(crate) shown: Remark,
}

pub(crate) fn finding(rule: &'static Rule, context: &Context<'_>, fault: &StepFault, told: Told) -> Finding {
    let statement = Statement::Step { step: fault.step.clone(), defect: fault.defect.clone() };
    let primary = Location::new(fault.at, told.primary);
    let mut finding = Finding::new(rule, told.severity, &context.cluster.name, &fault.step, statement, primary)
        .with_cost(told.cost)
        .with_fix(Fix::by_hand(told.advice, Goal::Gone));
    finding.stage = Stage::Bootstrap;
    finding.notes.extend(not_run(context, fault));
    for span in &fault.shown {
        finding = finding.with_evidence(EvidenceRole::Related, *span, told.shown);
    }
    finding
}
