//! Why a command could not do its work: what, where, why, and what to type next.

use std::path::{Path, PathBuf};

use diagnostic::Next;
use diagnostic::next::{Again, Edit, Git, Run};

use crate::exit::{self, Code};
use source::{clean, shown};

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{source}")]
    Open { command: &'static str, source: repository::OpenError },
    #[error("{source}{}", meant_setting(.source))]
    Settings { command: &'static str, source: settings::SettingsError },
    #[error(
        "no Flux objects found in {}\n  looked for: {LOOKED_FOR}\n  in: {}{}{}",
        shown(.path),
        files(*.yaml_files),
        say_argo_cd(*.argo_cd),
        say_unread(.unread)
    )]
    Nothing {
        command: &'static str,
        path: PathBuf,
        yaml_files: usize,
        argo_cd: usize,
        unread: Vec<repository::Skipped>,
    },
    #[error(
        "no entry point found in {}: nothing says where Flux starts\n  there is: {} in {}{}\n  tried: {TRIED}{}{}",
        shown(.path),
        objects(.flux_objects),
        files(*.yaml_files),
        say_directories(.flux_objects),
        say_syncs(.flux_objects),
        say_unread(.unread)
    )]
    NoEntry {
        command: &'static str,
        path: PathBuf,
        yaml_files: usize,
        flux_objects: Box<read::FluxObjects>,
        unread: Vec<repository::Skipped>,
    },
    #[error("the entry point `{entry}` is not a directory of this repository: give a path from its root", entry = clean(.entry))]
    EntryPoint { entry: String },
    #[error("no cluster is called `{name}`{}\n  there is: {}", did_you_mean(.nearest.as_deref()), joined(.names), name = clean(.name))]
    UnknownCluster { command: &'static str, at: PathBuf, name: String, nearest: Option<String>, names: Vec<String> },
    #[error("several clusters are called `{name}`\n  there is: {}", joined(.names), name = clean(.name))]
    SeveralClusters { command: &'static str, at: PathBuf, name: String, names: Vec<String> },
    #[error("nothing is called `{name}`{}", did_you_mean(.nearest.as_deref()), name = clean(.name))]
    UnknownSubject { at: PathBuf, name: String, nearest: Option<String> },
    #[error("several are called `{name}`\n  there is: {}", joined(.names), name = clean(.name))]
    SeveralSubjects { at: PathBuf, name: String, names: Vec<String> },
    #[error("--focus: nothing is called `{name}`{}", did_you_mean(.nearest.as_deref()), name = clean(.name))]
    UnknownFocus { name: String, nearest: Option<String> },
    #[error("--focus, --only, --collapse, --lanes and --releases are for pictures: --format svg, html, mermaid or dot")]
    OnlyInPictures,
    #[error("{} is neither .html nor .json: the times of many boots are a page, or a trace", shown(.path))]
    NoPictureOfBoots { path: PathBuf },
    #[error("--format markdown is for --diff BASE..HEAD")]
    OnlyOfChanges,
    #[error("no name was given")]
    NoSubject { at: PathBuf },
    #[error("there are several clusters\n  there is: {}", joined(.names))]
    WhichCluster { command: &'static str, at: PathBuf, names: Vec<String> },
    #[error("{source}")]
    Plan { at: PathBuf, source: run::PlanError },
    #[error("{source}")]
    Selection { at: PathBuf, source: run::SelectionError },
    #[error("real machines are not supported yet")]
    NoRealWorld { at: PathBuf },
    #[error("{source}{}", journal_at(.source, .path))]
    Journal { command: &'static str, at: PathBuf, path: PathBuf, source: run::JournalError },
    #[error("{source}\n  journal: {}", shown(.path))]
    Drive { at: PathBuf, path: PathBuf, source: run::DriveError },
    #[error("no directory for journals: neither XDG_STATE_HOME nor HOME is set")]
    NoState,
    #[error("{} changed since {} completed: {}", steps(*.count), if *.count == 1 { "it was" } else { "they were" }, .names)]
    Changed { at: PathBuf, count: usize, names: String },
    #[error("the existing simulated world has seed {seed}{}", say_faults(.faults))]
    OtherWorld { at: PathBuf, seed: u64, faults: Vec<String> },
    #[error("no run {run} in the journal\n  there is: {known}", known = clean(.known))]
    UnknownRun { at: PathBuf, run: u32, known: String },
    #[error("no rule is called `{name}`{}\n  rules: {}", did_you_mean(*.nearest), .rules.join(", "), name = clean(.name))]
    UnknownRule { name: String, nearest: Option<&'static str>, rules: Vec<&'static str> },
    #[error("{}: {why}", shown(.path), why = clean(.why))]
    Baseline { path: PathBuf, why: String },
    #[error("{}: {why}", shown(.path), why = clean(.why))]
    NoBaselineFile { path: PathBuf, why: String },
    #[error(
        "`check.baseline` of coldstart.yaml names {}, which is not in the repository: such a file is read only if you name it",
        shown(.path)
    )]
    BaselineOutside { path: PathBuf },
    #[error("--write-baseline needs a file: --baseline FILE")]
    NoBaseline,
    #[error("cannot compare with `{revision}`: {source}{}", git_says(.source), revision = clean(.revision))]
    Since { revision: String, source: git::GitError },
    #[error("{source}")]
    Helm { command: &'static str, source: helm::HelmError },
    #[error("nothing was done: confirmation required, but there is no terminal: use --yes")]
    NobodyToAsk,
    #[error("nothing was done")]
    No,
    #[error("{} already exists", shown(.path))]
    SettingsExist { at: PathBuf, path: PathBuf },
    #[error("nothing was written: these files differ from the last commit: {}", joined(.files))]
    DirtyFiles { files: Vec<String> },
    #[error(
        "nothing was written: Git ignores these new files, so a commit would not have them: {}: `git check-ignore --verbose` names the line of .gitignore",
        joined(.files)
    )]
    IgnoredFiles { files: Vec<String> },
    #[error("nothing was written: {0}")]
    NotFixed(edit::ChangesError),
    #[error(
        "an earlier run was stopped while it wrote files: `coldstart fix --write` undoes that before it does anything else"
    )]
    Stopped,
    #[error("an earlier run was stopped while it wrote files, and that can't be undone: {0}")]
    NotUndone(edit::UndoError),
    #[error("--fix prints text or JSON")]
    FixFormat,
    #[error("cannot commit: {source}")]
    Git { source: git::GitError },
    #[error(
        "{source}; and what was done before could not be undone ({undo}): the branch was at {start}, and {commits} commits of this command came after it"
    )]
    HalfCommitted { start: String, commits: usize, source: Box<Failure>, undo: Box<Failure> },
    #[error("--since is for --format github-review")]
    SinceFormat,
    #[error("cannot read {}: {source}", shown(.path))]
    ReadFile { path: PathBuf, source: std::io::Error },
    #[error("cannot write {}: {source}", shown(.path))]
    WriteFile { path: PathBuf, source: std::io::Error },
    #[error("cannot watch {}: {source}", shown(.path))]
    Watch { path: PathBuf, source: notify::Error },
    #[cfg(feature = "seal")]
    #[error(transparent)]
    Seal(Box<crate::seal::SealFailure>),
    #[cfg(feature = "live")]
    #[error(transparent)]
    Status(#[from] crate::status::StatusFailure),
    #[error("cannot write the report: {0}")]
    Write(#[from] std::io::Error),
    #[error("cannot write the report as JSON: {it}", it = clean(.0))]
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

    /// For people: what went wrong, and what to type next.
    pub(crate) fn told(&self) -> String {
        let next = self.next().as_ref().map(next_line).unwrap_or_default();
        format!("{self}{next}")
    }

    /// What to type next.
    pub(crate) fn next(&self) -> Option<Next> {
        Some(match self {
            Self::Open { command, .. } | Self::Nothing { command, .. } => Next::Run(Run::WithRepository { command }),
            Self::Settings { command, .. } => Next::Run(Run::OnceSettingsRepaired { command }),
            Self::NoEntry { command, path, flux_objects, .. } => {
                let entry = flux_objects.directories.first().map(|at| if at.is_empty() { "." } else { at }.to_owned());
                Next::Run(Run::WithEntry { command, at: path.clone(), entry })
            }
            Self::UnknownCluster { command, at, nearest, names, .. } => {
                let cluster = nearest.as_ref().or(names.first()).cloned();
                Next::Run(Run::ForCluster { command, at: at.clone(), cluster })
            }
            Self::SeveralClusters { command, at, names, .. } | Self::WhichCluster { command, at, names } => {
                Next::Run(Run::ForCluster { command, at: at.clone(), cluster: names.first().cloned() })
            }
            Self::UnknownSubject { at, nearest, .. } => Next::Run(Run::Impact { at: at.clone(), of: nearest.clone() }),
            Self::SeveralSubjects { at, names, .. } => {
                Next::Run(Run::Impact { at: at.clone(), of: names.first().cloned() })
            }
            Self::NoSubject { at } => Next::Run(Run::ImpactCritical { at: at.clone() }),
            Self::Plan { at, source: run::PlanError::Circle(_) | run::PlanError::RootNotBuilt(_) } => {
                Next::Run(Run::Check { at: at.clone() })
            }
            Self::Plan { .. } => Next::Edit(Edit::Settings),
            Self::Selection { at, .. } => Next::Run(Run::PlanForNames { at: at.clone() }),
            Self::NoRealWorld { at } => Next::Run(Run::Simulate { at: at.clone() }),
            Self::Drive { at, .. } => Next::Run(Run::Up { at: at.clone() }),
            Self::NoState => Next::Run(Run::UpWithState),
            Self::Changed { at, .. } => Next::Run(Run::UpWithYes { at: at.clone() }),
            Self::OtherWorld { at, .. } => Next::Run(Run::UpFresh { at: at.clone() }),
            Self::UnknownRun { at, .. } => Next::Run(Run::Log { at: at.clone() }),
            Self::UnknownRule { nearest, .. } => Next::Run(Run::Explain { rule: *nearest }),
            Self::Baseline { path, .. } => Next::Run(Run::WriteBaseline { path: path.clone() }),
            Self::NoBaselineFile { .. } | Self::BaselineOutside { .. } => Next::Run(Run::OtherBaseline),
            Self::NoBaseline => Next::Run(Run::NameBaseline),
            Self::Since { source, .. } => return after_git(source),
            Self::Helm { command, .. } => Next::Run(Run::WithHelm { command }),
            Self::NobodyToAsk => Next::Again(Again::WithYes),
            Self::SettingsExist { at, .. } => Next::Run(Run::InitPrint { at: at.clone() }),
            #[cfg(feature = "seal")]
            Self::Seal(failure) => return failure.next(),
            #[cfg(feature = "live")]
            Self::Status(failure) => return failure.next(),
            Self::Journal { command, at, source: run::JournalError::File { .. }, .. } => {
                Next::Run(Run::WithState { command, at: at.clone() })
            }
            Self::DirtyFiles { .. } => Next::Git(Git::CommitOrStash),
            Self::Git { .. }
            | Self::FixFormat
            | Self::HalfCommitted { .. }
            | Self::SinceFormat
            | Self::UnknownFocus { .. }
            | Self::OnlyInPictures
            | Self::OnlyOfChanges
            | Self::NoPictureOfBoots { .. }
            | Self::ReadFile { .. }
            | Self::NotFixed(_)
            | Self::IgnoredFiles { .. }
            | Self::Stopped
            | Self::NotUndone(_)
            | Self::EntryPoint { .. }
            | Self::Journal { .. }
            | Self::No
            | Self::WriteFile { .. }
            | Self::Watch { .. }
            | Self::Write(_)
            | Self::Json(_) => return None,
        })
    }
}

/// Where the journal is, unless what went wrong says so itself.
fn journal_at(error: &run::JournalError, path: &Path) -> String {
    use run::JournalError;
    match error {
        JournalError::Busy { .. } | JournalError::File { .. } => String::new(),
        JournalError::Damaged { .. } | JournalError::Unknown | JournalError::Write(_) => {
            format!("\n  journal: {}", shown(path))
        }
    }
}

/// What to type next, as the last line below what went wrong.
pub(crate) fn next_line(next: &Next) -> String {
    format!("\n  next: {}", clean(&draw::say::next(next)))
}

/// What git says of a directory that is in no repository.
fn git_says(error: &git::GitError) -> String {
    match error {
        git::GitError::NotARepository { said, .. } => format!("\n  git says: {}", clean(said)),
        _ => String::new(),
    }
}

/// What to type where git could not give an earlier revision.
fn after_git(error: &git::GitError) -> Option<Next> {
    use git::GitError;
    match error {
        GitError::NotRun(_) => Some(Next::Git(Git::Install)),
        GitError::NotARepository { .. } | GitError::TooLarge { .. } => Some(Next::Run(Run::CheckWithoutSince)),
        GitError::UnknownRevision => Some(Next::Git(Git::LogRevisions)),
        GitError::Shallow => Some(Next::Git(Git::FetchUnshallow)),
        GitError::Partial => Some(Next::Git(Git::FetchEverything)),
        GitError::Failed { .. } | GitError::EndedEarly | GitError::Write(_) => None,
    }
}

/// The setting that a key or a word may have been meant for.
fn meant_setting(error: &settings::SettingsError) -> String {
    use settings::{Problem, SettingsError};
    let SettingsError::Wrong { problem, .. } = error else { return String::new() };
    match problem {
        Problem::UnknownField { field: name, known } | Problem::UnknownWord { word: name, known } => {
            did_you_mean(model::nearest(name, known.iter().copied()))
        }
        _ => String::new(),
    }
}

fn joined(names: &[String]) -> String {
    clean(&names.join(", ")).into_owned()
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!(": did you mean `{}`?", clean(nearest))).unwrap_or_default()
}

