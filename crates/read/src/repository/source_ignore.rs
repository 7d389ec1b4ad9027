//! What source-controller leaves out of an artifact: `.sourceignore`, written as Git's own patterns are.
//!
//! Such files are in the repository all the same: whoever sets the cluster up may use them, and a helmfile read them. They are
//! only not there for Flux.

use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::path;

pub(super) const NAME: &str = ".sourceignore";

/// The patterns of a repository, each with the directory it is written in, outer ones first.
#[derive(Debug, Default)]
pub(super) struct SourceIgnore(Vec<(String, Gitignore)>);

impl SourceIgnore {
    /// Patterns that can't be understood say nothing, as with Git.
    pub(super) fn add(&mut self, file: &str, text: &str) {
        let directory = path::parent(file);
        let mut builder = GitignoreBuilder::new(Path::new(directory));
        for line in text.lines() {
            let _understood = builder.add_line(None, line);
        }
        if let Ok(patterns) = builder.build() {
            self.0.push((directory.to_owned(), patterns));
        }
    }

    /// Whether a path is left out. The innermost file that says anything about it decides.
    pub(super) fn has(&self, at: &str, is_directory: bool) -> bool {
        let speaking = self.0.iter().rev().filter(|(directory, _)| path::is_below(at, directory));
        let mut said = speaking.map(|(_, patterns)| patterns.matched_path_or_any_parents(at, is_directory));
        said.find(|said| !said.is_none()).is_some_and(|said| matches!(said, Match::Ignore(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::SourceIgnore;

    #[test]
    fn the_innermost_file_that_says_anything_decides() {
        let mut left_out = SourceIgnore::default();
        left_out.add(".sourceignore", "# not for Flux\n/docs/\n*.tmpl.yaml\n/apps/*/secrets\n[\n");
        left_out.add("apps/a/.sourceignore", "!secrets\nlocal.yaml\n");
        for (path, is_directory, is_out) in [
            ("docs", true, true),
            ("docs/deep/x.yaml", false, true),
            ("apps/docs", true, false),
            ("apps/b/x.tmpl.yaml", false, true),
            ("apps/b/secrets", true, true),
            ("apps/a/secrets", true, false),
            ("apps/a/local.yaml", false, true),
            ("local.yaml", false, false),
        ] {
            assert_eq!(left_out.has(path, is_directory), is_out, "{path}");
        }
    }
}
