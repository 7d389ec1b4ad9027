//! SARIF 2.1.0, for code scanning. The structs are the part of the standard that is used here.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use check::rules::Rule;
use check::{Finding, Fingerprint, Report, Severity, rules};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::clean::clean;
use crate::json::TOOL;
use crate::merge::{Merged, merge};
use crate::place::Place;
use crate::sources::Sources;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const VERSION: &str = "2.1.0";
const HOME: &str = env!("CARGO_PKG_REPOSITORY");
/// Paths start at the root of the sources, wherever that is.
const ROOT: &str = "%SRCROOT%";
/// The name of our fingerprints; the number is raised when they are made in another way.
const FINGERPRINT: &str = "coldstart/v1";

/// The whole report, as one JSON object with a line end. `prefix` stands before every path.
pub fn report(
    report: &Report,
    sources: &impl Sources,
    min_severity: Severity,
    prefix: &str,
) -> Result<String, serde_json::Error> {
    let merged = merge(&report.findings);
    let mut seen = BTreeMap::new();
    let wanted = merged.iter().filter(|one| one.finding.severity >= min_severity);
    let results = wanted.map(|one| result(one, sources, prefix, &mut seen)).collect();
    let driver = Driver {
        name: TOOL,
        semantic_version: env!("CARGO_PKG_VERSION"),
        information_uri: HOME,
        rules: rules::all().iter().map(describe).collect(),
    };
    let run = Run { tool: Tool { driver }, column_kind: "unicodeCodePoints", results };
    Ok(serde_json::to_string_pretty(&Log { schema: SCHEMA, version: VERSION, runs: [run] })? + "\n")
}

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool,
    column_kind: &'static str,
    results: Vec<Outcome<'a>>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    information_uri: &'static str,
    rules: Vec<Descriptor>,
}

/// A rule and its manual.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: &'static str,
    short_description: Message,
    full_description: Message,
    help: Message,
    help_uri: String,
}

#[derive(Serialize)]
struct Message {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    markdown: Option<String>,
}

/// A `result` of the standard.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Message,
    locations: Vec<Spot>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Spot>,
    partial_fingerprints: BTreeMap<&'static str, String>,
    properties: Properties<'a>,
}

/// A `location` of the standard.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Spot {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: Physical,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<Logical>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Artifact {
    uri: String,
    uri_base_id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Logical {
    fully_qualified_name: String,
    kind: &'static str,
}

/// What the standard has no field for.
#[derive(Serialize)]
struct Properties<'a> {
    clusters: &'a [&'a str],
    severity: &'static str,
    verdict: Option<&'static str>,
    consequence: Option<&'static str>,
    cost_seconds: Option<u64>,
}

fn describe(rule: &Rule) -> Descriptor {
    let manual = rule.manual();
    let help_uri = format!("{HOME}/blob/main/docs/rules/{}.md", rule.id);
    let help = Message { text: manual.clone(), markdown: Some(manual) };
    let full_description = plain(&format!("{}: {}", rule.id, rule.summary));
    Descriptor { id: rule.id, short_description: plain(rule.summary), full_description, help, help_uri }
}

fn result<'a>(
    one: &'a Merged<'_>,
    sources: &impl Sources,
    prefix: &str,
    seen: &mut BTreeMap<String, usize>,
) -> Outcome<'a> {
    let finding = one.finding;
    let (primary, related) = places(finding, sources, prefix);
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Pedantic => "note",
    };
    Outcome {
        rule_id: finding.rule,
        rule_index: rules::all().iter().position(|rule| rule.id == finding.rule).unwrap_or_default(),
        level,
        message: plain(&body(finding)),
        locations: vec![primary],
        related_locations: related,
        partial_fingerprints: BTreeMap::from([(FINGERPRINT, fingerprint(finding, sources, seen))]),
        properties: Properties {
            clusters: &one.clusters,
            severity: finding.severity.word(),
            verdict: finding.verdict.map(graph::Verdict::word),
            consequence: finding.consequence.map(graph::Consequence::word),
            cost_seconds: finding.consequence.and_then(graph::Consequence::cost_seconds),
        },
    }
}

/// There is always a primary place: consumers refuse a whole log for one result without.
fn places(finding: &Finding, sources: &impl Sources, prefix: &str) -> (Spot, Vec<Spot>) {
    let name = format!("{}/{}", finding.cluster, finding.component);
    let logical = || vec![Logical { fully_qualified_name: clean(&name).into_owned(), kind: "resource" }];
    let Some((first, rest)) = Place::first(finding, sources, prefix) else {
        let artifact_location = artifact(&format!("{prefix}{}", finding.cluster));
        let physical_location = Physical { artifact_location, region: None };
        return (Spot { id: None, physical_location, message: None, logical_locations: logical() }, Vec::new());
    };
    let primary = Spot { logical_locations: logical(), ..spot(&first) };
    let related = rest.iter().filter_map(|location| {
        let label = clean(&location.label);
        let text = if label.is_empty() { location.role.word() } else { &*label };
        Some(Spot { message: Some(plain(text)), ..spot(&Place::of(location, sources, prefix)?) })
    });
    (primary, related.zip(1..).map(|(related, id)| Spot { id: Some(id), ..related }).collect())
}

fn spot(place: &Place) -> Spot {
    let region = Region {
        start_line: place.line,
        start_column: place.column,
        end_line: place.end_line,
        end_column: place.end_column,
    };
    let physical_location = Physical { artifact_location: artifact(&place.path), region: Some(region) };
    Spot { id: None, physical_location, message: None, logical_locations: Vec::new() }
}

fn artifact(path: &str) -> Artifact {
    Artifact { uri: relative_uri(path), uri_base_id: ROOT }
}

/// A path as a relative reference: what is not plain is spelt in hexadecimal.
fn relative_uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn plain(text: &str) -> Message {
    Message { text: text.to_owned(), markdown: None }
}

/// The message, its cost and what to do about it. The standard's own fixes are edits of bytes, which nobody makes here.
fn body(finding: &Finding) -> String {
    let mut text = clean(&finding.message).into_owned();
    if !finding.cost.is_empty() {
        let _ = write!(text, "\ncost: {}", clean(&finding.cost));
    }
    if let Some(fix) = &finding.fix {
        let _ = write!(text, "\nfix: {}", clean(fix));
    }
    for note in &finding.notes {
        let _ = write!(text, "\nnote: {}", clean(note));
    }
    text
}

/// The same for the same fault, whatever happens above it in its file or in other clusters. The second of two that can't
/// be told apart has another than the first.
fn fingerprint(finding: &Finding, sources: &impl Sources, seen: &mut BTreeMap<String, usize>) -> String {
    let path = finding.locations.first().and_then(|primary| sources.path(primary.span.file));
    let of = Fingerprint::at(finding, path);
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    let parts = [of.rule, of.component, optional(&of.provider), optional(&of.capability), of.path];
    let joined = parts.join("\0");
    let number = seen.entry(joined.clone()).or_default();
    *number += 1;
    let digest = Sha256::digest(if *number == 1 { joined } else { format!("{joined}\0{number}") });
    digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::relative_uri;

    #[test]
    fn paths_become_references() {
        assert_eq!(relative_uri("apps/größe #1/ks.yaml"), "apps/gr%C3%B6%C3%9Fe%20%231/ks.yaml");
        assert_eq!(relative_uri("a:b/%41.yaml"), "a%3Ab/%2541.yaml");
    }
}
