//! `docs/architecture.md` and the manifests say the same of which crate stands on which.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The workbench: dev tools that may use everything and that no product crate uses.
const WORKBENCH: [&str; 4] = ["fixtures", "lab", "trial", "xtask"];

/// A row of the table: a crate and what it stands on.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    name: String,
    stands_on: BTreeSet<String>,
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The names in backticks of a cell.
fn names(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The rows of the table whose last column is headed `stands on`.
fn rows(text: &str) -> Vec<Row> {
    let is_head = |line: &&str| line.starts_with('|') && line.trim_end().ends_with("| stands on |");
    let table = text.lines().skip_while(|line| !is_head(line)).skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').collect();
        let name = names(cells.first().copied().unwrap_or_default()).into_iter().next().unwrap_or_default();
        Row { name, stands_on: names(cells.last().copied().unwrap_or_default()) }
    };
    table.map(row).collect()
}

/// What every crate of the workspace depends on, among its own: not for tests, not for builds.
fn declared() -> BTreeMap<String, BTreeSet<String>> {
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().expect("cargo metadata");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON of cargo metadata");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let short = |name: &str| name.strip_prefix("coldstart-").unwrap_or(name).to_owned();
    let packages = metadata["packages"].as_array().expect("packages");
    let product = |dependency: &&Value| !dependency["path"].is_null() && dependency["kind"].is_null();
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().expect("dependencies").iter();
            let own = dependencies.filter(product).map(|dependency| short(&text(&dependency["name"])));
            (short(&text(&package["name"])), own.collect())
        })
        .collect()
}

#[test]
fn the_table_has_every_crate_with_exactly_its_arrows() {
    let text = std::fs::read_to_string(root().join("docs/architecture.md")).expect("docs/architecture.md");
    let mut declared = declared();
    declared.retain(|name, _| !WORKBENCH.contains(&name.as_str()));
    let drawn: BTreeMap<String, BTreeSet<String>> =
        rows(&text).into_iter().map(|row| (row.name, row.stands_on)).collect();
    assert!(drawn.len() > 10, "the table was not found: {drawn:?}");
    assert_eq!(drawn, declared, "docs/architecture.md on the left, Cargo.toml on the right");
}

#[test]
fn nothing_stands_on_what_comes_later_in_the_table() {
    let text = std::fs::read_to_string(root().join("docs/architecture.md")).expect("docs/architecture.md");
    let mut below = BTreeSet::new();
    for row in rows(&text) {
        let above: Vec<&String> = row.stands_on.difference(&below).collect();
        assert!(above.is_empty(), "`{}` stands on {above:?}, which the table has above it", row.name);
        below.insert(row.name);
    }
}

#[test]
fn the_walk_of_a_finding_goes_through_functions_that_are_there() {
    let text = std::fs::read_to_string(root().join("docs/architecture.md")).expect("docs/architecture.md");
    let steps: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| `crates/"))
        .map(|line| line.split('`').skip(1).step_by(2).take(2).collect())
        .collect();
    assert!(steps.len() > 10, "the walk was not found");
    for step in steps {
        let [path, function] = step[..] else { panic!("no file and function: {step:?}") };
        let source = std::fs::read_to_string(root().join(path)).expect("a file of the walk");
        let is_there = ["(", "<"].iter().any(|next| source.contains(&format!("fn {function}{next}")));
        assert!(is_there, "{path} has no function {function}");
    }
}

/// How a component behaves is data that its reader sets: what is concluded from it holds for any tool.
#[test]
fn the_graph_asks_no_component_which_tool_it_is_of() {
    let sources = std::fs::read_dir(root().join("crates/graph/src")).expect("the sources of the graph");
    let asks = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).expect("a source");
        let own = text.split("#[cfg(test)]").next().unwrap_or_default();
        ["Role::", "BootstrapStep"].iter().any(|word| own.contains(word))
    };
    let asking: Vec<_> = sources.map(|entry| entry.expect("an entry").path()).filter(asks).collect();
    assert!(asking.is_empty(), "{asking:?}");
}

#[test]
fn a_table_is_read_by_its_heading() {
    let text = "\
| crate | knows | stands on |
|---|---|---|
| `source` | files | |
| `yaml` | YAML with `Span`s | `source` |

| other | table |
|---|---|
| `x` | `y` |
";
    let found = rows(text);
    let expected = [("source", vec![]), ("yaml", vec!["source"])];
    let expected = expected
        .map(|(name, on)| Row { name: name.to_owned(), stands_on: on.into_iter().map(str::to_owned).collect() });
    assert_eq!(found, expected);
}
