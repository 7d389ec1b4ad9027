//! `coldstart completions` and `coldstart man`: both written from the same words that the command line is read with.

#![expect(clippy::disallowed_methods, reason = "packagers say where manual pages go")]

use std::fs;

use clap::CommandFactory as _;

use crate::arguments::{Arguments, Completions, Man};
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::output;

pub(crate) fn completions(options: &Completions) -> Result<Code, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "coldstart", &mut script);
    output::print_exactly(&String::from_utf8_lossy(&script))?;
    Ok(exit::CLEAN)
}

pub(crate) fn pages(options: &Man) -> Result<Code, Failure> {
    // A page about the command that shows help would be one more for every page.
    let command = Arguments::command().disable_help_subcommand(true);
    let Some(directory) = &options.out else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        output::print_exactly(&String::from_utf8_lossy(&page))?;
        return Ok(exit::CLEAN);
    };
    let failure = |source| Failure::WriteFile { path: directory.clone(), source };
    fs::create_dir_all(directory).map_err(failure)?;
    clap_mangen::generate_to(command, directory).map_err(failure)?;
    Ok(exit::CLEAN)
}
