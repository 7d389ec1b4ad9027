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
//!
//! The two that are named are those between which you would declare it. Where a Kustomization applies four releases or more
//! (`apps`, `core`), that is the releases: its own gate would wait for all of them. Elsewhere it is whatever this repository
//! ties already, releases or Kustomizations.
//!
//! What others reach a component by (an ingress class, a Gateway, an issuer) is told where it is a slip: where most of those who
//! need it wait for it, or where only a few need it at all. Where four or more do not wait, and they are the most, that is the
//! custom of the house, and `--pedantic` tells it.

use graph::{Consequence, Judged, Verdict};
use model::{ComponentId, Phase};

use crate::context::{Context, is_way_in};
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::pairs::{self, Pair};
use crate::rules::late_store::is_about_store;
use crate::rules::ungated_dependency::patch_of_gate;
use crate::rules::webhook_race::is_only_webhooks;

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    // What is only about a store or a webhook has a rule of its own, which speaks for all of them at once.
    let own = races(context).iter().filter(|pair| !is_about_store(context, pair) && !is_only_webhooks(context, pair));
    own.map(|pair| finding(context, pair)).collect()
}

/// Pairs that nothing orders, without what another suggestion brings already.
pub(crate) fn races<'c>(context: &'c Context<'_>) -> &'c [Pair<'c>] {
    context.races(|| {
        let races = pairs::reduce(context, pairs::gather(context, |judged| is_race(context, judged)));
        let mut races = pairs::leave_customs(context, races, |judged| is_way_in(context.need(judged).capability.kind));
        pairs::mark_circles(context, &mut races);
        // What the provider itself waits for can't wait for it: whatever this is, nobody would order it.
        for pair in races.iter_mut().filter(|pair| pair.closes_circle && pair.severity == Severity::Info) {
            pair.severity = Severity::Pedantic;
        }
        races
    })
}

/// Nothing orders the two, and losing is not final; variables that are silently absent have a rule of their own too.
fn is_race(context: &Context<'_>, judged: &Judged) -> bool {
    let is_terminal =
        matches!(judged.consequence, Consequence::Terminal { .. }) && context.severity(judged) >= Severity::Warning;
    let is_substitution = judged.consequence == Consequence::Silent && context.need(judged).phase == Phase::Build;
    let is_unordered = judged.verdict == Verdict::Unordered
        || (judged.verdict == Verdict::AppliedOnly && context.is_between_wholes(judged));
    is_unordered && !is_terminal && !is_substitution
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
    if pair.closes_circle {
        let (of, by) = (&consumer.object, &provider.object);
        return format!("move what needs it out of {of}: {by} waits for that, and a tie back would close a circle");
    }
    let namespace = if provider.object.namespace == consumer.object.namespace {
        String::new()
    } else {
        format!(", namespace: {}", provider.object.namespace)
    };
    let gate = match provider.gate {
        model::Gate::Healthy | model::Gate::Listed(_) => String::new(),
        _ if provider.role == model::Role::HelmRelease => String::new(),
        _ => patch_of_gate(context, provider).map_or_else(
            || ", and `wait: true` to the other".to_owned(),
            |file| format!(", and set `wait: true` in the patch in `{file}`, which decides it for the other"),
        ),
    };
    if consumer.role == model::Role::Bootstrap {
        return format!("add `needs: [{}]` to {}{gate}", provider.object.path(), consumer.object);
    }
    let name = &provider.object.name;
    match patched_in(context, pair.consumer) {
        // The list of a patch replaces the one that stands in the object, and may be for objects of other namespaces.
        Some(file) => format!(
            "add `{{name: {name}, namespace: {}}}` to the `dependsOn` that a patch in {file} gives {}{gate}",
            provider.object.namespace, consumer.object
        ),
        None => format!("add `dependsOn: [{{name: {name}{namespace}}}]` to {}{gate}", consumer.object),
    }
}

/// The file of the patch that sets what a component waits for, where one does.
fn patched_in(context: &Context<'_>, consumer: ComponentId) -> Option<String> {
    let own = context.component(consumer).at;
    let mut ties = context.cluster.ties.iter().filter(|tie| tie.from == consumer);
    let patched = ties.find(|tie| !tie.at.is_generated() && !own.is_generated() && tie.at.file != own.file)?;
    context.path(patched.at).map(|path| format!("`{path}`"))
}
