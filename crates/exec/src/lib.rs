//! The one place from which programs are started.
//!
//! A [`Program`] says everything about a run before it begins: arguments, directory, [`Environment`], input, [`Limits`] and
//! [`Group`]. A [`Runner`] runs it to its end: [`System`] on this machine, [`Scripted`] in tests. What comes of it is
//! [`Finished`], whatever its exit code was; an [`ExecError`] says that it could not be run to its end at all.
//!
//! ```no_run
//! use coldstart_exec::{Environment, Limits, Program, Runner as _, System};
//! use std::time::Duration;
//!
//! let limits = Limits { time: Some(Duration::from_secs(30)), output_bytes_max: 1024 * 1024, ..Limits::default() };
//! let version = Program::new("helm").arguments(["version", "--short"]).environment(Environment::only(["PATH"])).limits(limits);
//! let finished = System.run(&version)?.success()?;
//! assert!(finished.text().starts_with('v'));
//! # Ok::<(), coldstart_exec::ExecError>(())
//! ```
//!
//! Secrets: they go through [`Input::Secret`], never through arguments, which everybody on a machine can see. What a program
//! says is cleaned of every line of a secret input, and of what [`Program::secret`] names, before anybody gets it. Output
//! that is itself a secret is read by [`Runner::run_reading`], into a buffer of the caller's that is wiped.
//!
//! This crate knows processes. It does not know any program, nor what its output means.

mod environment;
mod failure;
mod group;
mod program;
mod redact;
mod runner;
mod scripted;
mod system;

pub use environment::Environment;
pub use failure::ExecError;
pub use group::{Group, end_all};
pub use program::{Input, Limits, Program, Stream};
pub use runner::{Ending, Finished, Reader, Runner};
pub use scripted::{Answer, Call, Scripted};
pub use system::System;
