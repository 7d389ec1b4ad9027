//! `vars`: the old way to copy a value of one object to where `$(NAME)` stands in others.

use foldhash::{HashMap, HashMapExt as _};

use ecow::EcoString;
use source::Span;
use yaml::{Budget, Cost, Node, ScalarKind, Spent, Value};

use crate::accumulate::Accumulated;
use crate::builder::Builder;
use crate::error::BuildError;
use crate::fieldpath::FieldPath;
use crate::fieldspec::{Create, FieldError};
use crate::id::{Gvk, Id, effective_namespace};
use crate::resources::Resources;

impl Builder<'_> {
    /// Marks the objects that the vars of one kustomization mean: later they may be called otherwise.
    pub(crate) fn add_vars(&mut self, accumulated: &mut Accumulated, vars: &[Node]) {
        for var in vars {
            let name = var.text_at(&["name"]).unwrap_or_default();
            match objects_of(&mut accumulated.resources, var).as_slice() {
                [] => {}
                [at] => accumulated.resources.content_mut(*at).vars.push(name.into()),
                _ => self.fail(BuildError::AmbiguousVar { name: name.to_owned() }, var.span),
            }
            self.add_var(accumulated, var.clone());
        }
    }

    pub(crate) fn add_var(&mut self, accumulated: &mut Accumulated, var: Node) {
        if !self.affords(Cost::made(1, 0).and(Cost::seen(accumulated.vars.len())), var.span) {
            return;
        }
        let same_name = |known: &Node| known.get("name") == var.get("name");
        if accumulated.vars.iter().any(same_name) {
            let name = var.text_at(&["name"]).unwrap_or_default().to_owned();
            self.fail(BuildError::DoubledVar { name }, var.span);
        } else {
            accumulated.vars.push(var);
        }
    }

    pub(crate) fn resolve_vars(&mut self, accumulated: &mut Accumulated) {
        if accumulated.vars.is_empty() {
            return;
        }
        let mut values = HashMap::new();
        for var in &accumulated.vars {
            if !self.affords(Cost::seen(accumulated.resources.len()), var.span) {
                return;
            }
            let name = var.text_at(&["name"]).unwrap_or_default();
            match value_of(&accumulated.resources, var, name) {
                Some(value) => {
                    values.insert(EcoString::from(name), value);
                }
                None => self.fail(BuildError::EmptyVar { name: name.to_owned() }, var.span),
            }
        }
        let config = std::sync::Arc::clone(&accumulated.config);
        for spec in &config.var_reference {
            if !self.affords(Cost::seen(accumulated.resources.len()), Span::GENERATED) {
                return;
            }
            for at in 0..accumulated.resources.len() {
                let resource = accumulated.resources.content_mut(at);
                if !spec.any(&resource.node, &mut has_var) {
                    continue;
                }
                let span = resource.node.span;
                // A plain value in the way of a var's field leaves the field as it is.
                let budget = &mut self.budget;
                let done = spec.apply(&resource.gvk, &mut resource.node, Create::Nothing, span, &mut |node| {
                    Ok(expand_field(node, &values, budget)?)
                });
                if let Err(FieldError::Spent(spent)) = done {
                    self.exhaust(spent, span);
                    return;
                }
            }
        }
    }
}

/// The objects that a var could mean, by any name they have or had.
fn objects_of(resources: &mut Resources, var: &Node) -> Vec<usize> {
    let text = |path: &[&str]| var.text_at(path).unwrap_or_default();
    let kind = text(&["objref", "kind"]);
    let gvk = match text(&["objref", "apiVersion"]) {
        "" => {
            let field = |key| EcoString::from(text(&["objref", key]));
            Gvk { group: field("group"), version: field("version"), kind: kind.into() }
        }
        api_version => Gvk::new(api_version, kind),
    };
    let namespace = EcoString::from(text(&["objref", "namespace"]));
    let exact = !namespace.is_empty() || gvk.is_cluster_scoped();
    let id = Id { namespace: effective_namespace(&gvk, &namespace), name: text(&["objref", "name"]).into(), gvk };
    if exact {
        return resources.with_id(&id);
    }
    let places = resources.named(&id.name).to_vec();
    let fits = |at: &usize| {
        let resource = resources.get(*at);
        let ids = resource.previous.iter().map(|previous| (&previous.kind, &previous.name));
        (resource.gvk.group == id.gvk.group && resource.gvk.version == id.gvk.version)
            && ids.chain([(&resource.gvk.kind, &resource.name)]).any(|is| is == (&id.gvk.kind, &id.name))
    };
    places.into_iter().filter(fits).collect()
}

fn value_of(resources: &Resources, var: &Node, name: &str) -> Option<Node> {
    let object = resources.iter().find(|resource| resource.vars.iter().any(|known| known == name))?;
    let reference = var.get("fieldref");
    let path = reference.and_then(|reference| reference.get("fieldpath").or_else(|| reference.get("fieldPath")));
    let path = path.and_then(Node::text).unwrap_or("metadata.name");
    // Indices are written behind the field's name here: `ports[0].port`.
    let path = path.replace("].", ".").replace(['[', ']'], ".");
    FieldPath::parse(path.trim_end_matches('.')).ok()?.get(&object.node).cloned()
}

fn has_var(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(scalar) => scalar.text.contains("$("),
        Value::Map(map) => map.iter().any(|entry| has_var(&entry.value)),
        Value::Seq(items) => items.iter().any(has_var),
    }
}

fn expand_field(node: &mut Node, values: &HashMap<EcoString, Node>, budget: &mut Budget) -> Result<(), Spent> {
    match &mut node.value {
        Value::Scalar(_) => expand(node, values, budget),
        Value::Map(map) => map.iter_mut().try_for_each(|entry| expand(&mut entry.value, values, budget)),
        Value::Seq(items) => items.make_mut().iter_mut().try_for_each(|item| expand(item, values, budget)),
    }
}

/// A field that is nothing but a var becomes its value, of whatever type; else texts are put together.
fn expand(node: &mut Node, values: &HashMap<EcoString, Node>, budget: &mut Budget) -> Result<(), Spent> {
    let Value::Scalar(scalar) = &mut node.value else { return Ok(()) };
    if scalar.kind != ScalarKind::Str || !scalar.text.contains("$(") {
        return Ok(());
    }
    budget.spend(Cost::made(1, scalar.text.len()))?;
    let whole = scalar.text.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
    if let Some(value) = whole.and_then(|name| values.get(name)).filter(|value| value.as_scalar().is_some()) {
        *node = value.clone();
        return Ok(());
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
                let unknown = || &rest[at..rest.len() - after.len()];
                let value = values.get(name).and_then(Node::text).unwrap_or_else(unknown);
                budget.spend(Cost::made(0, value.len()))?;
                out.push_str(value);
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
    Ok(())
}
