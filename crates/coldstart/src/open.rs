//! How commands come by a repository. Knows nothing of what they do with it.

use std::mem::ManuallyDrop;
use std::path::Path;

use helm::Helm;
use model::Cluster;
use read::charts::Renderer;
use read::{ReadError, Reading};

use crate::arguments::Charts;
use crate::failure::Failure;

/// Reads the repository at `path`, which is the directory given: never one above it. It is not dropped: the process ends
/// soon, and giving back a large repository value by value takes longer than looking for its faults.
pub(crate) fn open(command: &'static str, path: &Path, helm: Option<&Helm>) -> Result<ManuallyDrop<Reading>, Failure> {
    open_then(command, path, helm, |_| ()).map(|(reading, _)| reading)
}

/// As [`open`], and there is something of Flux in it.
pub(crate) fn open_some(
    command: &'static str,
    path: &Path,
    helm: Option<&Helm>,
) -> Result<ManuallyDrop<Reading>, Failure> {
    let reading = open(command, path, helm)?;
    if is_empty(&reading) { Err(nothing(command, path, &reading)) } else { Ok(reading) }
}

/// As [`open`], and does something for every cluster as soon as it is read.
pub(crate) fn open_then<T: Send + Sync>(
    command: &'static str,
    path: &Path,
    helm: Option<&Helm>,
    then: impl Fn(&Cluster) -> T + Sync,
) -> Result<(ManuallyDrop<Reading>, ManuallyDrop<Vec<T>>), Failure> {
    let renderer = helm.map(|helm| helm as &dyn Renderer);
    let read = read::read_then(path, renderer, then).map_err(|error| unread(command, error));
    read.map(|(reading, results)| (ManuallyDrop::new(reading), ManuallyDrop::new(results)))
}

/// Why a command could not read a repository.
pub(crate) fn unread(command: &'static str, error: ReadError) -> Failure {
    match error {
        ReadError::Open(source) => Failure::Open { command, source },
        ReadError::Settings(source) => Failure::Settings { command, source },
    }
}

/// The helm to render with, if charts are to be rendered.
pub(crate) fn find_helm(command: &'static str, charts: &Charts) -> Result<Option<Helm>, Failure> {
    let find = || Helm::find(charts.helm.as_deref()).map_err(|source| Failure::Helm { command, source });
    charts.render_charts.then(find).transpose()
}

/// Whether there is nothing of Flux in it.
pub(crate) fn is_empty(reading: &Reading) -> bool {
    reading.clusters.iter().all(|cluster| cluster.components.is_empty())
}

pub(crate) fn nothing(command: &'static str, path: &Path, reading: &Reading) -> Failure {
    let repository = &reading.repository;
    let (yaml_files, unread) = (repository.yaml_paths().count(), repository.skipped.clone());
    let (path, lying) = (path.to_path_buf(), read::lying(repository));
    if lying.objects.is_empty() {
        return Failure::Nothing { command, path, yaml_files, unread };
    }
    Failure::NoEntry { command, path, yaml_files, lying, unread }
}
