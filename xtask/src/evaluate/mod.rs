//! `cargo xtask evaluate`: what does `check` find, on repositories that people really run?

mod case;
mod corpus;
mod expect;
mod hindsight;
mod score;
mod trees;

use anyhow::Result;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Evaluate {
    /// Recall on dependency fixes that people made by hand
    Hindsight(hindsight::Options),
    /// A table over whole repositories, and what must and must not be found in them
    Corpus(corpus::Options),
}

pub(crate) fn run(what: &Evaluate) -> Result<()> {
    match what {
        Evaluate::Hindsight(options) => hindsight::run(options),
        Evaluate::Corpus(options) => corpus::run(options),
    }
}
