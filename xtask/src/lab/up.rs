//! `cargo xtask lab up`: a lab that outlives the command, with Flux reconciling a repository in it.

use std::fs::{self, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use lab::build::{Tier, Tool};

use super::build;
use super::look::{self, Readiness};
use super::state::{Run, State};

const READY_WITHIN: Duration = Duration::from_mins(2);
const LOOK_EVERY: Duration = Duration::from_millis(200);
const ASK_EVERY: Duration = Duration::from_secs(2);

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Its name; several labs may be up side by side
    #[arg(long, default_value = "lab")]
    name: String,
    /// Where Flux begins, below DIR, when the repository does not say so
    #[arg(long)]
    entry: Option<String>,
    /// How many seconds to watch Flux converge; 0 returns as soon as it has begun
    #[arg(long, default_value_t = 180)]
    follow: u64,
    /// The repository that Flux reconciles
    #[arg(default_value = "examples/homelab")]
    directory: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let directory = options.directory.canonicalize().with_context(|| options.directory.display().to_string())?;
    let run = Run::named(&options.name)?;
    if run.supervisor().is_some() {
        let name = &run.name;
        bail!("lab {name} is up; end it with `cargo xtask lab down {name}`, or give this one another --name");
    }
    if lab::build::ready(Tier::Cli).is_err() {
        build::run(&build::Options::default())?;
    }
    let state = start(&run, &directory, options.entry.as_deref())?;
    follow(&state.kubeconfig, Duration::from_secs(options.follow))?;
    look_around(&run, &state)
}

fn start(run: &Run, directory: &Path, entry: Option<&str>) -> Result<State> {
    if run.directory.exists() {
        fs::remove_dir_all(&run.directory).context("remove what an earlier lab left")?;
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&run.directory)?;
    let log = File::create(run.log())?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["lab", "supervise", "--name", &run.name]);
    if let Some(entry) = entry {
        command.args(["--entry", entry]);
    }
    command.arg(directory).stdin(Stdio::null()).stderr(log.try_clone()?).stdout(log);
    let mut supervisor = command.spawn().context("start the supervisor")?;
    let (start, mut told) = (Instant::now(), 0);
    loop {
        // Before the log is read: what it said last is then in it.
        let state = run.state();
        let ended = supervisor.try_wait()?;
        let log = fs::read_to_string(run.log())?;
        for line in log.lines().skip(told) {
            println!("{line}");
            told += 1;
        }
        if let Some(state) = state {
            return Ok(state);
        }
        if ended.is_some() || start.elapsed() > READY_WITHIN {
            bail!("the lab did not come up; its logs are in {}", run.directory.display());
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Says how far Flux is, whenever that changes, until all is ready or the time is over.
fn follow(kubeconfig: &Path, at_most: Duration) -> Result<()> {
    let (start, mut last) = (Instant::now(), None);
    while start.elapsed() < at_most {
        let seen = (look::kustomizations(kubeconfig)?, look::releases(kubeconfig)?);
        if last.as_ref() != Some(&seen) {
            let (kustomizations, releases) = &seen;
            println!("{:>4} s  Kustomizations {kustomizations}, HelmReleases {releases}", start.elapsed().as_secs());
        }
        let all_ready = |found: &Readiness| found.total > 1 && found.waiting.is_empty();
        if all_ready(&seen.0) && seen.1.waiting.is_empty() {
            return Ok(());
        }
        last = Some(seen);
        std::thread::sleep(ASK_EVERY);
    }
    for what in
        last.into_iter().flat_map(|(kustomizations, releases)| [kustomizations.waiting, releases.waiting]).flatten()
    {
        println!("not ready: {what}");
    }
    Ok(())
}

fn look_around(run: &Run, state: &State) -> Result<()> {
    let kubectl = lab::build::binary(Tool::Kubectl)?;
    let bin = kubectl.parent().context("kubectl is in a directory")?;
    println!(
        "
lab {name} is up: API server {api}, Git {git}, charts {charts}

  export KUBECONFIG={kubeconfig}
  export PATH={bin}:$PATH
  kubectl get nodes
  kubectl get kustomizations,helmreleases -A
  kubectl get pods -A -o wide
  kubectl events -A --types=Warning
  ls {logs}

It ends with `cargo xtask lab down {name}`.",
        name = run.name,
        api = state.api,
        git = state.git,
        charts = state.charts,
        kubeconfig = state.kubeconfig.display(),
        bin = bin.display(),
        logs = run.directory.join("lab/logs").display(),
    );
    Ok(())
}
