//! `crds`: OpenAPI definitions that say, by extension fields, where a custom kind names other objects.

use yaml::{Node, Value};

use crate::config::{BackReference, Config};
use crate::fieldspec::FieldSpec;
use crate::id::Gvk;

/// Definitions may refer to themselves.
const NESTED_MAX: usize = 16;

/// Reads one file: definitions by their names, which end in the kind.
pub(crate) fn read(root: &Node) -> Config {
    let mut config = Config::default();
    for entry in root.entries() {
        let Some(properties) = properties(&entry.value) else { continue };
        if ["kind", "apiVersion", "metadata"].iter().all(|field| properties.get(field).is_some()) {
            let kind = entry.key.rsplit('.').next().unwrap_or_default();
            let gvk = Gvk { kind: kind.into(), ..Gvk::default() };
            visit(root, &entry.value, &gvk, &mut Vec::new(), &mut config);
        }
    }
    config
}

fn properties(definition: &Node) -> Option<&Node> {
    definition.at(&["Schema", "properties"]).or_else(|| definition.at(&["schema", "properties"]))
}

fn visit<'a>(root: &'a Node, definition: &'a Node, gvk: &Gvk, path: &mut Vec<&'a str>, config: &mut Config) {
    if path.len() > NESTED_MAX {
        return;
    }
    for entry in properties(definition).map(Node::entries).unwrap_or_default() {
        let text = |key: &str| entry.value.text_at(&[key]);
        path.push(&entry.key);
        let spec = |path: &[&str]| FieldSpec::new(gvk.clone(), path.join("/"), false);
        if text("x-kubernetes-annotation").is_some() {
            config.common_annotations.push(spec(path));
        }
        if text("x-kubernetes-label-selector").is_some() {
            config.common_labels.push(spec(path));
        }
        if text("x-kubernetes-identity").is_some() {
            config.name_prefix.push(spec(path));
        }
        if let (Some(version), Some(kind)) =
            (text("x-kubernetes-object-ref-api-version"), text("x-kubernetes-object-ref-kind"))
        {
            path.push(text("x-kubernetes-object-ref-name-key").unwrap_or("name"));
            let target = Gvk { version: version.into(), kind: kind.into(), ..Gvk::default() };
            config.name_reference.push(BackReference { target, referrers: vec![spec(path)] });
            path.pop();
        }
        if let Some(Value::Scalar(reference)) = entry.value.get("$ref").map(|node| &node.value)
            && let Some(next) = root.get(&reference.text)
        {
            visit(root, next, gvk, path, config);
        }
        path.pop();
    }
}
