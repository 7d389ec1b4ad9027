//! `cargo xtask evaluate beside`: what `fix` edits in the tree before each fix that a person made, beside what the person wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::TempDir;

use super::case::{self, Case, Reference};
use super::score::{self, Finding, Outcome};
use super::trees::{self, Trees};
use crate::product;
use crate::{parallel, table::Table};

/// All edits of a large repository take longer than to check it.
const FIX_SECONDS_MAX: u64 = 300;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The cases, one JSON object per line
    #[arg(long, value_name = "FILE.jsonl")]
    cases: PathBuf,
    /// Bare clones, as `DIR/<owner>+<name>/repo`
    #[arg(long, value_name = "DIR")]
    mirrors: PathBuf,
    /// Where the results are kept, as `<owner>+<name>@<commit>.json`: a tree that is there is not run again
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Only cases of this tier or a better one
    #[arg(long, value_name = "N", default_value_t = 1)]
    tier: u32,
    /// Run only so many trees, in the order of the names of their commits: a random part of them
    #[arg(long, value_name = "N")]
    only: Option<usize>,
    /// List the cases that no edit closes
    #[arg(long)]
    misses: bool,
    /// Where trees are kept between runs [default: below the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    trees: Option<PathBuf>,
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// The program to run [default: the release build, made first]
    #[arg(long, value_name = "PATH")]
    bin: Option<PathBuf>,
}

/// What came of one tree.
#[derive(Debug, Serialize, Deserialize)]
struct Fixed {
    before: Vec<Finding>,
    after: Vec<Finding>,
    actions: Vec<Action>,
    left: Vec<Left>,
}

/// One thing that an edit does.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Action {
    #[serde(rename = "action")]
    word: String,
    component: Option<String>,
    target: Option<String>,
}

/// A finding that stays.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Left {
    component: String,
    provider: Option<String>,
    why: String,
}

/// What the edits are beside the person's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Beside {
    NotRun,
    /// `check` does not find it, so there is nothing to close.
    NotFound,
    /// It is found, and found again after the edits.
    Left,
    /// Other lines, after which it is not found any more.
    Another,
    /// The person's line is among the edits.
    Line,
}

impl Beside {
    const ALL: [Self; 5] = [Self::Line, Self::Another, Self::Left, Self::NotFound, Self::NotRun];

    fn word(self) -> &'static str {
        match self {
            Self::NotRun => "not run",
            Self::NotFound => "worse: not found",
            Self::Left => "worse: no edit",
            Self::Another => "another line",
            Self::Line => "the line",
        }
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut cases = case::load(&options.cases)?;
    cases.retain(|case| case.tier <= options.tier && case.tier > 0);
    let trees = Trees::new(&options.mirrors, options.trees.as_deref());
    let binary = product::binary(options.bin.as_deref())?;
    fs::create_dir_all(&options.out).with_context(|| format!("cannot create {}", options.out.display()))?;
    let mut keys: Vec<(String, String)> = cases.iter().map(|case| (case.repo.clone(), case.parent.clone())).collect();
    keys.sort_by(|one, other| one.1.cmp(&other.1));
    keys.dedup();
    keys.truncate(options.only.unwrap_or(keys.len()));
    let results = parallel::map(&keys, options.jobs, |(repo, commit)| {
        let result = kept(repo, commit, &trees, &binary, options);
        if let Err(error) = &result {
            eprintln!("{} NOT RUN: {error:#}", trees::key(repo, commit));
        }
        result.ok()
    });
    let results: BTreeMap<_, _> = keys.into_iter().zip(results).collect();
    let judged = |case: &Case| {
        let fixed = results.get(&(case.repo.clone(), case.parent.clone())).and_then(Option::as_ref);
        fixed.map_or(Beside::NotRun, |fixed| beside(case, fixed))
    };
    let judged: Vec<(&Case, Beside)> = cases.iter().map(|case| (case, judged(case))).collect();
    print!("{}", table(&judged).render());
    if options.misses {
        for (case, _) in judged.iter().filter(|(_, it)| *it == Beside::Left) {
            let fixed = results.get(&(case.repo.clone(), case.parent.clone())).and_then(Option::as_ref);
            println!("\n{}", miss(case, fixed));
        }
    }
    Ok(())
}

