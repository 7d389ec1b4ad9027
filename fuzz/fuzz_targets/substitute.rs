//! Any text and any object is substituted, or refused, without a panic and in bounded time and space.
#![no_main]

use libfuzzer_sys::fuzz_target;
use read::substitute::{OUTPUT_BYTES_MAX, is_disabled, substitute, substitute_node};
use source::{FileId, Span};
use yaml::{EcoString, Limits, Node, Value, parse};

const FILE: FileId = FileId(3);

fuzz_target!(|text: &str| {
    let long = EcoString::from("ab/".repeat(500));
    let lookup = |name: &str| -> Option<EcoString> {
        match name {
            "A" | "APP" => Some("paperless".into()),
            "E" => Some(EcoString::new()),
            "L" => Some(long.clone()),
            "N" => Some("0755".into()),
            "S" => Some("[a, {b: \"c\"}]".into()),
            "U" => Some("grüße/日本".into()),
            "V" => Some("${A}$$".into()),
            _ => None,
        }
    };
    if let Ok(done) = substitute(text, &lookup) {
        assert!(done.text.len() <= OUTPUT_BYTES_MAX + text.len() + long.len());
        assert_eq!(substitute(text, &lookup).as_ref(), Ok(&done), "same input, same text");
        if !text.contains(['$', '\0']) {
            assert_eq!(done.text, text, "nothing to replace");
            assert!(done.undefined.is_empty());
        }
    }

    for document in parse(FILE, text, Limits { nodes_max: 5_000, depth_max: 60, documents_max: 50 }) {
        let Some(mut root) = document.root else { continue };
        is_disabled(&root);
        let before = root.clone();
        if let Ok(undefined) = substitute_node(&mut root, &lookup, &mut yaml::Budget::of_build()) {
            for variable in &undefined {
                assert_eq!(variable.span.file, FILE);
            }
            assert!(text.contains('$') || root == before, "an object without variables has changed");
            spans_stay(&root);
        }
    }
});

/// What a variable brought is still at the place that asked for it.
fn spans_stay(node: &Node) {
    assert!(is_ours(node.span));
    match &node.value {
        Value::Scalar(_) => {}
        Value::Seq(items) => items.iter().for_each(spans_stay),
        Value::Map(map) => map.iter().for_each(|entry| {
            assert!(is_ours(entry.key_span));
            spans_stay(&entry.value);
        }),
    }
}

fn is_ours(span: Span) -> bool {
    span.file == FILE
}
