//! Any template of a ResourceSet is rendered, or given up, without a panic and in bounded time and space.
#![no_main]

use libfuzzer_sys::fuzz_target;
use read::resource_set::expand;
use source::{FileId, Span};
use yaml::{Node, parse_value};

const SET: &str = "kind: ResourceSet\nspec: {inputs: [{a: {b: [1, x]}, c: d}, {a: e}], resourcesTemplate: x, resources: [y]}";

fuzz_target!(|text: &str| {
    let Some(mut set) = parse_value(FileId(3), SET) else { return };
    let Some(spec) = set.get_mut("spec").and_then(Node::as_map_mut) else { return };
    let span = Span::GENERATED;
    spec.insert("resourcesTemplate", span, Node::string(text, span));
    spec.insert("resources", span, Node::seq(vec![Node::string(text, span)], span));
    let first = expand(&set);
    let again = expand(&set);
    assert_eq!(first.objects, again.objects, "same input, same objects");
    assert_eq!(first.blind, again.blind);
});
