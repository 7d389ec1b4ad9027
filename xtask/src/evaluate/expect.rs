//! What must and what must not be found in known repositories, as rows of a YAML file.
//!
//! ```yaml
//! - tree: owner+name            # the name of the tree's directory, up to an @; `*` for all
//!   must: find                  # or: not-report
//!   why: sonarr needs the store # for people
//!   rules: [missing-dependency] # any of these; absent: any rule
//!   component: sonarr           # NAME, or KIND/NAME; `*` stands for any text; a list means any of them
//!   provider: Kustomization/rook-*
//!   about: sonarr               # either of the two
//!   path: "*/media/sonarr/*"    # of any location of the finding
//!   capability: "*postgresql*"
//!   message: "*sonarr*"
//!   severity: [warning, error]  # any of these; absent: any
//! ```
//! A row is matched by a finding when every column it gives is. `find` wants one such finding, `not-report` none.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use yaml::Node;

const COLUMNS: [&str; 11] =
    ["tree", "must", "why", "rules", "component", "provider", "about", "path", "capability", "message", "severity"];

#[derive(Clone, Debug, Default)]
pub(crate) struct Expectation {
    pub tree: String,
    pub must_find: bool,
    pub why: String,
    rules: Vec<String>,
    component: Vec<String>,
    provider: Vec<String>,
    about: Vec<String>,
    path: Vec<String>,
    capability: Vec<String>,
    message: Vec<String>,
    severity: Vec<String>,
}

pub(crate) fn load(path: &Path) -> Result<Vec<Expectation>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text).with_context(|| format!("cannot read {}", path.display()))
}

fn parse(text: &str) -> Result<Vec<Expectation>> {
    let document = yaml::parse(source::FileId(0), text, yaml::Limits::default()).into_iter().next().unwrap_or_default();
    ensure!(document.problems.is_empty(), "{}", document.problems[0].message);
    let rows = document.root.as_ref().and_then(Node::as_seq).context("not a list of rows")?;
    rows.iter().enumerate().map(|(at, row)| expectation(row).with_context(|| format!("row {}", at + 1))).collect()
}

fn expectation(row: &Node) -> Result<Expectation> {
    let unknown = row.entries().iter().find(|entry| !COLUMNS.contains(&entry.key.as_str()));
    if let Some(entry) = unknown {
        bail!("unknown column {}", entry.key);
    }
    let one = |key: &str| row.text_at(&[key]).map(String::from).with_context(|| format!("no {key}"));
    let must = one("must")?;
    ensure!(must == "find" || must == "not-report", "must: {must} is neither find nor not-report");
    let columns = Expectation {
        tree: one("tree")?,
        must_find: must == "find",
        why: one("why")?,
        rules: any_of(row, "rules"),
        component: any_of(row, "component"),
        provider: any_of(row, "provider"),
        about: any_of(row, "about"),
        path: any_of(row, "path"),
        capability: any_of(row, "capability"),
        message: any_of(row, "message"),
        severity: any_of(row, "severity"),
    };
    Ok(columns)
}

fn any_of(row: &Node, key: &str) -> Vec<String> {
    let Some(node) = row.get(key) else { return Vec::new() };
    let texts = node.as_seq().unwrap_or(std::slice::from_ref(node)).iter().filter_map(Node::text);
    texts.map(String::from).collect()
}

impl Expectation {
    /// Whether this row is about the tree in a directory of this name.
    pub(crate) fn is_about(&self, directory: &str) -> bool {
        glob(&self.tree, directory) || directory.split_once('@').is_some_and(|(name, _)| glob(&self.tree, name))
    }

    pub(crate) fn matches(&self, finding: &Value) -> bool {
        let text = |key: &str| finding.get(key).and_then(Value::as_str).unwrap_or_default();
        let locations = finding.get("locations").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut paths = locations.iter().filter_map(|location| location.get("path")?.as_str());
        meets(&self.rules, text("rule"))
            && meets(&self.severity, text("severity"))
            && meets(&self.capability, text("capability"))
            && meets(&self.message, text("message"))
            && meets_reference(&self.component, finding.get("component"))
            && meets_reference(&self.provider, finding.get("provider"))
            && ["component", "provider"].iter().any(|side| meets_reference(&self.about, finding.get(side)))
            && (self.path.is_empty() || paths.any(|path| meets(&self.path, path)))
    }

