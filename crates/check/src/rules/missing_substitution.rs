//! ## What it finds
//!
//! `postBuild.substituteFrom` that names a ConfigMap or Secret that nothing creates, or only this Kustomization itself; and an
//! `optional` one that something creates, but that the Kustomization does not wait for.
//!
//! One that only the Kustomization itself creates is a warning where no script, recipe, pipeline, Terraform file or document names it or the
//! directory of its file, and an error where the bootstrap creates other Secrets of its namespace: then nothing creates it first.
//!
//! ## Why it matters at a cold start
//!
//! Without the object the build fails, and Flux retries only after `retryInterval`. With `optional: true` it does not
//! fail: everything is built without the variables, without any error. (An optional one that nothing creates is fine,
//! as long as there are other variables; `undefined-variable` reports where there are none.)
//!
//! ## Example
//!
//! ```yaml
//! postBuild:
//!   substituteFrom:
//!     - kind: Secret
//!       name: cluster-secrets
//! ```
//!
//! ## Fix
//!
//! Create the object in a Kustomization that this one depends on, or in the bootstrap: coldstart also reads a directory
//! named `bootstrap`, and a script that applies it.

use diagnostic::{
    Absence, Advice, Cost, Explains, Finding, Fix, Goal, Lack, Location, NeverCost, Quiet, Remark, Rule, Severity,
    Symptom, Together,
};
use graph::Judged;
use model::{CapabilityKind, Consequence, Need, Offer, Stage, Verdict};

use crate::context::Context;
use crate::needs::is_variables;

pub(crate) static RULE: Rule = Rule::new(
    "missing-substitution",
    "variables from an object that nothing creates, or creates too late",
    include_str!("missing_substitution.rs"),
)
.folding(Together::Subject, Quiet::Alone)
.explains(&[Explains::new(Symptom::VariablesNotFound, 1)])
.may_be_brought();

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    context
        .judged()
        .filter(|judged| is_variables(context, judged))
        .filter_map(|judged| finding(context, judged))
        .collect()
}

fn finding(context: &Context<'_>, judged: &Judged) -> Option<Finding> {
    let need = context.need(judged);
    let component = context.component(need.of);
    let model::Retry::Every(retry_seconds) = component.patience.retry else { return None };
    let own = judged.offer.map(|offer| &context.cluster.offers[offer]).filter(|offer| offer.by == need.of);
    let (severity, lack, cost) = match (judged.verdict, judged.consequence) {
        // One that nothing makes is fine. One that it makes itself is not there at first, and is from the second time on.
        (Verdict::Unoffered | Verdict::BootstrapOnly, _) if need.optional => return None,
        (Verdict::Unoffered, _) => (Severity::Info, Lack::NotMade, NeverCost::BuiltFromHere { retry_seconds }.into()),
        (Verdict::BootstrapOnly, _) if own.is_some() => {
            let severity = own.map_or(Severity::Info, |offer| made_by_itself(context, need, offer));
            (severity, Lack::MadeByItself, NeverCost::BuiltFromHereFirst.into())
        }
        (_, Consequence::Silent) => (Severity::Warning, Lack::NotOrdered, Cost::BuiltWithoutVariables),
        _ => return None,
    };
    let provider = judged.offer.map(|offer| context.applier(context.cluster.offers[offer].by));
    let consequence = match judged.verdict {
        _ if severity == Severity::Error => Consequence::Deadlock,
        Verdict::Unoffered => Consequence::Slow { seconds: retry_seconds },
        _ => judged.consequence,
    };
    let (own, needed) = (&component.object, need.capability.clone());
    let statement = Absence::VariablesLack { component: own.clone(), from: needed.clone(), lack };
    let primary = Location::new(need.at, Remark::NeededForBuild);
    let goal = Goal::Guaranteed { component: own.clone(), subject: needed.clone().into() };
    let mut finding = Finding::new(&RULE, severity, &context.cluster.name, own, statement, primary)
        .with_subject(needed.clone())
        .with_verdict(judged.verdict)
        .with_consequence(consequence)
        .with_cost(cost)
        .with_fix(Fix::by_hand(Advice::MakeBefore { needed }, goal));
    let provider = provider.map(|provider| context.component(provider).object.clone());
    finding.provider = provider.filter(|provider| provider != own);
    Some(finding)
}

/// How bad it is that only the Kustomization makes what it is built from. A person may make it first, where no file speaks of how; not
/// where the bootstrap seeds other Secrets of its namespace.
fn made_by_itself(context: &Context<'_>, need: &Need, offer: &Offer) -> Severity {
    if is_told(context, need, offer) {
        return Severity::Info;
    }
    let is_seed = |offer: &Offer| {
        let is_beside = offer.capability.namespace == need.capability.namespace;
        let is_early = context.component(offer.by).stage == Stage::Bootstrap;
        offer.capability.kind == CapabilityKind::Secret && is_beside && is_early
    };
    match context.cluster.offers.iter().any(is_seed) {
        true => Severity::Error,
        false if context.may_hold_more() => Severity::Info,
        false => Severity::Warning,
    }
}

/// Whether a script or a text speaks of it: by its name or by the directory of its file, or of all encrypted files.
fn is_told(context: &Context<'_>, need: &Need, offer: &Offer) -> bool {
    let directory = context.directory(offer.at).unwrap_or_default();
    let end = directory.rmatch_indices('/').nth(1).map_or(directory, |(at, _)| &directory[at + 1..]);
    let is_encrypted = need.capability.kind == CapabilityKind::Secret;
    context.is_told(&need.capability.name)
        || (!end.is_empty() && context.is_told(end))
        || (is_encrypted && context.is_told("*.sops"))
}
