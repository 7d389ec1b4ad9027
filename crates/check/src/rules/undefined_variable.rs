//! ## What it finds
//!
//! `${NAME}` in what a Kustomization builds, with no default, where none of its `substitute` and `substituteFrom` sets it.
//! Only where all of these can be read: a source that an operator makes may set anything, and so may an admission policy
//! that rewrites Kustomizations. Both keep this rule silent. It is an error only where the version of Flux is known.
//!
//! ## Why it matters at a cold start
//!
//! From Flux 2.9 on (kustomize-controller 1.9) an undefined variable fails the build, and nothing of the Kustomization is
//! applied. Before that it became an empty text, and nobody was told. So it is the upgrade, or the new cluster that starts
//! with the newer Flux, that stops.
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
//! substitution off for the object: `kustomize.toolkit.fluxcd.io/substitute: disabled` as an annotation.

use std::collections::BTreeMap;

use ecow::EcoString;
use graph::Consequence;
use model::{ComponentId, FluxVersion, Retry, UndefinedVariable};

use crate::context::Context;
use crate::finding::{Finding, LocationRole, Severity};
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
    if flux.is_some_and(|flux| flux.strict == Some(false)) {
        return Vec::new();
    }
    by_component.iter().map(|(of, undefined)| finding(context, *of, undefined, flux)).collect()
}

fn finding(
    context: &Context<'_>,
    of: ComponentId,
    undefined: &[&UndefinedVariable],
    flux: Option<&FluxVersion>,
) -> Finding {
    let component = context.component(of);
    let mut names: Vec<&EcoString> = undefined.iter().map(|undefined| &undefined.name).collect();
    names.sort();
    names.dedup();
    let shown: Vec<String> = names.iter().take(NAMED_MAX).map(|name| format!("`${{{name}}}`")).collect();
    let (severity, cost, note) = judge(flux);
    let count = names.len();
    let message = format!(
        "{} uses {}{}, which {} set by nothing",
        quoted(component),
        shown.join(", "),
        and_more(NAMED_MAX, count),
        agree(count, "is", "are")
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
