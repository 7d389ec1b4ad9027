//! `cargo xtask evaluate corpus`: `check` on whole repositories, as a table, with the rows that must hold.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde_json::Value;

use super::expect::{self, Expectation};
use super::trees::{self, Trees};
use crate::product::{self, Run, spoken_for};
use crate::{parallel, parse::yaml_files, table::Table};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Bare clones, as `DIR/<owner>+<name>/repo`: the newest commit of each is run
    #[arg(long, value_name = "DIR", required_unless_present = "trees")]
    mirrors: Option<PathBuf>,
    /// Directories to run, each a repository
    #[arg(long, value_name = "DIR", num_args = 1..)]
    trees: Vec<PathBuf>,
    /// Rows that must hold, e.g. xtask/expectations.yaml; exits with 1 if one does not
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
    /// Where what `check` printed is kept [default: below the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Where trees from bare clones are kept [default: below the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// The program to run [default: the release build, made first]
    #[arg(long, value_name = "PATH")]
    bin: Option<PathBuf>,
}

/// One repository and what came of it.
struct Row {
    name: String,
    files: usize,
    run: Run,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let expectations = options.expect.as_deref().map(expect::load).transpose()?;
    let rows = run_all(options)?;
    print!("{}", table(&rows).render());
    report_rules(&rows);
    let mut failed = 0;
    for row in &rows {
        if let Some(failure) = row.run.failure() {
            failed += 1;
            println!("FAILED {} {failure}", row.name);
        }
    }
    failed += expectations.map_or(0, |expectations| report_expectations(&expectations, &rows));
    ensure!(failed == 0, "{failed} runs or rows failed");
    Ok(())
}

fn run_all(options: &Options) -> Result<Vec<Row>> {
    let binary = product::binary(options.bin.as_deref())?;
    let out = options.out.clone().unwrap_or_else(|| std::env::temp_dir().join("coldstart-corpus"));
    std::fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    let trees = directories(options)?;
    let rows = parallel::map(&trees, options.jobs, |tree| {
        let name = tree.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let run = product::check(&binary, tree, &out.join(&name))?;
        Ok(Row { name, files: yaml_files(tree).len(), run })
    });
    rows.into_iter().collect()
}

fn directories(options: &Options) -> Result<Vec<PathBuf>> {
    let mut directories = Vec::new();
    for tree in &options.trees {
        directories.push(tree.canonicalize().with_context(|| format!("no tree at {}", tree.display()))?);
    }
    if let Some(mirrors) = &options.mirrors {
        let trees = Trees::new(mirrors, options.cache.as_deref());
        let repositories: Vec<String> = trees.repositories()?.into_iter().collect();
        if repositories.is_empty() {
            bail!("no bare clone below {}", mirrors.display());
        }
        let laid = parallel::map(&repositories, options.jobs, |repo| lay_newest(&trees, repo));
        directories.extend(laid.into_iter().collect::<Result<Vec<_>>>()?);
    }
    Ok(directories)
}

fn lay_newest(trees: &Trees, repo: &str) -> Result<PathBuf> {
    let mirror = trees.mirror(repo).with_context(|| format!("no bare clone of {repo}"))?;
    trees.lay(repo, &trees::resolve(Path::new(&mirror), "HEAD")?)
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        "repository",
        "yaml files",
        "ks",
        "hr",
        "clusters",
        "error",
        "warning",
        "info",
        "blind",
        "wall ms",
        "exit",
    ]);
    for Row { name, files, run } in rows {
        let summary = |key: &str| {
            let value = run.json.as_ref().and_then(|json| json.get("summary")?.get(key));
            value.map_or_else(|| "-".to_owned(), count)
        };
        let severity = |severity: &str| {
            let findings =
                run.findings().iter().filter(|it| it.get("severity").and_then(Value::as_str) == Some(severity));
            findings.count().to_string()
        };
        let blind = run.json.as_ref().and_then(|json| json.get("blind_spots"));
        table.row([
            shorten(name),
            files.to_string(),
            summary("kustomizations"),
            summary("helmreleases"),
            summary("clusters"),
            severity("error"),
            severity("warning"),
            severity("info"),
            blind.map_or_else(|| "-".to_owned(), count),
            run.wall.as_millis().to_string(),
            run.ending(),
        ]);
    }
    table
}

/// A number as it is, a list by its length.
fn count(value: &Value) -> String {
    value.as_array().map_or_else(|| value.to_string(), |list| list.len().to_string())
}

/// `owner+name@0123…` with a commit as short as people write it.
fn shorten(name: &str) -> String {
    name.split_once('@').map_or_else(|| name.to_owned(), |(name, commit)| format!("{name}@{commit:.10}"))
}

fn report_rules(rows: &[Row]) {
    let mut rules: BTreeMap<(&str, &str), BTreeMap<&str, usize>> = BTreeMap::new();
    for Row { name, run, .. } in rows {
        for finding in run.findings() {
            let text = |key: &str| finding.get(key).and_then(Value::as_str).unwrap_or("-");
            *rules.entry((text("rule"), text("severity"))).or_default().entry(name).or_default() += 1;
        }
    }
    if rules.is_empty() {
        return;
    }
    let mut table = Table::new(["rule", "severity", "findings", "repositories", "most in"]);
    for ((rule, severity), by_repository) in rules {
        let most = by_repository.iter().max_by_key(|(_, findings)| **findings);
        table.row([
            rule.to_owned(),
            severity.to_owned(),
            by_repository.values().sum::<usize>().to_string(),
            by_repository.len().to_string(),
            most.map_or_else(String::new, |(name, findings)| format!("{} ({findings})", shorten(name))),
        ]);
    }
    println!("\n{}", table.render());
}

/// Gives the number of rows that do not hold.
fn report_expectations(expectations: &[Expectation], rows: &[Row]) -> usize {
    let (mut passed, mut failed, mut absent) = (0, 0, 0);
    for expectation in expectations {
        // A run that printed nothing reports nothing wrong either: that is no pass.
        let ran = rows.iter().filter(|row| row.run.json.is_some());
        let mut about = ran.filter(|row| expectation.is_about(&row.name)).peekable();
        if about.peek().is_none() {
            absent += 1;
            continue;
        }
        for row in about {
            let matching: Vec<&Value> = row
                .run
                .findings()
                .iter()
                .filter(|it| spoken_for(it).iter().any(|one| expectation.matches(one)))
                .collect();
            let holds = matching.is_empty() != expectation.must_find;
            if holds {
                passed += 1;
            } else {
                failed += 1;
            }
            let must = if expectation.must_find { "find" } else { "not report" };
            let mark = if holds { "pass" } else { "FAIL" };
            println!("{mark} {must} {}: {} ({})", shorten(&row.name), expectation.describe(), expectation.why);
            for finding in matching.iter().filter(|_| !expectation.must_find) {
                let message = finding.get("message").and_then(Value::as_str).unwrap_or_default();
                println!("     {}: {message}", finding.get("rule").and_then(Value::as_str).unwrap_or_default());
            }
        }
    }
    println!("{passed} rows hold, {failed} do not, {absent} are of trees that did not run");
    failed
}
