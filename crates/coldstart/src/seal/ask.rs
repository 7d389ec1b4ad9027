//! Questions to whoever sits there.

use std::path::Path;

use ::seal::SecretBytes;
use ::seal::store::PassphraseError;

use super::failure::Unanswered;
use super::hidden;
use crate::confirm::somebody;

/// Where a passphrase can be put for programs.
pub(super) const PASSPHRASE_VARIABLE: &str = "COLDSTART_PASSPHRASE";
const PASSPHRASE_BYTES_MAX: usize = 4096;

/// A value that is typed and not shown.
pub(crate) fn unseen(prompt: &str) -> Result<SecretBytes, Unanswered> {
    // Asked and answered at the terminal itself, whatever standard input is.
    if somebody().is_none() {
        return Err(Unanswered::NobodyToAsk);
    }
    let said = hidden::line(&format!("{prompt}: "));
    said.map(SecretBytes::from).map_err(Unanswered::NoAnswer)
}

/// The passphrase of a store: from a file, from the environment, or asked for.
pub(crate) fn passphrase(store: &str, file: Option<&Path>, is_new: bool) -> Result<SecretBytes, PassphraseError> {
    if let Some(path) = file {
        let open = std::fs::File::open(path).and_then(|file| SecretBytes::read(file, PASSPHRASE_BYTES_MAX));
        let failed = |source| PassphraseError::File { path: path.to_path_buf(), source };
        return open.map(SecretBytes::without_line_end).map_err(failed);
    }
    if let Ok(said) = std::env::var(PASSPHRASE_VARIABLE) {
        return Ok(SecretBytes::from(said));
    }
    let nobody = |_| PassphraseError::NobodyToAsk;
    let said = unseen(&format!("passphrase of {store}")).map_err(nobody)?;
    if is_new && unseen("the same again").map_err(nobody)? != said {
        return Err(PassphraseError::Different);
    }
    Ok(said)
}
