//! What is different between two texts, line by line: as a unified diff, and as ranges of lines to replace.

use std::fmt::Write as _;

use diagnostic::Changed;

use crate::clean::clean_source;
use crate::paint::Paint;

/// Lines around a change that are shown.
const CONTEXT_LINES: usize = 3;
/// More differences than these are not looked for one by one: everything between the first and the last is one.
const DIFFERENCES_MAX: usize = 2_000;

/// Lines of the old text and those that stand in their place in the new one. Both ranges may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) old: std::ops::Range<usize>,
    pub(crate) new: std::ops::Range<usize>,
}

#[cfg(test)]
thread_local! {
    /// How often a text was read line by line.
    pub(crate) static READS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The lines of a text, each with its end.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    #[cfg(test)]
    READS.set(READS.get() + 1);
    text.split_inclusive('\n').collect()
}

/// The lines of a file before and after; none where it is not there.
pub(crate) fn sides(changed: &Changed) -> (Vec<&str>, Vec<&str>) {
    (lines(changed.before.as_deref().unwrap_or_default()), lines(changed.after.as_deref().unwrap_or_default()))
}

/// A file that moves as it is, as `git diff` shows it.
pub(crate) fn renamed(from: &Changed, to: &Changed, paint: Paint) -> String {
    let (from, to) = (crate::clean(&from.path), crate::clean(&to.path));
    let head = format!("diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}");
    format!("{}\n", paint.bold(&head))
}

/// A file before and after, as `git diff` shows it.
pub(crate) fn unified(changed: &Changed, paint: Paint) -> String {
    let (old, new) = sides(changed);
    let path = crate::clean(&changed.path);
    let side =
        |letter: char, is_there: bool| if is_there { format!("{letter}/{path}") } else { "/dev/null".to_owned() };
    let (from, to) = (side('a', changed.before.is_some()), side('b', changed.after.is_some()));
    let mut out = format!("{}\n", paint.bold(&format!("--- {from}\n+++ {to}")));
    for hunk in hunks(&differences(&old, &new)) {
        write_hunk(&mut out, &hunk, &old, &new, paint);
    }
    out
}

/// Differences that are so near that their context meets.
fn hunks(differences: &[Difference]) -> Vec<Vec<Difference>> {
    let mut hunks: Vec<Vec<Difference>> = Vec::new();
    for difference in differences {
        match hunks.last_mut() {
            Some(hunk) if hunk.last().is_some_and(|last| difference.old.start - last.old.end <= 2 * CONTEXT_LINES) => {
                hunk.push(difference.clone());
            }
            _ => hunks.push(vec![difference.clone()]),
        }
    }
    hunks
}

fn write_hunk(out: &mut String, hunk: &[Difference], old: &[&str], new: &[&str], paint: Paint) {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return };
    let before = first.old.start.min(CONTEXT_LINES);
    let after = (old.len() - last.old.end).min(CONTEXT_LINES);
    let (old_range, new_range) =
        (first.old.start - before..last.old.end + after, first.new.start - before..last.new.end + after);
    let head = format!("@@ -{} +{} @@", range(&old_range), range(&new_range));
    let _ = writeln!(out, "{}", paint.name(&head));
    let mut at = old_range.start;
    for difference in hunk {
        old[at..difference.old.start].iter().for_each(|line| write_line(out, ' ', line, paint));
        old[difference.old.clone()].iter().for_each(|line| write_line(out, '-', line, paint));
        new[difference.new.clone()].iter().for_each(|line| write_line(out, '+', line, paint));
        at = difference.old.end;
    }
    old[at..old_range.end].iter().for_each(|line| write_line(out, ' ', line, paint));
}

/// `12,3`; an empty range is said to be behind the line before it.
fn range(lines: &std::ops::Range<usize>) -> String {
    let start = if lines.is_empty() { lines.start } else { lines.start + 1 };
    if lines.len() == 1 { start.to_string() } else { format!("{start},{}", lines.len()) }
}

fn write_line(out: &mut String, sign: char, line: &str, paint: Paint) {
    let text = line.strip_suffix('\n').unwrap_or(line);
    // What ends a line on other systems harms no terminal, and a patch needs it.
    let (text, end) = text.strip_suffix('\r').map_or((text, ""), |text| (text, "\r"));
    let shown = format!("{sign}{}", clean_source(text));
    let painted = match sign {
        '+' => paint.good(&shown),
        '-' => paint.bad(&shown),
        _ => shown,
    };
    let _ = writeln!(out, "{painted}{end}");
    if !line.ends_with('\n') {
        out.push_str("\\ No newline at end of file\n");
    }
}

