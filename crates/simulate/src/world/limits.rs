//! How far one boot is followed. Both limits follow from what is booted: a boot in which everything comes after everything else, with
//! failures in between, stays within them.

use crate::blueprint::{Blueprint, KustomizationSpec, Millis, OnFailure, ReleaseSpec};
use crate::outcome::Limit;

/// Beside what the repository asks for: machines, a bootstrap, an outage.
const HORIZON_MIN: Millis = 72 * 3_600_000;
/// Longer than any boot, and far from where numbers end.
const HORIZON_MAX: Millis = 100 * 365 * 24 * 3_600_000;
/// Attempts of one Kustomization or release that may take all of their time.
const ATTEMPTS: Millis = 4;
/// By how much pods and operators may be slower than they should.
const SLOWNESS: Millis = 10;
const EVENTS_MIN: u64 = 2_000_000;
const EVENTS_PER_THING: u64 = 50;

#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// A boot that is not over by then is not followed any further.
    pub(super) horizon: Millis,
    events: u64,
}

impl Limits {
    pub(super) fn of(blueprint: &Blueprint) -> Self {
        let kustomizations = blueprint.kustomizations.iter().flat_map(|it| it.specs.iter().flatten()).map(applied);
        let releases = blueprint.releases.iter().flat_map(|it| it.specs.iter().flatten()).map(installed);
        let pods = blueprint.workloads.iter().map(|it| it.startup.saturating_mul(SLOWNESS));
        let operators = blueprint.customs.iter().map(|it| it.takes.saturating_mul(SLOWNESS));
        let all = kustomizations.chain(releases).chain(pods).chain(operators);
        let things = u64::try_from(blueprint.things.len()).unwrap_or(u64::MAX);
        Self {
            horizon: all.fold(HORIZON_MIN, Millis::saturating_add).min(HORIZON_MAX),
            events: EVENTS_MIN.max(things.saturating_mul(EVENTS_PER_THING)),
        }
    }

    /// The limit that is reached, if any.
    pub(super) fn reached(self, now: Millis, events: u64) -> Option<Limit> {
        if now > self.horizon {
            return Some(Limit::Time);
        }
        (events > self.events).then_some(Limit::Events)
    }
}

fn applied(spec: &KustomizationSpec) -> Millis {
    let attempt = spec.requeue.saturating_add(spec.timeout).saturating_add(spec.retry);
    attempt.saturating_mul(ATTEMPTS)
}

fn installed(spec: &ReleaseSpec) -> Millis {
    let pause = match spec.install.on_failure {
        OnFailure::RetryAfter(pause) => pause,
        OnFailure::Remediate { .. } => 0,
    };
    let attempt = spec.requeue.saturating_add(spec.install.timeout).saturating_add(pause);
    attempt.saturating_mul(ATTEMPTS)
}
