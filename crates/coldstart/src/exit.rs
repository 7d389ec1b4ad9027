//! What the exit code says. Documented in the help of `coldstart check`, and promised.

use std::process::ExitCode;

/// An exit code that means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(u8);

/// No errors. There may be warnings.
pub(crate) const CLEAN: Code = Code(0);
/// At least one finding of severity error.
pub(crate) const ERRORS_FOUND: Code = Code(1);
/// Not understood, or could not be read. The code that clap uses, too.
pub(crate) const FAILED: Code = Code(2);
/// Read, but there is nothing in it to check.
pub(crate) const NOTHING_TO_CHECK: Code = Code(3);
/// Of `status`: nothing fails, and something is still coming up.
#[cfg(feature = "live")]
pub(crate) const PROGRESSING: Code = Code(4);
/// Of `status`: what would decide it could not be seen.
#[cfg(feature = "live")]
pub(crate) const UNKNOWN: Code = Code(5);
/// Somebody asked to stop, as shells say it of Ctrl-C.
pub(crate) const STOPPED: Code = Code(130);

impl Code {
    /// For those who end the program themselves.
    pub(crate) fn number(self) -> i32 {
        self.0.into()
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code.0)
    }
}
