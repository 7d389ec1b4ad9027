//! The question before anything is changed.

use std::io::{self, BufRead as _, IsTerminal as _};

use crate::failure::Failure;
use crate::output;

/// Shows what is about to be done, and goes on if that is wanted.
pub(crate) fn confirm(plan: &str, yes: bool) -> Result<(), Failure> {
    ask(plan, "", yes, output::print)
}

/// The same about what does not really happen: the question carries the mark, too.
pub(crate) fn confirm_marked(plan: &str, mark: &str) -> Result<(), Failure> {
    ask(plan, mark, false, output::print)
}

/// The same on standard error, where standard output has its own form.
pub(crate) fn confirm_aside(plan: &str, yes: bool) -> Result<(), Failure> {
    let say = |text: &str| {
        text.lines().for_each(output::remark);
        Ok(())
    };
    ask(plan, "", yes, say)
}

fn ask(plan: &str, mark: &str, yes: bool, say: impl Fn(&str) -> io::Result<()>) -> Result<(), Failure> {
    say(plan)?;
    if yes {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::NobodyToAsk);
    }
    say(&format!("{mark}go ahead? [y/N] "))?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    if matches!(line.trim(), "y" | "Y" | "yes") { Ok(()) } else { Err(Failure::No) }
}
