//! ## What it finds
//!
//! `${NAME}` in what a Kustomization builds, with no default, where none of its `substitute` and `substituteFrom` sets
//! it. Only where all of these can be read: a source that an operator creates may set anything, and so may an admission
//! policy that rewrites Kustomizations. In both cases this rule reports nothing. It is an error only where the version
//! of Flux is known.
//!
//! And `${NAME}`, with a default or without, in a Kustomization that has no variable at all: no `substitute`, and of
//! `substituteFrom` only what is optional and not created here.
//!
//! ## Why it matters at a cold start
//!
//! From Flux 2.9 on (kustomize-controller 1.9) an undefined variable fails the build, and Flux applies nothing of the
//! Kustomization. Before that it became an empty string, without any error. So it fails at the upgrade, or on a new
//! cluster that starts with the newer Flux.
//!
//! Without any variable Flux does not substitute at all: the text is applied unchanged, defaults included, and
//! everything is Ready.
//!
//! ## Example
//!
//! ```yaml
//! # a ConfigMap with a script, in a Kustomization with postBuild.substitute
//! data:
//!   backup.sh: |
//!     tar c "${SOURCE_DIR}" | age -r "${RECIPIENT}"
//! ```
//!
//! ## Fix
//!
//! Set the variable, or give it a default: `${NAME:=value}`. Where the text is not for Flux, write `$${NAME}`, or
//! disable substitution for the object: `kustomize.toolkit.fluxcd.io/substitute: disabled` as an annotation. Where
//! there is no variable at all, create the optional source or set `substituteStrategy: Always`.

use std::collections::{BTreeMap, BTreeSet};

use diagnostic::{
    Absence, Advice, Cost, EvidenceRole, Explains, Finding, Fix, Goal, Label, Location, Note, Quiet, Remark, Rule,
    Severity, Symptom, Together,
};
use ecow::EcoString;
use graph::Judged;
use model::{ComponentId, Consequence, FluxVersion, Retry, UndefinedVariable, Verdict};

use crate::context::Context;
use crate::needs::is_variables;

pub(crate) static RULE: Rule =
    Rule::new("undefined-variable", "a variable that nothing sets", include_str!("undefined_variable.rs"))
        .folding(Together::Subject, Quiet::Cluster)
        .explains(&[Explains::new(Symptom::UndefinedVariable, 1)]);

/// The first Flux whose builds fail of it.
const STRICT_SINCE: (u64, u64) = (2, 9);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut by_component: BTreeMap<ComponentId, Vec<&UndefinedVariable>> = BTreeMap::new();
    for undefined in &context.cluster.facts.undefined {
        if !context.is_asleep(undefined.of) {
            by_component.entry(undefined.of).or_default().push(undefined);
        }
    }
    let flux = context.cluster.facts.flux.as_ref();
    let mut findings = unsubstituted(context);
    if flux.is_none_or(|flux| flux.strict != Some(false)) {
        findings.extend(by_component.iter().map(|(of, undefined)| finding(context, *of, undefined, flux)));
    }
    findings
}

/// Variables of builds that have none to substitute: all their sources are optional, and nobody makes one.
fn unsubstituted(context: &Context<'_>) -> Vec<Finding> {
    let mut by_component: BTreeMap<ComponentId, Vec<&UndefinedVariable>> = BTreeMap::new();
    for variable in &context.cluster.facts.unsubstituted {
        by_component.entry(variable.of).or_default().push(variable);
    }
    let sources = |of: ComponentId| -> Vec<&Judged> {
        context.judged().filter(|judged| context.need(judged).of == of && is_variables(context, judged)).collect()
    };
    let live = by_component.iter().filter(|(of, _)| !context.is_asleep(**of));
    live.map(|(of, variables)| (*of, variables, sources(*of)))
        .filter(|(_, _, sources)| sources.iter().all(|judged| judged.verdict == Verdict::Unoffered))
        .filter_map(|(of, variables, sources)| Some(as_written(context, of, variables, sources.first()?)))
        .collect()
}

fn as_written(context: &Context<'_>, of: ComponentId, variables: &[&UndefinedVariable], source: &Judged) -> Finding {
    let component = &context.component(of).object;
    let need = context.need(source);
    let needed = || need.capability.clone();
    let statement = Absence::NoVariables { component: component.clone(), variables: names(variables) };
    let primary = Location::new(variables[0].at, Remark::NothingSubstituted);
    let label = Label::OptionalAndNotMade { needed: needed() };
    let goal = Goal::Guaranteed { component: component.clone(), subject: needed().into() };
    Finding::new(&RULE, Severity::Info, &context.cluster.name, component, statement, primary)
        .with_subject(needed())
        .with_verdict(source.verdict)
        .with_consequence(Consequence::Silent)
        .with_cost(Cost::AsWritten)
        .with_evidence(EvidenceRole::Need, need.at, label)
        .with_fix(Fix::by_hand(Advice::MakeOrSubstituteAlways { needed: needed() }, goal))
        .with_note(Note::UnlessMadeOutside { needed: needed() })
}

/// The variables, each once.
fn names(variables: &[&UndefinedVariable]) -> Vec<EcoString> {
    let names: BTreeSet<&EcoString> = variables.iter().map(|variable| &variable.name).collect();
    names.into_iter().cloned().collect()
}

fn finding(
    context: &Context<'_>,
    of: ComponentId,
    undefined: &[&UndefinedVariable],
    flux: Option<&FluxVersion>,
) -> Finding {
    let component = context.component(of);
    let first = undefined[0];
    let variables = names(undefined);
    let (severity, cost, note) = judge(flux);
    let advice = Advice::SetVariable { name: variables[0].clone() };
    let statement = Absence::UnsetVariables { component: component.object.clone(), variables };
    let primary = Location::new(first.at, Remark::NoValue);
    let mut finding = Finding::new(&RULE, severity, &context.cluster.name, &component.object, statement, primary)
        .with_cost(cost)
        .with_evidence(EvidenceRole::Related, first.set_at, Remark::AllVariablesSetHere);
    if severity == Severity::Error {
        let Retry::Every(seconds) = component.patience.retry else { return finding };
        finding = finding.with_consequence(Consequence::Slow { seconds });
    } else {
        finding = finding.with_consequence(Consequence::Silent);
    }
    if let Some(flux) = flux {
        let label = Label::FluxVersion { written: flux.written.clone() };
        finding = finding.with_evidence(EvidenceRole::Related, flux.at, label);
    }
    finding.with_fix(Fix::by_hand(advice, Goal::Builds { component: component.object.clone() })).with_note(note)
}

/// What it does, by the version that is known to run.
fn judge(flux: Option<&FluxVersion>) -> (Severity, Cost, Note) {
    let Some(flux) = flux else { return (Severity::Info, Cost::EmptyText, Note::UnknownFlux) };
    let written = flux.written.clone();
    match flux.minor {
        _ if flux.strict == Some(true) => (Severity::Error, Cost::BuildFails, Note::IsStrict),
        Some(minor) if minor >= STRICT_SINCE => (Severity::Error, Cost::BuildFails, Note::FailsSince { flux: written }),
        Some(_) => (Severity::Info, Cost::EmptyText, Note::StillEmpty { flux: written }),
        None => (Severity::Info, Cost::BuildFailsIfNewer, Note::MayBeNew { flux: written }),
    }
}
