//! ## What it finds
//!
//! A HelmRelease that needs something to become ready (a StorageClass, a database, a device), with nothing that orders it
//! after what brings it, and with less patience than that takes.
//!
//! ## Why it matters at a cold start
//!
//! A first install that is not ready within `timeout` (5 min unless you set it) has failed. By default helm-controller
//! does not try again: the release is `Stalled` with `RetriesExceeded`, and stays so when its pods are healthy at last.
//! `install.strategy: RetryOnFailure` alone does not help: the second try is an upgrade, under the upgrade strategy.
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
//! Order it after what it needs. Failing that, set `strategy: {name: RetryOnFailure}` on `install` *and* `upgrade`, or a
//! longer `timeout`.

use graph::{Consequence, Verdict};
use model::Role;

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::pairs::{self, Pair};
use crate::rules::missing_dependency::add_tie;

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let terminal = pairs::gather(context, |judged| {
        judged.verdict == Verdict::Unordered
            && matches!(judged.consequence, Consequence::Terminal { .. })
            && context.severity(judged) >= Severity::Warning
    });
    pairs::reduce(context, terminal).iter().map(|pair| finding(context, pair)).collect()
}

fn finding(context: &Context<'_>, pair: &Pair<'_>) -> Finding {
    let (_, provider) = pair.names(context);
    let release = context.component(context.need(pair.judged[0]).of);
    let mut finding = pair.finding(context, "terminal-install");
    let is_flux = release.role == Role::HelmRelease;
    finding.message = format!(
        "{} `{}` needs {}, and its install fails for good if {provider} is not there in time",
        release.role.noun(),
        release.object.path(),
        pair.capabilities(context),
    );
    let or = if is_flux { "; or set RetryOnFailure on install and upgrade" } else { "" };
    finding.fix = Some(format!("{}{or}", add_tie(context, pair)));
    finding.locations.insert(
        0,
        Location {
            span: release.patience.retry_at,
            role: LocationRole::Primary,
            label: match release.patience.retry_field {
                "" => "the bootstrap stops at the first release that fails".to_owned(),
                _ if release.patience.attempts == 1 => "it tries once, and no more".to_owned(),
                field => format!("{field} is all the patience it has"),
            },
        },
    );
    finding
}
