//! Which lines a change shows.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::command::Git;
use crate::failure::GitError;

/// Lines around each change that are shown with it: as many as on a pull request.
const CONTEXT: &str = "--unified=3";

/// Lines of files, from 0, by their path from the directory that Git is asked in.
pub type Lines = BTreeMap<String, Vec<Range<usize>>>;

impl Git<'_> {
    /// The lines of the last commit that a change since a revision shows: those of every hunk. What the revision got since the two
    /// parted is not of the change.
    pub fn lines_since(&self, revision: &str) -> Result<Lines, GitError> {
        // Says which revision is not there, and why.
        self.tree(revision)?;
        let base = self.print(["merge-base", "--end-of-options", revision, "HEAD"])?;
        let diff = self.print([
            "diff",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--find-renames",
            "--relative",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "--inter-hunk-context=0",
            CONTEXT,
            base.trim(),
            "HEAD",
            "--",
        ])?;
        Ok(lines_of(&diff))
    }
}

/// A file that differs between two revisions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedFile {
    /// From the directory that Git is asked in.
    pub path: String,
    /// The later revision does not have it.
    pub is_removed: bool,
}

impl Git<'_> {
    /// The files that a change has made, edited or removed since it parted from a revision. One that was renamed is removed and made.
    pub fn files_between(&self, base: &str, head: &str) -> Result<Vec<ChangedFile>, GitError> {
        // Says which revision is not there, and why.
        self.tree(base)?;
        self.tree(head)?;
        let parted = self.print(["merge-base", "--end-of-options", base, head])?;
        let head = self.print(["rev-parse", "--verify", "--end-of-options", head])?;
        let listed = self.print([
            "diff",
            "--name-status",
            "--no-renames",
            "--relative",
            "--no-ext-diff",
            "--no-textconv",
            "-z",
            parted.trim(),
            head.trim().lines().next_back().unwrap_or_default(),
            "--",
        ])?;
        Ok(changed_files(&listed))
    }

    /// The commit that two revisions have in common last.
    pub fn parted(&self, base: &str, head: &str) -> Result<String, GitError> {
        Ok(self.print(["merge-base", "--end-of-options", base, head])?.trim().to_owned())
    }

    /// Whether a revision is the commit that is checked out.
    pub fn is_checked_out(&self, revision: &str) -> Result<bool, GitError> {
        let commit =
            |name: &str| self.print(["rev-parse", "--verify", "--end-of-options", &format!("{name}^{{commit}}")]);
        Ok(commit(revision)?.lines().next_back() == commit("HEAD")?.lines().next_back())
    }
}

/// `<letter>\0<path>\0`, again and again.
fn changed_files(listed: &str) -> Vec<ChangedFile> {
    let parts: Vec<&str> = listed.split('\0').collect();
    let pairs = parts.chunks_exact(2);
    pairs.map(|pair| ChangedFile { path: pair[1].to_owned(), is_removed: pair[0] == "D" }).collect()
}

/// The lines on the new side of every hunk. A path that git has to quote is left out.
fn lines_of(diff: &str) -> Lines {
    let mut lines = Lines::new();
    let mut path: Option<&str> = None;
    // Lines of the hunk that are still to come, on each side: what they hold is no header.
    let (mut old, mut new) = (0_usize, 0_usize);
    for line in diff.split('\n') {
        match line.as_bytes().first() {
            Some(b' ') if old > 0 || new > 0 => (old, new) = (old.saturating_sub(1), new.saturating_sub(1)),
            Some(b'-') if old > 0 => old -= 1,
            Some(b'+') if new > 0 => new -= 1,
            _ if line.starts_with("+++ ") => path = line.strip_prefix("+++ b/").map(|path| path.trim_end_matches('\t')),
            _ => {
                let Some((before, after)) = hunk(line) else { continue };
                (old, new) = (before.len(), after.len());
                if let Some(path) = path {
                    lines.entry(path.to_owned()).or_default().push(after);
                }
            }
        }
    }
    lines
}

/// `@@ -3,2 +3,4 @@`: the lines of both sides, from 0.
fn hunk(line: &str) -> Option<(Range<usize>, Range<usize>)> {
    let mut words = line.strip_prefix("@@ ")?.split(' ');
    Some((side(words.next()?.strip_prefix('-')?)?, side(words.next()?.strip_prefix('+')?)?))
}

fn side(text: &str) -> Option<Range<usize>> {
    let (start, number) = text.split_once(',').unwrap_or((text, "1"));
    let (start, number): (usize, usize) = (start.parse().ok()?, number.parse().ok()?);
    let start = start.saturating_sub(1);
    Some(start..start + number)
}

#[cfg(test)]
mod tests {
    use super::{changed_files, lines_of};

    #[test]
    fn files_are_made_edited_or_removed() {
        let files = changed_files("M\0a b.yaml\0D\0gone.yaml\0A\0new.yaml\0");
        let told: Vec<(&str, bool)> = files.iter().map(|file| (file.path.as_str(), file.is_removed)).collect();
        assert_eq!(told, [("a b.yaml", false), ("gone.yaml", true), ("new.yaml", false)]);
    }

    #[test]
    fn lines_that_look_like_headers_are_lines() {
        let diff = "\
diff --git a/a.yaml b/a.yaml
--- a/a.yaml
+++ b/a.yaml
@@ -1,2 +1,4 @@ metadata:
 a
+++ b/other.yaml
+@@ -1 +1 @@
 b
@@ -20 +22 @@
-x
+y
\\ No newline at end of file
diff --git a/gone.yaml b/gone.yaml
--- a/gone.yaml
+++ /dev/null
@@ -1 +0,0 @@
-z
diff --git \"a/odd\\\"name\" \"b/odd\\\"name\"
--- \"a/odd\\\"name\"
+++ \"b/odd\\\"name\"
@@ -1 +1 @@
-z
+y
";
        let lines = lines_of(diff);
        assert_eq!(lines.into_iter().collect::<Vec<_>>(), [("a.yaml".to_owned(), vec![0..4, 21..22])]);
    }
}
