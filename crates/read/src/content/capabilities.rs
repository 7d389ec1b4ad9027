//! Templates of charts in this repository that ask the cluster which APIs it has: `.Capabilities.APIVersions.Has "…"`.
//!
//! Knows one line of a template at a time. Questions that a value switches off, that are turned round by `not`, or that
//! only choose a version (in helper files) are passed over: what they leave out is not lost.

use ecow::EcoString;
use kustomize::Files;
use model::{Capability, CapabilityKind, Purpose};
use source::{FileId, Span};
use yaml::{Node, Value};

use crate::content::collector::{Collector, Needing};
use crate::kinds::is_built_in;
use crate::repository::Repository;

const QUESTION: &str = ".Capabilities.APIVersions.Has";

/// Notes what the templates below `chart` ask for, under these values, which lie over the chart's own.
pub(crate) fn scan(
    collector: &mut Collector,
    repository: &Repository,
    needing: &Needing<'_>,
    chart: &str,
    values: Option<&Node>,
) {
    for (file, api, at) in questions_of(repository, chart, values) {
        if let Some(capability) = capability(collector, api) {
            collector.need(needing, capability, span(file, at, api), Purpose::AskedByTemplates);
        }
    }
}

/// The APIs that the templates below `chart` ask for, as they are written: `group/version` or `group/version/Kind`.
pub(crate) fn apis_asked_for(repository: &Repository, chart: &str, values: Option<&Node>) -> Vec<EcoString> {
    let mut all: Vec<EcoString> =
        questions_of(repository, chart, values).into_iter().map(|(_, api, _)| api.into()).collect();
    all.sort();
    all.dedup();
    all
}

fn questions_of<'r>(repository: &'r Repository, chart: &str, values: Option<&Node>) -> Vec<(FileId, &'r str, usize)> {
    let documents = repository.documents(&format!("{chart}/values.yaml"));
    let defaults = documents.and_then(|(_, documents)| documents.first()?.root.as_ref());
    let merged = match (defaults, values) {
        (Some(under), Some(over)) => Some(crate::content::merge(under, over)),
        (under, over) => over.or(under).cloned(),
    };
    let templates = format!("{chart}/templates/");
    let is_template = |path: &&str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        path.starts_with(&templates)
            && !name.starts_with('_')
            && matches!(name.rsplit('.').next(), Some("yaml" | "yml"))
    };
    let files = repository.paths().filter(is_template).filter_map(|path| repository.id(path));
    let sources = files.filter_map(|file| Some((file, repository.source(file)?)));
    sources
        .flat_map(|(file, source)| {
            questions(source.text(), merged.as_ref()).into_iter().map(move |(api, at)| (file, api, at))
        })
        .collect()
}

/// The APIs that a text asks for, with their places.
fn questions<'t>(text: &'t str, values: Option<&Node>) -> Vec<(&'t str, usize)> {
    let mut found = Vec::new();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        if !line.contains(QUESTION) || !line.contains("if ") || is_turned(line) || !is_switched_on(line, values) {
            continue;
        }
        for (at, _) in line.match_indices(QUESTION) {
            let after = &line[at + QUESTION.len()..];
            let Some((before, rest)) = after.split_once('"') else { continue };
            let Some((api, _)) = rest.split_once('"').filter(|_| before.trim().is_empty()) else { continue };
            found.push((api, start + at + QUESTION.len() + before.len() + 1));
        }
    }
    found
}

/// Whether the line asks for the opposite, or for one of several.
fn is_turned(line: &str) -> bool {
    line.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '{' | '}'))
        .any(|word| matches!(word, "not" | "or"))
}

/// Whether every value that stands on the line is on.
fn is_switched_on(line: &str, values: Option<&Node>) -> bool {
    let mut named = line.match_indices(".Values.").map(|(at, marker)| {
        let rest = &line[at + marker.len()..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_'))).unwrap_or(rest.len());
        &rest[..end]
    });
    named.all(|path| {
        let keys: Vec<&str> = path.split('.').collect();
        values.and_then(|values| values.at(&keys)).is_some_and(is_truthy)
    })
}

fn is_truthy(node: &Node) -> bool {
    match &node.value {
        Value::Map(map) => !map.is_empty(),
        Value::Seq(items) => !items.is_empty(),
        Value::Scalar(scalar) => !matches!(scalar.text.as_str(), "" | "false" | "null" | "~" | "0"),
    }
}

/// `group/version/Kind`, or `group/version` for any kind that somebody offers of the group.
fn capability(collector: &Collector, api: &str) -> Option<Capability> {
    let mut parts = api.split('/');
    let (group, _, kind) = (parts.next()?, parts.next()?, parts.next());
    if is_built_in(group) {
        return None;
    }
    if let Some(kind) = kind {
        return Some(Capability::crd(group, kind));
    }
    let offers = collector.assembled.cluster.offers.iter().map(|offer| &offer.capability);
    let of_group = |capability: &&Capability| {
        capability.kind == CapabilityKind::Crd && capability.name.split('/').next() == Some(group)
    };
    offers.filter(of_group).min().cloned()
}

fn span(file: FileId, at: usize, text: &str) -> Span {
    let start = source::to_u32(at);
    Span::new(file, start, start.saturating_add(u32::try_from(text.len()).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::questions;

    #[test]
    fn a_template_asks_where_nothing_else_decides() {
        let values = yaml::parse_value(source::FileId(0), "{metrics: {enabled: true}, route: {enabled: false}}");
        let asked = |line: &str| questions(line, values.as_ref()).into_iter().map(|(api, _)| api.to_owned()).collect();
        let none: Vec<String> = Vec::new();
        let one: Vec<String> = asked("{{- if .Capabilities.APIVersions.Has \"a.b/v1/C\" }}\n");
        assert_eq!(one, ["a.b/v1/C"]);
        let on: Vec<String> =
            asked("{{- if and .Values.metrics.enabled (.Capabilities.APIVersions.Has \"a.b/v1\") -}}\n");
        assert_eq!(on, ["a.b/v1"]);
        for line in [
            "{{- if and .Values.route.enabled (.Capabilities.APIVersions.Has \"a.b/v1/C\") }}\n",
            "{{- if not (.Capabilities.APIVersions.Has \"a.b/v1/C\") }}\n",
            "{{- if or .Values.force (.Capabilities.APIVersions.Has \"a.b/v1/C\") }}\n",
            "{{- if .Capabilities.APIVersions.Has $api }}\n",
            "# .Capabilities.APIVersions.Has \"a.b/v1/C\"\n",
        ] {
            assert_eq!(asked(line), none, "{line}");
        }
    }
}
