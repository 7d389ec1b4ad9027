//! What a command costs: wall time, CPU time of it and its children, and the memory of the biggest process among them.
//!
//! The kernel keeps those figures per waiting process and only ever adds to them, so each measurement is made by a fresh
//! process: this program again, as `xtask measure`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde::{Deserialize, Serialize};

use crate::parallel;

/// A trial build that takes longer is waiting for something that is not there.
const TRIAL_SECONDS_MAX: u64 = 20;
/// Nothing listens here: whatever asks for the network is told no at once.
const NO_PROXY_HERE: &str = "http://127.0.0.1:9";

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A file of last arguments: the command is run once for each line
    #[arg(long, value_name = "FILE")]
    each: Option<PathBuf>,
    /// Processes at a time
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// A process that takes longer is ended, and counts as failed
    #[arg(long, value_name = "N")]
    seconds_max: Option<u64>,
    /// The command
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Cost {
    pub wall_ms: f64,
    pub user_ms: f64,
    pub system_ms: f64,
    pub memory_kib: f64,
    /// Processes that did not exit with 0 or 1.
    pub failed: usize,
}

/// The inner half: runs the command, prints its cost as JSON.
pub(crate) fn run(options: &Options) -> Result<()> {
    let (program, arguments) = options.command.split_first().context("no command")?;
    let each = options.each.as_deref().map(std::fs::read_to_string).transpose().context("cannot read the list")?;
    let tails: Vec<Option<&str>> = each.as_deref().map_or_else(|| vec![None], |text| text.lines().map(Some).collect());
    let started = Instant::now();
    let codes = parallel::map(&tails, options.jobs, |tail| {
        let mut command = offline(Path::new(program));
        command.args(arguments).args(tail).stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null());
        let mut child = command.spawn()?;
        match options.seconds_max {
            Some(seconds) => ended_within(&mut child, Duration::from_secs(seconds)),
            None => child.wait().map(Some),
        }
        .map(|status| status.and_then(|status| status.code()))
    });
    let wall_ms = started.elapsed().as_secs_f64() * 1000.0;
    let codes =
        codes.into_iter().collect::<std::io::Result<Vec<_>>>().with_context(|| format!("cannot start {program}"))?;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("getrusage")?;
    let cost = Cost {
        wall_ms,
        user_ms: milliseconds(usage.user_time()),
        system_ms: milliseconds(usage.system_time()),
        memory_kib: to_f64(usage.max_rss()),
        failed: codes.iter().filter(|code| !matches!(code, Some(0 | 1))).count(),
    };
    println!("{}", serde_json::to_string(&cost)?);
    Ok(())
}

/// How the process ended; nothing if it had to be ended.
fn ended_within(child: &mut Child, most: Duration) -> std::io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() > most {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The outer half, for one process that may not take longer than this: has a fresh process run the command.
pub(crate) fn limited(program: &Path, arguments: &[String], seconds_max: u64) -> Result<Cost> {
    asked(&["--seconds-max".to_owned(), seconds_max.to_string()], program, arguments)
}

/// The outer half: has a fresh process run the command, `jobs` at a time where there are several.
pub(crate) fn in_child(program: &Path, arguments: &[String], each: Option<&Path>, jobs: usize) -> Result<Cost> {
    let mut how = vec!["--jobs".to_owned(), jobs.to_string()];
    if let Some(each) = each {
        how.extend(["--each".to_owned(), each.display().to_string()]);
    }
    asked(&how, program, arguments)
}

fn asked(how: &[String], program: &Path, arguments: &[String]) -> Result<Cost> {
    let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
    command.arg("measure").args(how);
    let output = command.arg("--").arg(program).args(arguments).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "cannot measure {}", program.display());
    serde_json::from_slice(&output.stdout).context("the measuring process printed something else")
}

/// Whether the command succeeds offline and in time.
pub(crate) fn succeeds(program: &Path, arguments: &[String]) -> Result<bool> {
    let mut command = offline(program);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null());
    let mut child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
    let ended = ended_within(&mut child, Duration::from_secs(TRIAL_SECONDS_MAX))?;
    Ok(ended.is_some_and(|status| status.success()))
}

fn offline(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("GIT_ALLOW_PROTOCOL", "file").env("HTTP_PROXY", NO_PROXY_HERE).env("HTTPS_PROXY", NO_PROXY_HERE);
    command
}

fn milliseconds(time: nix::sys::time::TimeVal) -> f64 {
    to_f64(time.num_microseconds()) / 1000.0
}

#[expect(clippy::cast_precision_loss, reason = "figures for a table, far below 2^52")]
fn to_f64(number: i64) -> f64 {
    number as f64
}
