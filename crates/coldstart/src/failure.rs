//! Why a command could not do its work: what, where, why, and what to type next.

use std::path::{Path, PathBuf};

use crate::exit::{self, Code};
use crate::shell;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{source}\n  next: coldstart {command} <directory of a cluster repository>")]
    Open { command: &'static str, source: read::OpenError },
    #[error("{source}\n  next: mend that file, then coldstart {command}")]
    Settings { command: &'static str, source: read::SettingsError },
    #[error(
        "no Flux objects found in {}\n  looked for: {LOOKED_FOR}\n  in: {}{}\n  next: coldstart {command} <directory of a cluster repository>",
        .path.display(),
        files(*.yaml_files),
        say_unread(.unread)
    )]
    Nothing { command: &'static str, path: PathBuf, yaml_files: usize, unread: Vec<read::Skipped> },
    #[error(
        "no entry point found in {}: nothing says where Flux starts\n  there is: {} in {}\n  tried: {TRIED}{}{}\n  next: coldstart {command} <directory that Flux applies first>",
        .path.display(),
        objects(.lying),
        files(*.yaml_files),
        say_syncs(.lying),
        say_unread(.unread)
    )]
    NoEntry { command: &'static str, path: PathBuf, yaml_files: usize, lying: read::Lying, unread: Vec<read::Skipped> },
    #[error("no cluster is called `{name}`{}\n  there is: {}\n  next: coldstart {command}{} --cluster {}", did_you_mean(.nearest.as_deref()), .names.join(", "), here(.at), .nearest.as_ref().or(.names.first()).map_or("NAME", String::as_str))]
    UnknownCluster { command: &'static str, at: PathBuf, name: String, nearest: Option<String>, names: Vec<String> },
    #[error("several clusters are called `{name}`\n  there is: {}\n  next: coldstart {command}{} --cluster {}", .names.join(", "), here(.at), .names.first().map_or("NAME", String::as_str))]
    SeveralClusters { command: &'static str, at: PathBuf, name: String, names: Vec<String> },
    #[error("there are several clusters\n  there is: {}\n  next: coldstart {command}{} --cluster {}", .names.join(", "), here(.at), .names.first().map_or("NAME", String::as_str))]
    WhichCluster { command: &'static str, at: PathBuf, names: Vec<String> },
    #[error("{source}\n  next: {}", match .source { run::PlanError::Circle(_) => format!("coldstart check{}", here(.at)), _ => "mend coldstart.yaml".to_owned() })]
    Plan { at: PathBuf, source: run::PlanError },
    #[error("{source}\n  next: coldstart plan{}, which lists the steps and layers", here(.at))]
    Selection { at: PathBuf, source: run::SelectionError },
    #[error(
        "real machines are not driven yet\n  next: coldstart up{0} --simulate, which touches nothing, or coldstart plan{0}", here(.at)
    )]
    NoRealWorld { at: PathBuf },
    #[error("{source}\n  journal: {}", .path.display())]
    Journal { path: PathBuf, source: run::JournalError },
    #[error("{source}\n  journal: {}\n  next: coldstart up{}, which looks at everything and goes on", .path.display(), here(.at))]
    Drive { at: PathBuf, path: PathBuf, source: run::DriveError },
    #[error(
        "no directory for journals: neither XDG_STATE_HOME nor HOME is set\n  next: coldstart up --state DIRECTORY"
    )]
    NoState,
    #[error("{} changed since {} proved: {}\n  next: coldstart up{} --yes, which does them again", steps(*.count), if *.count == 1 { "it was" } else { "they were" }, .names, here(.at))]
    Changed { at: PathBuf, count: usize, names: String },
    #[error("the simulated world that is there has seed {seed}{}\n  next: coldstart up{} --fresh for a new one, or leave --seed and --fault away", say_faults(.faults), here(.at))]
    OtherWorld { at: PathBuf, seed: u64, faults: Vec<String> },
    #[error("no run {run} in the journal\n  there is: {known}\n  next: coldstart log{}", here(.at))]
    UnknownRun { at: PathBuf, run: u32, known: String },
    #[error("no rule is called `{name}`{}\n  rules: {}\n  next: coldstart check --explain {}", did_you_mean(*.nearest), .rules.join(", "), .nearest.unwrap_or("RULE"))]
    UnknownRule { name: String, nearest: Option<&'static str>, rules: Vec<&'static str> },
    #[error("{}: {why}\n  next: coldstart check --baseline {} --write-baseline", .path.display(), .path.display())]
    Baseline { path: PathBuf, why: String },
    #[error(
        "{}: {why}\n  next: coldstart check --baseline <another file>, with --write-baseline if that is to be written; or delete this one first",
        .path.display()
    )]
    NoBaselineFile { path: PathBuf, why: String },
    #[error(
        "--write-baseline does not say where to\n  next: coldstart check --baseline FILE --write-baseline, or set `check.baseline` in coldstart.yaml"
    )]
    NoBaseline,
    #[error("cannot compare with `{revision}`: {source}")]
    Since { revision: String, source: crate::git::GitError },
    #[error("{source}\n  next: coldstart {command} --render-charts --helm <path of helm>, or without --render-charts")]
    Helm { command: &'static str, source: helm::HelmError },
    #[error("nothing was done: this needs a yes, and nobody is there to ask\n  next: the same with --yes")]
    NobodyToAsk,
    #[error("nothing was done")]
    No,
    #[error("{} is there already\n  next: coldstart init --print, to compare", .0.display())]
    SettingsExist(PathBuf),
    #[error("cannot write {}: {source}", .path.display())]
    WriteFile { path: PathBuf, source: std::io::Error },
    #[error("{}", crate::seal::with_next(.0))]
    Seal(Box<crate::seal::SealFailure>),
    #[error("cannot write the report: {0}")]
    Write(#[from] std::io::Error),
    #[error("cannot write the report as JSON: {0}")]
    Json(String),
}

/// What makes a directory a cluster repository.
const LOOKED_FOR: &str = "YAML documents of Flux: Kustomization, HelmRelease, FluxInstance, ResourceSet (apiVersion *.toolkit.fluxcd.io or fluxcd.controlplane.io)";

/// What makes a directory the one that Flux starts from.
const TRIED: &str = "spec.sync.path of a FluxInstance, a Kustomization that applies its own file, Kustomizations that no other one's path covers";

impl Failure {
    pub(crate) fn code(&self) -> Code {
        match self {
            Self::Nothing { .. } | Self::NoEntry { .. } => exit::NOTHING_TO_CHECK,
            _ => exit::FAILED,
        }
    }
}

/// The directory as it was given, for a command that is to be typed in the same place; nothing for the current one.
fn here(path: &Path) -> String {
    if path == Path::new(".") { String::new() } else { format!(" {}", shell::word(&path.to_string_lossy())) }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!(": did you mean `{nearest}`?")).unwrap_or_default()
}

