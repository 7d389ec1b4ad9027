//! Which components are made of which files: every node of a built object knows where it is written. Draws no conclusion.

use std::collections::{BTreeMap, BTreeSet};

use model::ObjectRef;
use yaml::{Node, Value};

use crate::rendered::Rendered;
use crate::repository::Repository;

/// By file, the objects that its lines end up in: a component itself, or else what applies the object.
pub fn by_file(
    rendered: &Rendered,
    repository: &Repository,
    components: &BTreeSet<&ObjectRef>,
) -> BTreeMap<String, BTreeSet<ObjectRef>> {
    let mut files: BTreeMap<String, BTreeSet<ObjectRef>> = BTreeMap::new();
    for applier in &rendered.appliers {
        for (object, node) in &applier.objects {
            let of = if components.contains(object) { object } else { &applier.object };
            for path in files_of(node, repository) {
                files.entry(path.to_owned()).or_default().insert(of.clone());
            }
        }
    }
    files
}

fn files_of<'r>(node: &Node, repository: &'r Repository) -> BTreeSet<&'r str> {
    let mut found = BTreeSet::new();
    let mut work = vec![node];
    while let Some(node) = work.pop() {
        found.extend(repository.path(node.span.file));
        match &node.value {
            Value::Map(map) => work.extend(map.iter().map(|entry| &entry.value)),
            Value::Seq(items) => work.extend(items.iter()),
            Value::Scalar(_) => {}
        }
    }
    found
}
