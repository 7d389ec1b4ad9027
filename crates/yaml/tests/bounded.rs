//! Reading costs no more than its input is long, whatever the input. A quadratic reader takes long here.

use std::fmt::Write as _;

use coldstart_yaml::{Limits, Node, parse};
use source::FileId;

const KEYS: usize = 20_000;

fn keys(indent: &str, prefix: char, value: &str) -> String {
    (0..KEYS).fold(String::new(), |mut text, key| {
        let _ = writeln!(text, "{indent}{prefix}{key}: {value}");
        text
    })
}

fn only(text: &str) -> (Node, usize) {
    let mut documents = parse(FileId(0), text, Limits::default());
    assert_eq!(documents.len(), 1);
    let document = documents.remove(0);
    (document.root.expect("a document"), document.problems.len())
}

#[test]
fn keys_that_stand_twice_are_told_once_each_and_the_last_value_counts() {
    let (root, problems) = only(&(keys("", 'k', "first") + &keys("", 'k', "last")));
    assert_eq!(root.as_map().unwrap().len(), KEYS);
    assert_eq!(problems, KEYS);
    assert!(root.entries().iter().all(|entry| entry.value.as_str() == Some("last")));
}

#[test]
fn a_large_mapping_is_merged_into_a_large_one() {
    let text =
        format!("base: &base\n{}merged:\n  <<: *base\n  k0: own\n{}", keys("  ", 'k', "base"), keys("  ", 'j', "own"));
    let (root, problems) = only(&text);
    assert_eq!(problems, 0);
    let merged = root.get("merged").unwrap();
    assert_eq!(merged.as_map().unwrap().len(), 2 * KEYS);
    assert_eq!(merged.text_at(&["k0"]), Some("own"));
    assert_eq!(merged.text_at(&["k1"]), Some("base"));
}

/// The one problem of a text of which nothing is read.
fn problem(text: &str, limits: Limits) -> String {
    let mut documents = parse(FileId(0), text, limits);
    assert_eq!(documents.len(), 1);
    assert!(documents[0].root.is_none());
    assert_eq!(documents[0].problems.len(), 1);
    documents.remove(0).problems.remove(0).message
}

#[test]
fn a_bomb_of_aliases_is_one_problem() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let alias = format!("*a{}", level - 1);
        let _ = writeln!(text, "a{level}: &a{level} [{}]", [alias.as_str(); 9].join(", "));
    }
    let message = problem(&text, Limits::default());
    assert_eq!(message, "more than 2000000 values in one document, aliases counted as what they stand for");
}

#[test]
fn a_bomb_of_merge_keys_is_bounded_too() {
    let mut text = format!("m0: &m0\n{}", keys("  ", 'k', "v"));
    for level in 1..200 {
        let _ = writeln!(text, "m{level}: &m{level}\n  <<: *m{}\n  own{level}: 1", level - 1);
    }
    assert!(problem(&text, Limits::default()).starts_with("more than 2000000 values"));
}

#[test]
fn an_alias_inside_of_itself_is_a_problem() {
    assert_eq!(problem("a: &a [1, *a]\n", Limits::default()), "an alias inside its own anchor");
}

#[test]
fn aliases_that_nest_deeply_are_bounded() {
    let mut text = "a0: &a0 [x]\n".to_owned();
    for level in 1..1_000 {
        let _ = writeln!(text, "a{level}: &a{level} [*a{}]", level - 1);
    }
    assert_eq!(problem(&text, Limits::default()), "nested deeper than 300 levels");
}

#[test]
fn deep_nesting_is_a_problem_of_its_document_only() {
    for deep in ["[".repeat(100_000), "{a: ".repeat(100_000), "- ".repeat(100_000)] {
        let text = format!("a: 1\n---\n{deep}\n---\nb: 2\n");
        let documents = parse(FileId(0), &text, Limits::default());
        assert_eq!(documents[0].root.as_ref().unwrap().text_at(&["a"]), Some("1"));
        assert!(documents[1].root.is_none());
        assert_eq!(documents.last().unwrap().root.as_ref().unwrap().text_at(&["b"]), Some("2"));
    }
}

#[test]
fn many_documents_are_read_up_to_a_limit_that_is_told() {
    let documents = parse(FileId(0), &"---\na: 1\n".repeat(200_000), Limits::default());
    assert_eq!(documents.len(), Limits::default().documents_max + 1);
    let last = &documents[documents.len() - 1];
    assert_eq!(last.problems[0].message, "more than 100000 documents in one file; the rest was not read");
}

#[test]
fn a_very_long_line_is_a_line() {
    let long = "x".repeat(4 * 1024 * 1024);
    assert_eq!(only(&format!("a: {long}\n")).0.text_at(&["a"]), Some(long.as_str()));
    assert_eq!(only(&format!("a: \"{long}\"\n")).0.text_at(&["a"]), Some(long.as_str()));
    // A key of that length is none.
    assert!(parse(FileId(0), &format!("{long}: 1\n"), Limits::default())[0].root.is_none());
}

#[test]
fn more_values_than_the_limit_are_not_kept() {
    let limits = Limits { nodes_max: KEYS, ..Limits::default() };
    assert!(problem(&keys("", 'k', "v"), limits).starts_with("more than 20000 values"));
}

#[test]
fn many_comments_and_many_anchors_cost_what_they_are() {
    let (root, problems) = only(&format!("{}a: 1\n", "# comment\n".repeat(KEYS)));
    assert_eq!((root.text_at(&["a"]), problems), (Some("1"), 0));
    let anchors = (0..KEYS).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, "- &a{at} 1\n- *a{at}");
        text
    });
    assert_eq!(only(&anchors).0.as_seq().unwrap().len(), 2 * KEYS);
}