    /// The columns that select, for the report.
    pub(crate) fn describe(&self) -> String {
        let or =
            |texts: &[String], fallback: &str| if texts.is_empty() { fallback.to_owned() } else { texts.join("|") };
        let mut text = format!("{} → {} [{}]", or(&self.component, "*"), or(&self.provider, "*"), or(&self.rules, "*"));
        let columns = [
            ("about", &self.about),
            ("path", &self.path),
            ("capability", &self.capability),
            ("message", &self.message),
            ("severity", &self.severity),
        ];
        for (key, texts) in columns {
            if !texts.is_empty() {
                text = format!("{text} {key}={}", texts.join("|"));
            }
        }
        text
    }
}

fn meets(patterns: &[String], text: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|pattern| glob(pattern, text))
}

fn meets_reference(patterns: &[String], reference: Option<&Value>) -> bool {
    let text = |key: &str| reference.and_then(|it| it.get(key)).and_then(Value::as_str).unwrap_or_default();
    let one = |pattern: &String| match pattern.split_once('/') {
        Some((kind, name)) => glob(kind, text("kind")) && glob(name, text("name")),
        None => glob(pattern, text("name")),
    };
    patterns.is_empty() || patterns.iter().any(one)
}

/// `*` stands for any text, also none.
fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, tail)) => text.strip_prefix(head).is_some_and(|rest| {
            rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| glob(tail, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn globs() {
        assert!(glob("rook-*", "rook-ceph"));
        assert!(glob("*/media/*", "apps/media/ks.yaml"));
        assert!(glob("*", ""));
        assert!(!glob("rook", "rook-ceph"));
        assert!(!glob("*/media/*", "apps/network/ks.yaml"));
    }

    #[test]
    fn a_row_selects_by_every_column_it_gives() {
        let rows = "\
- tree: o+n
  must: find
  why: x
  rules: [missing-dependency, ungated-dependency]
  component: Kustomization/sonarr
  provider: [rook-*, stores]
- {tree: o+n, must: not-report, why: dead, path: '*/dead/*'}
- {tree: '*', must: find, why: y, about: stores}
";
        let rows = parse(rows).unwrap();
        let finding = |rule: &str, name: &str, provider: &str, path: &str| {
            json!({"rule": rule, "component": {"kind": "Kustomization", "name": name}, "provider": {"name": provider},
                "locations": [{"path": path}]})
        };
        assert!(rows[0].matches(&finding("missing-dependency", "sonarr", "rook-ceph", "a")));
        assert!(rows[0].matches(&finding("ungated-dependency", "sonarr", "stores", "a")));
        assert!(!rows[0].matches(&finding("slow-retry", "sonarr", "stores", "a")));
        assert!(!rows[0].matches(&finding("missing-dependency", "radarr", "stores", "a")));
        assert!(
            !rows[0].matches(&json!({"rule": "missing-dependency", "component": {"name": "sonarr"}, "provider": null}))
        );
        assert!(rows[1].matches(&finding("slow-retry", "x", "y", "apps/dead/ks.yaml")));
        assert!(rows[1].is_about("o+n@abc") && rows[1].is_about("o+n") && !rows[1].is_about("o+n-before"));
        assert!(!rows[1].must_find);
        assert!(rows[2].is_about("x+y") && rows[2].matches(&finding("any", "stores", "", "")));
        assert!(rows[2].matches(&finding("any", "sonarr", "stores", "")));
        assert!(!rows[2].matches(&finding("any", "sonarr", "rook", "")));
    }

    #[test]
    fn a_column_that_is_misspelt_is_an_error() {
        let error = parse("- {tree: a, must: find, why: b, componnent: c}\n").unwrap_err();
        assert!(format!("{error:#}").contains("unknown column componnent"), "{error:#}");
    }

    #[test]
    fn the_rows_of_this_repository_can_be_read() {
        let rows = parse(include_str!("../../expectations.yaml")).unwrap();
        assert!(rows.iter().any(|row| row.must_find) && rows.iter().any(|row| !row.must_find));
    }
}
