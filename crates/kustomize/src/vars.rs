//! `vars`: the old way to copy a value of one object to where `$(NAME)` stands in others.

use std::collections::HashMap;

use ecow::EcoString;
use yaml::{Node, ScalarKind, Value};

use crate::accumulate::Accumulated;
use crate::builder::Builder;
use crate::fieldpath::FieldPath;
use crate::fieldspec::Create;
use crate::id::Gvk;
use crate::resources::Resources;

impl Builder<'_> {
    pub(crate) fn resolve_vars(&mut self, accumulated: &mut Accumulated) {
        if accumulated.vars.is_empty() {
            return;
        }
        let mut values = HashMap::new();
        for var in &accumulated.vars {
            let name = var.text_at(&["name"]).unwrap_or_default();
            match value_of(&mut accumulated.resources, var) {
                Some(value) => {
                    values.insert(EcoString::from(name), value);
                }
                None => self.fail(format!("the var `{name}` leads to no field of one object"), var.span),
            }
        }
        let config = std::sync::Arc::clone(&accumulated.config);
        for spec in &config.var_reference {
            for at in 0..accumulated.resources.len() {
                let resource = accumulated.resources.content_mut(at);
                if !spec.any(&resource.node, &mut has_var) {
                    continue;
                }
                let span = resource.node.span;
                // A plain value in the way of a var's field leaves the field as it is.
                let _ = spec.apply(&resource.gvk, &mut resource.node, Create::Nothing, span, &mut |node| {
                    expand_field(node, &values);
                    Ok(())
                });
            }
        }
    }
}

fn value_of(resources: &mut Resources, var: &Node) -> Option<Node> {
    let text = |path: &[&str]| var.text_at(path).unwrap_or_default();
    let kind = text(&["objref", "kind"]);
    let gvk = match text(&["objref", "apiVersion"]) {
        "" => {
            let field = |key| EcoString::from(text(&["objref", key]));
            Gvk { group: field("group"), version: field("version"), kind: kind.into() }
        }
        api_version => Gvk::new(api_version, kind),
    };
    let name = text(&["objref", "name"]);
    let namespace = text(&["objref", "namespace"]);
    let places: Vec<usize> = resources.named(name).to_vec();
    let mut found = places.into_iter().filter(|at| {
        let resource = resources.get(*at);
        let kinds = resource.previous.iter().map(|previous| &previous.kind).chain([&resource.gvk.kind]);
        resource.gvk.group == gvk.group
            && resource.gvk.version == gvk.version
            && kinds.into_iter().any(|kind| *kind == gvk.kind)
            && (namespace.is_empty() || resource.original().namespace == namespace || resource.namespace == namespace)
    });
    let (Some(at), None) = (found.next(), found.next()) else { return None };
    let path = Some(text(&["fieldref", "fieldpath"])).filter(|path| !path.is_empty());
    let path = path.or_else(|| var.text_at(&["fieldref", "fieldPath"])).unwrap_or("metadata.name");
    FieldPath::parse(path).ok()?.get(&resources.get(at).node).cloned()
}

fn has_var(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(scalar) => scalar.text.contains("$("),
        Value::Map(map) => map.iter().any(|entry| has_var(&entry.value)),
        Value::Seq(items) => items.iter().any(has_var),
    }
}

fn expand_field(node: &mut Node, values: &HashMap<EcoString, Node>) {
    match &mut node.value {
        Value::Scalar(_) => expand(node, values),
        Value::Map(map) => map.iter_mut().for_each(|entry| expand(&mut entry.value, values)),
        Value::Seq(items) => items.make_mut().iter_mut().for_each(|item| expand(item, values)),
    }
}

/// A field that is nothing but a var becomes its value, of whatever type; else texts are put together.
fn expand(node: &mut Node, values: &HashMap<EcoString, Node>) {
    let Value::Scalar(scalar) = &mut node.value else { return };
    if scalar.kind != ScalarKind::Str || !scalar.text.contains("$(") {
        return;
    }
    let whole = scalar.text.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
    if let Some(value) = whole.and_then(|name| values.get(name)).filter(|value| value.as_scalar().is_some()) {
        *node = value.clone();
        return;
    }
    let mut out = String::new();
    let mut rest = scalar.text.as_str();
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let name = tail.strip_prefix('(').and_then(|inner| inner.split_once(')'));
        rest = match (tail.strip_prefix('$'), name) {
            (Some(after), _) => {
                out.push('$');
                after
            }
            (None, Some((name, after))) => {
                match values.get(name).and_then(Node::text) {
                    Some(value) => out.push_str(value),
                    None => {
                        out.push_str("$(");
                        out.push_str(name);
                        out.push(')');
                    }
                }
                after
            }
            (None, None) => {
                out.push('$');
                tail
            }
        };
    }
    out.push_str(rest);
    scalar.text = out.into();
}
