//! `cargo xtask evaluate kustomize`: is our build what the real kustomize builds, for every kustomization of a repository?
//!
//! Objects are compared as JSON values, in any order. Directories that the real tool can't build without the network are
//! counted apart. Also asks the other way round: what the real tool refuses, do we refuse?

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use kustomize::{Build, Mode, Overlay};
use read::Repository;
use source::FileId;
use yaml::{Budget, Limits, Node, ScalarKind, Value};

const JOBS: usize = 2;
/// The names that kustomize knows.
pub(crate) const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let mut kustomize = PathBuf::from("kustomize");
    let mut repositories = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--kustomize" => kustomize = args.next().context("--kustomize needs a path")?.into(),
            _ => repositories.push(PathBuf::from(arg)),
        }
    }
    if repositories.is_empty() {
        bail!("name at least one repository");
    }
    let mut total = Count::default();
    for repository in &repositories {
        let count = compare(repository, &kustomize)?;
        println!("{}: {count}", repository.display());
        total.add(&count);
    }
    println!("all: {total}");
    Ok(())
}

fn compare(repository: &Path, kustomize: &Path) -> Result<Count> {
    let repository = Repository::find(repository)?;
    let directories = kustomizations(&repository);
    let outcomes = crate::parallel::map(&directories, JOBS, |directory| outcome(&repository, directory, kustomize));
    let mut count = Count::default();
    for (directory, outcome) in directories.iter().zip(outcomes) {
        count.directories += 1;
        count.real += outcome.real;
        count.ours += outcome.ours;
        let line = |kind: &str, what: &str| println!("  {kind:<14} {directory}: {what}");
        match outcome.verdict {
            Verdict::Equal => count.equal += 1,
            Verdict::Different(what) => {
                count.different += 1;
                line("different", &what);
            }
            Verdict::OnlyOursFails(what) => {
                count.only_ours_fails += 1;
                line("only ours fails", &what);
            }
            Verdict::OnlyRealFails(what) => {
                count.only_real_fails += 1;
                line("only real fails", &what);
            }
            Verdict::BothFail => count.both_fail += 1,
            Verdict::Remote => count.remote += 1,
        }
    }
    Ok(count)
}

struct Outcome {
    verdict: Verdict,
    real: Duration,
    ours: Duration,
}

enum Verdict {
    Equal,
    Different(String),
    OnlyOursFails(String),
    OnlyRealFails(String),
    BothFail,
    /// The real tool needs the network, or a program, for it.
    Remote,
}

fn outcome(repository: &Repository, directory: &str, kustomize: &Path) -> Outcome {
    let start = Instant::now();
    let build = kustomize::build(repository, directory, &Overlay::default(), Mode::Kustomize, &mut Budget::of_build());
    let ours = start.elapsed();
    let start = Instant::now();
    let real = real_build(kustomize, &repository.root().join(directory));
    let real_time = start.elapsed();
    let verdict = match (real, build.failures.first()) {
        (Ok(text), failure) => match difference(&text, &build) {
            None if failure.is_none() => Verdict::Equal,
            None => Verdict::OnlyOursFails(failure.map(|failure| show(repository, failure)).unwrap_or_default()),
            Some(what) if build.blind.is_empty() => match failure {
                Some(failure) => Verdict::OnlyOursFails(show(repository, failure)),
                None => Verdict::Different(what),
            },
            Some(_) => Verdict::Remote,
        },
        (Err(_), _) if !build.blind.is_empty() => Verdict::Remote,
        (Err(_), Some(_)) => Verdict::BothFail,
        (Err(message), None) => Verdict::OnlyRealFails(message),
    };
    Outcome { verdict, real: real_time, ours }
}

/// Runs the real tool without a network: what it would fetch fails at once instead of after a timeout.
pub(crate) fn real_build(kustomize: &Path, directory: &Path) -> Result<String, String> {
    let nowhere = "http://127.0.0.1:9";
    let output = Command::new(kustomize)
        .args(["build", "--load-restrictor", "LoadRestrictionsNone"])
        .arg(directory)
        .envs(["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"].map(|name| (name, nowhere)))
        .env("GIT_TERMINAL_PROMPT", "0")
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(errors.lines().find(|line| line.starts_with("Error")).unwrap_or(&errors).chars().take(300).collect())
}

