//! How commands come by a repository. Knows nothing of what they do with it.

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use helm::Helm;
use model::Cluster;
use read::charts::Renderer;
use read::{ReadError, Reading};

use crate::arguments::Charts;
use crate::failure::Failure;
use crate::output;
use crate::stop;

/// Reads the repository at `path`, or the one that `path` is a part of. It is not dropped: the process ends soon, and giving back a
/// large repository value by value takes longer than looking for its faults.
pub(crate) fn open(
    command: &'static str,
    path: &Path,
    entry: Option<&str>,
    helm: Option<&Helm>,
) -> Result<ManuallyDrop<Reading>, Failure> {
    open_then(command, path, entry, helm, |_| ()).map(|(reading, _)| reading)
}

/// As [`open`], and there is something of Flux in it.
pub(crate) fn open_some(
    command: &'static str,
    path: &Path,
    entry: Option<&str>,
    helm: Option<&Helm>,
) -> Result<ManuallyDrop<Reading>, Failure> {
    let reading = open(command, path, entry, helm)?;
    if is_empty(&reading) { Err(nothing(command, path, &reading)) } else { Ok(reading) }
}

/// As [`open`], and does something for every cluster as soon as it is read.
pub(crate) fn open_then<T: Send + Sync>(
    command: &'static str,
    path: &Path,
    entry: Option<&str>,
    helm: Option<&Helm>,
    then: impl Fn(&Cluster) -> T + Sync,
) -> Result<(ManuallyDrop<Reading>, ManuallyDrop<Vec<T>>), Failure> {
    let renderer = helm.map(|helm| helm as &dyn Renderer);
    let read = |path: &Path| read::read_from(path, entry, renderer, &then).map_err(|error| unread(command, error));
    let (mut reading, mut results) = read(path)?;
    if let Some(root) = above(&reading)
        && let (whole, found) = read(&root)?
        && !is_empty(&whole)
    {
        output::remark(&draw::say::part_of(&root));
        (reading, results) = (whole, found);
    }
    Ok((ManuallyDrop::new(reading), ManuallyDrop::new(results)))
}

/// The directory to read instead: the one that paths in these files are written from, or, where there is nothing that Flux could start
/// from, the root of the Git repository. Never one that Git does not know: that may be a whole home directory.
fn above(reading: &Reading) -> Option<PathBuf> {
    let here = reading.repository.root();
    let git = repository::git_root(here)?;
    let written = reading.repository.above().filter(|above| above.starts_with(&git)).map(Path::to_path_buf);
    let above = written.or_else(|| is_empty(reading).then_some(git));
    above.filter(|above| above != here)
}

/// The directory that was given, as seen from the root of the repository that was read instead.
#[expect(clippy::disallowed_methods, reason = "the door of the program: where its user stands")]
pub(crate) fn part(path: &Path, reading: &Reading) -> Option<String> {
    let given = path.canonicalize().ok()?;
    let below = given.strip_prefix(reading.repository.root()).ok()?;
    let below = below.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    (!below.is_empty()).then_some(below)
}

/// Why a command could not read a repository.
pub(crate) fn unread(command: &'static str, error: ReadError) -> Failure {
    match error {
        ReadError::Open(source) => Failure::Open { command, source },
        ReadError::Settings(source) => Failure::Settings { command, source },
        ReadError::EntryPoint { entry } => Failure::EntryPoint { entry },
    }
}

/// The helm to render with, if charts are to be rendered.
pub(crate) fn find_helm(command: &'static str, charts: &Charts) -> Result<Option<Helm>, Failure> {
    if !charts.render_charts {
        return Ok(None);
    }
    stop::listen();
    Helm::find(charts.helm.as_deref()).map(Some).map_err(|source| Failure::Helm { command, source })
}

/// Whether there is nothing of Flux in it.
pub(crate) fn is_empty(reading: &Reading) -> bool {
    reading.clusters.iter().all(|cluster| cluster.components.is_empty())
}

/// Whether there is nothing to check in it, neither of Flux nor of what comes before.
pub(crate) fn is_silent(reading: &Reading) -> bool {
    is_empty(reading) && reading.clusters.iter().all(|cluster| cluster.facts.boot.is_empty())
}

pub(crate) fn nothing(command: &'static str, path: &Path, reading: &Reading) -> Failure {
    let repository = &reading.repository;
    let (yaml_files, unread) = (repository.yaml_paths().count(), repository.skipped.clone());
    let (path, flux_objects) = (path.to_path_buf(), read::flux_objects(repository));
    if flux_objects.objects.is_empty() {
        return Failure::Nothing { command, path, yaml_files, argo_cd: flux_objects.argo_cd, unread };
    }
    Failure::NoEntry { command, path, yaml_files, flux_objects: Box::new(flux_objects), unread }
}
