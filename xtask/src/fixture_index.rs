//! The index of the fixtures: which of them a rule reports, which it must not, and what each is about.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Result, ensure};
use check::rules;
use fixtures::{Fixture, Shelf};
use yaml::Node;

pub(crate) const PATH: &str = "crates/check/tests/README.md";

const HEAD: &str = "\
# Fixtures

Small repositories and what is to be said of them. `cases/` has one directory per claim about Flux, which the
[lab](../../../docs/lab.md) holds against the real one; `shapes/` has what real repositories look like. The repository of a fixture
is its `repo/` over the parts of `base/` that its `expect.yaml` names.

`cargo xtask docs` writes this page.

";

/// What one fixture says.
struct Entry {
    /// From the page: `cases/01-no-order`.
    path: String,
    about: String,
    base: Vec<String>,
    /// Rules that report it, and rules that must not.
    reported: BTreeSet<String>,
    never: BTreeSet<String>,
}

/// The text of the page.
pub(crate) fn page() -> Result<String> {
    let mut entries = Vec::new();
    for shelf in Shelf::ALL {
        for fixture in fixtures::all(shelf)? {
            entries.push(entry(shelf, &fixture)?);
        }
    }
    let rules: Vec<&str> = rules::all().iter().map(|rule| rule.id).collect();
    let named: BTreeSet<&String> = entries.iter().flat_map(|entry| entry.reported.iter().chain(&entry.never)).collect();
    let unknown: Vec<&&String> = named.iter().filter(|rule| !rules.contains(&rule.as_str())).collect();
    ensure!(unknown.is_empty(), "fixtures name rules that there are not: {unknown:?}");
    let mut page = HEAD.to_owned();
    by_rule(&mut page, &rules, &entries);
    for shelf in Shelf::ALL {
        by_name(&mut page, shelf, &entries);
    }
    by_part(&mut page, &entries);
    Ok(page)
}

fn entry(shelf: Shelf, fixture: &Fixture) -> Result<Entry> {
    let expected = fixture.expected()?;
    let rules = |key: &str| -> BTreeSet<String> {
        let rows = expected.items_at(key).iter();
        rows.filter_map(|row| row.text_at(&["rule"])).map(str::to_owned).collect()
    };
    Ok(Entry {
        path: format!("{}/{}", shelf.name(), fixture.name),
        about: expected.get("about").and_then(Node::text).unwrap_or_default().trim().replace('\n', " "),
        base: fixture.base.clone(),
        reported: rules("findings"),
        never: rules("never"),
    })
}

fn by_rule(page: &mut String, rules: &[&str], entries: &[Entry]) {
    page.push_str("## By rule\n\n| rule | reports | stays silent about |\n|---|---|---|\n");
    for rule in rules {
        let links = |has: &dyn Fn(&Entry) -> bool| {
            let links: Vec<String> = entries.iter().filter(|entry| has(entry)).map(link).collect();
            links.join(", ")
        };
        let reported = links(&|entry| entry.reported.contains(*rule));
        let never = links(&|entry| entry.never.contains(*rule) && !entry.reported.contains(*rule));
        let _ = writeln!(page, "| [{rule}](../../../docs/rules/{rule}.md) | {reported} | {never} |");
    }
}

fn by_name(page: &mut String, shelf: Shelf, entries: &[Entry]) {
    let prefix = format!("{}/", shelf.name());
    let _ = write!(page, "\n## All {}\n\n| fixture | about |\n|---|---|\n", shelf.name());
    for entry in entries.iter().filter(|entry| entry.path.starts_with(&prefix)) {
        let _ = writeln!(page, "| {} | {} |", link(entry), entry.about.replace('|', "\\|"));
    }
}

fn by_part(page: &mut String, entries: &[Entry]) {
    let mut users: BTreeMap<&str, usize> = BTreeMap::new();
    for part in entries.iter().flat_map(|entry| &entry.base) {
        *users.entry(part).or_default() += 1;
    }
    page.push_str("\n## Shared parts\n\n| part | fixtures that stand on it |\n|---|---|\n");
    for (part, count) in users {
        let _ = writeln!(page, "| [{part}](base/{part}) | {count} |");
    }
}

fn link(entry: &Entry) -> String {
    let name = entry.path.split_once('/').map_or(entry.path.as_str(), |(_, name)| name);
    format!("[{name}]({})", entry.path)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_rule_has_a_fixture_that_it_reports() {
        let page = super::page().unwrap();
        let rows = page.lines().filter(|line| line.starts_with("| [") && line.contains("docs/rules/"));
        let silent: Vec<&str> = rows.filter(|row| row.contains(".md) |  |")).collect();
        assert!(silent.is_empty(), "no fixture is reported by\n{}", silent.join("\n"));
    }
}
