//! `cargo xtask lab down`: ends labs and leaves nothing of them.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::state::{Run, is_alive};

const GONE_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(50);

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Which one
    #[arg(default_value = "lab")]
    name: String,
    /// All of them
    #[arg(long, conflicts_with = "name")]
    all: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let runs = if options.all { Run::all()? } else { vec![Run::named(&options.name)?] };
    for run in &runs {
        if !run.directory.exists() {
            bail!("no lab is called {}; `cargo xtask lab status` lists them", run.name);
        }
        end(run)?;
        println!("lab {} is gone", run.name);
    }
    Ok(())
}

/// The supervisor's end is the end of its processes: that is waited for, not done here.
fn end(run: &Run) -> Result<()> {
    if let Some(supervisor) = run.supervisor() {
        kill(Pid::from_raw(i32::try_from(supervisor)?), Signal::SIGTERM).context("end the supervisor")?;
    }
    let processes: Vec<u32> = run.state().into_iter().flat_map(|state| state.processes.into_values()).collect();
    let start = Instant::now();
    while run.supervisor().is_some() || processes.iter().any(|pid| is_alive(*pid)) {
        if start.elapsed() > GONE_WITHIN {
            let left: Vec<&u32> = processes.iter().filter(|pid| is_alive(**pid)).collect();
            bail!("lab {}: still running after {} s: {left:?}", run.name, GONE_WITHIN.as_secs());
        }
        std::thread::sleep(LOOK_EVERY);
    }
    fs::remove_dir_all(&run.directory).with_context(|| format!("remove {}", run.directory.display()))
}
