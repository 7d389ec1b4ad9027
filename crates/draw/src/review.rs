//! Edits as a review of a pull request on GitHub: the body of `POST /repos/{owner}/{repo}/pulls/{number}/reviews`, with a suggestion
//! for each edit that lies in the lines of the change.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

use diagnostic::{Repair, Repairs};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use source::sign_for;

use crate::clean::clean_json;
use crate::diff;
use crate::edits::{Edits, FileEdits, LineEdit};
use crate::say::review as say;

/// Characters of a comment that GitHub takes.
const COMMENT_CHARS_MAX: usize = 65_536;
/// Hexadecimal digits of a marker.
const MARKER_DIGITS: usize = 16;

/// The change that is reviewed.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// The commit whose lines are shown.
    pub commit: String,
    /// What stands before every path: where the files are in the Git repository.
    pub prefix: String,
    /// Lines of files (from 0, with those around them) that the change shows; a suggestion can stand on no other.
    pub lines: BTreeMap<String, Vec<Range<usize>>>,
    /// Markers of suggestions that stand there already.
    pub posted: BTreeSet<String>,
}

/// Edits that are not suggested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unsuggested {
    /// Their lines are not in the change.
    pub(crate) elsewhere: usize,
    /// Other lines, without which they would be wrong, are not in the change.
    pub(crate) in_part: usize,
    /// New files, other line ends, characters that are not shown.
    pub(crate) unshown: usize,
    /// They are there.
    pub(crate) posted: usize,
}

/// A review, and what it says of all edits.
#[derive(Clone, Debug)]
pub struct Reviewed {
    /// One JSON object with a line end; nothing where there is nothing to suggest.
    pub json: Option<String>,
    pub said: String,
}

/// The review of a change.
pub fn review(repairs: &Repairs, change: &Change) -> Result<Reviewed, serde_json::Error> {
    let edits = Edits::new(repairs);
    let mut others = Unsuggested::default();
    let mut comments = Vec::new();
    let (places, partial) = places(&edits, change);
    for Place { file, edit, placed } in places {
        match placed.and_then(|placed| suggestion(&edits, file, edit, &placed, (change, &partial))) {
            Ok(comment) => comments.push(comment),
            Err(Why::Elsewhere) => others.elsewhere += 1,
            Err(Why::InPart) => others.in_part += 1,
            Err(Why::Unshown) => others.unshown += 1,
            Err(Why::Posted) => others.posted += 1,
        }
    }
    let said = say::body(comments.len(), &others);
    if comments.is_empty() {
        return Ok(Reviewed { json: None, said });
    }
    let review = Review { commit_id: &change.commit, event: "COMMENT", body: &said, comments };
    let json = clean_json(serde_json::to_string_pretty(&review)?) + "\n";
    Ok(Reviewed { json: Some(json), said })
}

#[derive(Serialize)]
struct Review<'a> {
    commit_id: &'a str,
    event: &'static str,
    body: &'a str,
    comments: Vec<Comment>,
}

#[derive(Serialize)]
struct Comment {
    path: String,
    side: &'static str,
    line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_side: Option<&'static str>,
    body: String,
}

/// Why an edit is not suggested.
enum Why {
    Elsewhere,
    InPart,
    Unshown,
    Posted,
}

/// An edit, and where it can be suggested.
struct Place<'e> {
    file: &'e FileEdits<'e>,
    edit: &'e LineEdit,
    placed: Result<Placed, Why>,
}

/// Where all edits can be suggested, and the repairs of which some can't. Every file is read once.
fn places<'e>(edits: &'e Edits<'e>, change: &Change) -> (Vec<Place<'e>>, BTreeSet<usize>) {
    let (mut places, mut partial) = (Vec::new(), BTreeSet::new());
    for file in edits.files() {
        let old = file.before.filter(|_| !file.is_removed).map(diff::lines);
        let shown = change.lines.get(file.path).map(Vec::as_slice).unwrap_or_default();
        for edit in &file.edits {
            let result = old.as_ref().ok_or(Why::Unshown).and_then(|old| place(old, edit, shown));
            if result.is_err() {
                partial.extend(&edit.by);
            }
            places.push(Place { file, edit, placed: result });
        }
    }
    (places, partial)
}

