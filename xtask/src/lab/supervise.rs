//! The process behind `up`: holds a lab until it is told to end, or until somebody ends it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Args;
use lab::{Lab, Object, Options as LabOptions};

use super::state::{Run, State, now_unix_seconds};
use super::tree::{self, Needs, Servers};
use super::{operators, stand_in};

const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The entry point of repositories that say nothing.
const USUAL_ENTRY: &str = "./";

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[arg(long)]
    name: String,
    /// Where Flux begins, when the repository does not say so
    #[arg(long)]
    entry: Option<String>,
    directory: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    // A session of our own: the terminal that said `up` may close.
    nix::unistd::setsid().context("leave the session of the terminal")?;
    let run = Run::named(&options.name)?;
    run.write_pid(std::process::id())?;
    let lab = Lab::start(LabOptions::named(&options.name).directory(run.directory.join("lab")))?;
    println!("control plane ready after {:.1} s", lab.start_took().as_secs_f64());
    lab.add_five_nodes()?;
    println!("five nodes: cp-1, cp-2, cp-3, worker-1, worker-2");
    let mut operated = reconcile(&lab, &run, options)?;
    run.write_state(&State {
        supervisor: std::process::id(),
        started_unix_seconds: now_unix_seconds(),
        kubeconfig: lab.kubeconfig(),
        api: lab.api_url(),
        git: lab.git().url(),
        charts: lab.charts().url(),
        start_seconds: lab.start_took().as_secs_f64(),
        processes: lab.process_ids().into_iter().map(|(process, pid)| (process.to_string(), pid)).collect(),
    })?;
    // `down` ends this process, and the lab ends with it.
    loop {
        std::thread::sleep(LOOK_EVERY);
        // An API server that somebody stopped, to see what happens, is no reason to end.
        if let Err(error) = operators::play(&lab, &mut operated) {
            println!("{error}");
        }
    }
}

/// Puts the repository on the Git server, what it needs on the chart server, and tells Flux where to begin. Returns the
/// objects that operators are to make.
fn reconcile(lab: &Lab, run: &Run, options: &Options) -> Result<Vec<Object>> {
    let copy = run.directory.join("tree");
    let charts = lab.charts().url().trim_start_matches("http://").to_owned();
    let needs = tree::copy(&options.directory, &copy, &Servers { git: lab.git().url(), charts })?;
    serve_stand_ins(lab, &run.directory.join("charts"), &needs)?;
    for class in &needs.storage_classes {
        lab.apply(&storage_class(class))?;
    }
    let revision = lab.git().push(&copy)?;
    println!("pushed {} as {}", options.directory.display(), &revision[..12]);
    let entry = options.entry.as_deref().or(needs.entry.as_deref()).unwrap_or(USUAL_ENTRY);
    lab.apply(&root(&lab.git().url(), entry))?;
    println!("Flux begins at {entry}");
    Ok(needs.checked)
}

fn serve_stand_ins(lab: &Lab, directory: &Path, needs: &Needs) -> Result<()> {
    let mut brought = BTreeSet::new();
    for (chart, versions) in &needs.charts {
        let chart_directory = directory.join(chart);
        brought.extend(stand_in::write(&chart_directory, chart, needs)?);
        for version in versions {
            lab.charts().add(&chart_directory, chart, version)?;
        }
    }
    println!("{} stand-in charts with {} kinds", needs.charts.len(), brought.len());
    for ((group, kind), versions) in &needs.kinds {
        if !brought.contains(&(group.clone(), kind.clone())) {
            println!("no chart brings {group}/{kind}: its CRD is there from the start");
            lab.apply_value(&stand_in::crd(group, kind, versions))?;
        }
    }
    Ok(())
}

fn storage_class(name: &str) -> String {
    format!(
        "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: {name}}}\nprovisioner: lab.coldstart.dev/volume\n"
    )
}

fn root(url: &str, entry: &str) -> String {
    format!(
        "
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: flux-system, namespace: flux-system}}
spec:
  interval: 1m
  url: {url}
  ref: {{branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: flux-system, namespace: flux-system}}
spec:
  interval: 10m
  retryInterval: 10s
  path: '{entry}'
  prune: true
  sourceRef: {{kind: GitRepository, name: flux-system}}
"
    )
}
