//! The values of a release and the name of its chart, put together from what the cluster's objects say.

use std::collections::BTreeMap;

use ecow::EcoString;
use foldhash::HashMap;
use model::{BlindSpot, Cause, ObjectRef, Unseen, WhyUnseen};
use source::{FileId, Span};
use yaml::{Budget, Cost, Entry, Map, Node, Spent, Value};

use crate::flux::{Built, HelmRelease, SOURCE_GROUP, ValuesFrom};
use crate::object::{Object, owned};

/// Text is parsed in more time than it is read in.
const PARSED_TIMES: usize = 16;
/// Values are told their place, and put over others.
const PLACED_TIMES: usize = 2;

/// OCIRepository and HelmChart objects, by kind, namespace and name, as (chart name) they carry.
pub(crate) fn chart_sources(objects: &[Built]) -> BTreeMap<ObjectRef, EcoString> {
    let mut sources = BTreeMap::new();
    for built in objects {
        let object = Object::new(&built.node);
        if object.group() == SOURCE_GROUP {
            let chart = match object.kind() {
                "HelmChart" => owned(object.spec("chart")),
                _ => owned(object.spec("url")),
            };
            sources.insert(object.reference(&built.namespace), chart);
        }
    }
    sources
}

/// The chart as it is written: its name, its path, or the address of its artifact.
pub(crate) fn chart_address(release: &HelmRelease, sources: &BTreeMap<ObjectRef, EcoString>) -> EcoString {
    if release.chart.chart.is_empty() {
        let source = release.chart.source.as_ref().map(|source| &source.object);
        let written = source.and_then(|source| sources.get(source)).or_else(|| source.map(|source| &source.name));
        written.cloned().unwrap_or_default()
    } else {
        release.chart.chart.clone()
    }
}

pub(crate) fn config_maps(objects: &[Built]) -> BTreeMap<ObjectRef, Node> {
    let mut found = BTreeMap::new();
    for built in objects {
        let object = Object::new(&built.node);
        if object.kind() == "ConfigMap" && object.group().is_empty() {
            found.insert(object.reference(&built.namespace), built.node.clone());
        }
    }
    found
}

/// `valuesFrom` in its order, then `values` over it, as helm-controller merges them; a blind spot where that takes too much.
pub(crate) fn merged_values(
    release: &HelmRelease,
    config_maps: &BTreeMap<ObjectRef, Node>,
    budget: &mut Budget,
) -> Result<Option<Node>, Box<BlindSpot>> {
    let mut merged: Option<Node> = None;
    let mut last = None;
    // One may be named again and again.
    let mut parsed: BTreeMap<(EcoString, EcoString), Option<Node>> = BTreeMap::new();
    for from in release.values_from.iter().filter(|from| from.kind == "ConfigMap" && from.target_path.is_empty()) {
        let reference = ObjectRef::new("ConfigMap", release.object.namespace.clone(), from.name.clone());
        let text = config_maps.get(&reference).and_then(|map| map.at(&["data"])?.get(&from.key)?.text());
        let key = (from.name.clone(), from.key.clone());
        if !parsed.contains_key(&key) {
            let cost = Cost::read(PARSED_TIMES * text.map_or(0, str::len));
            budget.spend(cost).map_err(|spent| beyond(release, from, spent))?;
            parsed.insert(key.clone(), text.and_then(|text| yaml::parse_value(FileId::GENERATED, text)));
        }
        if let Some(mut values) = parsed.get(&key).cloned().flatten() {
            let under = merged.as_ref().map_or(0, |under| under.entries().len());
            let cost = Cost::of(&values, budget.nodes_left()).times(PLACED_TIMES).and(Cost::seen(under));
            budget.spend(cost).map_err(|spent| beyond(release, from, spent))?;
            place(&mut values, from.at);
            merged = Some(merged.map_or_else(|| values.clone(), |under| merge(&under, &values)));
            last = Some(from);
        }
    }
    if let (Some(from), Some(merged)) = (last, &merged) {
        budget.spend(Cost::of_copy(merged, budget.nodes_left())).map_err(|spent| beyond(release, from, spent))?;
    }
    Ok(match (&release.values, merged) {
        (Some(values), Some(under)) => Some(merge(&under, values)),
        (Some(values), None) => Some(values.clone()),
        (None, merged) => merged,
    })
}

fn beyond(release: &HelmRelease, from: &ValuesFrom, spent: Spent) -> Box<BlindSpot> {
    let (kind, name) = (from.kind.clone(), from.name.clone());
    let what = Unseen::ValuesOf { release: release.object.clone(), kind, name };
    Box::new(BlindSpot { what, why: WhyUnseen::BeyondLimit(Cause::new(spent)), at: from.at, component: None })
}

/// Whether values are for a chart inside of one of the same name: they stand below that name, and what the outer one sets is not known.
pub(crate) fn is_wrapped(chart: &str, values: Option<&Node>) -> bool {
    values.and_then(|values| values.get(chart)).is_some_and(|inner| inner.as_map().is_some())
}

/// What gives a release values that were not read.
pub(crate) fn unseen_values<'r>(release: &'r HelmRelease, maps: &BTreeMap<ObjectRef, Node>) -> Vec<&'r ValuesFrom> {
    let is_seen = |from: &&ValuesFrom| {
        let reference = ObjectRef::new("ConfigMap", release.object.namespace.clone(), from.name.clone());
        from.kind == "ConfigMap"
            && from.target_path.is_empty()
            && maps
                .get(&reference)
                .is_some_and(|map| map.at(&["data"]).is_some_and(|data| data.get(&from.key).is_some()))
    };
    release.values_from.iter().filter(|from| !is_seen(from)).collect()
}

/// Values that came as text inside of another object have no place of their own: they point to where they are named.
pub(crate) fn place(node: &mut Node, at: Span) {
    node.span = at;
    match &mut node.value {
        Value::Map(map) => map.iter_mut().for_each(|entry| {
            entry.key_span = at;
            place(&mut entry.value, at);
        }),
        Value::Seq(items) => items.make_mut().iter_mut().for_each(|item| place(item, at)),
        Value::Scalar(_) => {}
    }
}

/// One tree of values over another, as Helm merges them.
pub(crate) fn merge(under: &Node, over: &Node) -> Node {
    let (Some(under_map), Some(over_map)) = (under.as_map(), over.as_map()) else { return over.clone() };
    let known: HashMap<&str, &Node> = under_map.iter().map(|entry| (entry.key.as_str(), &entry.value)).collect();
    let merged_entry = |entry: &Entry| {
        let existing = known.get(entry.key.as_str());
        let value = existing.map_or_else(|| entry.value.clone(), |existing| merge(existing, &entry.value));
        Entry { value, ..entry.clone() }
    };
    let mut merged: Map = under_map.clone();
    merged.insert_all(over_map.iter().map(merged_entry));
    Node::map(merged, over.span)
}
