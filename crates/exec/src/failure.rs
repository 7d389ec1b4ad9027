//! Why a program did not do what it was started for.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a program could not be run to its end, or ended badly.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// There is no such program.
    #[error("the program `{}` can't be started: {source}", .program.display())]
    NotFound {
        /// As it was named.
        program: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// There is one, and it does not start.
    #[error("the program `{}` can't be started: {source}", .program.display())]
    NotStarted {
        /// As it was named.
        program: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It was ended, with all that it had started.
    #[error("`{}` was ended after {} s", .program.display(), .after.as_secs())]
    TimedOut {
        /// As it was named.
        program: PathBuf,
        /// The limit.
        after: Duration,
    },
    /// It was ended, with all that it had started.
    #[error("`{}` printed more than {bytes_max} bytes", .program.display())]
    TooMuchOutput {
        /// As it was named.
        program: PathBuf,
        /// The limit.
        bytes_max: u64,
    },
    /// What it printed could not be read, or not be used; it was ended.
    #[error("the output of `{}` can't be read: {source}", .program.display())]
    Unread {
        /// As it was named.
        program: PathBuf,
        /// What the reader says.
        source: io::Error,
    },
    /// It ended by itself, with an exit code other than 0.
    #[error("`{}` ended with code {code}: {}", .program.display(), .said.trim())]
    Failed {
        /// As it was named.
        program: PathBuf,
        /// Its exit code.
        code: i32,
        /// What it printed to its standard error, without secrets.
        said: String,
    },
    /// A signal ended it, and it was not ours.
    #[error("`{}` was ended by signal {signal}", .program.display())]
    Killed {
        /// As it was named.
        program: PathBuf,
        /// Which.
        signal: i32,
        /// What it printed to its standard error, without secrets.
        said: String,
    },
}
