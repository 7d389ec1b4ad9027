//! The new Kustomization, written as the one that it comes from.

use diagnostic::Unedited;
use ecow::EcoString;
use source::Span;
use yaml::Node;

use super::plan::Plan;
use crate::house::House;
use crate::text::item::{Field, Items, Manner, NewItem};
use crate::text::value::{Quotes, Value, text as written_text};
use crate::text::{Edit, Text, lines};

/// The lists of what is waited for, and how it is judged.
pub(super) const CHECKS: [&str; 2] = ["healthChecks", "healthCheckExprs"];

/// What it waits for, as an item of `dependsOn`.
pub(super) struct Awaited<'a> {
    pub(super) name: &'a str,
    /// Where it is not in the namespace of the new one.
    pub(super) namespace: Option<&'a str>,
    /// Whether nothing that the old one waits for waits for it anyway.
    pub(super) is_needed: bool,
    /// Whether the new one need not wait for what an item of the old `dependsOn` names: what it waits for does.
    pub(super) is_implied: &'a dyn Fn(&Node) -> bool,
}

/// The text of the new document. `own` is the one that it is made of, in `text`.
pub(super) fn document(
    text: &Text,
    own: &Node,
    house: &House,
    plan: &Plan,
    on: &Awaited<'_>,
) -> Result<String, Unedited> {
    let start = lines::start(text.text(), own.span.start as usize);
    let end = own.entries().last().map(|entry| text.end_of(entry)).ok_or(Unedited::Unexpected)?;
    let slice = text.text().get(start..end).ok_or(Unedited::Unexpected)?;
    let mut copy = Text::new(own.span.file, slice.to_owned());
    set(&mut copy, &["metadata", "name"], |_| plan.new.name.to_string())?;
    set(&mut copy, &["spec", "path"], |old| like(old, &plan.directory))?;
    for list in CHECKS {
        copy.retain_items(0, list, |item| is_of(item, &plan.kinds))?;
    }
    copy.retain_items(0, "patches", |item| item.at(&["target", "kind"]).is_none() || is_of_target(item, &plan.kinds))?;
    copy.retain_items(0, "dependsOn", |item| !(on.is_implied)(item))?;
    if on.is_needed {
        depend(&mut copy, house, on)?;
    }
    if let (Some(namespace), super::plan::How::Unlist(_)) = (&plan.namespace, &plan.how) {
        add(&mut copy, house, "targetNamespace", &written_text(namespace, Quotes::None))?;
    }
    is_meant(&copy, plan, on).then(|| copy.text().to_owned()).ok_or(Unedited::Unexpected)
}

/// Whether a patch is for one of these kinds.
fn is_of_target(patch: &Node, kinds: &[EcoString]) -> bool {
    patch.get("target").is_some_and(|target| is_of(target, kinds))
}

/// Whether an item is about one of these kinds.
pub(super) fn is_of(item: &Node, kinds: &[EcoString]) -> bool {
    item.text_at(&["kind"]).is_some_and(|kind| kinds.iter().any(|it| it == kind))
}

/// A path as another one is written.
fn like(old: &str, path: &str) -> String {
    let (head, tail) = (
        if old.starts_with("./") {
            "./"
        } else if old.starts_with('/') {
            "/"
        } else {
            ""
        },
        old.ends_with('/'),
    );
    format!("{head}{path}{}", if tail { "/" } else { "" })
}

fn root(text: &Text) -> Result<&Node, Unedited> {
    text.roots().next().ok_or(Unedited::Unexpected)
}

/// Puts another scalar in the place of one.
fn set(text: &mut Text, path: &[&str], new: impl FnOnce(&str) -> String) -> Result<(), Unedited> {
    let node = root(text)?.at(path).filter(|node| node.as_scalar().is_some()).ok_or(Unedited::Unexpected)?;
    let written = text.text().get(node.span.start as usize..node.span.end as usize).unwrap_or_default();
    let value = node.text().unwrap_or_default();
    // What an alias stands for is elsewhere.
    let is_here = !written.is_empty() && !written.contains('\n') && root(text)?.span.start <= node.span.start;
    if !is_here {
        return Err(Unedited::Anchor);
    }
    let edit = Edit::replace(node.span, written_text(&new(value), Quotes::of(written)).flow(false));
    text.apply_any(vec![edit])
}

/// One more field of the spec.
fn add(text: &mut Text, house: &House, key: &str, value: &Value) -> Result<(), Unedited> {
    let tree = root(text)?.clone();
    let spec = tree.get("spec").ok_or(Unedited::Unexpected)?;
    if spec.get(key).is_some() {
        return Ok(());
    }
    let keys: Vec<&str> = spec.entries().iter().map(|entry| entry.key.as_str()).collect();
    let position = house.position("Kustomization", &keys, key);
    let edit = text.new_entry(spec, position, key, value, house.indents(&tree, text.text()))?;
    text.apply_any(vec![edit])
}

/// One more item of `dependsOn`, which may not be there yet.
fn depend(text: &mut Text, house: &House, on: &Awaited<'_>) -> Result<(), Unedited> {
    let mut fields = vec![("name", Field::Name(on.name.to_owned()))];
    fields.extend(on.namespace.map(|namespace| ("namespace", Field::Name(namespace.to_owned()))));
    let item = NewItem::Fields(fields);
    let tree = root(text)?.clone();
    let Some(entry) = tree.get("spec").and_then(Node::as_map).and_then(|spec| spec.entry("dependsOn")) else {
        let value = Value::List(vec![item.value(&Manner::quoted(house.quotes()))]);
        return add(text, house, "dependsOn", &value);
    };
    let items = Items { key: Some(entry.key_span), list: &entry.value };
    let edit = text.new_item(items, &item, house.indents(&tree, text.text()))?;
    text.apply_any(vec![edit])
}

/// Whether it says what it is to say.
fn is_meant(copy: &Text, plan: &Plan, on: &Awaited<'_>) -> bool {
    let mut roots = copy.roots();
    let (Some(root), None) = (roots.next(), roots.next()) else { return false };
    let dependencies = root.at(&["spec", "dependsOn"]).and_then(Node::as_seq).unwrap_or_default();
    let is_it = |item: &Node| item.text_at(&["name"]) == Some(on.name) && item.text_at(&["namespace"]) == on.namespace;
    let (awaited, others): (Vec<&Node>, Vec<&Node>) = dependencies.iter().partition(|item| is_it(item));
    let path = root.text_at(&["spec", "path"]).map(repository::path::within);
    root.text_at(&["metadata", "name"]) == Some(&plan.new.name)
        && path.as_ref() == Some(&plan.directory)
        && awaited.len() == usize::from(on.is_needed)
        && !others.into_iter().any(on.is_implied)
}

/// The line for editors that stands right above a document.
pub(super) fn for_editors(text: &str, own: Span) -> Option<&str> {
    let start = lines::start(text, own.start as usize);
    let above = start.checked_sub(1).map(|end| lines::around(text, end))?;
    above.starts_with("# yaml-language-server").then_some(above)
}
