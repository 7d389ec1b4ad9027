//! Processes that end with the one that started them, whatever happens to it.
//!
//! Two guards, because each has a hole the other closes:
//!
//! - `setpriv --pdeathsig KILL` (Linux) has the kernel kill the child when its parent *thread* ends. So one thread that
//!   lives as long as this process spawns everything.
//! - A watchdog: a shell in a process group of its own that reads a pipe from us. When we end, however that happens, the
//!   kernel closes the pipe, and the watchdog kills the groups it was told of, grandchildren included.

use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// `+ PID` and `- PID` for process groups, `dir PATH` and `keep PATH` for directories; at the end of the input,
/// everything still on the lists goes. Signals that a terminal sends to a whole session must not take the watchdog before
/// its charges.
const WATCHDOG: &str = r#"
trap '' INT TERM HUP QUIT
groups=" "
directories="
"
newline="
"
while read -r what which; do
  case "$what" in
    +) groups="$groups$which " ;;
    -) groups="${groups%% $which *} ${groups#* $which }" ;;
    dir) directories="$directories$which$newline" ;;
    keep) directories="${directories%%"$newline$which$newline"*}$newline${directories#*"$newline$which$newline"}" ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
IFS="$newline"
for round in 1 2 3; do
  for directory in $directories; do rm -rf -- "$directory" 2>/dev/null; done
  sleep 0.2
done
"#;

/// A child in a process group of its own.
#[derive(Debug)]
pub(crate) struct Guarded {
    child: Child,
    group: Pid,
}

impl Guarded {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Kills the whole group and takes the body away. Killing twice does no harm.
    pub(crate) fn kill(&mut self) {
        // An error means that nothing of the group is left.
        let _gone = killpg(self.group, Signal::SIGKILL);
        let _reaped = self.child.wait();
        tell_watchdog(&format!("- {}", self.group));
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts `program` so that it cannot outlive us.
pub(crate) fn spawn(program: &Path, configure: impl FnOnce(&mut Command)) -> io::Result<Guarded> {
    let mut command = match setpriv() {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", "KILL", "--"]).arg(program);
            command
        }
        None => Command::new(program),
    };
    configure(&mut command);
    command.stdin(Stdio::null()).process_group(0);
    let child = on_the_spawner(command)?;
    let group = Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?);
    tell_watchdog(&format!("+ {group}"));
    Ok(Guarded { child, group })
}

/// Has the watchdog remove a directory should we not come to it. A path that a line cannot carry is left alone.
pub(crate) fn remove_with_us(directory: &Path) {
    if let Some(path) = directory.to_str().filter(|path| !path.contains('\n')) {
        tell_watchdog(&format!("dir {path}"));
    }
}

/// Takes [`remove_with_us`] back.
pub(crate) fn keep(directory: &Path) {
    if let Some(path) = directory.to_str().filter(|path| !path.contains('\n')) {
        tell_watchdog(&format!("keep {path}"));
    }
}

fn setpriv() -> Option<&'static Path> {
    static SETPRIV: OnceLock<Option<PathBuf>> = OnceLock::new();
    SETPRIV
        .get_or_init(|| {
            let works = Command::new("setpriv").args(["--pdeathsig", "KILL", "--", "true"]).output();
            works.is_ok_and(|output| output.status.success()).then(|| PathBuf::from("setpriv"))
        })
        .as_deref()
}

type Request = (Command, Sender<io::Result<Child>>);

fn on_the_spawner(command: Command) -> io::Result<Child> {
    static SPAWNER: OnceLock<Mutex<Sender<Request>>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(|| {
        let (requests, inbox) = channel::<Request>();
        std::thread::spawn(move || {
            for (mut command, reply) in inbox {
                // Whoever asked may be gone; then the child is dropped, and the watchdog does not know it, but
                // the spawner's thread is its parent and the kernel does.
                let _asked = reply.send(command.spawn());
            }
        });
        Mutex::new(requests)
    });
    let (reply, answer) = channel();
    spawner.lock().unwrap_or_else(PoisonError::into_inner).send((command, reply)).map_err(io::Error::other)?;
    answer.recv().map_err(io::Error::other)?
}

fn tell_watchdog(line: &str) {
    static WATCHDOG_INPUT: OnceLock<Option<Mutex<ChildStdin>>> = OnceLock::new();
    let input = WATCHDOG_INPUT.get_or_init(|| {
        let mut command = Command::new("sh");
        command.args(["-c", WATCHDOG]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.current_dir("/").process_group(0);
        command.spawn().ok()?.stdin.take().map(Mutex::new)
    });
    if let Some(input) = input {
        let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
        // A dead watchdog leaves the kernel's guard; there is nobody to tell.
        let _told = writeln!(input, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::os::unix::process::CommandExt as _;
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use nix::sys::signal::kill;
    use nix::unistd::Pid;

    use super::{Guarded, WATCHDOG};

    /// Says the number of its own child, and waits for it.
    const PARENT: &str = "sleep 600 & echo $!; wait";

    fn gone_soon(pid: i32) -> bool {
        let start = Instant::now();
        while kill(Pid::from_raw(pid), None).is_ok() {
            if start.elapsed() > Duration::from_secs(2) {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }

    #[test]
    fn the_watchdog_takes_grandchildren_and_directories_with_it() {
        // As a process ends that has no `setpriv`: the pipe closes, and that is all.
        let directory = tempfile::tempdir().unwrap();
        let (doomed, kept) = (directory.path().join("doomed one"), directory.path().join("kept"));
        std::fs::create_dir_all(&doomed).unwrap();
        std::fs::create_dir_all(&kept).unwrap();
        let mut watchdog = Command::new("sh").args(["-c", WATCHDOG]).stdin(Stdio::piped()).spawn().unwrap();
        let mut parent =
            Command::new("sh").args(["-c", PARENT]).stdout(Stdio::piped()).process_group(0).spawn().unwrap();
        let mut spared = Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(parent.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let grandchild: i32 = said.trim().parse().unwrap();

        let mut pipe = watchdog.stdin.take().unwrap();
        writeln!(pipe, "+ {}\n+ {}\n- {}", parent.id(), spared.id(), spared.id()).unwrap();
        writeln!(pipe, "dir {}\ndir {}\nkeep {}", kept.display(), doomed.display(), kept.display()).unwrap();
        drop(pipe);

        parent.wait().unwrap();
        watchdog.wait().unwrap();
        assert!(gone_soon(grandchild));
        assert!(!doomed.exists() && kept.exists());
        assert!(spared.try_wait().unwrap().is_none(), "what was taken off the list is left alone");
        spared.kill().unwrap();
        spared.wait().unwrap();
    }

    #[test]
    fn killing_a_child_kills_its_children() {
        let directory = tempfile::tempdir().unwrap();
        let said = directory.path().join("said");
        let mut child: Guarded = super::spawn(Path::new("sh"), |command| {
            command.args(["-c", PARENT]).stdout(std::fs::File::create(&said).unwrap());
        })
        .unwrap();
        let start = Instant::now();
        let grandchild: i32 = loop {
            assert!(start.elapsed() < Duration::from_secs(10));
            if let Ok(pid) = std::fs::read_to_string(&said).unwrap().trim().parse() {
                break pid;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        assert!(!child.has_ended());
        child.kill();
        assert!(child.has_ended());
        assert!(gone_soon(grandchild));
    }
}
