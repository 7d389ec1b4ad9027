//! What is left to do when a signal ends the program: programs that run in groups of their own, which Ctrl-C does not reach, are ended,
//! and what was laid out in temporary directories is removed.

use std::sync::Once;

use edit::Scratch;

use crate::exit;

static LISTENING: Once = Once::new();

/// From now on. Where signals can't be heard, one ends the program at once, as ever.
pub(crate) fn listen() {
    LISTENING.call_once(|| {
        let _ = ctrlc::set_handler(stop);
    });
}

#[expect(clippy::exit, reason = "a signal ends the program: nothing is to be done after it")]
fn stop() {
    exec::end_all();
    Scratch::remove_all();
    std::process::exit(exit::STOPPED.number());
}
