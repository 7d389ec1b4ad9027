//! The command line: thin. It takes words and terminals, calls the crates that know something, and turns what they say
//! into output and an exit code.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod arguments;
mod baseline;
mod change;
mod check;
mod cluster;
mod confirm;
mod exit;
mod failure;
mod fix;
mod graph;
mod home;
mod impact;
mod init;
mod manual;
mod open;
mod output;
mod picture;
mod place;
mod plan;
mod progress;
mod report;
#[cfg(feature = "seal")]
mod seal;
mod simulate;
mod since;
#[cfg(feature = "live")]
mod status;
mod stop;
mod timeline;
mod up;
mod version;
mod watch;

use std::process::ExitCode;

use arguments::{Arguments, Command};
use clap::Parser as _;
use failure::Failure;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(usage) => {
            #[cfg(feature = "seal")]
            if let Some(told) = seal::refused(&usage, std::env::args_os().skip(1)) {
                output::complain(&told);
                return exit::FAILED.into();
            }
            // Also `--help` and `--version`, which are no failures; a closed pipe is nobody's.
            let _ = usage.print();
            return u8::try_from(usage.exit_code()).map_or(exit::FAILED.into(), ExitCode::from);
        }
    };
    repository::parallel::start();
    let result = match arguments.command {
        Command::Check(options) if options.watch => watch::run(&options),
        Command::Check(options) if options.fix => fix::of_check(&options),
        Command::Check(options) => check::run(&options),
        Command::Fix(options) => fix::run(&options),
        Command::Graph(options) => graph::run(&options),
        Command::Impact(options) => impact::run(&options),
        Command::Init(options) => init::run(&options),
        Command::Plan(options) => plan::run(&options),
        Command::Up(options) => up::run(&options),
        Command::Log(options) => up::log::run(&options),
        Command::Report(options) => report::run(&options),
        #[cfg(feature = "seal")]
        Command::Seal(options) => seal::run(&options.settled()),
        #[cfg(feature = "live")]
        Command::Status(options) => status::run(&options),
        Command::Simulate(options) => simulate::run(&options),
        Command::Completions(options) => manual::completions(&options),
        Command::Man(options) => manual::pages(&options),
        Command::Version => version::run(),
    };
    match result {
        Ok(code) => code.into(),
        Err(failure) => complain(&failure),
    }
}

fn complain(failure: &Failure) -> ExitCode {
    output::complain(&failure.told());
    failure.code().into()
}
