//! `cargo xtask lab`: a real control plane on loopback, for tests. `docs/lab.md` is its manual.

mod build;
mod down;
mod look;
mod operators;
mod progress;
mod stand_in;
mod state;
mod status;
mod supervise;
mod tree;
mod up;

use anyhow::Result;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Lab {
    /// Build the lab's programs from their Go modules
    Build(build::Options),
    /// Start a lab and have Flux reconcile a repository in it
    Up(up::Options),
    /// End a lab and leave nothing of it
    Down(down::Options),
    /// List the labs that are up
    Status,
    /// Hold a lab: the process behind `up`
    #[command(hide = true)]
    Supervise(supervise::Options),
}

pub(crate) fn run(what: &Lab) -> Result<()> {
    match what {
        Lab::Build(options) => build::run(options),
        Lab::Up(options) => up::run(options),
        Lab::Down(options) => down::run(options),
        Lab::Status => status::run(),
        Lab::Supervise(options) => supervise::run(options),
    }
}
