//! ## What it finds
//!
//! A component that needs something that another one provides (a CRD, a secret store, a StorageClass, a Service, a
//! device), without a chain of `dependsOn` that makes it wait.
//!
//! ## Why it matters at a cold start
//!
//! On a running cluster everything exists already. On a new one both start at the same moment, and the component that
//! needs the other fails: Flux retries a Kustomization whose apply failed only after its `retryInterval`, which is its
//! `interval` unless you set it. With `interval: 1h` that is an hour, and everything that depends on it waits too.
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
//! Where the list is already there, the finding gives the item and the line it goes after. Every fix is tried first; where
//! this one would be a cycle, the next best is given.
//!
//! Where several missing dependencies form one chain, only the last of the chain is suggested: it waits for the others.
//! In JSON, `covers` names those others where the component's own files ask for them.
//!
//! A finding names the two objects between which you would declare the dependency. Where a Kustomization applies four
//! releases or more (`apps`, `core`), that is the releases: its own gate would wait for all of them. Elsewhere it is
//! the kind that this repository already uses for its dependencies, releases or Kustomizations.
//!
//! Where one Kustomization applies both a HelmRelease that installs a CRD and a Kustomization that applies resources of that
//! kind, `dependsOn` can't order the two: that of a Kustomization names only Kustomizations. Move the release to a
//! Kustomization of its own with `wait: true` and depend on that one, or set `retryInterval`, so that Flux retries soon.
//!
//! What others reach a component by (an ingress class, a Gateway, an issuer, an address) is never more than an info, and one
//! finding tells it of all that miss the same provider.

use diagnostic::{Explains, Finding, OrderAdvice, OrderFault, Quiet, Rule, Symptom, Together};
use model::TieTarget;

use crate::advice::{not_awaited, order};
use crate::context::Context;
use crate::other_kind::other_kind;
use crate::pairs::Pair;
use crate::races::{is_about_store, is_only_webhooks, races};

pub(crate) static RULE: Rule = Rule::new(
    "missing-dependency",
    "a component that needs another one and does not wait for it",
    include_str!("missing_dependency.rs"),
)
.folding(Together::Provider, Quiet::Alone)
.explains(&[
    Explains::new(Symptom::SourceNotFound, 3),
    Explains::new(Symptom::VariablesNotFound, 4),
    Explains::new(Symptom::UnknownKind, 5),
    Explains::new(Symptom::NamespaceNotFound, 1),
    Explains::new(Symptom::WebhookDown, 3),
    Explains::new(Symptom::NotHealthy, 2),
    Explains::new(Symptom::ValuesNotFound, 2),
    Explains::new(Symptom::InstallFailed, 2),
    Explains::new(Symptom::Unsealable, 2),
])
.may_be_brought();

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    // What is only about a store or a webhook has a rule of its own, which speaks for all of them at once.
    let own = races(context).iter().filter(|pair| !is_about_store(context, pair) && !is_only_webhooks(context, pair));
    own.filter(|pair| !is_misnamed(context, pair)).map(|pair| finding(context, pair)).collect()
}

/// Whether the dependency that is missing is there, and names an object of the wrong kind: a rule of its own says so.
fn is_misnamed(context: &Context<'_>, pair: &Pair<'_>) -> bool {
    let unknown = context.cluster.ties.iter().filter(|tie| tie.from == pair.consumer);
    let others = unknown.filter_map(|tie| match &tie.to {
        TieTarget::Unknown(object) => other_kind(context, object),
        TieTarget::Component(_) => None,
    });
    let mut others = others;
    others.any(|other| other == pair.provider || context.is_nested(other, pair.provider))
}

fn finding(context: &Context<'_>, pair: &Pair<'_>) -> Finding {
    let (component, provider) = pair.objects(context);
    let statement = OrderFault::NotOrdered { component, provider, needed: pair.needed(context) };
    let fix = order(context, pair, OrderAdvice::Add);
    pair.finding(context, &RULE, statement, not_awaited(context, pair)).with_fix(fix)
}
