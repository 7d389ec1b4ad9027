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
    use super::lines_of;

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
