//! Merging lists whose items are told apart by fields: containers by name, ports by number and protocol.
//!
//! The order that comes out, what happens to doubled items, and how items that lack one of two fields are paired follow
//! kustomize step by step, strange as some of it is: names of objects depend on nothing else.

use std::collections::HashSet;

use ecow::EcoString;
use yaml::{Budget, Cost, Node, Value};

use super::strategic::{self, MergeError, walk};
use crate::kinds::{List, Shape};

/// Pairing items by two fields looks at all pairs; longer lists than any real one are left unpaired.
const PAIRED_ITEMS_MAX: usize = 2_000;

/// Items that are looked at in the time of one node.
const ITEMS_OF_NODE: usize = 4;

type Values = Vec<EcoString>;

/// Merges `patch` into `dest`: items of the patch come first, then what is left of the object's own.
pub(super) fn merge(
    mut dest: Vec<Node>,
    patch: Option<&[Node]>,
    list: List,
    budget: &mut Budget,
) -> Result<Vec<Node>, MergeError> {
    let keys = list.keys();
    let primitive = keys.is_empty();
    let keys: &[&str] = if primitive { &[""] } else { keys };
    let mut all = distinct_values(patch.unwrap_or_default(), &dest, keys);
    if all.is_empty() {
        return Ok(dest);
    }
    // Each is looked for among all of both, and put among those that are done.
    let others = dest.len() + patch.map_or(0, <[Node]>::len) + all.len();
    budget.spend(Cost::seen(1 + others / ITEMS_OF_NODE).times(all.len()))?;
    if keys.len() > 1 && all.len() <= PAIRED_ITEMS_MAX {
        pair(&mut all);
    }
    let used = used_keys(&all, keys);
    let mut items = Vec::new();
    for values in &all {
        let values = restrict(values, keys, &used);
        let element = merge_element(&mut dest, patch, &used, &values, list.element(), budget)?;
        match element {
            None => set(&mut dest, None, &used, &values),
            Some(mut element) => {
                if !primitive {
                    restore_keys(&mut element, &used, &values);
                }
                set(&mut items, Some(element), &used, &values);
            }
        }
    }
    Ok(append(items, dest, &used))
}

/// Whether a merge without a patch would change nothing.
pub(super) fn is_settled(items: &[Node], list: List) -> bool {
    let &[key] = list.keys() else { return items.is_empty() };
    let mut seen = HashSet::new();
    items.iter().all(|item| {
        let value = item.get(key).and_then(Node::text).unwrap_or_default();
        !value.is_empty() && seen.insert(value) && strategic::is_settled(item, Some(list.element()))
    })
}

/// The key values of all items, the patch's first, each once.
fn distinct_values(patch: &[Node], dest: &[Node], keys: &[&str]) -> Vec<Values> {
    let mut seen = HashSet::new();
    let values = patch.iter().chain(dest).map(|item| {
        keys.iter().map(|key| if key.is_empty() { scalar_text(item) } else { key_text(item, key) }).collect::<Values>()
    });
    values.filter(|values| seen.insert(values.clone())).collect()
}

fn scalar_text(item: &Node) -> EcoString {
    item.as_scalar().map(|scalar| scalar.text.clone()).unwrap_or_default()
}

fn key_text(item: &Node, key: &str) -> EcoString {
    item.get(key).and_then(Node::as_scalar).map(|scalar| scalar.text.clone()).unwrap_or_default()
}

/// Items that agree in one field and of which one lacks the other are taken for the same item.
fn pair(all: &mut [Values]) {
    for first in 0..all.len() {
        for second in 0..all.len() {
            if let Some(joined) = joined(&all[first], &all[second]) {
                all[first].clone_from(&joined);
                all[second] = joined;
            }
        }
    }
}

fn joined(first: &Values, second: &Values) -> Option<Values> {
    let mut common = false;
    let mut result = Values::with_capacity(first.len());
    for (one, other) in first.iter().zip(second) {
        if one == other {
            common = true;
        } else if !one.is_empty() && !other.is_empty() {
            return None;
        }
        result.push(if one.is_empty() { other.clone() } else { one.clone() });
    }
    common.then_some(result)
}

/// The keys that at least one item has; all of them when none does.
fn used_keys<'a>(all: &[Values], keys: &[&'a str]) -> Vec<&'a str> {
    let has = |at: usize| all.iter().any(|values| !values[at].is_empty());
    let used: Vec<&str> = keys.iter().enumerate().filter(|(at, _)| has(*at)).map(|(_, key)| *key).collect();
    if used.is_empty() { keys.to_vec() } else { used }
}

