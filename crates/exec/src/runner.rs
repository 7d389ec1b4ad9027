//! What runs programs, and what comes of it.

use std::borrow::Cow;
use std::io::{self, Read};
use std::path::PathBuf;

use crate::failure::ExecError;
use crate::program::Program;

/// Reads the output of a program while it runs, on a thread of its own. An error ends the program.
pub type Reader<'a> = &'a mut (dyn FnMut(&mut dyn Read) -> io::Result<()> + Send);

/// How a program ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With an exit code; 0 is success.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

/// A program that was run to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    pub(crate) program: PathBuf,
    /// How it ended.
    pub ending: Ending,
    /// What it printed; empty if a reader took it.
    pub output: Vec<u8>,
    pub(crate) said: String,
}

impl Finished {
    /// Whether it ended well.
    pub fn is_success(&self) -> bool {
        self.ending == Ending::Code(0)
    }

    /// What it printed, as text.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.output)
    }

    /// What it printed to its standard error, without secrets.
    pub fn said(&self) -> &str {
        &self.said
    }

    /// The same if it ended well, and else why not.
    pub fn success(self) -> Result<Self, ExecError> {
        match self.ending {
            Ending::Code(0) => Ok(self),
            Ending::Code(code) => Err(ExecError::Failed { program: self.program, code, said: self.said }),
            Ending::Signal(signal) => Err(ExecError::Killed { program: self.program, signal, said: self.said }),
        }
    }
}

/// Runs programs: [`crate::System`] on this machine, [`crate::Scripted`] in tests.
pub trait Runner: Sync {
    /// Runs a program to its end, and gives its output to `read` as it comes. The limit on output is up to `read`.
    fn run_reading(&self, program: &Program<'_>, read: Reader<'_>) -> Result<Finished, ExecError>;

    /// Runs a program to its end, and keeps its output.
    fn run(&self, program: &Program<'_>) -> Result<Finished, ExecError> {
        let bytes_max = program.limits.output_bytes_max;
        let (mut output, mut is_too_much) = (Vec::new(), false);
        let ran = self.run_reading(program, &mut |from| {
            // What was read until it broke is what there is.
            let _ = from.take(bytes_max.saturating_add(1)).read_to_end(&mut output);
            is_too_much = output.len() as u64 > bytes_max;
            if is_too_much { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
        });
        match ran {
            Err(ExecError::Unread { program, .. }) if is_too_much => {
                Err(ExecError::TooMuchOutput { program, bytes_max })
            }
            Err(error) => Err(error),
            Ok(finished) => Ok(Finished { output, ..finished }),
        }
    }
}
