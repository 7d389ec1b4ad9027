//! Standard output and error: colours, widths, and pipes that close early.

#![expect(clippy::disallowed_methods, reason = "the door of the program: what its terminal can do")]

use std::io::{self, ErrorKind, IsTerminal as _, Write as _};

use anstream::{AutoStream, ColorChoice};
#[cfg(feature = "seal")]
use diagnostic::Next;

use source::without_commands;

use crate::arguments::Color;

/// Whether to colour what goes to standard output. `NO_COLOR` and its relatives are asked only when nobody said.
pub(crate) fn wants_color(color: Color) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => AutoStream::choice(&io::stdout()) != ColorChoice::Never,
    }
}

/// The columns of the terminal that standard output is, if it is one.
pub(crate) fn columns() -> Option<usize> {
    size().map(|(columns, _)| columns)
}

/// The columns and rows of the terminal that standard output is, if it is one.
pub(crate) fn size() -> Option<(usize, usize)> {
    if !io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(width, height)| (usize::from(width.0), usize::from(height.0)))
}

/// The terminal says that it can't go back over what it has shown.
pub(crate) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Writes to standard output what is for people or programs, with names of others in it: no line of it is a command to the program
/// that keeps the log.
pub(crate) fn print(text: &str) -> io::Result<()> {
    print_exactly(&without_commands(text))
}

/// Writes to standard output what must stay as it is: manifests, commands to GitHub. Nobody is hurt when `head` has seen enough.
pub(crate) fn print_exactly(text: &str) -> io::Result<()> {
    let mut stdout = AutoStream::always(io::stdout().lock());
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Says something on standard error that is no failure, where standard output has its own form.
pub(crate) fn remark(text: &str) {
    // There is nowhere left to say that this failed.
    let _ = writeln!(io::stderr().lock(), "{}", without_commands(&draw::clean(text)));
}

/// Says on standard error what to type next, below a remark.
#[cfg(feature = "seal")]
pub(crate) fn remark_next(next: &Next) {
    remark(&format!("  next: {}", draw::say::next(next)));
}

/// Says on standard error what went wrong. The text is ours with names of others in it, which were cleaned where they were put in:
/// a line end is ours. Here each line is cleaned of the rest.
pub(crate) fn complain(text: &str) {
    let mut stderr = AutoStream::auto(io::stderr().lock());
    for (index, line) in text.lines().enumerate() {
        let before = if index == 0 { "\u{1b}[1m\u{1b}[91merror\u{1b}[0m: " } else { "" };
        // There is nowhere left to say that this failed.
        let _ = writeln!(stderr, "{before}{}", without_commands(&draw::clean(line)));
    }
}
