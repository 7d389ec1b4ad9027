//! The question before anything is changed.

#![expect(clippy::disallowed_methods, reason = "the terminal is the place to ask")]

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal as _};

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
#[cfg(feature = "seal")]
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
    let mut answers = somebody().ok_or(Failure::NobodyToAsk)?;
    say(&format!("{mark}go ahead? [y/N] "))?;
    let mut line = String::new();
    answers.read_line(&mut line)?;
    if matches!(line.trim(), "y" | "Y" | "yes") { Ok(()) } else { Err(Failure::No) }
}

/// Where somebody answers. Standard input may be a pipe with something else in it: then whoever sees our messages is asked at
/// their terminal.
pub(crate) fn somebody() -> Option<Box<dyn BufRead>> {
    if io::stdin().is_terminal() {
        return Some(Box::new(io::stdin().lock()));
    }
    let terminal = io::stderr().is_terminal().then(|| File::open("/dev/tty").ok()).flatten()?;
    Some(Box::new(BufReader::new(terminal)))
}
