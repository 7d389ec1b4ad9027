//! A run of a program, described in full before it begins.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::environment::Environment;
use crate::group::Group;

/// Nobody reads a longer complaint.
const COMPLAINT_BYTES_MAX: u64 = 64 * 1024;

/// What a program gets to read.
#[derive(Clone, Copy, Default)]
pub enum Input<'a> {
    /// Nothing: it ends at once.
    #[default]
    Nothing,
    /// These bytes.
    Bytes(&'a [u8]),
    /// These bytes, of which no copy is kept, and no line is repeated in what the program is reported to have said.
    Secret(&'a [u8]),
}

impl Input<'_> {
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Nothing => None,
            Self::Bytes(bytes) | Self::Secret(bytes) => Some(bytes),
        }
    }
}

impl fmt::Debug for Input<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => out.write_str("Nothing"),
            Self::Bytes(bytes) => write!(out, "Bytes({} bytes)", bytes.len()),
            Self::Secret(_) => out.write_str("Secret"),
        }
    }
}

/// What becomes of what a program prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stream {
    /// It is read.
    #[default]
    Kept,
    /// It goes nowhere.
    Dropped,
}

/// How much a program may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run; for ever where it waits for its user, or for another machine.
    pub time: Option<Duration>,
    /// How much it may print. A program that prints more is ended.
    pub output_bytes_max: u64,
    /// How much of what it prints to its standard error is kept. The rest is read and thrown away.
    pub complaint_bytes_max: u64,
}

impl Default for Limits {
    /// No limit but that of how much is kept of what it complains about.
    fn default() -> Self {
        Self { time: None, output_bytes_max: u64::MAX - 1, complaint_bytes_max: COMPLAINT_BYTES_MAX }
    }
}

/// A program, and everything about how it is run.
#[derive(Clone, Debug)]
pub struct Program<'a> {
    pub(crate) name: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) environment: Environment,
    pub(crate) input: Input<'a>,
    pub(crate) output: Stream,
    pub(crate) complaint: Stream,
    pub(crate) limits: Limits,
    pub(crate) group: Group,
    pub(crate) secrets: Secrets<'a>,
}

/// Texts that are not repeated.
#[derive(Clone, Default)]
pub(crate) struct Secrets<'a>(pub(crate) Vec<&'a [u8]>);

impl fmt::Debug for Secrets<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} secrets", self.0.len())
    }
}

impl<'a> Program<'a> {
    /// A program on `PATH`, or at a path. It gets our whole environment, no input, and no limits, until it is said
    /// otherwise.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            name: program.into(),
            arguments: Vec::new(),
            directory: None,
            environment: Environment::everything(),
            input: Input::Nothing,
            output: Stream::Kept,
            complaint: Stream::Kept,
            limits: Limits::default(),
            group: Group::Ours,
            secrets: Secrets::default(),
        }
    }

    /// One more argument.
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// More arguments.
    pub fn arguments<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// The directory it starts in, in place of ours.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// What it may see of our environment, and what is set for it.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// What it gets to read.
    pub fn input(mut self, input: Input<'a>) -> Self {
        self.input = input;
        self
    }

    /// What becomes of its output.
    pub fn output(mut self, output: Stream) -> Self {
        self.output = output;
        self
    }

    /// What becomes of what it prints to its standard error.
    pub fn complaint(mut self, complaint: Stream) -> Self {
        self.complaint = complaint;
        self
    }

    /// How much it may use up.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Whom it shares signals with.
    pub fn group(mut self, group: Group) -> Self {
        self.group = group;
        self
    }

    /// A text that the program may know and that is never repeated: see [`crate::Finished::said`].
    pub fn secret(mut self, secret: &'a [u8]) -> Self {
        self.secrets.0.push(secret);
        self
    }

    /// The program as it was named.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// The arguments.
    pub fn words(&self) -> impl Iterator<Item = &OsStr> {
        self.arguments.iter().map(OsString::as_os_str)
    }
}
