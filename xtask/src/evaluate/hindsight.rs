//! `cargo xtask evaluate hindsight`: runs `check` on the tree before each fix that a person made, and scores it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};

use super::case::{self, Case};
use super::score::{self, Finding, MISSING_RULE, Outcome, Scores, percent};
use super::trees::{self, Trees};
use crate::product::{self, Run};
use crate::{parallel, table::Table};

/// How many of the slowest runs are named.
const SLOWEST_SHOWN: usize = 5;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The cases, one JSON object per line
    #[arg(long, value_name = "FILE.jsonl")]
    cases: PathBuf,
    /// Bare clones, as `DIR/<owner>+<name>/repo`
    #[arg(long, value_name = "DIR")]
    mirrors: PathBuf,
    /// Where the findings go, as `<owner>+<name>@<commit>.json`, with what `check` printed below raw/
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Only cases of these repositories
    #[arg(long, value_name = "OWNER/NAME")]
    repo: Vec<String>,
    /// Only cases of this tier or a better one
    #[arg(long, value_name = "N")]
    tier: Option<u32>,
    /// Only cases of this class of evidence
    #[arg(long, value_name = "CLASS")]
    class: Option<String>,
    /// Pairs that order already implied: those reported as missing are listed
    #[arg(long, value_name = "FILE.jsonl")]
    implied: Option<PathBuf>,
    /// List this many of the cases that were missed
    #[arg(long, value_name = "N", default_value_t = 0)]
    misses: usize,
    /// Where trees are kept between runs [default: below the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    trees: Option<PathBuf>,
    /// Score what is in --out already, and run only what is not there
    #[arg(long)]
    reuse: bool,
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// The program to run [default: the release build, made first]
    #[arg(long, value_name = "PATH")]
    bin: Option<PathBuf>,
}

/// What came of one tree.
enum Tried {
    NoMirror,
    Reused(Found),
    Ran(Run, Found),
    Failed(anyhow::Error),
}

/// What `check` found in a tree.
#[derive(Serialize, Deserialize)]
struct Found {
    /// Findings as `check` tells them, one for all that say the same.
    told: usize,
    /// Each pair by itself, as the cases have them.
    findings: Vec<Finding>,
}

/// A tree to run: repository and commit.
type Key = (String, String);

/// The results by tree.
struct Results(BTreeMap<Key, Tried>);

impl Results {
    fn findings(&self, case: &Case) -> Option<&[Finding]> {
        let tried = self.0.get(&(case.repo.clone(), case.parent.clone()))?;
        tried.found().map(|found| found.findings.as_slice())
    }
}

impl Tried {
    fn found(&self) -> Option<&Found> {
        match self {
            Self::Reused(found) | Self::Ran(_, found) => Some(found),
            Self::NoMirror | Self::Failed(_) => None,
        }
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let cases = select(case::load(&options.cases)?, options);
    let implied = options.implied.as_deref().map(case::load).transpose()?;
    let implied: Vec<Case> = implied.unwrap_or_default().into_iter().filter(|case| of_repo(case, options)).collect();
    if cases.is_empty() && implied.is_empty() {
        bail!("no case of {} is selected", options.cases.display());
    }
    let trees = Trees::new(&options.mirrors, options.trees.as_deref());
    let results = run_all(cases.iter().chain(&implied), &trees, options)?;
    report_scores(&cases, &results);
    report_implied(&implied, &results);
    report_misses(&cases, &results, &trees, options.misses);
    report_runs(&cases, &results);
    Ok(())
}

fn of_repo(case: &Case, options: &Options) -> bool {
    options.repo.is_empty() || options.repo.contains(&case.repo)
}

fn select(mut cases: Vec<Case>, options: &Options) -> Vec<Case> {
    cases.retain(|case| {
        of_repo(case, options)
            && options.tier.is_none_or(|tier| case.tier <= tier)
            && options.class.as_ref().is_none_or(|class| case.evidence_class == *class)
    });
    cases
}

fn run_all<'a>(cases: impl Iterator<Item = &'a Case>, trees: &Trees, options: &Options) -> Result<Results> {
    let binary = product::binary(options.bin.as_deref())?;
    let raw = options.out.join("raw");
    fs::create_dir_all(&raw).with_context(|| format!("cannot create {}", raw.display()))?;
    let keys: BTreeSet<Key> = cases.map(|case| (case.repo.clone(), case.parent.clone())).collect();
    let keys: Vec<Key> = keys.into_iter().collect();
    let results = parallel::map(&keys, options.jobs, |key| {
        let result = run_tree(key, trees, &binary, options).unwrap_or_else(Tried::Failed);
        if let Some(failure) = failure(&result) {
            eprintln!("{} {failure}", trees::key(&key.0, &key.1));
        }
        result
    });
    Ok(Results(keys.into_iter().zip(results).collect()))
}

