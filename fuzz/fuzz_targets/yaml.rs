//! Any text is read without a panic, in bounded time, and every node says truly where it came from.
#![no_main]

use libfuzzer_sys::fuzz_target;
use source::{FileId, Source, Span};
use yaml::{Limits, Node, Value, parse};

const FILE: FileId = FileId(7);
/// Small, so that the limits themselves are reached often.
const LIMITS: Limits = Limits { nodes_max: 20_000, depth_max: 60, documents_max: 200 };

fuzz_target!(|text: &str| {
    let source = Source::new(text.to_owned());
    let documents = parse(FILE, text, LIMITS);
    assert!(documents.len() <= LIMITS.documents_max + 1);
    for document in &documents {
        for problem in &document.problems {
            in_file(&source, problem.span);
        }
        if let Some(root) = &document.root {
            let mut budget = LIMITS.nodes_max;
            walk(&source, root, 0, &mut budget);
        }
    }

    let again = parse(FILE, text, LIMITS);
    assert_eq!(documents.len(), again.len());
    for (one, other) in documents.iter().zip(&again) {
        assert_eq!(one.root, other.root, "same input, same tree");
        assert_eq!(one.problems, other.problems, "same input, same problems");
    }
});

fn walk(source: &Source, node: &Node, depth: usize, budget: &mut usize) {
    assert!(depth <= LIMITS.depth_max + 1, "nested deeper than the limit");
    *budget = budget.checked_sub(1).expect("more nodes than the limit");
    in_file(source, node.span);
    match &node.value {
        Value::Scalar(_) => {}
        Value::Seq(items) => items.iter().for_each(|item| walk(source, item, depth + 1, budget)),
        Value::Map(map) => {
            for entry in map.iter() {
                in_file(source, entry.key_span);
                assert!(map.get(&entry.key).is_some(), "a key that can't be looked up");
                walk(source, &entry.value, depth + 1, budget);
            }
        }
    }
}

fn in_file(source: &Source, span: Span) {
    if span.is_generated() {
        return;
    }
    assert_eq!(span.file, FILE);
    assert!(span.start <= span.end, "{span:?} ends before it starts");
    assert!(source.slice(span).is_some(), "{span:?} is no range of the text");
    source.position(span);
}
