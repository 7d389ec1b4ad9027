//! ## What it finds
//!
//! A HelmRelease that needs something to become ready (a StorageClass, a database, a device), while nothing makes it
//! wait for what provides it, and with a shorter timeout than that takes.
//!
//! ## Why it matters at a cold start
//!
//! A first install that is not ready within `timeout` (5 min unless you set it) fails. By default helm-controller does
//! not retry: the release is `Stalled` with `RetriesExceeded`, and stays stalled even when its pods are healthy later.
//! `install.strategy: RetryOnFailure` alone does not help: the second attempt is an upgrade, which follows the upgrade
//! strategy.
//!
//! ## Example
//!
//! ```yaml
//! kind: HelmRelease
//! spec:
//!   timeout: 5m
//!   values:
//!     persistence:
//!       storageClass: ceph-block   # rook-ceph needs ten minutes from nothing
//! ```
//!
//! ## Fix
//!
//! Make it depend on what it needs. Otherwise set `strategy: {name: RetryOnFailure}` on `install` *and* `upgrade`, or a
//! longer `timeout`.

use diagnostic::{
    Explains, Finding, Label, Location, OrderAdvice, OrderFault, Quiet, Remark, Rule, Severity, Symptom, Together,
};
use model::{Consequence, Role, Verdict};

use crate::advice::order;
use crate::context::Context;
use crate::pairs::{self, Pair};
use crate::remedy;

pub(crate) static RULE: Rule = Rule::new(
    "terminal-install",
    "an install that fails permanently if it loses a race",
    include_str!("terminal_install.rs"),
)
.folding(Together::Provider, Quiet::Alone)
.explains(&[Explains::new(Symptom::InstallFailed, 1), Explains::new(Symptom::WebhookDown, 0)])
.may_be_brought();

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let terminal = pairs::gather(context, |judged| {
        judged.verdict == Verdict::Unordered
            && matches!(judged.consequence, Consequence::Terminal { .. })
            && context.severity(judged) >= Severity::Warning
    });
    let mut terminal = pairs::reduce(context, terminal);
    remedy::find_ways(context, &mut terminal);
    terminal.iter().map(|pair| finding(context, pair)).collect()
}

fn finding(context: &Context<'_>, pair: &Pair<'_>) -> Finding {
    let release = context.component(context.need(pair.judged[0]).of);
    let (_, provider) = pair.objects(context);
    let statement = OrderFault::InstallMayFail {
        role: release.role,
        release: release.object.clone(),
        provider,
        needed: pair.needed(context),
    };
    let patience = match release.patience.retry_field {
        None => Remark::StopsAtFirstFailure.into(),
        _ if release.patience.attempts == 1 => Remark::TriesOnce.into(),
        Some(field) => Label::Patience { field },
    };
    let is_flux = release.role == Role::HelmRelease;
    let fix = order(context, pair, if is_flux { OrderAdvice::AddOrRetry } else { OrderAdvice::Add });
    let primary = Location::new(release.patience.retry_at, patience);
    pair.finding(context, &RULE, statement, primary).with_fix(fix)
}
