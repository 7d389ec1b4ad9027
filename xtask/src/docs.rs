//! `cargo xtask docs`: the pages of the rules, written from the manuals that the rules carry themselves, the names of the
//! rules in the schema of `coldstart.yaml`, and the index of the fixtures.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use check::rules;
use clap::Args;
use serde_json::json;

use crate::{fixture_index, seen_with_flux};

const DIRECTORY: &str = "docs/rules";
const SCHEMA: &str = "docs/schema/coldstart.schema.json";

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Change nothing; fail when a page differs from what would be written
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let directory = directory();
    let stale = stale(&directory)?;
    let path = root().join(SCHEMA);
    let written = fs::read_to_string(&path).with_context(|| format!("cannot read {SCHEMA}"))?;
    let schema = schema(&written)?;
    let index = fixture_index::page()?;
    let index_path = root().join(fixture_index::PATH);
    if options.check {
        ensure!(stale.is_empty(), "not as the rules say, run `cargo xtask docs`: {}", list(&stale));
        ensure!(schema == written, "not as the rules say, run `cargo xtask docs`: {SCHEMA}");
        let is_fresh = fs::read_to_string(&index_path).is_ok_and(|written| written == index);
        ensure!(is_fresh, "not as the fixtures say, run `cargo xtask docs`: {}", fixture_index::PATH);
        return Ok(());
    }
    fs::write(&path, schema).with_context(|| format!("cannot write {SCHEMA}"))?;
    fs::write(&index_path, index).with_context(|| format!("cannot write {}", fixture_index::PATH))?;
    fs::create_dir_all(&directory).with_context(|| format!("cannot create {DIRECTORY}"))?;
    let pages = pages()?;
    for name in &stale {
        let path = directory.join(name);
        match pages.get(name) {
            Some(text) => fs::write(&path, text).with_context(|| format!("cannot write {DIRECTORY}/{name}"))?,
            None => fs::remove_file(&path).with_context(|| format!("cannot remove {DIRECTORY}/{name}"))?,
        }
    }
    println!("{DIRECTORY}: {} pages, {} changed", pages.len(), stale.len());
    Ok(())
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

fn directory() -> PathBuf {
    root().join(DIRECTORY)
}

/// The schema of the settings, with the rules of today in it. The rest is written by hand.
fn schema(written: &str) -> Result<String> {
    let mut schema: serde_json::Value = serde_json::from_str(written).with_context(|| SCHEMA.to_owned())?;
    let level = |rule: &diagnostic::Rule| json!({"$ref": "#/definitions/level", "description": rule.summary});
    let rules = rules::all().iter().map(|rule| (rule.id.to_owned(), level(rule))).collect();
    let place = schema.pointer_mut("/definitions/rules/properties").context("the schema has no place for rules")?;
    *place = serde_json::Value::Object(rules);
    Ok(serde_json::to_string_pretty(&schema)? + "\n")
}

/// The text of every page by its name.
fn pages() -> Result<BTreeMap<String, String>> {
    let all = rules::all().iter().chain(&seal::rules::ALL);
    let seen = seen_with_flux::sections(root())?;
    let page = |rule: &diagnostic::Rule| rule.manual() + seen.get(rule.id).map_or("", String::as_str);
    let mut pages: BTreeMap<String, String> = all.map(|rule| (format!("{}.md", rule.id), page(rule))).collect();
    let mut index = "# Rules\n\nWorst first. `coldstart check --explain RULE` shows the same manuals.\n\n".to_owned();
    index.push_str("| rule | what it finds |\n|---|---|\n");
    for rule in rules::all() {
        let _ = writeln!(index, "| [{0}]({0}.md) | {1} |", rule.id, rule.summary);
    }
    index.push_str("\n## Of `coldstart seal verify`\n\n| rule | what it finds |\n|---|---|\n");
    for rule in seal::rules::ALL {
        let _ = writeln!(index, "| [{0}]({0}.md) | {1} |", rule.id, rule.summary);
    }
    pages.insert("index.md".to_owned(), index);
    Ok(pages)
}

/// The names of pages that are missing, differ, or belong to no rule.
fn stale(directory: &Path) -> Result<BTreeSet<String>> {
    let pages = pages()?;
    let differs =
        |(name, text): &(&String, &String)| fs::read_to_string(directory.join(name)).ok().as_ref() != Some(text);
    let mut stale: BTreeSet<String> = pages.iter().filter(differs).map(|(name, _)| name.clone()).collect();
    if directory.is_dir() {
        for entry in fs::read_dir(directory)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if !pages.contains_key(&name) {
                stale.insert(name);
            }
        }
    }
    Ok(stale)
}

fn list(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_say_what_the_rules_say() {
        run(&Options { check: true }).unwrap();
    }

    #[test]
    fn a_page_of_no_rule_and_a_missing_page_are_stale() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("gone.md"), "# gone\n").unwrap();
        let stale = stale(directory.path()).unwrap();
        assert_eq!(stale.len(), pages().unwrap().len() + 1);
    }
}
