//! How long an answer of the desktop is waited for. A keyring that is locked asks whoever sits there, and on a server, or behind
//! a screen that nobody looks at, nobody ever answers.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Enough to notice a question on the desktop and to type a password.
const ANSWER_SECONDS_MAX: u64 = 60;
/// Somebody at a terminal wonders by then.
const NOTICE_SECONDS: u64 = 2;

/// How long to wait, and whom to tell that something is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    pub at_most: Duration,
    /// Hears, once, for how long an answer that takes longer than it should is still waited for.
    pub notice: fn(Duration),
}

impl Default for Patience {
    fn default() -> Self {
        Self { at_most: Duration::from_secs(ANSWER_SECONDS_MAX), notice: |_| {} }
    }
}

impl Patience {
    /// The answer, or nothing where it does not come in time. The question itself can't be taken back: it is left to a thread
    /// that ends with the program.
    pub(super) fn wait<T: Send + 'static>(&self, ask: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (answers, answer) = channel();
        let asking = thread::Builder::new().spawn(move || {
            // Nobody listens any more if it took too long.
            let _late = answers.send(ask());
        });
        asking.ok()?;
        let early = self.at_most.min(Duration::from_secs(NOTICE_SECONDS));
        match answer.recv_timeout(early) {
            Ok(said) => return Some(said),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let left = self.at_most.saturating_sub(early);
        (self.notice)(left);
        answer.recv_timeout(left).ok()
    }
}
