//! `cargo xtask lab`: a real control plane on loopback, for tests. `docs/lab.md` is its manual.

mod build;
mod progress;

use anyhow::Result;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Lab {
    /// Build the lab's programs from their Go modules
    Build(build::Options),
}

pub(crate) fn run(what: &Lab) -> Result<()> {
    match what {
        Lab::Build(options) => build::run(options),
    }
}