fn run_tree((repo, commit): &Key, trees: &Trees, binary: &Path, options: &Options) -> Result<Tried> {
    let key = trees::key(repo, commit);
    let output = options.out.join(format!("{key}.json"));
    if options.reuse && output.is_file() {
        let bytes = fs::read(&output)?;
        let found = serde_json::from_slice(&bytes).with_context(|| format!("cannot read {}", output.display()))?;
        return Ok(Tried::Reused(found));
    }
    if trees.mirror(repo).is_none() {
        return Ok(Tried::NoMirror);
    }
    let tree = trees.lay(repo, commit)?;
    let raw = options.out.join("raw");
    let run = product::check(binary, &tree, &raw.join(&key))?;
    let folded = product::check_folded(binary, &tree, &raw.join(format!("{key}.folded")))?;
    let findings = run.findings().iter().map(Finding::of_check).collect();
    let found = Found { told: folded.findings().len(), findings };
    fs::write(&output, serde_json::to_vec_pretty(&found)?)
        .with_context(|| format!("cannot write {}", output.display()))?;
    Ok(Tried::Ran(run, found))
}

fn failure(result: &Tried) -> Option<String> {
    match result {
        Tried::Ran(run, _) => run.failure(),
        Tried::Failed(error) => Some(format!("NOT RUN: {error:#}")),
        Tried::NoMirror | Tried::Reused(_) => None,
    }
}

fn outcome(case: &Case, results: &Results) -> Outcome {
    results.findings(case).map_or(Outcome::NotRun, |findings| score::judge(case, findings))
}

fn report_scores(cases: &[Case], results: &Results) {
    if cases.is_empty() {
        return;
    }
    let mut scores = Scores::default();
    for case in cases {
        scores.add(case, outcome(case, results));
    }
    println!("{}", scores.table().render());
    if let Some(tally) = scores.get("tier", "1") {
        println!("tier 1, weighted: {}", percent(tally.weighted()));
    }
}

/// Pairs that people added although order implied them: calling those missing is wrong, calling them ungated may be right.
fn report_implied(implied: &[Case], results: &Results) {
    if implied.is_empty() {
        return;
    }
    let is_wrong = |case: &&Case| {
        let missing = results.findings(case).unwrap_or_default().iter().filter(|finding| finding.rule == MISSING_RULE);
        missing.flat_map(Finding::pairs).any(|finding| {
            let added = |missing| case.added.iter().any(|added| score::same(added, missing));
            finding.object.as_ref().is_some_and(|object| score::same(&case.object, object))
                && finding.missing.as_ref().is_some_and(added)
        })
    };
    let wrong: Vec<&Case> = implied.iter().filter(is_wrong).collect();
    let run = implied.iter().filter(|case| results.findings(case).is_some()).count();
    println!("implied by order, called missing: {} of {run} pairs run", wrong.len());
    for case in wrong {
        let added: Vec<String> = case.added.iter().map(ToString::to_string).collect();
        println!("IMPLIED {} {} {} → {}", case.id, trees::key(&case.repo, &case.parent), case.object, added.join(", "));
    }
}

