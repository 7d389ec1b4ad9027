//! What a Kustomization and a HelmRelease both keep of their attempts. Knows nothing of phases or of when the next one is due.

use crate::blueprint::Millis;
use crate::event::Reason;

#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) reason: Reason,
    pub(super) failures: u32,
    pub(super) first_ready: Option<Millis>,
    pub(super) first_failure: Option<(Millis, Reason)>,
    /// When the attempt began that made it ready first.
    pub(super) first_began: Millis,
}

impl Default for Progress {
    fn default() -> Self {
        Self { reason: Reason::None, failures: 0, first_ready: None, first_failure: None, first_began: 0 }
    }
}

impl Progress {
    /// Whether it waits for something else than before.
    pub(super) fn waits(&mut self, reason: Reason) -> bool {
        std::mem::replace(&mut self.reason, reason) != reason
    }

    pub(super) fn fails(&mut self, now: Millis, reason: Reason) {
        self.reason = reason;
        self.failures += 1;
        self.first_failure.get_or_insert((now, reason));
    }

    pub(super) fn succeeds(&mut self, now: Millis, began: Millis) {
        self.reason = Reason::None;
        if self.first_ready.is_none() {
            self.first_ready = Some(now);
            self.first_began = began;
        }
    }
}
