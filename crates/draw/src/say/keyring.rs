//! What is said while a keyring does not answer.

use std::time::Duration;

/// For how long an answer is still waited for.
pub fn waiting_for_keyring(left: Duration) -> String {
    format!("waiting for the keyring, at most {} s more: it may ask on its desktop to be unlocked", left.as_secs())
}
