//! Which programs a signal reaches.

use std::collections::BTreeSet;
use std::process::{Child, Command};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Whom a program shares signals with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Group {
    /// With us: Ctrl-C in a terminal reaches it, and it may ask its user something there. When it has used up its time,
    /// only it is ended and not what it started.
    #[default]
    Ours,
    /// With what it starts, and nobody else: a limit ends all of them. Ctrl-C in a terminal does not reach it: whoever
    /// is to be stopped by that calls [`end_all`]. It can't ask anything in a terminal.
    Own,
}

/// The groups that run now, by the id of their first process. Only looked at and changed together with the process
/// itself, so that no id in it has been given to another one meanwhile.
static RUNNING: LazyLock<Mutex<BTreeSet<u32>>> = LazyLock::new(Mutex::default);

fn running() -> MutexGuard<'static, BTreeSet<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks every program that runs in a group of its own to end, with all that it started. For those who handle Ctrl-C.
pub fn end_all() {
    for id in running().iter() {
        signal(*id, Ending::Asked);
    }
}

/// How a group is ended.
#[derive(Clone, Copy)]
enum Ending {
    Asked,
    Forced,
}

/// A child, and the group that it is in.
pub(crate) struct Member {
    pub(crate) child: Child,
    group: Group,
}

impl Member {
    pub(crate) fn spawn(mut command: Command, group: Group) -> std::io::Result<Self> {
        #[cfg(unix)]
        if group == Group::Own {
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        }
        let mut running = running();
        let child = command.spawn()?;
        if group == Group::Own {
            running.insert(child.id());
        }
        drop(running);
        Ok(Self { child, group })
    }

    /// How it ended, if it has.
    pub(crate) fn try_wait(&mut self) -> std::io::Result<Option<std::process::ExitStatus>> {
        let mut running = running();
        let ended = self.child.try_wait()?;
        if ended.is_some() {
            running.remove(&self.child.id());
        }
        Ok(ended)
    }

    /// Ends it now, with its group if that is its own.
    pub(crate) fn end(&mut self) {
        let mut running = running();
        if self.group == Group::Own && running.contains(&self.child.id()) {
            signal(self.child.id(), Ending::Forced);
        }
        // It may have ended by itself meanwhile.
        let _ = self.child.kill();
        let _ = self.child.wait();
        running.remove(&self.child.id());
    }
}

impl Drop for Member {
    /// A panic on the way leaves no program behind.
    fn drop(&mut self) {
        if !matches!(self.try_wait(), Ok(Some(_))) {
            self.end();
        }
    }
}

#[cfg(unix)]
fn signal(group: u32, ending: Ending) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let signal = match ending {
        Ending::Asked => Signal::TERM,
        Ending::Forced => Signal::KILL,
    };
    let pid = i32::try_from(group).ok().and_then(Pid::from_raw);
    // All of it may have ended by itself meanwhile.
    let _ = pid.map(|pid| kill_process_group(pid, signal));
}

#[cfg(not(unix))]
fn signal(_: u32, ending: Ending) {
    // There are no groups: the child itself is ended by its handle, and `end_all` leaves it to end with its pipes.
    let _ = matches!(ending, Ending::Asked | Ending::Forced);
}
