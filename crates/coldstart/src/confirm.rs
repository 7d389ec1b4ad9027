//! The question before anything is changed.

use std::io::{self, BufRead as _, IsTerminal as _};

use crate::failure::Failure;
use crate::output;

/// Shows what is about to be done, and goes on if that is wanted.
pub(crate) fn confirm(plan: &str, yes: bool) -> Result<(), Failure> {
    output::print(plan)?;
    if yes {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::NobodyToAsk);
    }
    output::print("go ahead? [y/N] ")?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    if matches!(line.trim(), "y" | "Y" | "yes") { Ok(()) } else { Err(Failure::No) }
}