/// The first object that one of the two has and the other has not.
fn difference(real: &str, build: &Build) -> Option<String> {
    let documents = yaml::parse(FileId::GENERATED, real, Limits::default());
    let mut balance: BTreeMap<String, i64> = BTreeMap::new();
    for object in documents.iter().filter_map(|document| document.root.as_ref()).filter(|node| !node.is_null()) {
        *balance.entry(canonical(object)).or_default() += 1;
    }
    for object in &build.objects {
        *balance.entry(canonical(object)).or_default() -= 1;
    }
    let missing = balance.iter().find(|(_, count)| **count > 0).map(|(object, _)| object);
    let extra: Vec<&String> = balance.iter().filter(|(_, count)| **count < 0).map(|(object, _)| object).collect();
    match (missing, extra.as_slice()) {
        (None, []) => None,
        (Some(missing), []) => Some(format!("missing {}", head(missing, 0))),
        (None, [extra, ..]) => Some(format!("not in the real build: {}", head(extra, 0))),
        (Some(missing), extra) => {
            // The one that is most alike is the same object, a little different.
            let alike = |other: &&&String| common(missing, other);
            let nearest = extra.iter().max_by_key(alike)?;
            let at = common(missing, nearest).saturating_sub(60);
            Some(format!("real …{} ours …{}", head(missing, at), head(nearest, at)))
        }
    }
}

fn common(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}

fn head(text: &str, from: usize) -> String {
    let characters = text.char_indices().skip_while(|(at, _)| *at < from);
    characters.map(|(_, c)| c).take(160).collect()
}

/// The object as JSON with sorted keys and numbers as Go reads them, its kind and name in front.
fn canonical(object: &Node) -> String {
    let text = |path: &[&str]| object.text_at(path).unwrap_or_default();
    let mut out = format!("{} {} ", text(&["kind"]), text(&["metadata", "name"]));
    write_json(&mut out, object);
    out
}

fn write_json(out: &mut String, node: &Node) {
    match &node.value {
        Value::Scalar(scalar) => {
            let _ = match scalar.kind {
                ScalarKind::Null => write!(out, "null"),
                ScalarKind::Bool => write!(out, "{}", scalar.text.to_ascii_lowercase()),
                ScalarKind::Int | ScalarKind::Float => write!(out, "{}", number(&scalar.text)),
                ScalarKind::Str => write!(out, "{:?}", scalar.text),
            };
        }
        Value::Seq(items) => {
            out.push('[');
            for item in items {
                write_json(out, item);
                out.push(',');
            }
            out.push(']');
        }
        Value::Map(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by(|one, other| one.key.cmp(&other.key));
            out.push('{');
            for entry in entries {
                let _ = write!(out, "{:?}:", entry.key);
                write_json(out, &entry.value);
                out.push(',');
            }
            out.push('}');
        }
    }
}

/// Go takes `0755` for octal, and writes floats that are whole without a fraction.
fn number(text: &str) -> String {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let radix = |prefix: &str, radix| i128::from_str_radix(digits.strip_prefix(prefix)?, radix).ok();
    let whole = radix("0x", 16)
        .or_else(|| radix("0o", 8))
        .or_else(|| radix("0", 8).filter(|_| digits.len() > 1))
        .or_else(|| digits.parse().ok());
    match (whole, digits.parse::<f64>()) {
        (Some(whole), _) => format!("{sign}{whole}"),
        (None, Ok(float)) => format!("{sign}{float}"),
        (None, Err(_)) => text.to_owned(),
    }
}

#[derive(Default)]
struct Count {
    directories: usize,
    equal: usize,
    different: usize,
    only_ours_fails: usize,
    only_real_fails: usize,
    both_fail: usize,
    remote: usize,
    real: Duration,
    ours: Duration,
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.directories += other.directories;
        self.equal += other.equal;
        self.different += other.different;
        self.only_ours_fails += other.only_ours_fails;
        self.only_real_fails += other.only_real_fails;
        self.both_fail += other.both_fail;
        self.remote += other.remote;
        self.real += other.real;
        self.ours += other.ours;
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let built = self.equal + self.different + self.only_ours_fails;
        write!(
            out,
            "{} directories, {} remote, {built} built by the real tool: {} equal, {} different, {} only ours fails; \
             refused by the real tool: {} by us too, {} not by us; {:.1} s real, {:.3} s ours",
            self.directories,
            self.remote,
            self.equal,
            self.different,
            self.only_ours_fails,
            self.both_fail,
            self.only_real_fails,
            self.real.as_secs_f64(),
            self.ours.as_secs_f64(),
        )
    }
}

/// The directories that hold a kustomization file, sorted.
fn kustomizations(repository: &Repository) -> Vec<String> {
    let directories: BTreeSet<String> = repository
        .paths()
        .map(|path| path.rsplit_once('/').unwrap_or(("", path)))
        .filter(|(_, name)| FILE_NAMES.contains(name))
        .map(|(directory, _)| directory.to_owned())
        .collect();
    directories.into_iter().collect()
}

fn show(repository: &Repository, failure: &kustomize::Failure) -> String {
    match repository.locate(failure.span) {
        Some((path, at)) => format!("{path}:{}: {}", at.line, failure.error),
        None => failure.error.to_string(),
    }
}