/// The result of a tree, from the last time or made now.
fn kept(repo: &str, commit: &str, trees: &Trees, binary: &Path, options: &Options) -> Result<Fixed> {
    let key = trees::key(repo, commit);
    let output = options.out.join(format!("{key}.json"));
    if output.is_file() {
        let bytes = fs::read(&output)?;
        return serde_json::from_slice(&bytes).with_context(|| format!("cannot read {}", output.display()));
    }
    let fixed = fixed(&trees.lay(repo, commit)?, binary)?;
    fs::write(&output, serde_json::to_vec_pretty(&fixed)?)
        .with_context(|| format!("cannot write {}", output.display()))?;
    Ok(fixed)
}

fn fixed(tree: &Path, binary: &Path) -> Result<Fixed> {
    let copy = TempDir::new()?;
    let root = copy.path().join("tree");
    trees::copy(tree, &root)?;
    let raw = copy.path();
    let before = findings(binary, &root, &raw.join("before"))?;
    let mut command = Command::new(binary);
    command.args(["fix", "--unsafe", "--write", "--format", "json", "--min-severity", "info"]).arg(&root);
    // The journal is of this run alone.
    command.env("XDG_STATE_HOME", raw.join("state"));
    let run = product::run(command, &raw.join("fix"), Duration::from_secs(FIX_SECONDS_MAX))?;
    let made = run.json.unwrap_or_default();
    ensure!(made["repairs"].is_array() || run.complaint.is_empty(), "{}", run.complaint);
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let actions = list(&made["repairs"]).iter().flat_map(|repair| list(&repair["actions"])).collect();
    Ok(Fixed {
        before,
        after: findings(binary, &root, &raw.join("after"))?,
        actions: serde_json::from_value(Value::Array(actions))?,
        left: serde_json::from_value(Value::Array(list(&made["left"])))?,
    })
}

fn findings(binary: &Path, root: &Path, raw: &Path) -> Result<Vec<Finding>> {
    let run = product::check(binary, root, raw)?;
    ensure!(run.failure().is_none(), "{}", run.failure().unwrap_or_default());
    Ok(run.findings().iter().map(Finding::of_check).collect())
}

fn beside(case: &Case, fixed: &Fixed) -> Beside {
    if fixed.actions.iter().any(|action| is_line(case, action)) {
        return Beside::Line;
    }
    let found = |findings: &[Finding]| matches!(score::judge(case, findings), Outcome::Hit | Outcome::Lifted);
    match (found(&fixed.before), found(&fixed.after)) {
        (true, false) => Beside::Another,
        (true, true) => Beside::Left,
        (false, _) => Beside::NotFound,
    }
}

/// Whether an edit is what the person wrote: the same field of the same object, about the same other one.
fn is_line(case: &Case, action: &Action) -> bool {
    let is = |wanted: &Reference, said: Option<&String>| {
        said.and_then(|said| reference(said)).is_some_and(|said| score::same(wanted, &said))
    };
    if !is(&case.object, action.component.as_ref()) {
        return false;
    }
    let target = action.target.as_ref();
    match action.word.as_str() {
        "depend" | "depend-instead" => case.added.iter().any(|added| is(added, target)),
        "rename" => case.added.iter().any(|added| is_named(added, target)),
        "wait" => has_gate(case, "wait"),
        "health-check" => has_gate(case, "healthChecks"),
        "health-expression" => has_gate(case, "healthCheckExprs"),
        _ => false,
    }
}

/// A correction names no kind.
fn is_named(wanted: &Reference, said: Option<&String>) -> bool {
    let name = said.map(|said| said.rsplit(['/', ' ']).next().unwrap_or_default());
    wanted.name.as_deref() == name
}

fn has_gate(case: &Case, field: &str) -> bool {
    case.is_gate() && case.gate.as_array().is_some_and(|gate| gate.iter().any(|it| it == field))
}

