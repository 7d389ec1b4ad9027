//! `cargo xtask`: the front door for developers. One module per subcommand; nothing here ships to users.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool: its output is what it is for")]

mod bench;
mod compare;
mod dist;
mod docs;
mod evaluate;
mod fixture_index;
mod generate;
mod kustomize_diff;
mod lab;
mod packaging;
mod parallel;
mod parse;
mod paths;
mod product;
mod sbom;
mod seen_with_flux;
mod simulate;
mod table;
mod test;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Developer tasks of coldstart")]
struct Command {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Measure `coldstart check` against what people found by hand
    #[command(subcommand)]
    Evaluate(evaluate::Evaluate),
    /// Write a synthetic Flux repository of a given size
    Generate(generate::Options),
    /// Bring generated clusters up in the simulated world, by the thousand, and judge every run
    Simulate(simulate::Options),
    /// Time a command: wall, CPU and memory over several runs
    Bench(bench::Options),
    /// Run two binaries on the same trees and list every difference of what they print as JSON
    Compare(compare::Options),
    /// Run commands once and print what they cost as JSON (the inner half of `bench`)
    #[command(hide = true)]
    Measure(bench::MeasureOptions),
    /// A real control plane on loopback, for tests
    #[command(subcommand)]
    Lab(lab::Lab),
    /// Run the tests; with `--full` also those that CI has no time for
    Test(test::Options),
    /// Write the pages of the rules from their manuals, and the index of the fixtures
    Docs(docs::Options),
    /// Build what a release consists of for one target: an archive and its checksum
    Dist(dist::Options),
    /// Write what package managers read: a Homebrew formula, a krew manifest, an aqua registry
    Packaging(packaging::Options),
    /// Only parse the YAML files of a tree: the floor under `coldstart check`
    #[command(hide = true)]
    Parse(parse::Options),
    /// List the directories that the Flux Kustomizations of a tree name
    #[command(hide = true)]
    Paths(paths::Options),
}

fn main() -> ExitCode {
    match run(Command::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    match task {
        Task::Evaluate(what) => evaluate::run(&what),
        Task::Generate(options) => generate::run(&options),
        Task::Simulate(options) => simulate::run(&options),
        Task::Bench(options) => bench::run(&options),
        Task::Compare(options) => compare::run(&options),
        Task::Measure(options) => bench::measure(&options),
        Task::Lab(what) => lab::run(&what),
        Task::Test(options) => test::run(&options),
        Task::Docs(options) => docs::run(&options),
        Task::Dist(options) => dist::run(&options),
        Task::Packaging(options) => packaging::run(&options),
        Task::Parse(options) => parse::run(&options),
        Task::Paths(options) => paths::run(&options),
    }
}
