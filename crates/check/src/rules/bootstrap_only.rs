//! ## What it finds
//!
//! A need that is met only because something installs its provider before GitOps starts (a helmfile, a directory that
//! you apply by hand), while nothing in Flux makes the component wait for it.
//!
//! ## Why it matters at a cold start
//!
//! With the bootstrap, there is no race: this is the usual and sound way to install the network, DNS and CRDs. Without
//! it (a second cluster, a rebuild by hand, a bootstrap from which the release was removed) the two race.
//!
//! ## Example
//!
//! `bootstrap/helmfile.yaml` installs cilium and coredns; Flux adopts both later. `cert-manager` needs DNS and has no
//! `dependsOn` on `coredns`.
//!
//! ## Fix
//!
//! CRDs that four or more components leave to the bootstrap are reported only with `--pedantic`: they stay once they
//! are installed.
//!
//! None needed as long as the bootstrap installs it. A `dependsOn` costs nothing and also works without the bootstrap.

use std::collections::{BTreeMap, BTreeSet};

use diagnostic::{Explains, Finding, OrderAdvice, OrderFault, Quiet, Rule, Symptom, Together};
use graph::Judged;
use model::{CapabilityKind, ComponentId, Verdict};

use crate::advice::{not_awaited, order};
use crate::context::Context;
use crate::pairs::{self, Pair};
use crate::remedy;

pub(crate) static RULE: Rule =
    Rule::new("bootstrap-only", "a need that only the bootstrap meets", include_str!("bootstrap_only.rs"))
        .folding(Together::Provider, Quiet::Alone)
        .explains(&[
            Explains::new(Symptom::VariablesNotFound, 5),
            Explains::new(Symptom::UnknownKind, 6),
            Explains::new(Symptom::WebhookDown, 5),
        ]);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let pairs = pairs::gather(context, |judged| judged.verdict == Verdict::BootstrapOnly);
    let mut tied: BTreeMap<ComponentId, BTreeSet<ComponentId>> = BTreeMap::new();
    let mut is_tied = |pair: &Pair<'_>| {
        let tied = tied.entry(pair.provider).or_insert_with(|| context.tied_below(pair.provider));
        context.above(pair.consumer).any(|at| tied.contains(&at))
    };
    let untied = pairs.into_iter().filter(|pair| !is_tied(pair)).collect();
    let untied = pairs::reduce(context, untied);
    // CRDs stay once they are there: leaving them to the bootstrap is a choice, not a gamble.
    let is_choice =
        |judged: &Judged| matches!(context.need(judged).capability.kind, CapabilityKind::Crd | CapabilityKind::Webhook);
    let mut untied = pairs::lower_if_usual(context, untied, is_choice);
    pairs::mark_circles(context, &mut untied);
    remedy::find_ways(context, &mut untied);
    untied.iter().map(|pair| finding(context, pair)).collect()
}

fn finding(context: &Context<'_>, pair: &Pair<'_>) -> Finding {
    let (component, provider) = pair.objects(context);
    let statement = OrderFault::NeedsBootstrap { component, provider, needed: pair.needed(context) };
    let fix = order(context, pair, OrderAdvice::AddWithoutBootstrap);
    pair.finding(context, &RULE, statement, not_awaited(context, pair)).with_fix(fix)
}
