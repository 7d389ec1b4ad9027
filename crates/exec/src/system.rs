//! Programs on this machine.

use std::io::{self, ErrorKind, Read, Write as _};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::ExecError;
use crate::group::Member;
use crate::program::{Program, Stream};
use crate::redact::redacted;
use crate::runner::{Ending, Finished, Reader, Runner};

/// How often it is looked whether a program has ended that prints nothing any more.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The machine that this program runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Runner for System {
    fn run_reading(&self, program: &Program<'_>, read: Reader<'_>) -> Result<Finished, ExecError> {
        let mut member = Member::spawn(command(program), program.group).map_err(|source| {
            let program = program.name.clone();
            match source.kind() {
                ErrorKind::NotFound => ExecError::NotFound { program, source },
                _ => ExecError::NotStarted { program, source },
            }
        })?;
        let deadline = program.limits.time.map(|time| Instant::now() + time);
        let (stdin, stdout, stderr) =
            (member.child.stdin.take(), member.child.stdout.take(), member.child.stderr.take());
        thread::scope(|scope| {
            // A program that does not read its input has its reasons.
            scope.spawn(move || stdin.zip(program.input.bytes()).map(|(mut pipe, bytes)| pipe.write_all(bytes)));
            let (give, said) = mpsc::channel();
            scope.spawn(move || give.send(gather(stderr, program.limits.complaint_bytes_max)));
            let (give, is_read) = mpsc::channel();
            scope.spawn(move || {
                let done = match stdout {
                    Some(mut pipe) => read(&mut pipe),
                    None => read(&mut io::empty()),
                };
                let _ = give.send(done);
            });
            let ended = wait(&mut member, program, &is_read, deadline);
            if ended.is_err() {
                member.end();
            }
            let ending = ending(ended?);
            let said = redacted(program, &said.recv().unwrap_or_default());
            Ok(Finished { program: program.name.clone(), ending, output: Vec::new(), said })
        })
    }
}

fn command(program: &Program<'_>) -> Command {
    let stdio = |stream: Stream| match stream {
        Stream::Kept => Stdio::piped(),
        Stream::Dropped => Stdio::null(),
    };
    let mut command = Command::new(&program.name);
    command.args(&program.arguments).stdout(stdio(program.output)).stderr(stdio(program.complaint));
    command.stdin(if program.input.bytes().is_some() { Stdio::piped() } else { Stdio::null() });
    if let Some(directory) = &program.directory {
        command.current_dir(directory);
    }
    program.environment.apply(&mut command);
    command
}

/// Keeps so much, and reads the rest too: a full pipe would stop the program.
fn gather(from: Option<impl Read>, bytes_max: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut from) = from {
        // What was read until it broke is what there is.
        let _ = from.by_ref().take(bytes_max).read_to_end(&mut bytes);
        let _ = io::copy(&mut from, &mut io::sink());
    }
    bytes
}

/// Waits until all output is read, and then until the program has ended.
fn wait(
    member: &mut Member,
    program: &Program<'_>,
    is_read: &Receiver<io::Result<()>>,
    deadline: Option<Instant>,
) -> Result<ExitStatus, ExecError> {
    let name = || program.name.clone();
    let timed_out = || ExecError::TimedOut { program: name(), after: program.limits.time.unwrap_or_default() };
    let unread = |source| ExecError::Unread { program: name(), source };
    let read = match deadline {
        None => is_read.recv().map_err(|_| RecvTimeoutError::Disconnected),
        Some(deadline) => is_read.recv_timeout(deadline.saturating_duration_since(Instant::now())),
    };
    match read {
        Ok(read) => read.map_err(unread)?,
        Err(RecvTimeoutError::Timeout) => return Err(timed_out()),
        Err(RecvTimeoutError::Disconnected) => return Err(unread(ErrorKind::BrokenPipe.into())),
    }
    loop {
        match member.try_wait().map_err(unread)? {
            Some(status) => return Ok(status),
            None if deadline.is_some_and(|deadline| Instant::now() >= deadline) => return Err(timed_out()),
            None => thread::sleep(LOOK_EVERY),
        }
    }
}

#[cfg(unix)]
fn ending(status: ExitStatus) -> Ending {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Code(code),
        (None, signal) => Ending::Signal(signal.unwrap_or_default()),
    }
}

#[cfg(not(unix))]
fn ending(status: ExitStatus) -> Ending {
    Ending::Code(status.code().unwrap_or(-1))
}
