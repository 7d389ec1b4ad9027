//! What the pages of the rules say about real Flux: the cases that a rule reports and that the lab has played.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use fixtures::{Fixture, Shelf};
use yaml::Node;

/// Where the lab pins its programs, from the root of the workspace.
const MODULES: &str = "crates/lab/modules";
const CONTROLLERS: [&str; 3] = ["source-controller", "kustomize-controller", "helm-controller"];
/// A case that the lab plays says so with this file.
const PLAYED: &str = "lab.yaml";

/// The last section of each rule's page, by rule.
pub(crate) fn sections(root: &Path) -> Result<BTreeMap<String, String>> {
    let versions = versions(root)?;
    let mut cases: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for fixture in fixtures::all(Shelf::Cases)? {
        if !fixture.directory.join(PLAYED).is_file() {
            continue;
        }
        let (rules, line) = played(&fixture)?;
        for rule in rules {
            let lines = cases.entry(rule).or_default();
            if !lines.contains(&line) {
                lines.push(line.clone());
            }
        }
    }
    let section = |lines: &Vec<String>| {
        format!(
            "\n## Seen with real Flux\n\nThe project's [lab](../lab.md) plays these repositories with {versions}, and what \
             happens there is what the rule says:\n\n{}",
            lines.concat()
        )
    };
    Ok(cases.iter().map(|(rule, lines)| (rule.clone(), section(lines))).collect())
}

/// The rules that report a case, and its line in their pages.
fn played(fixture: &Fixture) -> Result<(Vec<String>, String)> {
    let expected = fixture.expected()?;
    let findings = expected.items_at("findings").iter();
    let rules = findings.filter_map(|row| row.text_at(&["rule"])).map(str::to_owned).collect();
    let about = expected.get("about").and_then(Node::text).unwrap_or_default().trim().replace('\n', " ");
    let line = format!("- [{0}](../../crates/check/tests/cases/{0}): {about}\n", fixture.name);
    Ok((rules, line))
}

/// The controllers and their versions, as a list in words.
fn versions(root: &Path) -> Result<String> {
    let mut text = String::new();
    for (at, name) in CONTROLLERS.iter().enumerate() {
        let path = root.join(MODULES).join(name).join("go.mod");
        let module = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let wanted = format!("github.com/fluxcd/{name} v");
        let version = module.lines().find_map(|line| line.split_once(&wanted)).map(|(_, version)| version.trim());
        let version = version.with_context(|| format!("{} pins no version of {name}", path.display()))?;
        let before = match at {
            0 => "",
            _ if at + 1 == CONTROLLERS.len() => " and ",
            _ => ", ",
        };
        let _ = write!(text, "{before}{name} {version}");
    }
    Ok(text)
}
