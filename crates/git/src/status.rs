//! Which files of a work tree differ from the last commit.

use std::collections::BTreeSet;
use std::ffi::OsString;

use crate::command::Git;
use crate::failure::GitError;

/// What a filter is, and what makes it none.
const NO_FILTER: [(&str, &str); 4] = [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];
/// Where the setting of a filter begins.
const FILTER: &str = "filter.";
/// A variable that is set to nothing, and one that is set to `false`.
const EMPTY: (&str, &str) = ("COLDSTART_GIT_EMPTY", "");
const FALSE: (&str, &str) = ("COLDSTART_GIT_FALSE", "false");

impl Git<'_> {
    /// The files of the work tree that differ from the last commit or are not in it, by their paths from the directory that Git is asked
    /// in. To compare them, Git runs the filters that the repository configures: they are switched off, so a file that is stored
    /// in another form than it is used in may be told though it does not differ.
    pub fn uncommitted(&self) -> Result<BTreeSet<String>, GitError> {
        let prefix = self.print(["rev-parse", "--show-prefix"])?;
        let prefix = prefix.trim_end_matches('\n');
        let listed = self.unfiltered()?.print([
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=all",
            "--no-renames",
            // What a submodule configures is not asked for, and no file of one is listed here.
            "--ignore-submodules=all",
        ])?;
        let paths = listed.split('\0').filter_map(|line| line.get(3..)?.strip_prefix(prefix));
        Ok(paths.map(str::to_owned).collect())
    }

    /// The same Git without any filter.
    fn unfiltered(&self) -> Result<Self, GitError> {
        // Exits with an error where there are none.
        let listed = self.ask(["config", "-z", "--name-only", "--get-regexp", r"^filter\."])?.unwrap_or_default();
        let mut git = self.clone();
        git.environment = git.environment.with(EMPTY.0, EMPTY.1).with(FALSE.0, FALSE.1);
        for filter in filters(&listed) {
            for (key, value) in NO_FILTER {
                let variable = if value.is_empty() { EMPTY.0 } else { FALSE.0 };
                // `-c` ends a name at its first `=`, and a filter may have one in its name.
                git.leading.push(OsString::from(format!("--config-env={FILTER}{filter}.{key}={variable}")));
            }
        }
        Ok(git)
    }
}

/// The names of filters, of the names of their settings.
fn filters(listed: &str) -> BTreeSet<&str> {
    let names = listed.split('\0').filter_map(|name| name.strip_prefix(FILTER)?.rsplit_once('.'));
    names.map(|(filter, _)| filter).collect()
}

#[cfg(test)]
mod tests {
    use super::filters;

    #[test]
    fn a_filter_may_be_called_anything() {
        let listed = "filter.lfs.clean\0filter.lfs.process\0filter.a.b=c.clean\0filter.clean\0";
        assert_eq!(filters(listed).into_iter().collect::<Vec<_>>(), ["a.b=c", "lfs"]);
    }
}
