//! Reading costs no more than its input is long, whatever the input. A quadratic reader takes long here.

use std::fmt::Write as _;

use coldstart_yaml::{FileId, Limits, Node, parse};

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
    (document.root.unwrap(), document.problems.len())
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
