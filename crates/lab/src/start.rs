//! Bringing a lab up: what depends on what, and how to see that it works.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::build::{self, Tool};
use crate::{Lab, LabError, Object, Process, Until, api};

/// A busy machine starts six labs at once.
const WORKS_WITHIN: Duration = Duration::from_secs(90);
const LOOK_EVERY: Duration = Duration::from_millis(30);
const LOG_TAIL_LINES: usize = 15;

/// What every lab has besides what the API server makes itself.
const BASE: &str = "
apiVersion: v1
kind: Namespace
metadata:
  name: flux-system
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: lab
  annotations:
    storageclass.kubernetes.io/is-default-class: 'true'
provisioner: lab.coldstart.dev/volume
";

/// etcd and the API server first, then everything that only needs the API server, then what needs CRDs.
pub(crate) fn bring_up(lab: &Lab) -> Result<(), LabError> {
    let wanted = &lab.options.processes;
    for process in [Process::Etcd, Process::ApiServer] {
        lab.launch(process)?;
    }
    wait_until_it_works(lab, Process::ApiServer)?;
    for process in [Process::ControllerManager, Process::Scheduler, Process::Kwok] {
        if wanted.contains(&process) {
            lab.launch(process)?;
        }
    }
    lab.apply(BASE)?;
    apply_crds(lab)?;
    let later: Vec<Process> = wanted.range(Process::SourceController..).copied().collect();
    for process in &later {
        lab.launch(*process)?;
    }
    for process in [Process::ControllerManager, Process::Scheduler, Process::Kwok] {
        if wanted.contains(&process) {
            wait_until_it_works(lab, process)?;
        }
    }
    for process in later {
        wait_until_it_works(lab, process)?;
    }
    Ok(())
}

/// The CRDs of all Flux controllers and of sealed-secrets, where the lab has their files: a repository may speak of
/// kinds whose controller is switched off. All at once; each is waited for.
fn apply_crds(lab: &Lab) -> Result<(), LabError> {
    let mut documents = Vec::new();
    let with_crds =
        [Tool::SourceController, Tool::KustomizeController, Tool::HelmController, Tool::SealedSecretsController];
    for tool in with_crds {
        let Ok(files) = build::files(tool) else { continue };
        for directory in tool.files() {
            for file in yaml_files(&files.join(directory))? {
                let text = std::fs::read_to_string(&file).map_err(LabError::io(format!("read {}", file.display())))?;
                documents.extend(api::documents(&text)?);
            }
        }
    }
    documents.retain(|document| document["kind"] == "CustomResourceDefinition");
    let applying = documents.chunks(1).map(|one| lab.kubernetes.apply(one));
    lab.block_on(futures::future::try_join_all(applying)).map(drop)
}

fn yaml_files(directory: &Path) -> Result<Vec<PathBuf>, LabError> {
    let step = || format!("list {}", directory.display());
    let entries = std::fs::read_dir(directory).map_err(LabError::io(step()))?;
    let mut files = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>();
    if let Ok(files) = &mut files {
        files.retain(|file| file.extension().is_some_and(|extension| extension == "yaml"));
        files.sort();
    }
    files.map_err(LabError::io(step()))
}

/// Waits for the sign that a process works, and notices when it has died instead.
pub(crate) fn wait_until_it_works(lab: &Lab, process: Process) -> Result<(), LabError> {
    let start = Instant::now();
    loop {
        if works(lab, process) {
            return Ok(());
        }
        let log = || tail(&lab.log(process));
        if !lab.is_running(process) {
            return Err(LabError::Died { process, log: log() });
        }
        if !lab.is_running(Process::Etcd) {
            return Err(LabError::Died { process: Process::Etcd, log: tail(&lab.log(Process::Etcd)) });
        }
        if start.elapsed() > WORKS_WITHIN {
            return Err(LabError::NotReady { process, within: WORKS_WITHIN, log: log() });
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn works(lab: &Lab, process: Process) -> bool {
    match process {
        Process::ApiServer => lab.block_on(lab.kubernetes.is_ready()),
        Process::ControllerManager => {
            // The account that every pod of the namespace needs.
            let account = Object::new("v1", "ServiceAccount", "flux-system", "default");
            lab.wait_for(&account, &Until::exists(), LOOK_EVERY * 10).is_ok()
        }
        Process::SealedSecrets => TcpStream::connect(("127.0.0.1", lab.place.ports.sealed_secrets)).is_ok(),
        _ => match process.ready_line() {
            Some(line) => lab.log(process).contains(line),
            None => lab.is_running(process),
        },
    }
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(LOG_TAIL_LINES)..].join("\n")
}