fn report_misses(cases: &[Case], results: &Results, trees: &Trees, limit: usize) {
    let missed =
        cases.iter().map(|case| (case, outcome(case, results))).filter(|(_, outcome)| *outcome != Outcome::Hit);
    for (case, outcome) in missed.take(limit) {
        let wanted = if case.is_gate() {
            format!("gate {}", case.gate)
        } else {
            case.added.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        println!("\nMISS {} tier {} [{}] {}", case.id, case.tier, case.evidence_class, case.evidence_detail);
        println!("  {} → {wanted}", case.object);
        println!("  {} at {}", case.repo, case.parent);
        println!("  {}", trees.path(&case.repo, &case.parent).join(&case.path).display());
        println!("  {}", outcome.describe());
        for finding in results.findings(case).unwrap_or_default() {
            let about = [&finding.object, &finding.missing].map(|side| side.as_ref().and_then(|it| it.name.as_ref()));
            if about.contains(&case.object.name.as_ref()) && case.object.name.is_some() {
                println!("  found: {}", describe(finding));
            }
        }
    }
}

fn describe(finding: &Finding) -> String {
    let side = |side: &Option<case::Reference>| side.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    format!("{}[{}] {} → {}", finding.severity, finding.rule, side(&finding.object), side(&finding.missing))
}

/// How the runs themselves went: findings per run, time, and everything that is not a clean exit.
fn report_runs(cases: &[Case], results: &Results) {
    let not_run = cases.iter().filter(|case| results.findings(case).is_none()).count();
    let of_cases: BTreeSet<Key> = cases.iter().map(|case| (case.repo.clone(), case.parent.clone())).collect();
    let scored: Vec<&Found> =
        results.0.iter().filter(|(key, _)| of_cases.contains(key)).filter_map(|(_, result)| result.found()).collect();
    println!("\nnot run: {not_run} of {} cases; {} runs", cases.len(), scored.len());
    report_volume("findings per run", scored.iter().map(|found| found.told).collect());
    report_volume("pairs per run (--each)", scored.iter().map(|found| found.findings.len()).collect());
    let named = |found: &&Found| found.findings.iter().map(|finding| finding.pairs().len()).sum();
    report_volume("with what they cover and other levels", scored.iter().map(named).collect());
    report_findings(results);
    report_time(results);
    report_failures(results);
}

/// Recall can be bought by naming everything: how much was named.
fn report_volume(what: &str, mut counts: Vec<usize>) {
    counts.sort_unstable();
    println!("{what}: median {}, max {}", median(&counts), counts.last().map_or("-".to_owned(), ToString::to_string));
}

fn report_findings(results: &Results) {
    let mut rules: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    for result in results.0.values() {
        let Some(found) = result.found() else { continue };
        let mut seen = BTreeSet::new();
        for finding in &found.findings {
            let key = (finding.rule.as_str(), finding.severity.as_str());
            let counts = rules.entry(key).or_default();
            counts.0 += 1;
            counts.1 += usize::from(seen.insert(key));
        }
    }
    if rules.is_empty() {
        return;
    }
    let mut table = Table::new(["rule", "severity", "findings", "runs"]);
    for ((rule, severity), (findings, runs)) in rules {
        table.row([rule.to_owned(), severity.to_owned(), findings.to_string(), runs.to_string()]);
    }
    println!("\n{}", table.render());
}

fn report_time(results: &Results) {
    let ran = results.0.iter().filter_map(|(key, result)| match result {
        Tried::Ran(run, _) => Some((run.wall, key)),
        _ => None,
    });
    let mut ran: Vec<(Duration, &Key)> = ran.collect();
    ran.sort();
    let Some((slowest, _)) = ran.last() else { return };
    let middle = ran[ran.len() / 2].0;
    println!("wall per run: median {} ms, max {} ms", middle.as_millis(), slowest.as_millis());
    for (wall, (repo, commit)) in ran.iter().rev().take(SLOWEST_SHOWN) {
        println!("  {:>6} ms  {}", wall.as_millis(), trees::key(repo, commit));
    }
}

fn report_failures(results: &Results) {
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    let mut absent: BTreeMap<&str, usize> = BTreeMap::new();
    for (key, result) in &results.0 {
        let ending = match result {
            Tried::Ran(run, _) => run.ending(),
            Tried::Reused(_) => "reused".to_owned(),
            Tried::Failed(_) => "not run".to_owned(),
            Tried::NoMirror => {
                *absent.entry(&key.0).or_default() += 1;
                continue;
            }
        };
        *codes.entry(ending).or_default() += 1;
    }
    let codes: Vec<String> = codes.iter().map(|(ending, runs)| format!("{ending}: {runs}")).collect();
    println!("exit codes: {}", codes.join(", "));
    for (repo, trees) in absent {
        println!("no bare clone of {repo}: {trees} trees not run");
    }
    let failures = results.0.iter().filter_map(|(key, result)| Some((key, failure(result)?)));
    let failures: Vec<_> = failures.collect();
    println!("panics, timeouts and other failures: {}", failures.len());
    for ((repo, commit), failure) in failures {
        println!("  FAILED {} {failure}", trees::key(repo, commit));
    }
}

/// The middle of a sorted list; between two, their mean.
fn median(sorted: &[usize]) -> String {
    let middle = sorted.len() / 2;
    match sorted {
        [] => "-".to_owned(),
        _ if sorted.len() % 2 == 1 => sorted[middle].to_string(),
        _ => {
            let twice = sorted[middle - 1] + sorted[middle];
            format!("{}.{}", twice / 2, if twice.is_multiple_of(2) { 0 } else { 5 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_of_an_even_list_is_between_the_middle_two() {
        assert_eq!(median(&[]), "-");
        assert_eq!(median(&[1, 2, 9]), "2");
        assert_eq!(median(&[1, 2, 3, 9]), "2.5");
        assert_eq!(median(&[1, 2, 2, 9]), "2.0");
    }
}