fn suggestion(
    edits: &Edits<'_>,
    file: &FileEdits<'_>,
    edit: &LineEdit,
    placed: &Placed,
    (change, partial): (&Change, &BTreeSet<usize>),
) -> Result<Comment, Why> {
    let repairs: Vec<&Repair> = edit.by.iter().filter_map(|at| edits.repair(*at)).collect();
    let is_part = !edit.by.is_disjoint(partial);
    // Order by itself does no harm; without the rest, what else there is might.
    if is_part && repairs.iter().any(|repair| repair.is_unsafe()) {
        return Err(Why::InPart);
    }
    let marker = marker(file.path, placed);
    if change.posted.contains(&marker) {
        return Err(Why::Posted);
    }
    let above = say::above(&repairs, is_part);
    let fence = fence(&placed.text);
    let body = format!("{above}\n{fence}suggestion\n{}{fence}\n\n<!-- coldstart:{marker} -->\n", placed.text);
    if body.chars().count() > COMMENT_CHARS_MAX {
        return Err(Why::Unshown);
    }
    let is_one = placed.lines.len() == 1;
    Ok(Comment {
        path: format!("{}{}", change.prefix, file.path),
        side: "RIGHT",
        line: placed.lines.end,
        start_line: (!is_one).then_some(placed.lines.start + 1),
        start_side: (!is_one).then_some("RIGHT"),
        body,
    })
}

/// Lines that a suggestion replaces, and by what.
struct Placed {
    lines: Range<usize>,
    text: String,
    old: String,
}

/// Where an edit is suggested. A suggestion replaces lines: what is put in goes with the line before it, or behind it.
fn place(old: &[&str], edit: &LineEdit, shown: &[Range<usize>]) -> Result<Placed, Why> {
    let Range { start, end } = edit.old;
    let (before, behind) = (start.saturating_sub(1)..start, start..(start + 1).min(old.len()));
    let ways = if edit.old.is_empty() { [before, behind] } else { [start..end, start..end] };
    let is_shown = |lines: &Range<usize>| {
        !lines.is_empty() && shown.iter().any(|hunk| hunk.start <= lines.start && lines.end <= hunk.end)
    };
    let lines = ways.into_iter().find(is_shown).ok_or(Why::Elsewhere)?;
    let before = old[lines.start..start].concat();
    let behind = old[end..lines.end.max(end)].concat();
    let mut text = format!("{before}{}{behind}", edit.replacement);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let old = old[lines.clone()].concat();
    // What can't be seen is not agreed to, and GitHub has its own idea of other line ends.
    let is_unseen = |c: char| c != '\n' && c != '\t' && sign_for(c).is_some();
    if text.chars().chain(old.chars()).any(is_unseen) {
        return Err(Why::Unshown);
    }
    Ok(Placed { lines, text, old })
}

/// Longer than every one in the text.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    "`".repeat((longest + 1).max(3))
}

