//! Edits of small files, each with the whole file before and after.

use diagnostic::Unedited;
use source::{FileId, Span, to_u32};

use super::item::{Field, NewItem};
use super::value::{Indents, yes};
use super::{Items, Step, Text, find, steps};

fn text(before: &str) -> Text {
    Text::new(FileId(0), before.to_owned())
}

fn place(text: &Text, of: &str) -> Span {
    let start = text.text().find(of).expect("what to look for");
    Span::new(FileId(0), to_u32(start), to_u32(start + of.len()))
}

fn named(name: &str) -> NewItem {
    NewItem::Fields(vec![("name", Field::Name(name.to_owned()))])
}

/// One more item beside the one with this name.
fn added(before: &str, beside: &str, item: &NewItem) -> Result<String, Unedited> {
    let mut text = text(before);
    let at = place(&text, beside);
    let tree = text.tree(at).ok_or(Unedited::InText)?.into_owned();
    let way = find(&tree, at);
    let list = way.iter().rposition(|on| on.node.as_seq().is_some()).ok_or(Unedited::InText)?;
    let items = Items { key: way[list].key, list: way[list].node };
    let edit = text.new_item(items, item, Indents::default())?;
    text.apply(at, vec![edit], &steps(&way[..=list]))?;
    Ok(text.text().to_owned())
}

#[test]
fn an_item_is_written_as_its_neighbours_are() {
    for (before, after) in [
        // Behind the last, with its comment; what follows stays.
        (
            "spec:\n  dependsOn:\n    - name: one # why\n  wait: true\n",
            "spec:\n  dependsOn:\n    - name: one # why\n    - name: new\n  wait: true\n",
        ),
        // Not indented.
        ("dependsOn:\n- name: one\nwait: true\n", "dependsOn:\n- name: one\n- name: new\nwait: true\n"),
        // In quotes.
        ("dependsOn:\n  - name: \"one\"\n", "dependsOn:\n  - name: \"one\"\n  - name: \"new\"\n"),
        // In braces and brackets.
        ("dependsOn:\n  - { name: one }\n", "dependsOn:\n  - { name: one }\n  - { name: new }\n"),
        ("dependsOn: [{name: one}] # all\n", "dependsOn: [{name: one}, {name: new}] # all\n"),
        // In the lines of another system, and without a last line end.
        (
            "dependsOn:\r\n  - name: one\r\nwait: true\r\n",
            "dependsOn:\r\n  - name: one\r\n  - name: new\r\nwait: true\r\n",
        ),
        ("dependsOn:\n  - name: one", "dependsOn:\n  - name: one\n  - name: new"),
        // Sorted ones stay sorted.
        (
            "dependsOn:\n  - name: a\n  - name: one\n  - name: z\n",
            "dependsOn:\n  - name: a\n  - name: new\n  - name: one\n  - name: z\n",
        ),
        // Inside of a patch that is a text.
        (
            "patches:\n  - patch: |-\n      spec:\n        dependsOn:\n          - name: one\n        wait: true\n",
            "patches:\n  - patch: |-\n      spec:\n        dependsOn:\n          - name: one\n          - name: new\n        wait: true\n",
        ),
    ] {
        let beside = if before.contains("\"one\"") { "\"one\"" } else { "one" };
        assert_eq!(added(before, beside, &named("new")).as_deref(), Ok(after), "{before}");
    }
}

#[test]
fn an_anchor_that_others_use_is_left_alone() {
    let shared = "a:\n  dependsOn: &all\n    - name: one\nb:\n  dependsOn: *all\n";
    assert_eq!(added(shared, "one", &named("new")), Err(Unedited::Anchor));
    let unused = "a:\n  dependsOn: &all\n    - name: one\n";
    assert_eq!(
        added(unused, "one", &named("new")).as_deref(),
        Ok("a:\n  dependsOn: &all\n    - name: one\n    - name: new\n")
    );
}

#[test]
fn a_text_that_is_folded_is_not_edited() {
    let folded = "patch: >-\n  dependsOn:\n    - name: one\n";
    assert_eq!(added(folded, "one", &named("new")), Err(Unedited::InText));
}

/// A key of the mapping below `spec`, behind so many others.
fn with_key(before: &str, position: usize) -> Result<String, Unedited> {
    let mut text = text(before);
    let tree = text.roots().next().ok_or(Unedited::NotYaml)?.clone();
    let map = tree.get("spec").ok_or(Unedited::Unexpected)?;
    let edit = text.new_entry(map, position, "wait", &yes(), Indents::default())?;
    text.apply(map.span, vec![edit], &[Step::Key("spec".to_owned()), Step::Key("wait".to_owned())])?;
    Ok(text.text().to_owned())
}

