//! Findings over what runs of Terraform get wrong by themselves.

use diagnostic::{
    Advice, Cost, EvidenceRole, Finding, Fix, Goal, LayerAdvice, LayerCost, Location, Note, Remark, Rule, Severity,
    Statement,
};
use model::{Consequence, Defect, LayerDefect, StepFault};

use crate::context::Context;

/// What a rule says of a defect.
pub(crate) struct Judged {
    pub(crate) severity: Severity,
    pub(crate) consequence: Option<Consequence>,
    pub(crate) cost: LayerCost,
    pub(crate) advice: LayerAdvice,
    /// What is at the place of the fault.
    pub(crate) label: Remark,
    /// What is at the places that show it, in their order.
    pub(crate) shown: &'static [Remark],
}

/// The findings of a rule that knows some defects.
pub(crate) fn findings(
    context: &Context<'_>,
    rule: &'static Rule,
    judge: impl Fn(&LayerDefect) -> Option<Judged>,
) -> Vec<Finding> {
    let faults = context.cluster.facts.boot.faults.iter();
    let judged = faults.filter_map(|fault| match &fault.defect {
        Defect::Layer(layer) => Some((fault, judge(layer)?)),
        Defect::Gate(_) => None,
    });
    judged.map(|(fault, judged)| finding(context, rule, fault, judged)).collect()
}

fn finding(context: &Context<'_>, rule: &'static Rule, fault: &StepFault, judged: Judged) -> Finding {
    let statement = Statement::Step { step: fault.step.clone(), defect: fault.defect.clone() };
    let primary = Location::new(fault.at, judged.label);
    let mut finding = Finding::new(rule, judged.severity, &context.cluster.name, &fault.step, statement, primary)
        .with_cost(Cost::Layer(judged.cost))
        .with_fix(Fix::by_hand(Advice::Layer(judged.advice), Goal::Gone));
    if let Some(consequence) = judged.consequence {
        finding = finding.with_consequence(consequence);
    }
    finding.notes.extend(not_run(context, fault));
    let last = judged.shown.last();
    for (index, at) in fault.shown.iter().enumerate() {
        if let Some(label) = judged.shown.get(index).or(last) {
            finding = finding.with_evidence(EvidenceRole::Order, *at, *label);
        }
    }
    finding
}

/// What is wrong in a directory that no script runs may be of no matter.
pub(crate) fn not_run(context: &Context<'_>, fault: &StepFault) -> Option<Note> {
    let boot = &context.cluster.facts.boot;
    let is_of_run = fault.step.kind == "Terraform" && boot.not_run.contains(&fault.step.namespace);
    is_of_run.then(|| Note::NoScriptRuns { directory: fault.step.namespace.clone() })
}
