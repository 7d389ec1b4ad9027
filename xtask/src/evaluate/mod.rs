//! `cargo xtask evaluate`: what does `check` find, on repositories that people really run?

mod agreement;
mod beside;
mod case;
mod catalogue;
mod corpus;
mod damage;
mod deployed;
mod expect;
mod faults;
mod fix;
mod growth;
mod hindsight;
mod hostile;
mod score;
mod taken;
mod trees;
mod understood;

use anyhow::Result;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Evaluate {
    /// Recall on dependency fixes that people made by hand
    Hindsight(hindsight::Options),
    /// A table over whole repositories, and what must and must not be found in them
    Corpus(corpus::Options),
    /// What `fix` closes in copies of whole repositories, and what is found afterwards: --trees DIR...
    Fix(fix::Options),
    /// What `fix` edits beside what people wrote by hand: --cases FILE --mirrors DIR --out DIR [--only N]
    Beside(beside::Options),
    /// Whether check, simulate and plan say the same of real repositories: --trees DIR...
    Agreement(agreement::Options),
    /// Whether impact says of the next cold start what the simulated world shows: [--clusters N]
    Taken(taken::Options),
    /// What is deployed that the catalogue does not know, most deployed first
    Catalogue(catalogue::Options),
    /// How much is understood of Terraform and of scripts that boot a cluster: --trees DIR...
    Understood(understood::Options),
    /// How the cost of each command grows with the repository
    Growth(growth::Options),
    /// Repositories that were made to break who reads them, for every command and format: [--seeds N]
    Hostile(hostile::Options),
    /// Commands that write, killed at any moment, and what they wrote, damaged: [--count N]
    Damage(damage::Options),
    /// Faults in clusters of the lab: whether `status` names the root of each, and what it blocks
    Faults(faults::Options),
    /// Compare our builds with those of the real kustomize: DIR... [--kustomize PATH]
    Kustomize {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        arguments: Vec<String>,
    },
}

pub(crate) fn run(what: &Evaluate) -> Result<()> {
    match what {
        Evaluate::Hindsight(options) => hindsight::run(options),
        Evaluate::Corpus(options) => corpus::run(options),
        Evaluate::Fix(options) => fix::run(options),
        Evaluate::Beside(options) => beside::run(options),
        Evaluate::Agreement(options) => agreement::run(options),
        Evaluate::Taken(options) => taken::run(options),
        Evaluate::Catalogue(options) => catalogue::run(options),
        Evaluate::Understood(options) => understood::run(options),
        Evaluate::Growth(options) => growth::run(options),
        Evaluate::Hostile(options) => hostile::run(options),
        Evaluate::Damage(options) => damage::run(options),
        Evaluate::Faults(options) => faults::run(options),
        Evaluate::Kustomize { arguments } => crate::kustomize_diff::run(arguments),
    }
}
