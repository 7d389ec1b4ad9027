//! `coldstart check --watch`: checks again when files change, until you stop it.

#![expect(clippy::disallowed_methods, reason = "one watches in real time")]

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use notify::{Event, EventKind, RecursiveMode, Watcher as _};

use crate::arguments::{Check, CheckFormat};
use crate::check;
use crate::exit::Code;
use crate::failure::Failure;
use crate::output;

/// An editor writes a file in several steps, and Git many files at once: the check waits until nothing has changed for so long.
const QUIET: Duration = Duration::from_millis(200);
/// But not longer than this: something may write all the time.
const PAUSES_MAX: usize = 25;
/// From the top left corner, and nothing of what was there before.
const CLEARED: &str = "\u{1b}[H\u{1b}[2J\u{1b}[3J";

pub(crate) fn run(options: &Check) -> Result<Code, Failure> {
    let root = repository::git_root(&absolute(&options.path)).unwrap_or_else(|| absolute(&options.path));
    let (send, changes) = mpsc::channel();
    let failed = |source| Failure::Watch { path: options.path.clone(), source };
    let mut watcher = notify::recommended_watcher(send).map_err(failed)?;
    watcher.watch(&root, RecursiveMode::Recursive).map_err(failed)?;
    loop {
        let code = once(options)?;
        if !wait(&changes, &root) {
            return Ok(code);
        }
    }
}

/// One check, on a screen of its own. What is wrong with a half-written file is told, and the next check may find it right.
fn once(options: &Check) -> Result<Code, Failure> {
    if options.format == CheckFormat::Text && output::size().is_some() {
        output::print(CLEARED)?;
    }
    let code = check::run(options).or_else(|failure| match failure {
        Failure::Write(_) => Err(failure),
        failure => {
            output::complain(&failure.told());
            Ok(failure.code())
        }
    })?;
    output::remark(draw::say::WATCHING);
    Ok(code)
}

/// Waits for a change, and until the changes are over. False where nothing can change any more.
fn wait(changes: &Receiver<notify::Result<Event>>, root: &Path) -> bool {
    loop {
        match changes.recv() {
            Ok(event) if is_change(&event, root) => break,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    for _ in 0..PAUSES_MAX {
        if matches!(changes.recv_timeout(QUIET), Err(RecvTimeoutError::Timeout)) {
            break;
        }
        while changes.try_recv().is_ok() {}
    }
    true
}

/// Reading is no change, and what Git writes for itself changes nothing. Where the system lost count, something may have.
fn is_change(event: &notify::Result<Event>, root: &Path) -> bool {
    let Ok(event) = event else { return true };
    let is_own = |path: &PathBuf| path.strip_prefix(root).is_ok_and(|below| below.starts_with(".git"));
    event.need_rescan() || (!matches!(event.kind, EventKind::Access(_)) && !event.paths.iter().all(is_own))
}

fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use notify::event::{AccessKind, CreateKind};
    use notify::{Event, EventKind};

    use super::is_change;

    fn event(kind: EventKind, path: &str) -> Event {
        Event::new(kind).add_path(path.into())
    }

    #[test]
    fn only_what_a_person_changes_is_a_change() {
        let root = Path::new("/home");
        let created = EventKind::Create(CreateKind::File);
        assert!(is_change(&Ok(event(created, "/home/apps/ks.yaml")), root));
        assert!(!is_change(&Ok(event(created, "/home/.git/index.lock")), root));
        assert!(!is_change(&Ok(event(EventKind::Access(AccessKind::Read), "/home/apps/ks.yaml")), root));
        assert!(is_change(&Err(notify::Error::generic("too many")), root));
    }
}