#[test]
fn a_key_stands_in_line_with_the_others_and_comments_stay_with_theirs() {
    for (before, position, after) in [
        ("spec:\n  a: 1\n  b: 2\n", 1, "spec:\n  a: 1\n  wait: true\n  b: 2\n"),
        ("spec:\n  a: 1\n  # of b\n  b: 2\n", 1, "spec:\n  a: 1\n  wait: true\n  # of b\n  b: 2\n"),
        ("spec:\n  # of a\n  a: 1\n", 0, "spec:\n  wait: true\n  # of a\n  a: 1\n"),
        ("spec:\n    a: |\n      text\n\nmore: 1\n", 1, "spec:\n    a: |\n      text\n    wait: true\n\nmore: 1\n"),
        ("spec:\n  a:\n  - 1\n  - 2\n---\nb: 1\n", 1, "spec:\n  a:\n  - 1\n  - 2\n  wait: true\n---\nb: 1\n"),
        ("spec: {a: 1, b: 2}\n", 2, "spec: {a: 1, b: 2, wait: true}\n"),
        ("spec:\n  a: 1", 1, "spec:\n  a: 1\n  wait: true"),
    ] {
        assert_eq!(with_key(before, position).as_deref(), Ok(after), "{before}");
    }
}

#[test]
fn an_edit_that_changes_more_than_was_meant_is_refused() {
    let mut text = text("a: 1\nb: 2\n");
    let both = super::Edit { range: 0..10, replacement: "a: 2\nb: 3\n".to_owned() };
    let at = place(&text, "1");
    assert_eq!(text.apply(at, vec![both], &[Step::Key("a".to_owned())]), Err(Unedited::Unexpected));
    let broken = super::Edit { range: 3..4, replacement: "[".to_owned() };
    assert_eq!(text.apply(at, vec![broken], &[Step::Key("a".to_owned())]), Err(Unedited::NotYaml));
    assert_eq!(text.text(), "a: 1\nb: 2\n");
}

#[test]
fn an_item_goes_with_its_lines_and_the_last_one_with_its_key() {
    let remove = |before: &str, name: &str| {
        let mut text = text(before);
        let at = place(&text, name);
        let tree = text.tree(at)?.into_owned();
        let way = find(&tree, at);
        let list = way.iter().rposition(|on| on.node.as_seq().is_some())?;
        let Some(Step::Item(index)) = way[list + 1].step.clone() else { return None };
        let edit = text.without_item(Items { key: way[list].key, list: way[list].node }, index).ok()?;
        text.apply(at, vec![edit], &steps(&way[..=list])).ok()?;
        Some(text.text().to_owned())
    };
    let two = "spec:\n  dependsOn:\n    - name: one\n      namespace: x\n    - name: two\n  wait: true\n";
    assert_eq!(remove(two, "one").as_deref(), Some("spec:\n  dependsOn:\n    - name: two\n  wait: true\n"));
    let one = "spec:\n  dependsOn:\n    - name: one\n  wait: true\n";
    assert_eq!(remove(one, "one").as_deref(), Some("spec:\n  wait: true\n"));
    let flow = "spec:\n  dependsOn: [{name: one}, {name: two}]\n  wait: true\n";
    assert_eq!(remove(flow, "one").as_deref(), Some("spec:\n  dependsOn: [{name: two}]\n  wait: true\n"));
}

#[test]
fn places_are_found_again_behind_edits() {
    let mut text = text("a: 1\nb: 2\n");
    let (one, two) = (place(&text, "1"), place(&text, "2"));
    text.set_scalar(one, "1000").expect("a scalar");
    let now = text.here(two).expect("a place");
    assert_eq!(&text.text()[now.start as usize..now.end as usize], "2");
    assert_eq!(text.here(one), None);
}

#[test]
fn many_items_go_at_once_however_they_are_written() {
    let retain = |before: &str| {
        let mut text = text(before);
        let before = super::READS.get();
        text.retain_items(0, "patches", |item| item.text().is_some_and(|it| it.starts_with("keep"))).expect("a list");
        (text.text().to_owned(), super::READS.get() - before)
    };
    for (before, after) in [
        (
            "spec:\n  patches:\n    - a\n    # of keep\n    - keep-1\n    - b\n    # of c\n    - c\n    - keep-2\n    - d\n",
            "spec:\n  patches:\n    # of keep\n    - keep-1\n    # of c\n    - keep-2\n",
        ),
        ("spec:\n  patches: [a, b, keep-1, c, d, keep-2, e]\n", "spec:\n  patches: [keep-1, keep-2]\n"),
        ("spec:\n  patches:\n    - a\n    - b\n  wait: true\n", "spec:\n  wait: true\n"),
    ] {
        assert_eq!(retain(before), (after.to_owned(), 1), "{before}");
    }
    let many = |items: &str| format!("spec:\n  patches:\n{}", items.repeat(2_000));
    assert_eq!(retain(&many("    - gone\n    - keep\n")), (many("    - keep\n"), 1));
    assert_eq!(retain("spec:\n  patches:\n    - keep\n").1, 0);
}