/// `Kustomization flux-system/app`, as an object is shown.
fn reference(shown: &str) -> Option<Reference> {
    let (kind, path) = shown.split_once(' ')?;
    let (namespace, name) = path.rsplit_once('/').map_or((None, path), |(namespace, name)| (Some(namespace), name));
    Some(Reference { kind: Some(kind.into()), namespace: namespace.map(str::to_owned), name: Some(name.into()) })
}

fn table(judged: &[(&Case, Beside)]) -> Table {
    let [line, another, left, not_found, not_run] = Beside::ALL.map(Beside::word);
    let mut table = Table::new(["repository", line, another, left, not_found, not_run]);
    let row = |name: &str, of: &dyn Fn(&Case) -> bool| {
        let count = |it| judged.iter().filter(|(case, beside)| of(case) && *beside == it).count().to_string();
        std::iter::once(name.to_owned()).chain(Beside::ALL.map(count)).collect::<Vec<_>>()
    };
    let repositories: BTreeSet<&str> = judged.iter().map(|(case, _)| case.repo.as_str()).collect();
    for repository in repositories {
        table.row(row(repository, &|case| case.repo == repository));
    }
    table.gap();
    table.row(row("all", &|_| true));
    table
}

/// A case that no edit closes, with what is said of its object.
fn miss(case: &Case, fixed: Option<&Fixed>) -> String {
    let added: Vec<String> = case.added.iter().map(ToString::to_string).collect();
    let mut text = format!(
        "LEFT {} {}\n  {} → {} {}\n  {}",
        case.id,
        trees::key(&case.repo, &case.parent),
        case.object,
        added.join(", "),
        case.gate,
        case.evidence_detail
    );
    let name = case.object.name.as_deref().unwrap_or_default();
    let is_about = |left: &&Left| {
        [Some(&left.component), left.provider.as_ref()].into_iter().flatten().any(|it| it.ends_with(name))
    };
    for left in fixed.iter().flat_map(|fixed| &fixed.left).filter(is_about).take(4) {
        let _ = write!(text, "\n  {} → {:?}: {}", left.component, left.provider, left.why);
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn case(value: &Value) -> Case {
        let mut all = json!({"id": "1", "repo": "o/n", "parent": "p",
            "object": {"kind": "Kustomization", "namespace": "apps", "name": "app"}});
        all.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
        serde_json::from_value(all).unwrap()
    }

    fn action(word: &str, target: Option<&str>) -> Action {
        let component = Some("Kustomization apps/app".to_owned());
        Action { word: word.to_owned(), component, target: target.map(str::to_owned) }
    }

    #[test]
    fn the_line_is_the_same_field_about_the_same_object() {
        let order = case(&json!({"kind": "dep-added", "added": [{"kind": "Kustomization", "name": "store"}]}));
        assert!(is_line(&order, &action("depend", Some("Kustomization external/store"))));
        assert!(is_line(&order, &action("rename", Some("external/store"))));
        assert!(!is_line(&order, &action("depend", Some("HelmRelease external/store"))));
        assert!(!is_line(&order, &action("depend", Some("Kustomization external/operator"))));
        assert!(!is_line(&order, &action("wait", None)));
        let gate = case(&json!({"kind": "gate-added", "gate": ["healthChecks"]}));
        assert!(is_line(&gate, &action("health-check", Some("HelmRelease apps/app"))));
        assert!(!is_line(&gate, &action("wait", None)));
    }

    #[test]
    fn what_is_found_no_more_is_closed_by_another_line() {
        let case = case(&json!({"kind": "dep-added", "added": [{"kind": "Kustomization", "name": "store"}]}));
        let finding = |name: &str| Finding {
            object: Some(case.object.clone()),
            missing: reference(&format!("Kustomization external/{name}")),
            rule: "missing-dependency".to_owned(),
            ..Finding::default()
        };
        let fixed = |before: &str, after: Option<&str>| Fixed {
            before: vec![finding(before)],
            after: after.map(finding).into_iter().collect(),
            actions: vec![action("depend", Some("Kustomization external/other"))],
            left: Vec::new(),
        };
        assert_eq!(beside(&case, &fixed("store", None)), Beside::Another);
        assert_eq!(beside(&case, &fixed("store", Some("store"))), Beside::Left);
        assert_eq!(beside(&case, &fixed("operator", None)), Beside::NotFound);
    }
}
