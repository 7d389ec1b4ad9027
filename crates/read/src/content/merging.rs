//! The values of a release and the name of its chart, put together from what the cluster's objects say.

use std::collections::BTreeMap;

use ecow::EcoString;
use model::ObjectRef;
use source::{FileId, Span};
use yaml::{Map, Node, Value};

use crate::flux::{Built, HelmRelease, SOURCE_GROUP, ValuesFrom};
use crate::object::{Object, owned};

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

/// `valuesFrom` in its order, then `values` over it, as helm-controller merges them.
pub(crate) fn merged_values(release: &HelmRelease, config_maps: &BTreeMap<ObjectRef, Node>) -> Option<Node> {
    let mut merged: Option<Node> = None;
    for from in release.values_from.iter().filter(|from| from.kind == "ConfigMap" && from.target_path.is_empty()) {
        let reference = ObjectRef::new("ConfigMap", release.object.namespace.clone(), from.name.clone());
        let text = config_maps.get(&reference).and_then(|map| map.at(&["data"])?.get(&from.key)?.text());
        if let Some(mut values) = text.and_then(|text| yaml::parse_value(FileId::GENERATED, text)) {
            place(&mut values, from.at);
            merged = Some(merged.map_or_else(|| values.clone(), |under| merge(&under, &values)));
        }
    }
    match (&release.values, merged) {
        (Some(values), Some(under)) => Some(merge(&under, values)),
        (Some(values), None) => Some(values.clone()),
        (None, merged) => merged,
    }
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
    let mut merged: Map = under_map.clone();
    for entry in over_map {
        let value = match merged.get(&entry.key) {
            Some(existing) => merge(existing, &entry.value),
            None => entry.value.clone(),
        };
        merged.insert(entry.key.clone(), entry.key_span, value);
    }
    Node::map(merged, over.span)
}