/// What could have held something, had it been read.
fn say_unread(skipped: &[read::Skipped]) -> String {
    const NAMED_MAX: usize = 3;
    let named = skipped.iter().take(NAMED_MAX).map(|one| format!("\n  not read: {} {}", one.path, one.why));
    let more = skipped.len().saturating_sub(NAMED_MAX);
    named.chain((more > 0).then(|| format!("\n  not read: {more} more"))).collect()
}

/// `104 Kustomization, 80 HelmRelease`.
fn objects(lying: &read::Lying) -> String {
    let counted: Vec<String> = lying.objects.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    counted.join(", ")
}

/// Paths that are synced, and mean no directory here.
fn say_syncs(lying: &read::Lying) -> String {
    let said: Vec<String> =
        lying.syncs.iter().map(|(path, file)| format!("\n  not here: `{path}`, which {file} syncs")).collect();
    said.concat()
}

fn files(number: usize) -> String {
    match number {
        0 => "no YAML file at all".to_owned(),
        1 => "1 YAML file".to_owned(),
        _ => format!("{number} YAML files"),
    }
}

fn steps(count: usize) -> String {
    if count == 1 { "1 step".to_owned() } else { format!("{count} steps") }
}

fn say_faults(faults: &[String]) -> String {
    if faults.is_empty() { " and no fault".to_owned() } else { format!(" and {}", faults.join(", ")) }
}
