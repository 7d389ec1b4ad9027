//! What source-controller leaves out of an artifact: `.sourceignore` and `spec.ignore` of the source, written as Git's own patterns are.
//!
//! Such files are in the repository all the same: whoever sets the cluster up may use them, and a helmfile read them. They are
//! only not there for Flux.

use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::path;

pub(crate) const NAME: &str = ".sourceignore";

/// The patterns of a repository. Unlike with Git, the last one that matches a file or a directory above it decides, and what lies
/// below an excluded directory can be included again.
#[derive(Debug, Default)]
pub(crate) struct SourceIgnore {
    /// Those of `.sourceignore` files, outer ones first.
    written: Vec<Pattern>,
    /// Those that each of the sources which are this repository adds, behind the written ones.
    of_sources: Vec<Vec<Pattern>>,
    /// Only an artifact of a source heeds what the source says: what defines them is in none of them.
    only_cut: bool,
}

/// One pattern, and the directory it is written for.
#[derive(Debug)]
struct Pattern {
    directory: String,
    glob: Gitignore,
}

impl SourceIgnore {
    /// Takes in what a file says for the directory it lies in.
    pub(crate) fn add(&mut self, file: &str, text: &str) {
        self.written.extend(patterns(path::parent(file), text));
    }

    /// Takes in what one more source of this repository says.
    pub(crate) fn add_source(&mut self, text: &str) {
        self.of_sources.push(patterns("", text));
    }

    /// Heeds only what files say, but for the artifact of one source.
    pub(crate) fn only_cut(&mut self) {
        self.only_cut = true;
    }

    /// Whether a path is left out of the artifact of one source, by the order in which they came; of all artifacts where none is given.
    pub(crate) fn has(&self, at: &str, is_directory: bool, source: Option<usize>) -> bool {
        let written = || self.written.iter().rev().find_map(|pattern| pattern.says(at, is_directory));
        let of = |patterns: &Vec<Pattern>| {
            let said = patterns.iter().rev().find_map(|pattern| pattern.says(at, is_directory));
            said.or_else(written).unwrap_or(false)
        };
        match source.and_then(|source| self.of_sources.get(source)) {
            Some(patterns) => of(patterns),
            None if self.only_cut || self.of_sources.is_empty() => written().unwrap_or(false),
            None => self.of_sources.iter().all(of),
        }
    }
}

impl Pattern {
    /// Whether it leaves a path out or takes it in again, if it matches at all.
    fn says(&self, at: &str, is_directory: bool) -> Option<bool> {
        if !path::is_below(at, &self.directory) {
            return None;
        }
        match self.glob.matched_path_or_any_parents(at, is_directory) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        }
    }
}

/// Patterns that can't be understood say nothing, as with Git.
fn patterns(directory: &str, text: &str) -> Vec<Pattern> {
    let pattern = |line: &str| {
        let mut builder = GitignoreBuilder::new(Path::new(directory));
        builder.add_line(None, line).ok()?;
        let glob = builder.build().ok().filter(|glob| !glob.is_empty())?;
        Some(Pattern { directory: directory.to_owned(), glob })
    };
    text.lines().filter_map(pattern).collect()
}

#[cfg(test)]
mod tests {
    use super::SourceIgnore;

    #[test]
    fn the_last_pattern_decides_and_those_of_the_source_come_last() {
        let mut left_out = SourceIgnore::default();
        left_out.add(".sourceignore", "/apps/\n/a\n!/a/b\n!/c/d\n/c\n");
        assert!(left_out.has("apps/web/x.yaml", false, None) && left_out.has("a/x.yaml", false, None));
        assert!(!left_out.has("a/b/x.yaml", false, None), "below an excluded directory it is included again");
        assert!(left_out.has("c/d/x.yaml", false, None), "the last one decides");
        left_out.add_source("/*\n!/apps\n");
        assert!(!left_out.has("apps/web/x.yaml", false, None) && left_out.has("a/b/x.yaml", false, None));
        left_out.add_source("");
        assert!(!left_out.has("a/b/x.yaml", false, None), "another source does not leave it out");
        assert!(left_out.has("a/x.yaml", false, None));
        assert!(
            left_out.has("a/b/x.yaml", false, Some(0)) && !left_out.has("a/b/x.yaml", false, Some(1)),
            "of one artifact"
        );
    }

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
            assert_eq!(left_out.has(path, is_directory, None), is_out, "{path}");
        }
    }
}
