//! ## What it finds
//!
//! A release of sealed-secrets that makes new keys by itself, in a cluster whose boot restores a sealing key. Also where a value was
//! meant to say otherwise and stands where the chart does not read it (`controller.keyrenewperiod`).
//!
//! ## Why it matters at a cold start
//!
//! The controller makes a new key every thirty days, and `kubeseal` seals with the newest. The boot restores the key that was kept:
//! what was sealed since with a newer one is not opened after the next cold start, unless each new key is kept, too.
//!
//! ## Example
//!
//! ```yaml
//! values:
//!   controller:
//!     keyrenewperiod: "30d" # not read here, and "30d" is no duration
//! ```
//!
//! ## Fix
//!
//! ```yaml
//! values:
//!   keyrenewperiod: "0"
//! ```
//!
//! [`coldstart seal verify --write`](../commands/seal.md) sets it.

use diagnostic::{BootAdvice, BootCost, BootFault, EvidenceRole, Finding, Fix, Goal, Location, Remark, Rule, Severity};
use model::{CapabilityKind, Doing, Renewal};

use crate::context::Context;

pub(crate) static RULE: Rule = Rule::new(
    "renewal-forgets-key",
    "a controller that makes new sealing keys beside the one that the boot restores",
    include_str!("renewal_forgets_key.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let facts = &context.cluster.facts;
    let is_sealed = context.cluster.needs.iter().any(|need| need.capability.kind == CapabilityKind::SealingKey);
    let restored = facts.boot.steps.iter().find(|step| step.does == Doing::StoresSealingKey);
    let Some(restored) = restored.filter(|_| is_sealed) else { return Vec::new() };
    facts.renewals.iter().map(|renewal| finding(context, renewal, restored.at)).collect()
}

fn finding(context: &Context<'_>, renewal: &Renewal, restored: source::Span) -> Finding {
    let release = context.component(renewal.of).object.clone();
    let unread = renewal.unread.as_ref().map(|(path, _)| path.clone());
    let statement = BootFault::RenewsKeys { release: release.clone(), every: renewal.every.clone(), unread };
    let at = renewal.unread.as_ref().map_or(renewal.at, |(_, at)| *at);
    let label = if renewal.unread.is_some() { Remark::ChangesNothing } else { Remark::MadeHere };
    Finding::new(&RULE, Severity::Info, &context.cluster.name, &release, statement, Location::new(at, label))
        .with_cost(BootCost::NewerKeyLost)
        .with_evidence(EvidenceRole::Related, restored, Remark::TakenHere)
        .with_fix(Fix::by_hand(BootAdvice::SwitchOffRenewal { release }, Goal::Gone))
}