/// The same for the same suggestion, wherever its lines have moved to.
fn marker(path: &str, placed: &Placed) -> String {
    let digest = Sha256::digest([path, &placed.old, &placed.text].join("\0"));
    let mut text = digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    text.truncate(MARKER_DIGITS);
    text
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use diagnostic::{Action, Changed, Repair, Repairs};
    use model::ObjectRef;
    use serde_json::Value;

    use super::{Change, fence, review};

    fn repairs(before: &str, after: &str, actions: Vec<Action>) -> Repairs {
        let changed = Changed {
            path: "a.yaml".to_owned(),
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
            from: None,
        };
        Repairs { made: vec![Repair { actions, closes: Vec::new(), files: vec![changed] }], left: Vec::new() }
    }

    fn change(shown: Range<usize>) -> Change {
        let lines = [("a.yaml".to_owned(), vec![shown])].into();
        Change { prefix: "infra/".to_owned(), lines, ..Change::default() }
    }

    /// The first comment, which there is.
    fn comment(repairs: &Repairs, shown: Range<usize>) -> Value {
        let json = review(repairs, &change(shown)).unwrap().json.unwrap();
        serde_json::from_str::<Value>(&json).unwrap()["comments"][0].clone()
    }

    /// What is said where there is none.
    fn silence(repairs: &Repairs, shown: Range<usize>) -> String {
        let reviewed = review(repairs, &change(shown)).unwrap();
        assert_eq!(reviewed.json, None);
        reviewed.said
    }

    #[track_caller]
    fn suggests(comment: &Value, text: &str) {
        assert!(comment["body"].as_str().unwrap().contains(text), "{comment}");
    }

    #[test]
    fn what_is_put_in_stands_behind_the_line_before_it_or_before_the_one_behind_it() {
        let made = repairs("1\n2\n3\n", "1\n2\nnew\n3\n", Vec::new());
        let found = comment(&made, 0..2);
        assert_eq!((&found["path"], &found["side"]), (&"infra/a.yaml".into(), &"RIGHT".into()));
        assert_eq!((&found["line"], found.get("start_line")), (&2.into(), None));
        suggests(&found, "```suggestion\n2\nnew\n```\n");
        let found = comment(&made, 2..3);
        assert_eq!(found["line"], 3);
        suggests(&found, "```suggestion\nnew\n3\n```\n");
        assert!(silence(&made, 0..1).contains("1 on lines that this change does not have"));
    }

    #[test]
    fn several_lines_have_a_first_and_a_last() {
        let found = comment(&repairs("1\n2\n3\n4\n", "1\n4\n", Vec::new()), 0..4);
        assert_eq!((&found["start_line"], &found["line"]), (&2.into(), &3.into()));
        suggests(&found, "```suggestion\n```\n");
    }

    #[test]
    fn a_fence_is_longer_than_those_in_the_text() {
        assert_eq!(fence("a"), "```");
        assert_eq!(fence("a ```` b ``` c"), "`````");
        let found = comment(&repairs("1\n", "# ```\n1\n", Vec::new()), 0..1);
        suggests(&found, "````suggestion\n# ```\n1\n````\n");
    }

    #[test]
    fn lines_that_hide_characters_or_end_otherwise_are_not_suggested() {
        for line in ["1\r\n", "1 # \u{202e}\n", "1 # \u{1b}[2J\n"] {
            let said = silence(&repairs(line, &format!("{line}new\n"), Vec::new()), 0..1);
            assert!(said.contains("that a suggestion can't hold"), "{said}");
        }
    }

    #[test]
    fn a_part_is_suggested_only_where_it_does_no_harm_by_itself() {
        let object = || ObjectRef { kind: "Kustomization".into(), namespace: "a".into(), name: "b".into() };
        let (before, after) = ("1\n2\n3\n4\n5\n", "1\nx\n2\n3\n4\ny\n5\n");
        let safe = repairs(before, after, vec![Action::Depend { component: object(), on: object() }]);
        suggests(&comment(&safe, 0..2), "There are more edits for this on other lines");
        let said = silence(&repairs(before, after, vec![Action::Wait { component: object() }]), 0..2);
        assert!(said.contains("1 with a part on lines"), "{said}");
    }

    #[test]
    fn a_file_is_read_once_for_all_its_edits() {
        let (before, after) = ("1\n2\n3\n4\n".repeat(1_000), "1\nnew\n2\n3\n4\n".repeat(1_000));
        let made = repairs(&before, &after, Vec::new());
        let reads = crate::diff::READS.get();
        let reviewed = review(&made, &change(0..4_000)).unwrap();
        assert!(reviewed.said.contains("1000"), "{}", reviewed.said);
        // Three times for what is different, and once more for the suggestions.
        assert_eq!(crate::diff::READS.get() - reads, 4);
    }

    #[test]
    fn what_was_posted_is_not_posted_again() {
        let made = repairs("1\n2\n", "1\nnew\n2\n", Vec::new());
        let found = comment(&made, 0..2);
        let marker = found["body"].as_str().unwrap().rsplit("coldstart:").next().unwrap();
        let marker = marker.split(' ').next().unwrap().to_owned();
        let again = Change { posted: [marker].into(), ..change(0..2) };
        let reviewed = review(&made, &again).unwrap();
        assert!(reviewed.json.is_none() && reviewed.said.contains("1 suggested here before"), "{}", reviewed.said);
    }
}
