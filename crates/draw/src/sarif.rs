//! SARIF 2.1.0, for code scanning. The structs are the part of the standard that is used here.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use diagnostic::{Finding, Fingerprint, Report, Rule, Severity};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use source::Sources;

use crate::clean::{clean, clean_json};
use crate::diff;
use crate::edits::{Edits, FileEdits, LineEdit};
use crate::json::TOOL;
use crate::merge::{Merged, merge};
use crate::place::Place;
use crate::say::{self, Said};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const VERSION: &str = "2.1.0";
const HOME: &str = env!("CARGO_PKG_REPOSITORY");
/// Paths start at the root of the sources, wherever that is.
const ROOT: &str = "%SRCROOT%";
/// The name of our fingerprints; the number is raised when they are made in another way.
const FINGERPRINT: &str = "coldstart/v1";

/// The whole report, as one JSON object with a line end. `prefix` stands before every path, `edits` close
/// findings.
pub fn report(
    report: &Report,
    sources: &impl Sources,
    min_severity: Severity,
    prefix: &str,
    edits: &Edits<'_>,
) -> Result<String, serde_json::Error> {
    let merged = merge(&report.findings, sources);
    let mut seen = BTreeMap::new();
    let wanted = merged.iter().filter(|one| one.finding.severity >= min_severity);
    let index = |rule: &Rule| report.rules.iter().position(|known| *known == rule).unwrap_or_default();
    let results = wanted.map(|one| Outcome {
        rule_index: index(one.finding.rule),
        fixes: fixes(one, sources, prefix, edits),
        ..result(one, sources, prefix, &mut seen)
    });
    let results = results.collect();
    let driver = Driver {
        name: TOOL,
        semantic_version: env!("CARGO_PKG_VERSION"),
        information_uri: HOME,
        rules: report.rules.iter().map(|rule| describe(rule)).collect(),
    };
    let run = Run { tool: Tool { driver }, column_kind: "unicodeCodePoints", results };
    Ok(clean_json(serde_json::to_string_pretty(&Log { schema: SCHEMA, version: VERSION, runs: [run] })?) + "\n")
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<FixTwin>,
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

/// A `fix` of the standard.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FixTwin {
    description: Message,
    artifact_changes: Vec<ArtifactChange>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange {
    artifact_location: Artifact,
    replacements: Vec<Replacement>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement {
    deleted_region: Region,
    #[serde(skip_serializing_if = "Option::is_none")]
    inserted_content: Option<Content>,
}

#[derive(Serialize)]
struct Content {
    text: String,
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
    let (primary, related) = places(one, sources, prefix);
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Pedantic => "note",
    };
    Outcome {
        rule_id: finding.rule.id,
        rule_index: 0,
        level,
        message: plain(&body(&one.said)),
        locations: vec![primary],
        related_locations: related,
        fixes: Vec::new(),
        partial_fingerprints: BTreeMap::from([(FINGERPRINT, fingerprint(finding, sources, seen))]),
        properties: Properties {
            clusters: &one.clusters,
            severity: finding.severity.word(),
            verdict: finding.verdict.map(model::Verdict::word),
            consequence: finding.consequence.map(model::Consequence::word),
            cost_seconds: finding.consequence.and_then(model::Consequence::cost_seconds),
        },
    }
}

/// There is always a primary place: consumers refuse a whole log for one result without.
fn places(one: &Merged<'_>, sources: &impl Sources, prefix: &str) -> (Spot, Vec<Spot>) {
    let finding = one.finding;
    let name = format!("{}/{}", finding.cluster, finding.component);
    let logical = || vec![Logical { fully_qualified_name: clean(&name).into_owned(), kind: "resource" }];
    let roles: Vec<&'static str> = finding.places().map(|(role, _)| role).collect();
    let mut found = Place::all(finding, sources, prefix).into_iter();
    let Some((_, first)) = found.next() else {
        let artifact_location = artifact(&format!("{prefix}{}", finding.cluster));
        let physical_location = Physical { artifact_location, region: None };
        return (Spot { id: None, physical_location, message: None, logical_locations: logical() }, Vec::new());
    };
    let primary = Spot { logical_locations: logical(), ..spot(&first) };
    let related = found.zip(1..).map(|((index, place), id)| {
        let label = clean(&one.said.labels[index]);
        let text = if label.is_empty() { roles[index] } else { &*label };
        Spot { id: Some(id), message: Some(plain(text)), ..spot(&place) }
    });
    (primary, related.collect())
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

/// What closes a finding, if anything does: all that has to be edited for it is one fix.
fn fixes(one: &Merged<'_>, sources: &impl Sources, prefix: &str, edits: &Edits<'_>) -> Vec<FixTwin> {
    let repairs = edits.of(one.finding, &one.clusters, sources);
    let files = edits.changed_by(&repairs);
    // The format has no way to say that a file goes.
    if files.is_empty() || files.iter().any(|file| file.is_removed) {
        return Vec::new();
    }
    let artifact_changes = files.iter().map(|file| artifact_change(file, prefix)).collect();
    let said = repairs.iter().filter_map(|at| edits.repair(*at)).map(say::repair_and_risk);
    let description = plain(&clean(&said.collect::<Vec<_>>().join("; ")));
    vec![FixTwin { description, artifact_changes }]
}

fn artifact_change(file: &FileEdits<'_>, prefix: &str) -> ArtifactChange {
    let old = diff::lines(file.before.unwrap_or_default());
    let replacement = |edit: &LineEdit| Replacement {
        deleted_region: lines_region(&old, &edit.old),
        inserted_content: (!edit.replacement.is_empty()).then(|| Content { text: edit.replacement.clone() }),
    };
    let replacements = file.edits.iter().map(replacement).collect();
    ArtifactChange { artifact_location: artifact(&format!("{prefix}{}", file.path)), replacements }
}

/// Whole lines with their ends: up to the beginning of the next line, or of the end of a file whose last line has none.
fn lines_region(old: &[&str], lines: &std::ops::Range<usize>) -> Region {
    let number = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX);
    let (start_line, mut end_line, mut end_column) = (number(lines.start + 1), number(lines.end + 1), 1);
    if let Some(last) = old[lines.clone()].last().filter(|last| !last.ends_with('\n')) {
        (end_line, end_column) = (number(lines.end), number(last.chars().count() + 1));
    }
    Region { start_line, start_column: 1, end_line, end_column }
}

fn plain(text: &str) -> Message {
    Message { text: text.to_owned(), markdown: None }
}

/// The message, its cost and what to do about it.
fn body(said: &Said) -> String {
    let mut text = clean(&said.message).into_owned();
    if !said.cost.is_empty() {
        let _ = write!(text, "\ncost: {}", clean(&said.cost));
    }
    if let Some(fix) = &said.fix {
        let _ = write!(text, "\nfix: {}", clean(fix));
    }
    for note in &said.notes {
        let _ = write!(text, "\nnote: {}", clean(note));
    }
    text
}

/// The same for the same fault, whatever happens above it in its file or in other clusters. The second of two that can't
/// be told apart has another than the first.
fn fingerprint(finding: &Finding, sources: &impl Sources, seen: &mut BTreeMap<String, usize>) -> String {
    let path = finding.primary.at.file().and_then(|file| sources.path(file));
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
    use super::{lines_region, relative_uri};

    #[test]
    fn regions_are_whole_lines_and_end_where_the_file_does() {
        let region = |old: &[&str], lines| {
            let at = lines_region(old, &lines);
            (at.start_line, at.start_column, at.end_line, at.end_column)
        };
        assert_eq!(region(&["a\n", "b\n"], 0..1), (1, 1, 2, 1));
        assert_eq!(region(&["a\n", "b\n"], 1..1), (2, 1, 2, 1));
        assert_eq!(region(&["a\n", "b\n"], 2..2), (3, 1, 3, 1));
        assert_eq!(region(&["a\n", "größe"], 1..2), (2, 1, 2, 6));
        assert_eq!(region(&[], 0..0), (1, 1, 1, 1));
    }

    #[test]
    fn paths_become_references() {
        assert_eq!(relative_uri("apps/größe #1/ks.yaml"), "apps/gr%C3%B6%C3%9Fe%20%231/ks.yaml");
        assert_eq!(relative_uri("a:b/%41.yaml"), "a%3Ab/%2541.yaml");
    }
}
