//! ## What it finds
//!
//! A need that is met only because something installs its provider before GitOps starts (a helmfile, a directory that is
//! applied by hand), while nothing in Flux orders the two.
//!
//! ## Why it matters at a cold start
//!
//! With the bootstrap, nothing is lost: this is the usual and sound way to bring up the network, DNS and CRDs. Without it
//! (a second cluster, a rebuild by hand, the day the bootstrap drops the release) the two race.
//!
//! ## Example
//!
//! `bootstrap/helmfile.yaml` installs cilium and coredns; Flux adopts both later. `cert-manager` needs DNS and has no
//! `dependsOn` on `coredns`.
//!
//! ## Fix
//!
//! CRDs that four or more leave to the bootstrap are told with `--pedantic` only: they stay once they are there.
//!
//! None needed while the bootstrap stays. A `dependsOn` costs nothing and keeps the order without it.

use graph::{Judged, Verdict};
use model::CapabilityKind;

use crate::context::Context;
use crate::finding::{Finding, LocationRole};
use crate::pairs::{self, Pair};
use crate::rules::missing_dependency::{add_tie, tie_place};

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let pairs = pairs::gather(context, |judged| judged.verdict == Verdict::BootstrapOnly);
    let untied = pairs.into_iter().filter(|pair| !context.is_tied(pair.consumer, pair.provider)).collect();
    let untied = pairs::reduce(context, untied);
    // CRDs stay once they are there: leaving them to the bootstrap is a choice, not a gamble.
    let is_choice =
        |judged: &Judged| matches!(context.need(judged).capability.kind, CapabilityKind::Crd | CapabilityKind::Webhook);
    let mut untied = pairs::leave_customs(context, untied, is_choice);
    pairs::mark_circles(context, &mut untied);
    untied.iter().map(|pair| finding(context, pair)).collect()
}

fn finding(context: &Context<'_>, pair: &Pair<'_>) -> Finding {
    let (consumer, provider) = pair.names(context);
    let mut finding = pair.finding(context, "bootstrap-only");
    finding.message = format!(
        "{consumer} needs {}, and only the bootstrap has it there before: nothing orders it after {provider}",
        pair.capabilities(context)
    );
    finding.fix = Some(format!("none needed with the bootstrap; else {}", add_tie(context, pair)));
    finding.locations.insert(0, tie_place(context, pair, LocationRole::Primary));
    finding
}
