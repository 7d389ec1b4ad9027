//! Paths into values: `a.b`, `list[].name` for each item, `map.*` for each key, `\.` for a dot in a key.

use yaml::{Entry, Node, Value};

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    /// Each item of a list.
    Items,
    /// Each value of a mapping.
    Values,
}

/// What a path leads to.
#[derive(Debug, Default)]
pub(crate) struct Found<'node> {
    /// The ends of the path, each with the mapping it is a key of.
    pub(crate) ends: Vec<End<'node>>,
    /// A list on the way is there, be it empty: Helm replaces lists whole, so no default comes through.
    pub(crate) list_given: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct End<'node> {
    pub(crate) node: &'node Node,
    pub(crate) parent: &'node Node,
    /// The entry that a closing `*` took it from.
    pub(crate) entry: Option<&'node Entry>,
}

impl<'node> End<'node> {
    /// The key where the path closes with `*`, else the text.
    pub(crate) fn name(&self) -> Option<&'node str> {
        match self.entry {
            Some(entry) => Some(&entry.key),
            None => self.node.text(),
        }
    }
}

/// Follows `path` from `root`.
pub(crate) fn follow<'node>(root: &'node Node, path: &str) -> Found<'node> {
    let start = End { node: root, parent: root, entry: None };
    let mut found = Found { ends: vec![start], list_given: false };
    for step in steps(path) {
        let mut next = Vec::new();
        for End { node: parent, .. } in found.ends {
            match &step {
                Step::Key(key) => next.extend(parent.get(key).map(|node| End { node, parent, entry: None })),
                Step::Values => {
                    let entries = parent.entries().iter();
                    next.extend(entries.map(|entry| End { node: &entry.value, parent, entry: Some(entry) }));
                }
                Step::Items => {
                    found.list_given |= matches!(parent.value, Value::Seq(_)) || parent.is_null();
                    let items = parent.as_seq().into_iter().flatten();
                    next.extend(items.map(|node| End { node, parent, entry: None }));
                }
            }
        }
        found.ends = next;
    }
    found
}

fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for mut segment in segments(path) {
        let mut lists = 0;
        while let Some(rest) = segment.strip_suffix("[]") {
            segment.truncate(rest.len());
            lists += 1;
        }
        match segment.as_str() {
            "" => {}
            "*" => steps.push(Step::Values),
            _ => steps.push(Step::Key(segment)),
        }
        steps.extend((0..lists).map(|_| Step::Items));
    }
    steps
}

/// Splits at dots, but not at escaped ones.
fn segments(path: &str) -> Vec<String> {
    let mut segments = vec![String::new()];
    let mut characters = path.chars();
    while let Some(character) = characters.next() {
        let last = segments.last_mut().expect("starts with one and only grows");
        match character {
            '\\' => last.extend(characters.next()),
            '.' => segments.push(String::new()),
            _ => last.push(character),
        }
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(text: &str, path: &str) -> Vec<String> {
        let root = yaml::parse_value(source::FileId(0), text).unwrap();
        follow(&root, path).ends.iter().filter_map(|end| end.node.text().map(str::to_owned)).collect()
    }

    #[test]
    fn paths_lead_where_they_say() {
        let text = "a: {b: 1, x.y: 2, list: [{n: 3}, {n: 4}, 5], map: {k: {n: 6}, l: {n: 7}}, deep: [[8], [9]]}";
        for (path, expected) in [
            ("a.b", vec!["1"]),
            (r"a.x\.y", vec!["2"]),
            ("a.x.y", vec![]),
            ("a.list[].n", vec!["3", "4"]),
            ("a.list[]", vec!["5"]),
            ("a.map.*.n", vec!["6", "7"]),
            ("a.deep[][]", vec!["8", "9"]),
            ("a.none.b", vec![]),
            ("a.b.c", vec![]),
            ("a.b[]", vec![]),
        ] {
            assert_eq!(ends(text, path), expected, "{path}");
        }
    }

    #[test]
    fn an_empty_list_is_a_list_that_was_given() {
        let root = yaml::parse_value(source::FileId(0), "a: []\nb: ~\nc: {}").unwrap();
        assert!(follow(&root, "a[].name").list_given);
        assert!(follow(&root, "b[].name").list_given);
        assert!(!follow(&root, "d[].name").list_given);
    }
}
