//! How a repository writes things: where a key stands among others, how far a list is indented, whether a name has quotes.
//!
//! Counted over all objects of Flux that it has, once, when the first edit asks.

use std::collections::BTreeMap;

use read::Repository;
use source::Source;
use yaml::{Entry, Node, Value};

use crate::text::lines;
use crate::text::value::{Indents, Quotes};

/// Kinds whose specs are looked at.
const KINDS: [&str; 3] = ["Kustomization", "HelmRelease", "ResourceSet"];
/// The list by which a repository shows how it writes lists.
const SHOWN_BY: &str = "dependsOn";

/// What a repository does most of the time.
#[derive(Debug, Default)]
pub(crate) struct House {
    /// For a kind and two of its keys: how often the first stands before the second.
    orders: BTreeMap<(String, String, String), usize>,
    /// Columns between a key and the dashes of its list, each with its number.
    dashes: BTreeMap<usize, usize>,
    quotes: [usize; 3],
    /// Items of `dependsOn` that name a namespace, and all.
    namespaces: (usize, usize),
}

impl House {
    pub(crate) fn of(repository: &Repository) -> Self {
        let mut house = Self::default();
        for (file, _, documents) in repository.yaml_files() {
            for root in documents.iter().filter_map(|document| document.root.as_ref()) {
                let kind = root.text_at(&["kind"]).filter(|kind| KINDS.contains(kind));
                let is_flux = root.text_at(&["apiVersion"]).is_some_and(|version| version.contains("fluxcd"));
                if let (Some(kind), true, Some(spec)) = (kind, is_flux, root.get("spec")) {
                    house.add(kind, spec.entries());
                    house.add_list(spec, repository.source(file).map(Source::text).unwrap_or_default());
                }
            }
        }
        house
    }

    fn add(&mut self, kind: &str, entries: &[Entry]) {
        let mut keys: Vec<(u32, &str)> =
            entries.iter().map(|entry| (entry.key_span.start, entry.key.as_str())).collect();
        keys.sort_unstable();
        for (at, (_, one)) in keys.iter().enumerate() {
            for (_, other) in &keys[at + 1..] {
                *self.orders.entry((kind.to_owned(), (*one).to_owned(), (*other).to_owned())).or_default() += 1;
            }
        }
    }

    fn add_list(&mut self, spec: &Node, text: &str) {
        let Some(entry) = spec.as_map().and_then(|map| map.entry(SHOWN_BY)) else { return };
        if let Some(columns) = dash_columns(entry, text) {
            *self.dashes.entry(columns).or_default() += 1;
        }
        for item in entry.value.as_seq().unwrap_or_default() {
            self.namespaces.1 += 1;
            self.namespaces.0 += usize::from(item.get("namespace").is_some());
            let name = item.get("name").and_then(|name| text.get(name.span.start as usize..name.span.end as usize));
            match Quotes::of(name.unwrap_or_default()) {
                Quotes::None => self.quotes[0] += 1,
                Quotes::Single => self.quotes[1] += 1,
                Quotes::Double => self.quotes[2] += 1,
            }
        }
    }

    /// Behind how many of these keys a new one goes: where it stands in most other objects of the kind.
    pub(crate) fn position(&self, kind: &str, keys: &[&str], new: &str) -> usize {
        let before = |one: &str, other: &str| {
            self.orders.get(&(kind.to_owned(), one.to_owned(), other.to_owned())).copied().unwrap_or_default()
        };
        let is_known = keys.iter().any(|key| before(key, new) + before(new, key) > 0);
        if !is_known {
            return usual_position(keys, new);
        }
        let against = |position: usize| {
            let (above, below) = keys.split_at(position);
            let above: usize = above.iter().map(|key| before(new, key)).sum();
            above + below.iter().map(|key| before(key, new)).sum::<usize>()
        };
        (0..=keys.len()).min_by_key(|position| against(*position)).unwrap_or(keys.len())
    }

    /// The quotes of names, where there is no neighbour to look at.
    pub(crate) fn quotes(&self) -> Quotes {
        let [none, single, double] = self.quotes;
        match () {
            () if none >= single.max(double) => Quotes::None,
            () if single > double => Quotes::Single,
            () => Quotes::Double,
        }
    }

    /// Whether nearly every dependency names its namespace, needed or not.
    pub(crate) fn names_namespaces(&self) -> bool {
        const ITEMS_MIN: usize = 5;
        let (with, all) = self.namespaces;
        all >= ITEMS_MIN && with * 20 >= all * 19
    }