/// What is different, in the order of the lines.
pub(crate) fn differences(old: &[&str], new: &[&str]) -> Vec<Difference> {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (rest_old, rest_new) = (&old[start..], &new[start..]);
    let end = rest_old.iter().rev().zip(rest_new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (inner_old, inner_new) = (&rest_old[..rest_old.len() - end], &rest_new[..rest_new.len() - end]);
    if inner_old.is_empty() && inner_new.is_empty() {
        return Vec::new();
    }
    let whole = || vec![Difference { old: 0..inner_old.len(), new: 0..inner_new.len() }];
    let found = shortest(inner_old, inner_new).unwrap_or_else(whole);
    let moved = |range: std::ops::Range<usize>| range.start + start..range.end + start;
    found.into_iter().map(|one| Difference { old: moved(one.old), new: moved(one.new) }).collect()
}

/// Myers' shortest edit script; nothing where there is too much of it.
fn shortest(old: &[&str], new: &[&str]) -> Option<Vec<Difference>> {
    let most = (old.len() + new.len()).min(DIFFERENCES_MAX);
    // For each diagonal (new minus old, moved so that none is negative) the line of the old text that was reached.
    let middle = most + 1;
    let mut reached = vec![0_usize; 2 * middle + 1];
    let mut trace: Vec<Vec<usize>> = Vec::new();
    for edits in 0..=most {
        trace.push(reached.clone());
        for diagonal in (middle - edits..=middle + edits).step_by(2) {
            let down = diagonal == middle - edits
                || (diagonal != middle + edits && reached[diagonal - 1] < reached[diagonal + 1]);
            let mut x = if down { reached[diagonal + 1] } else { reached[diagonal - 1] + 1 };
            // y = x - (diagonal - middle)
            let Some(mut y) = (x + middle).checked_sub(diagonal) else { continue };
            while x < old.len() && y < new.len() && old[x] == new[y] {
                (x, y) = (x + 1, y + 1);
            }
            reached[diagonal] = x;
            if x >= old.len() && y >= new.len() {
                return Some(back(&trace, middle, (old.len(), new.len())));
            }
        }
    }
    None
}

/// From the end of both texts back to their beginning.
fn back(trace: &[Vec<usize>], middle: usize, (mut x, mut y): (usize, usize)) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    for (edits, reached) in trace.iter().enumerate().rev() {
        if edits == 0 {
            break;
        }
        let diagonal = x + middle - y;
        let down =
            diagonal == middle - edits || (diagonal != middle + edits && reached[diagonal - 1] < reached[diagonal + 1]);
        let before = if down { diagonal + 1 } else { diagonal - 1 };
        let start_x = reached[before];
        let start_y = (start_x + middle).saturating_sub(before);
        let one = if down {
            Difference { old: start_x..start_x, new: start_y..start_y + 1 }
        } else {
            Difference { old: start_x..start_x + 1, new: start_y..start_y }
        };
        match found.last_mut() {
            Some(next) if next.old.start == one.old.end && next.new.start == one.new.end => {
                *next = Difference { old: one.old.start..next.old.end, new: one.new.start..next.new.end };
            }
            _ => found.push(one),
        }
        (x, y) = (start_x, start_y);
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::{differences, lines, unified};
    use crate::paint::Paint;
    use diagnostic::Changed;

    fn diff(before: &str, after: &str) -> String {
        let changed = Changed {
            path: "a.yaml".to_owned(),
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
            from: None,
        };
        unified(&changed, Paint { color: false })
    }

    #[test]
    fn lines_that_come_stand_between_those_that_stay() {
        let found = diff("1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\nnew\n5\n6\n");
        assert_eq!(found, "--- a/a.yaml\n+++ b/a.yaml\n@@ -2,5 +2,6 @@\n 2\n 3\n 4\n+new\n 5\n 6\n");
    }

    #[test]
    fn far_changes_are_hunks_of_their_own() {
        let old = (0..30).map(|line| line.to_string()).collect::<Vec<_>>().join("\n") + "\n";
        let new = old.replace("\n2\n", "\nx\n").replace("\n27\n", "\n");
        let found = diff(&old, &new);
        assert_eq!(found.matches("@@ -").count(), 2, "{found}");
        assert!(found.contains("-2\n+x\n") && found.contains("-27\n"), "{found}");
    }

    #[test]
    fn a_missing_line_end_is_told() {
        assert!(diff("a\nb", "a\nb\nc").contains("-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline"));
        assert!(diff("a\r\nb\r\n", "a\r\nx\r\nb\r\n").contains("+x\r\n"));
    }

    #[test]
    fn differences_turn_the_one_text_into_the_other() {
        for (old, new) in [("", "a\n"), ("a\n", ""), ("a\nb\nc\n", "c\nb\na\n"), ("a\na\nb\n", "b\na\na\nb\nb\n")] {
            let (old, new) = (lines(old), lines(new));
            let mut made: Vec<&str> = Vec::new();
            let mut at = 0;
            for one in differences(&old, &new) {
                made.extend(&old[at..one.old.start]);
                made.extend(&new[one.new.clone()]);
                at = one.old.end;
            }
            made.extend(&old[at..]);
            assert_eq!(made, new);
        }
    }
}
