//! Where the work tree of a Git repository begins.

use std::path::{Path, PathBuf};

/// The nearest directory with a `.git`, from `directory` upwards; nothing where Git knows none.
pub fn git_root(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().find(|one| one.join(".git").exists()).map(Path::to_path_buf)
}