    /// How far lines are indented: as elsewhere in this object, else as most lists of the repository are.
    pub(crate) fn indents(&self, root: &Node, text: &str) -> Indents {
        let mut indents = Indents::default();
        if let Some(map) = map_columns(root, text) {
            indents.map = map;
        }
        let most = self.dashes.iter().max_by_key(|(_, number)| **number).map(|(columns, _)| *columns);
        // What no other list has is no custom.
        let own = first_list(root, text).filter(|own| self.dashes.is_empty() || self.dashes.contains_key(own));
        indents.list = own.or(most).unwrap_or(indents.map);
        indents
    }
}

/// Where a key stands of which no other object shows anything.
fn usual_position(keys: &[&str], new: &str) -> usize {
    /// Fewer may be sorted by chance.
    const SORTED_MIN: usize = 4;
    if keys.len() >= SORTED_MIN && keys.is_sorted() {
        return keys.partition_point(|key| *key < new);
    }
    let behind = |beside: &str| keys.iter().position(|key| *key == beside).map(|at| at + 1);
    match new {
        "dependsOn" => 0,
        "retryInterval" => behind("interval").unwrap_or(keys.len()),
        "healthCheckExprs" => behind("healthChecks").unwrap_or(keys.len()),
        "namespace" | "needs" | "wait" => behind("name").filter(|_| new == "namespace").unwrap_or(keys.len()),
        _ => keys.len(),
    }
}

/// Columns between a key and the dashes of its list, where those have lines of their own.
fn dash_columns(entry: &Entry, text: &str) -> Option<usize> {
    let first = entry.value.as_seq()?.first()?;
    let (key, item) = (entry.key_span.start as usize, first.span.start as usize);
    let line = text.get(lines::start(text, item.min(text.len()))..item)?;
    let dash = line.len() - line.trim_start_matches(' ').len();
    let is_dash = line[dash..].trim_end() == "-" && item > key;
    is_dash.then(|| dash.checked_sub(lines::column(text, key))).flatten()
}

fn first_list(node: &Node, text: &str) -> Option<usize> {
    match &node.value {
        Value::Scalar(_) => None,
        Value::Seq(items) => items.iter().find_map(|item| first_list(item, text)),
        Value::Map(map) => {
            map.iter().find_map(|entry| dash_columns(entry, text).or_else(|| first_list(&entry.value, text)))
        }
    }
}

/// Columns between a key and those of the mapping below it.
fn map_columns(root: &Node, text: &str) -> Option<usize> {
    root.entries().iter().find_map(|entry| {
        let first = entry.value.as_map()?.iter().next()?;
        let (outer, inner) = (entry.key_span.start as usize, first.key_span.start as usize);
        let is_below = inner > outer && text.get(outer..inner)?.contains('\n');
        let columns = lines::column(text, inner).checked_sub(lines::column(text, outer))?;
        (is_below && columns > 0).then_some(columns)
    })
}

#[cfg(test)]
mod tests {
    use super::House;

    fn house(specs: &[&[&str]]) -> House {
        let mut house = House::default();
        for keys in specs {
            for (at, one) in keys.iter().enumerate() {
                for other in &keys[at + 1..] {
                    let pair = ("Kustomization".to_owned(), (*one).to_owned(), (*other).to_owned());
                    *house.orders.entry(pair).or_default() += 1;
                }
            }
        }
        house
    }

    #[test]
    fn a_key_stands_where_most_others_have_it() {
        let house = house(&[
            &["targetNamespace", "dependsOn", "path", "prune"],
            &["targetNamespace", "dependsOn", "path", "wait"],
            &["path", "dependsOn"],
        ]);
        assert_eq!(house.position("Kustomization", &["targetNamespace", "path", "prune"], "dependsOn"), 1);
        assert_eq!(house.position("Kustomization", &["path", "prune"], "dependsOn"), 0);
    }

    #[test]
    fn without_others_a_sorted_mapping_stays_sorted() {
        let keys = ["interval", "path", "prune", "sourceRef"];
        assert_eq!(House::default().position("Kustomization", &keys, "retryInterval"), 3);
        assert_eq!(House::default().position("Kustomization", &["path", "interval", "prune"], "retryInterval"), 2);
        assert_eq!(House::default().position("Kustomization", &["path", "interval"], "wait"), 2);
    }
}
