//! One cluster, read and planned as the product does it, and one run of its plan in the simulated world.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::time::Duration;

use rehearse::Simulated;
use run::{Journal, Kept, Line, Listener, Machine, MemoryTape, Outcome, Plan, PlanError, World as _, drive};
use settings::UpSettings;
use simulate::{Blueprint, Conditions, Fault, Machines};

use crate::cluster::Cluster;

/// Why a trial could not be made; nothing that a run came to.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    #[error("the files of cluster {cluster} can't be written: {source}")]
    Write { cluster: u64, source: io::Error },
    #[error("cluster {cluster}: {source}")]
    Read { cluster: u64, source: read::ReadError },
    #[error("cluster {cluster} has {count} entry points, not one")]
    EntryPoints { cluster: u64, count: usize },
    #[error(transparent)]
    Journal(#[from] run::JournalError),
    #[error(transparent)]
    Drive(#[from] run::DriveError),
}

/// A cluster that runs can begin with.
#[derive(Debug)]
pub struct Prepared {
    pub cluster: Cluster,
    pub plan: Result<Plan, PlanError>,
    pub blueprint: Blueprint,
    pub settings: UpSettings,
    /// Rules of the errors and warnings that `check` has for it.
    pub findings: Vec<String>,
}

/// Files to a directory, and from there the way that every repository goes.
pub fn prepare(cluster: Cluster, with_check: bool) -> Result<Prepared, TrialError> {
    let number = cluster.number;
    let directory = write(&cluster).map_err(|source| TrialError::Write { cluster: number, source })?;
    let at = |source| TrialError::Read { cluster: number, source };
    let reading = read::read(directory.path()).map_err(at)?;
    if reading.clusters.len() != 1 {
        return Err(TrialError::EntryPoints { cluster: number, count: reading.clusters.len() });
    }
    let settings = reading.settings.up.clone();
    let read = &reading.clusters[0];
    let plan = run::plan(&reading.repository, read, &graph::analyse(read), &settings);
    let (rendered, catalogue) = read::rendered::render(&reading.repository).map_err(at)?;
    let count = |names: &[String]| source::to_u32(names.len());
    let machines = Machines { control_planes: count(&settings.control_planes), workers: count(&settings.workers) };
    let conditions = Conditions { runs_bootstrap: true, machines: Some(machines), ..Conditions::default() };
    let blueprint = simulate::compile(&rendered, &catalogue, &conditions);
    let findings = if with_check { findings(&reading) } else { Vec::new() };
    Ok(Prepared { cluster, plan, blueprint, settings, findings })
}

/// The one cluster of these files as it is read, and a world of it that runs the bootstrap.
pub fn prepare_read(cluster: &Cluster) -> Result<(model::Cluster, Blueprint), TrialError> {
    let number = cluster.number;
    let directory = write(cluster).map_err(|source| TrialError::Write { cluster: number, source })?;
    let at = |source| TrialError::Read { cluster: number, source };
    let mut reading = read::read(directory.path()).map_err(at)?;
    let (rendered, catalogue) = read::rendered::render(&reading.repository).map_err(at)?;
    let conditions = Conditions { runs_bootstrap: true, machines: Some(Machines::default()), ..Conditions::default() };
    let blueprint = simulate::compile(&rendered, &catalogue, &conditions);
    let count = reading.clusters.len();
    let only = reading.clusters.pop().filter(|_| count == 1);
    let only = only.ok_or(TrialError::EntryPoints { cluster: number, count })?;
    Ok((only, blueprint))
}

fn write(cluster: &Cluster) -> io::Result<tempfile::TempDir> {
    let directory = tempfile::tempdir()?;
    for (path, text) in &cluster.files {
        let path = directory.path().join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, text)?;
    }
    Ok(directory)
}

fn findings(reading: &read::Reading) -> Vec<String> {
    let report = check::run(reading, None);
    let loud = report.findings.iter().filter(|finding| finding.severity > diagnostic::Severity::Info);
    loud.map(|finding| format!("{}: {}", finding.rule.id, draw::say::finding(finding, &reading.repository).message))
        .collect()
}

/// What a run came to.
#[derive(Debug)]
pub struct Ran<'b> {
    pub outcome: Outcome,
    /// Everything that was told, in its order.
    pub lines: Vec<Line>,
    /// The journal.
    pub bytes: Vec<u8>,
    /// The world as it was in the end.
    pub world: Simulated<'b>,
}

#[derive(Debug, Default)]
struct Recorder(Vec<Line>);

impl Listener for Recorder {
    fn hear(&mut self, line: &Line, _: &Machine<'_>) {
        self.0.push(line.clone());
    }
}

pub fn boot<'b>(
    plan: &Plan,
    blueprint: &'b Blueprint,
    settings: &UpSettings,
    seed: u64,
    faults: &[Fault],
) -> Result<Ran<'b>, TrialError> {
    let mut world = Simulated::new(blueprint, settings, seed, faults);
    let mut machine = Machine::new(plan, BTreeMap::new(), BTreeSet::new());
    let mut journal = Journal::new(MemoryTape::default(), &Kept::read(b"")?)?;
    let mut recorder = Recorder::default();
    let outcome = drive(plan, &mut machine, &mut world, &mut journal, &mut recorder)?;
    Ok(Ran { outcome, lines: recorder.0, bytes: journal.into_tape().bytes, world })
}

/// The world as it is at that time if nobody does anything more; as it is now if that has passed.
pub(crate) fn later<'b>(world: &Simulated<'b>, at: Duration) -> Simulated<'b> {
    let mut later = world.clone();
    while later.now() < at {
        later.wait(Some(at));
    }
    later
}