fn restrict(values: &Values, keys: &[&str], used: &[&str]) -> Values {
    keys.iter().zip(values).filter(|(key, _)| used.contains(key)).map(|(_, value)| value.clone()).collect()
}

/// The item of these key values on both sides, merged. What stays the object's own is also changed where it stands.
fn merge_element(
    dest: &mut [Node],
    patch: Option<&[Node]>,
    keys: &[&str],
    values: &Values,
    shape: Shape,
    budget: &mut Budget,
) -> Result<Option<Node>, MergeError> {
    // An item is looked for by the values it has; by the mere presence of the keys if it has none.
    let known: Vec<(&str, &EcoString)> = keys.iter().copied().zip(values).collect();
    let mut wanted: Vec<(&str, &EcoString)> = known.iter().copied().filter(|(_, value)| !value.is_empty()).collect();
    if wanted.is_empty() {
        wanted = known;
    }
    let own = dest.iter().position(|item| is_element(item, &wanted));
    let patched = patch.and_then(|items| items.iter().find(|item| is_element(item, &wanted)));
    let merged = walk(own.map(|at| dest[at].clone()), patched, Some(shape), budget)?;
    if let (Some(at), true, Some(value)) = (own, merged.in_place, &merged.value) {
        dest[at] = value.clone();
    }
    Ok(merged.value.filter(|value| !is_nothing(value)))
}

fn is_element(item: &Node, wanted: &[(&str, &EcoString)]) -> bool {
    match wanted {
        [("", value)] => item.as_scalar().is_some_and(|scalar| scalar.text == **value),
        _ => item.as_map().is_some() && has_values(item, wanted.iter().copied()),
    }
}

fn has_values<'a>(item: &Node, mut wanted: impl Iterator<Item = (&'a str, &'a EcoString)>) -> bool {
    wanted.all(|(key, value)| match item.get(key) {
        Some(found) => value.is_empty() || key_text(item, key) == *value || found.text() == Some(value),
        None => false,
    })
}

fn is_nothing(node: &Node) -> bool {
    node.is_null() || node.as_map().is_some_and(yaml::Map::is_empty)
}

/// A merged item always names its keys, even if the patch set one to null.
fn restore_keys(element: &mut Node, keys: &[&str], values: &Values) {
    for (key, value) in keys.iter().zip(values) {
        if !value.is_empty() && element.get(key).is_none() {
            let span = element.span;
            if let Value::Map(map) = &mut element.value {
                map.insert(*key, span, Node::plain(value.clone(), span));
            }
        }
    }
}

/// Puts an element in place of every item of these key values, or at the end; takes those items out without one.
fn set(items: &mut Vec<Node>, element: Option<Node>, keys: &[&str], values: &[EcoString]) {
    if values.is_empty() {
        // Without values nothing is found and nothing is kept: so does the real tool with items that lack the key.
        *items = Vec::from_iter(element);
        return;
    }
    let maps_only = keys.first().is_some_and(|key| !key.is_empty()) && values.first().is_some_and(|v| !v.is_empty());
    let mut found = false;
    let mut kept = Vec::with_capacity(items.len() + 1);
    for item in items.drain(..) {
        if is_nothing(&item) {
            continue;
        }
        if item.as_map().is_none() && maps_only {
            kept.push(item);
            continue;
        }
        let wanted: Vec<(&str, &EcoString)> = keys.iter().copied().zip(values).collect();
        if !is_element(&item, &wanted) {
            kept.push(item);
            continue;
        }
        found = true;
        kept.extend(element.clone());
    }
    if !found {
        kept.extend(element);
    }
    *items = kept;
}

/// The merged items, with each of the object's own put back in the place of its key values.
fn append(mut items: Vec<Node>, dest: Vec<Node>, keys: &[&str]) -> Vec<Node> {
    for element in dest {
        if keys == [""] {
            let value = scalar_text(&element);
            set(&mut items, Some(element), keys, &[value]);
            continue;
        }
        let mut values = Values::new();
        for key in keys {
            if element.get(key).is_some() {
                values.push(key_text(&element, key));
            } else {
                items.push(element.clone());
            }
        }
        if keys.len() > 1 {
            set(&mut items, None, keys, &values);
        }
        set(&mut items, Some(element), keys, &values);
    }
    items
}
