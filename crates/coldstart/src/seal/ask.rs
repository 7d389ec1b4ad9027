//! Questions to whoever sits there.

use std::path::Path;

use ::seal::SecretBytes;

use super::hidden;
use crate::confirm::somebody;

/// Where a passphrase can be put for programs.
pub(super) const PASSPHRASE_VARIABLE: &str = "COLDSTART_PASSPHRASE";
const PASSPHRASE_BYTES_MAX: usize = 4096;

/// A value that is typed and not shown.
pub(crate) fn unseen(prompt: &str) -> Result<SecretBytes, String> {
    // Asked and answered at the terminal itself, whatever standard input is.
    if somebody().is_none() {
        return Err("nobody is there to ask".to_owned());
    }
    let said = hidden::line(&format!("{prompt}: "));
    said.map(SecretBytes::from).map_err(|error| format!("no answer: {error}"))
}

/// The passphrase of a store: from a file, from the environment, or asked for.
pub(crate) fn passphrase(store: &str, file: Option<&Path>, is_new: bool) -> Result<SecretBytes, String> {
    if let Some(path) = file {
        let open = std::fs::File::open(path).and_then(|file| SecretBytes::read(file, PASSPHRASE_BYTES_MAX));
        return open.map(SecretBytes::without_line_end).map_err(|error| format!("{}: {error}", path.display()));
    }
    if let Ok(said) = std::env::var(PASSPHRASE_VARIABLE) {
        return Ok(SecretBytes::from(said));
    }
    let nobody =
        |_| format!("it needs a passphrase\n  next: {PASSPHRASE_VARIABLE}, --passphrase-file FILE, or --identity FILE");
    let said = unseen(&format!("passphrase of {store}")).map_err(nobody)?;
    if is_new && unseen("the same again").map_err(nobody)? != said {
        return Err("the two are not the same\n  next: the same command again".to_owned());
    }
    Ok(said)
}
