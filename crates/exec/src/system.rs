//! Programs on this machine.

use std::io::{self, ErrorKind, Read, Write as _};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
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
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            // A program that does not read its input has its reasons.
            scope.spawn(move || stdin.zip(program.input.bytes()).map(|(mut pipe, bytes)| pipe.write_all(bytes)));
            let (give, said) = mpsc::channel();
            let is_over = &is_over;
            scope.spawn(move || {
                let pipe = stderr.map(|pipe| Until { pipe, is_over });
                give.send(gather(pipe, program.limits.complaint_bytes_max))
            });
            let (give, is_read) = mpsc::channel();
            scope.spawn(move || {
                let done = match stdout.map(|pipe| Until { pipe, is_over }) {
                    Some(mut pipe) => read(&mut pipe),
                    None => read(&mut io::empty()),
                };
                let _ = give.send(done);
            });
            let ended = wait(&mut member, program, &is_read, deadline);
            if ended.is_err() {
                member.end();
            }
            // A program that it started may hold the other end of its pipes for as long as it likes.
            is_over.store(true, Ordering::Relaxed);
            let ending = ending(ended?);
            let said = redacted(program, &said.recv().unwrap_or_default());
            Ok(Finished { program: program.name.clone(), ending, output: Vec::new(), said })
        })
    }
}

/// A pipe that is read as long as its program is waited for; what is in it then is read to its end.
struct Until<'a, P> {
    pipe: P,
    is_over: &'a AtomicBool,
}

#[cfg(unix)]
impl<P: Read + std::os::fd::AsFd> Read for Until<'_, P> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        const LOOK_NANOSECONDS: i64 = 20_000_000;
        loop {
            // Asked before the pipe is: what was said before the end is in it by then.
            let is_over = self.is_over.load(Ordering::Relaxed);
            let wait = Timespec { tv_sec: 0, tv_nsec: if is_over { 0 } else { LOOK_NANOSECONDS } };
            match poll(&mut [PollFd::new(&self.pipe, PollFlags::IN)], Some(&wait)) {
                Ok(0) if is_over => return Ok(0),
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return self.pipe.read(buffer),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(not(unix))]
impl<P: Read> Read for Until<'_, P> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pipe.read(buffer)
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
