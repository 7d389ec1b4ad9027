//! `cargo xtask test`: the tests of the workspace; with `--full` also those that CI has no time for.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// With the full lab: no test is skipped, and every guaranteed case runs many times with shuffled delays
    #[arg(long)]
    full: bool,
    /// How often each guaranteed case runs
    #[arg(long, default_value_t = 20, requires = "full")]
    runs: u32,
    /// The seed of the first shuffled run; by default from the clock
    #[arg(long, requires = "full")]
    seed: Option<u64>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["test", "--workspace", "--locked"]);
    if options.full {
        let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs());
        let seed = options.seed.unwrap_or_else(clock);
        println!("guaranteed cases: {} runs each, seeds from {seed} on", options.runs);
        command.env("COLDSTART_LAB", "full");
        command.env("COLDSTART_CASE_RUNS", options.runs.to_string());
        command.env("COLDSTART_CASE_SEED", seed.to_string());
        command.args(["--no-fail-fast", "--", "--include-ignored"]);
    }
    let status = command.status().context("cannot start cargo")?;
    ensure!(status.success(), "the tests failed");
    Ok(())
}
