//! A stand-in for tests: answers that were written down before, and a record of what was run.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::environment::Environment;
use crate::failure::ExecError;
use crate::program::{Input, Program};
use crate::redact::redacted;
use crate::runner::{Ending, Finished, Reader, Runner};

/// What a program is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It runs to its end.
    Ends {
        /// How.
        ending: Ending,
        /// What it prints.
        output: Vec<u8>,
        /// What it prints to its standard error.
        said: Vec<u8>,
    },
    /// There is no such program.
    NotFound,
    /// It does not end in time.
    TimesOut,
}

impl Answer {
    /// It prints this, and ends well.
    pub fn prints(output: impl Into<Vec<u8>>) -> Self {
        Self::Ends { ending: Ending::Code(0), output: output.into(), said: Vec::new() }
    }

    /// It complains, and ends with this code.
    pub fn fails(code: i32, said: impl Into<Vec<u8>>) -> Self {
        Self::Ends { ending: Ending::Code(code), output: Vec::new(), said: said.into() }
    }
}

/// A run that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The program as it was named.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Where it was to start.
    pub directory: Option<PathBuf>,
    /// What it may see.
    pub environment: Environment,
    /// Its input; of a secret one only that there was one.
    pub input: Option<Vec<u8>>,
    /// Whether its input was a secret.
    pub is_secret: bool,
}

impl Call {
    fn of(program: &Program<'_>) -> Self {
        Self {
            program: program.name.clone(),
            arguments: program.arguments.clone(),
            directory: program.directory.clone(),
            environment: program.environment.clone(),
            input: match program.input {
                Input::Bytes(bytes) => Some(bytes.to_vec()),
                Input::Nothing | Input::Secret(_) => None,
            },
            is_secret: matches!(program.input, Input::Secret(_)),
        }
    }

    /// The program and its arguments, as one would type them.
    pub fn line(&self) -> String {
        let words = self.arguments.iter().map(|word| word.to_string_lossy());
        [self.program.to_string_lossy()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
    }
}

/// Answers in the order in which they were written down.
#[derive(Debug, Default)]
pub struct Scripted {
    answers: Mutex<VecDeque<Answer>>,
    calls: Mutex<Vec<Call>>,
}

impl Scripted {
    /// With these answers.
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self { answers: Mutex::new(answers.into_iter().collect()), calls: Mutex::default() }
    }

    /// What was run until now.
    pub fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn next(&self, call: Call) -> Answer {
        let line = call.line();
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        let next = self.answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        next.unwrap_or_else(|| panic!("no answer was written down for `{line}`"))
    }
}

impl Runner for Scripted {
    fn run_reading(&self, program: &Program<'_>, read: Reader<'_>) -> Result<Finished, ExecError> {
        let name = program.name.clone();
        match self.next(Call::of(program)) {
            Answer::NotFound => Err(ExecError::NotFound { program: name, source: std::io::ErrorKind::NotFound.into() }),
            Answer::TimesOut => {
                let after = program.limits.time.unwrap_or(Duration::ZERO);
                Err(ExecError::TimedOut { program: name, after })
            }
            Answer::Ends { ending, output, said } => {
                let unread = |source| ExecError::Unread { program: name.clone(), source };
                read(&mut output.as_slice()).map_err(unread)?;
                Ok(Finished { program: name, ending, output: Vec::new(), said: redacted(program, &said) })
            }
        }
    }
}
