//! Git's command line, and what git may see and run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use exec::{Environment, ExecError, Finished, Input, Program, Runner};

use crate::failure::GitError;

/// Nothing that a repository could have configured is run, and nothing is fetched.
const HARMLESS: [&str; 3] = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never"];
/// A directory that was committed and looks like a bare repository, with settings of its own, is none.
const NO_EMBEDDED: &str = "safe.bareRepository=explicit";
/// Objects that a partial clone left out are not fetched.
const NO_FETCH: &str = "GIT_NO_LAZY_FETCH";
/// Versions of git that do not know that one have no way to fetch by.
const PROTOCOLS: &str = "GIT_ALLOW_PROTOCOL";
const NO_PROTOCOL: &str = "none";

/// Git in one place, with one idea of what it may see and run.
#[derive(Clone)]
pub struct Git<'r> {
    pub(crate) runner: &'r dyn Runner,
    place: PathBuf,
    /// What comes before the command.
    pub(crate) leading: Vec<OsString>,
    pub(crate) environment: Environment,
}

impl std::fmt::Debug for Git<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Git").field("place", &self.place).field("leading", &self.leading).finish_non_exhaustive()
    }
}

impl<'r> Git<'r> {
    /// For commands that print stored objects of the work tree that a directory is in: they know no hooks, filters, text
    /// conversions or pagers, and a missing object is not fetched.
    pub fn reading(runner: &'r dyn Runner, directory: &Path) -> Self {
        let flags = ["--no-pager", "--no-optional-locks", "--literal-pathspecs"];
        Self::harmless(runner, directory, Environment::everything(), &flags)
    }

    /// For questions about the work tree that a directory is in, with a part of our environment: nothing that the repository
    /// configures is run for them. Whether a file is as it was committed asks its filters as well: [`Git::uncommitted`] is for that.
    pub fn asking(runner: &'r dyn Runner, directory: &Path, environment: Environment) -> Self {
        Self::harmless(runner, directory, environment, &["--no-pager", "--no-optional-locks"])
    }

    fn harmless(runner: &'r dyn Runner, directory: &Path, environment: Environment, flags: &[&str]) -> Self {
        let mut leading = at(directory);
        leading.extend(flags.iter().map(OsString::from));
        leading.extend(HARMLESS.iter().flat_map(|setting| ["-c".into(), OsString::from(setting)]));
        let environment = environment
            .with(NO_FETCH, "1")
            .with(PROTOCOLS, NO_PROTOCOL)
            .with("GIT_NO_REPLACE_OBJECTS", "1")
            .with("GIT_TERMINAL_PROMPT", "0");
        Self { runner, place: directory.to_path_buf(), leading, environment }
    }

    /// For stored objects of a bare repository, by its own directory. Missing ones are not fetched.
    pub fn bare(runner: &'r dyn Runner, directory: &Path) -> Self {
        let leading = vec!["--git-dir".into(), directory.into()];
        let environment = Environment::everything().with(NO_FETCH, "1").with(PROTOCOLS, NO_PROTOCOL);
        Self { runner, place: directory.to_path_buf(), leading, environment }
    }

    /// As its user would type it in a directory: settings, hooks, signatures and questions are theirs. `environment` says
    /// what git and its hooks may see: what a hook prints is repeated.
    pub fn of_user(runner: &'r dyn Runner, directory: &Path, environment: Environment) -> Self {
        Self { runner, place: directory.to_path_buf(), leading: at(directory), environment }
    }

    /// The directory that it is about.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// A command, and files that it is about: they are taken by their names, not as patterns.
    pub(crate) fn program<W: Into<OsString>>(
        &self,
        words: impl IntoIterator<Item = W>,
        files: &[PathBuf],
    ) -> Program<'static> {
        // Some commands refuse it where they take no files.
        let is_literal = self.leading.iter().any(|word| word == "--literal-pathspecs");
        let literal = (!files.is_empty() && !is_literal).then_some("--literal-pathspecs");
        Program::new("git")
            .arguments(self.leading.clone())
            .arguments(literal)
            .arguments(words)
            .arguments(files.iter().cloned())
            .environment(self.environment.clone())
    }

    /// Runs a command to its end, however that is.
    pub fn run<W: Into<OsString>>(
        &self,
        words: impl IntoIterator<Item = W>,
        files: &[PathBuf],
    ) -> Result<Finished, ExecError> {
        self.runner.run(&self.program(words, files))
    }

    /// Runs a command that reads something to its end, however that is.
    pub fn run_with<W: Into<OsString>>(
        &self,
        words: impl IntoIterator<Item = W>,
        input: Input<'_>,
    ) -> Result<Finished, ExecError> {
        self.runner.run(&self.program(words, &[]).input(input))
    }

    /// What git printed, or the first line of what it said when it failed.
    pub(crate) fn ask<const N: usize>(&self, words: [&str; N]) -> Result<Result<String, String>, ExecError> {
        let finished = self.run(words, &[])?;
        if finished.is_success() {
            return Ok(Ok(finished.text().into_owned()));
        }
        let first = finished.said().lines().next().unwrap_or("nothing");
        Ok(Err(first.trim_start_matches("fatal: ").to_owned()))
    }

    /// What git printed.
    pub fn print<const N: usize>(&self, words: [&str; N]) -> Result<String, GitError> {
        let command = words.first().copied().unwrap_or_default().to_owned();
        self.ask(words)?.map_err(|said| GitError::Failed { command, said })
    }
}

fn at(directory: &Path) -> Vec<OsString> {
    vec!["-C".into(), directory.into(), "-c".into(), NO_EMBEDDED.into()]
}
