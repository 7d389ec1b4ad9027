//! Where things about a repository are kept outside of it, by the place of the repository.

#![expect(clippy::disallowed_methods, reason = "what is kept of a repository is found by where that really is")]

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

const DIGEST_BYTES: usize = 8;

/// A path without links, as far as it is there.
pub(crate) fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The directory below `base` of a repository, or of a part of it with this name.
pub(crate) fn of(base: &Path, repository: &Path, part: &str) -> PathBuf {
    let place = canonical(repository);
    let name = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let name: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '-' }).collect();
    let digest = Sha256::digest(format!("{}\0{part}", place.display()));
    let digits: Vec<String> = digest.iter().take(DIGEST_BYTES).map(|byte| format!("{byte:02x}")).collect();
    base.join(format!("{name}-{}", digits.concat()))
}
