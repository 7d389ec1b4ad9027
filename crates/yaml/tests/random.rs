//! Random documents: every scalar's place reads back as the scalar, and no text at all is a reason to panic.

use std::fmt::Write as _;

use coldstart_yaml::{Limits, Node, Value, parse};
use proptest::prelude::*;
use source::FileId;

/// A tree to be written down in some style.
#[derive(Clone, Debug)]
enum Tree {
    Scalar(String, Style),
    Seq(Vec<Tree>, bool),
    Map(Vec<Tree>, bool),
}

#[derive(Clone, Copy, Debug)]
enum Style {
    Plain,
    Single,
    Double,
    Literal,
    Folded,
}

fn tree() -> impl Strategy<Value = Tree> {
    let style = prop_oneof![
        Just(Style::Plain),
        Just(Style::Single),
        Just(Style::Double),
        Just(Style::Literal),
        Just(Style::Folded)
    ];
    let scalar = ("[a-zé0-9]{1,6}( [a-z0-9.]{1,9}){0,3}", style).prop_map(|(text, style)| Tree::Scalar(text, style));
    scalar.prop_recursive(4, 40, 5, |inner| {
        let items = prop::collection::vec(inner, 1..5);
        (items, any::<bool>(), any::<bool>())
            .prop_map(|(items, is_map, flow)| if is_map { Tree::Map(items, flow) } else { Tree::Seq(items, flow) })
    })
}

/// Appends a value that follows `key:` or `-`, with what ends its line.
fn put(tree: &Tree, depth: usize, flow: bool, out: &mut String) {
    let indent = "  ".repeat(depth);
    match tree {
        Tree::Scalar(text, style) => write_scalar(text, *style, &indent, flow, out),
        Tree::Seq(items, own) if flow || *own => {
            out.push_str(" [");
            for item in items {
                put(item, depth, true, out);
                out.push(',');
            }
            out.push(']');
        }
        Tree::Map(items, own) if flow || *own => {
            out.push_str(" {");
            for (at, item) in items.iter().enumerate() {
                let _ = write!(out, "k{at}:");
                put(item, depth, true, out);
                out.push_str(", ");
            }
            out.push('}');
        }
        Tree::Seq(items, _) => {
            for item in items {
                let _ = write!(out, "\n{indent}-");
                put(item, depth + 1, false, out);
            }
        }
        Tree::Map(items, _) => {
            for (at, item) in items.iter().enumerate() {
                let _ = write!(out, "\n{indent}# comment {at}\n{indent}k{at}:");
                put(item, depth + 1, false, out);
            }
        }
    }
}

fn write_scalar(text: &str, style: Style, indent: &str, flow: bool, out: &mut String) {
    let lines = text.replace(' ', &format!("\n{indent}  "));
    let written = match style {
        Style::Literal if !flow => format!(" |-\n{indent}  {lines}"),
        Style::Folded if !flow => format!(" >-\n{indent}  {lines}"),
        Style::Single => format!(" '{lines}''s'"),
        Style::Double => format!(" \"{text}\\t\\u00e9\""),
        _ => format!(" x{text}"),
    };
    out.push_str(&written);
}

fn scalars<'tree>(node: &'tree Node, found: &mut Vec<&'tree Node>) {
    match &node.value {
        Value::Scalar(_) => found.push(node),
        Value::Seq(items) => items.iter().for_each(|item| scalars(item, found)),
        Value::Map(map) => map.iter().for_each(|entry| scalars(&entry.value, found)),
    }
}

/// Every range is one of the text, and children lie inside of their parents where nothing is aliased.
fn check_ranges(text: &str, node: &Node) {
    let own = node.span.start as usize..node.span.end as usize;
    assert!(text.get(own.clone()).is_some(), "{own:?} of {}", text.len());
    let children: Vec<&Node> = match &node.value {
        Value::Scalar(_) => Vec::new(),
        Value::Seq(items) => items.iter().collect(),
        Value::Map(map) => map.iter().map(|entry| &entry.value).collect(),
    };
    for child in children {
        if !text.contains('*') {
            assert!(own.start <= child.span.start as usize && child.span.end as usize <= own.end, "{node:?}");
        }
        check_ranges(text, child);
    }
}

proptest! {
    #[test]
    fn the_place_of_a_scalar_reads_back_as_the_scalar(tree in tree()) {
        let mut text = "root:".to_owned();
        put(&tree, 1, false, &mut text);
        text.push('\n');
        let documents = parse(FileId(0), &text, Limits::default());
        prop_assert_eq!(documents.len(), 1);
        prop_assert!(documents[0].problems.is_empty(), "{:?} in\n{}", documents[0].problems, text);
        let root = documents[0].root.as_ref().unwrap();
        check_ranges(&text, root);
        let mut found = Vec::new();
        scalars(root, &mut found);
        for node in found {
            let slice = &text[node.span.start as usize..node.span.end as usize];
            let again = parse(FileId(0), slice, Limits::default());
            prop_assert_eq!(again[0].root.as_ref(), Some(node), "{:?} in\n{}", slice, &text);
        }
    }

    #[test]
    fn no_text_is_a_reason_to_panic(text in "([a-z:\\-\\[\\]{}&*!|>'\"%@`#,?~<. \t\r\n\u{feff}é]|--- |\n- |: ){0,80}") {
        for document in parse(FileId(0), &text, Limits::default()) {
            document.root.iter().for_each(|root| check_ranges(&text, root));
        }
    }
}
