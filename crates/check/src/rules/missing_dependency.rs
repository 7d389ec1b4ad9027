//! ## What it finds
//!
//! A component that needs something another one brings (a CRD, a secret store, a StorageClass, a Service, a device), with
//! no chain of `dependsOn` that would make it wait.
//!
//! ## Why it matters at a cold start
//!
//! On a running cluster everything is there already. From nothing, both start at the same moment and the one that needs
//! loses: a Kustomization whose apply fails tries again only after its `retryInterval`, which is its `interval` unless
//! you set it. With `interval: 1h` that is an hour, and everything that depends on it waits too.
//!
//! ## Example
//!
//! ```yaml
//! # apps/linkding/ks.yaml applies an ExternalSecret; external-secrets is installed by another Kustomization
//! spec:
//!   interval: 1h
//!   path: ./apps/linkding
//! ```
//!
//! ## Fix
//!
//! ```yaml
//! spec:
//!   dependsOn:
//!     - name: external-secrets-stores
//!       namespace: external-secrets
//! ```
//!
//! When several missing ties end in one chain, only the last of the chain is suggested: it waits for the others.

use std::collections::BTreeMap;

use graph::{Consequence, Verdict};
use model::{CapabilityKind, ComponentId, Phase};

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::pairs::{self, Pair};
use crate::rules::ungated_dependency::dependents;
use crate::words::and_more;

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let unordered = pairs::gather(context, |judged| {
        let is_terminal =
            matches!(judged.consequence, Consequence::Terminal { .. }) && context.severity(judged) >= Severity::Warning;
        // Variables have a rule of their own.
        let is_substitution = judged.consequence == Consequence::Silent && context.need(judged).phase == Phase::Build;
        judged.verdict == Verdict::Unordered && !is_terminal && !is_substitution
    });
    let (everything, pairs): (Vec<_>, Vec<_>) =
        pairs::reduce(context, unordered).into_iter().partition(|pair| is_about_everything(context, pair));
    let mut findings: Vec<Finding> = pairs.iter().map(|pair| finding(context, pair)).collect();
    let mut by_provider: BTreeMap<ComponentId, Vec<Pair<'_>>> = BTreeMap::new();
    for pair in everything.into_iter().filter(|pair| !context.is_tied(pair.provider, pair.consumer)) {
        by_provider.entry(pair.provider).or_default().push(pair);
    }
    findings.extend(by_provider.values().map(|pairs| about_everything(context, pairs)));
    findings
}

/// A webhook that is asked about every object: whoever has one is concerned.
fn is_about_everything(context: &Context<'_>, pair: &Pair<'_>) -> bool {
    pair.judged.iter().all(|judged| {
        let capability = &context.need(judged).capability;
        capability.kind == CapabilityKind::Webhook && capability.name == "*"
    })
}

fn about_everything(context: &Context<'_>, pairs: &[Pair<'_>]) -> Finding {
    let mut finding = finding(context, &pairs[0]);
    let (consumer, provider) = pairs[0].names(context);
    let more = and_more(1, pairs.len());
    finding.message = format!(
        "{consumer}{more} may be refused while the webhook of {provider}, which is asked about everything, does not answer"
    );
    // One line for all of them is worth its place.
    finding.severity = finding.severity.max(Severity::Info);
    finding.notes = dependents(context, pairs);
    finding
}

fn finding(context: &Context<'_>, pair: &Pair<'_>) -> Finding {
    let (consumer, provider) = pair.names(context);
    let mut finding = pair.finding(context, "missing-dependency");
    finding.message =
        format!("{consumer} needs {}, and nothing orders it after {provider}", pair.capabilities(context));
    finding.fix = Some(add_tie(context, pair));
    finding.locations.insert(0, tie_place(context, pair, LocationRole::Primary));
    finding
}

/// Where the new tie would be written.
pub(crate) fn tie_place(context: &Context<'_>, pair: &Pair<'_>, role: LocationRole) -> Location {
    let consumer = context.component(pair.consumer);
    let provider = context.component(pair.provider);
    let span = if role == LocationRole::Primary { consumer.at } else { consumer.ties_at };
    Location { span, role, label: format!("does not wait for {}", provider.object.path()) }
}

/// `add dependsOn …` in the words of the file.
pub(crate) fn add_tie(context: &Context<'_>, pair: &Pair<'_>) -> String {
    let consumer = context.component(pair.consumer);
    let provider = context.component(pair.provider);
    let namespace = if provider.object.namespace == consumer.object.namespace {
        String::new()
    } else {
        format!(", namespace: {}", provider.object.namespace)
    };
    if consumer.role == model::Role::Bootstrap {
        return format!("add `needs: [{}]` to {}", provider.object.path(), consumer.object);
    }
    let gate = match provider.gate {
        model::Gate::Healthy | model::Gate::Listed(_) => "",
        _ if provider.role == model::Role::HelmRelease => "",
        _ => ", and `wait: true` to the other",
    };
    format!("add `dependsOn: [{{name: {}{namespace}}}]` to {}{gate}", provider.object.name, consumer.object)
}