/// What could have held something, had it been read.
fn say_unread(skipped: &[repository::Skipped]) -> String {
    const NAMED_MAX: usize = 3;
    let named = skipped.iter().take(NAMED_MAX).map(|one| format!("\n  not read: {} {}", clean(&one.path), one.why));
    let more = skipped.len().saturating_sub(NAMED_MAX);
    named.chain((more > 0).then(|| format!("\n  not read: {more} more"))).collect()
}

/// `104 Kustomization, 80 HelmRelease`.
fn objects(flux_objects: &read::FluxObjects) -> String {
    let counted: Vec<String> =
        flux_objects.objects.iter().map(|(kind, count)| format!("{count} {}", clean(kind))).collect();
    counted.join(", ")
}

/// What a fleet applies whose clusters begin elsewhere.
fn say_directories(flux_objects: &read::FluxObjects) -> String {
    const NAMED_MAX: usize = 3;
    let directories = &flux_objects.directories;
    if directories.is_empty() || !flux_objects.syncs.is_empty() {
        return String::new();
    }
    let named: Vec<&str> = directories.iter().take(NAMED_MAX).map(|at| if at.is_empty() { "." } else { at }).collect();
    let more = directories.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let said =
        "applications or bases of a fleet: the clusters that apply them begin in another repository, or elsewhere";
    format!("\n  {said}\n  they can apply: {}{more}", clean(&named.join(", ")))
}

fn say_argo_cd(objects: usize) -> String {
    match objects {
        0 => String::new(),
        1 => "\n  Argo CD is not read: 1 object of it is here".to_owned(),
        _ => format!("\n  Argo CD is not read: {objects} objects of it are here"),
    }
}

/// Paths that are synced, and mean no directory here.
fn say_syncs(flux_objects: &read::FluxObjects) -> String {
    let said: Vec<String> = flux_objects
        .syncs
        .iter()
        .map(|(path, file)| format!("\n  not here: `{}`, which {} syncs", clean(path), clean(file)))
        .collect();
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
