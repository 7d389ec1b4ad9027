//! ## What it finds
//!
//! `${NAME}` in what a Kustomization builds, with no default, where none of its `substitute` and `substituteFrom` sets it.
//! Only where all of these can be read: a source that an operator makes may set anything, and so may an admission policy
//! that rewrites Kustomizations. Both keep this rule silent. It is an error only where the version of Flux is known.
//!
//! And `${NAME}`, with a default or without, in a Kustomization that has no variable at all: no `substitute`, and of
//! `substituteFrom` only what is optional and made by nothing here.
//!
//! ## Why it matters at a cold start
//!
//! From Flux 2.9 on (kustomize-controller 1.9) an undefined variable fails the build, and nothing of the Kustomization is
//! applied. Before that it became an empty text, and nobody was told. So it is the upgrade, or the new cluster that starts
//! with the newer Flux, that stops.
//!
//! Without any variable Flux does not substitute at all: the text goes to the cluster as it is written, defaults too, and
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
//! Set the variable, or give it a default: `${NAME:=value}`. Where the text is not for Flux, write `$${NAME}`, or switch
//! substitution off for the object: `kustomize.toolkit.fluxcd.io/substitute: disabled` as an annotation. Where there is no
//! variable at all, make the optional source or set `substituteStrategy: Always`.

use std::collections::BTreeMap;

use ecow::EcoString;
use graph::{Consequence, Judged, Verdict};
use model::{ComponentId, FluxVersion, Retry, UndefinedVariable};

use crate::context::Context;
use crate::finding::{Finding, LocationRole, Severity};
use crate::rules::missing_substitution::is_variables;
use crate::words::{agree, and_more, quoted};

/// The first Flux whose builds fail of it.
const STRICT_SINCE: (u64, u64) = (2, 9);
/// Variables that one message names.
const NAMED_MAX: usize = 4;

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
    let component = context.component(of);
    let need = context.need(source);
    let message = format!(
        "{} has no variables at all, so {} as written",
        quoted(component),
        match names(variables).len() {
            1 => format!("{} stays", listed(variables)),
            _ => format!("{} stay", listed(variables)),
        },
    );
    let cost = "goes to the cluster as it is written, defaults too, and nothing says so";
    let mut finding =
        Finding::new("undefined-variable", Severity::Info, &context.cluster.name, &component.object, message, cost)
            .with(LocationRole::Primary, variables[0].at, "nothing is substituted here")
            .with(LocationRole::Need, need.at, format!("optional, and nothing here makes {}", need.capability));
    finding.capability = Some(need.capability.to_string());
    finding.verdict = Some(source.verdict);
    finding.consequence = Some(Consequence::Silent);
    finding.fix = Some(format!(
        "make {}, or set `postBuild.substituteStrategy: Always` so that at least the defaults count",
        need.capability
    ));
    finding.notes.push(format!("unless something outside makes {}", need.capability));
    finding
}

/// The variables, each once.
fn names<'a>(variables: &[&'a UndefinedVariable]) -> Vec<&'a EcoString> {
    let mut names: Vec<&EcoString> = variables.iter().map(|variable| &variable.name).collect();
    names.sort();
    names.dedup();
    names
}

/// The first of them, as they are written.
fn listed(variables: &[&UndefinedVariable]) -> String {
    let names = names(variables);
    let shown: Vec<String> = names.iter().take(NAMED_MAX).map(|name| format!("`${{{name}}}`")).collect();
    format!("{}{}", shown.join(", "), and_more(NAMED_MAX, names.len()))
}

fn finding(
    context: &Context<'_>,
    of: ComponentId,
    undefined: &[&UndefinedVariable],
    flux: Option<&FluxVersion>,
) -> Finding {
    let component = context.component(of);
    let names = names(undefined);
    let (severity, cost, note) = judge(flux);
    let message = format!(
        "{} uses {}, which {} set by nothing",
        quoted(component),
        listed(undefined),
        agree(names.len(), "is", "are")
    );
    let first = undefined[0];
    let mut finding =
        Finding::new("undefined-variable", severity, &context.cluster.name, &component.object, message, cost)
            .with(LocationRole::Primary, first.at, "no value and no default")
            .with(LocationRole::Related, first.set_at, "all that sets its variables");
    if severity == Severity::Error {
        let Retry::Every(seconds) = component.patience.retry else { return finding };
        finding.consequence = Some(Consequence::Slow { seconds });
    } else {
        finding.consequence = Some(Consequence::Silent);
    }
    if let Some(flux) = flux {
        finding = finding.with(LocationRole::Related, flux.at, format!("Flux {}", flux.written));
    }
    finding.fix = Some(format!(
        "set `{0}`, give it a default (`${{{0}:=value}}`), or write `$${{{0}}}` where it is not for Flux",
        names[0]
    ));
    finding.notes.push(note);
    finding
}

/// What it does, by the version that is known to run.
fn judge(flux: Option<&FluxVersion>) -> (Severity, &'static str, String) {
    let fails = "the build fails every time, and nothing of it is applied";
    let empty = "becomes an empty text, and nothing says so; from Flux 2.9 on the build fails";
    match flux {
        Some(FluxVersion { strict: Some(true), .. }) => {
            (Severity::Error, fails, "StrictPostBuildSubstitutions is switched on".to_owned())
        }
        Some(FluxVersion { minor: Some(minor), written, .. }) if *minor >= STRICT_SINCE => {
            (Severity::Error, fails, format!("Flux {written} fails builds with undefined variables"))
        }
        Some(FluxVersion { minor: Some(_), written, .. }) => {
            (Severity::Info, empty, format!("Flux {written} still takes it for an empty text"))
        }
        Some(FluxVersion { minor: None, written, .. }) => (
            Severity::Info,
            "with Flux 2.9 or newer the build fails, and nothing of it is applied",
            format!("`{written}` takes the newest Flux there is, so it may be 2.9 already"),
        ),
        None => (Severity::Info, empty, "which Flux runs here could not be seen".to_owned()),
    }
}
