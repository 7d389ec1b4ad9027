//! The program under test: building it, running it on a tree within a time limit, reading its JSON.
//!
//! Knows the command line and the JSON of `coldstart check`; does not know what a finding should be.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// A run that takes longer has hung.
const RUN_SECONDS_MAX: u64 = 60;
/// What `coldstart` exits with where it finds no Flux cluster.
const NOTHING_TO_CHECK: i32 = 3;
const POLL_MILLISECONDS: u64 = 2;

/// The binary to run: the one given, or the release build of this workspace, made now.
pub(crate) fn binary(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(path) = given {
        return path.canonicalize().with_context(|| format!("no binary at {}", path.display()));
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--release", "--package", "coldstart"])
        .current_dir(workspace())
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "cargo build of the release binary failed; pass --bin PATH to use another one");
    Ok(target_directory().join("release").join("coldstart"))
}

/// What a program says of itself.
pub(crate) fn version(binary: &Path) -> Result<String> {
    let output = Command::new(binary).arg("--version").output();
    let output = output.with_context(|| format!("cannot start {}", binary.display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The root of the workspace this xtask was built from.
pub(crate) fn workspace() -> PathBuf {
    let mut path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    path.pop();
    path
}

fn target_directory() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from)
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Exited by itself, with this code.
    Code(i32),
    /// Died of a signal: with panics that abort, this is one.
    Signal,
    /// Stopped by us at the time limit.
    Timeout,
}

/// One run of `check` on one tree.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub ending: Ending,
    pub wall: Duration,
    /// What it printed, if that is JSON.
    pub json: Option<Value>,
    /// The last line of what it wrote to its error stream.
    pub complaint: String,
}

impl Run {
    /// What is wrong with this run itself, whatever its findings; `None` for a run that did its job.
    pub(crate) fn failure(&self) -> Option<String> {
        let what = match (&self.ending, &self.json) {
            (Ending::Timeout, _) => format!("TIMEOUT after {RUN_SECONDS_MAX} s"),
            (Ending::Signal, _) => "CRASH: killed by a signal".to_owned(),
            (Ending::Code(101), _) => "PANIC: exit code 101".to_owned(),
            (Ending::Code(0 | 1), Some(_)) | (Ending::Code(NOTHING_TO_CHECK), _) => return None,
            (Ending::Code(code), None) => format!("NO JSON: exit code {code}"),
            (Ending::Code(code), Some(_)) => format!("EXIT CODE {code}"),
        };
        Some(if self.complaint.is_empty() { what } else { format!("{what}: {}", self.complaint) })
    }

    pub(crate) fn ending(&self) -> String {
        match self.ending {
            Ending::Code(code) => code.to_string(),
            Ending::Signal => "signal".to_owned(),
            Ending::Timeout => "timeout".to_owned(),
        }
    }

    pub(crate) fn findings(&self) -> &[Value] {
        let list = self.json.as_ref().and_then(|json| json.get("findings"));
        list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

/// Runs `check --each` on `tree`, keeping what it prints as `<raw>.json` and `<raw>.stderr`.
pub(crate) fn check(binary: &Path, tree: &Path, raw: &Path) -> Result<Run> {
    check_with(&["--each"], binary, tree, raw)
}

/// As [`check()`], with one finding for all that say the same: what everybody gets who does not ask for more.
pub(crate) fn check_folded(binary: &Path, tree: &Path, raw: &Path) -> Result<Run> {
    check_with(&[], binary, tree, raw)
}

fn check_with(options: &[&str], binary: &Path, tree: &Path, raw: &Path) -> Result<Run> {
    let mut command = Command::new(binary);
    command.args(["check", "--format", "json", "--min-severity", "info"]).args(options).arg(tree);
    run(command, raw, Duration::from_secs(RUN_SECONDS_MAX)).with_context(|| format!("cannot run {}", binary.display()))
}

/// Runs a command for at most so long, keeping what it prints as `<raw>.json` and `<raw>.stderr`.
pub(crate) fn run(mut command: Command, raw: &Path, limit: Duration) -> Result<Run> {
    let (printed, complained) = (raw.with_added_extension("json"), raw.with_added_extension("stderr"));
    let create = |path: &Path| File::create(path).with_context(|| format!("cannot write {}", path.display()));
    command.stdin(Stdio::null()).stdout(create(&printed)?).stderr(create(&complained)?);
    let started = Instant::now();
    let mut child = command.spawn()?;
    let ending = wait(&mut child, limit)?;
    let wall = started.elapsed();
    let json = std::fs::read(&printed).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let complaint = last_line(&complained);
    if complaint.is_empty() {
        remove(&complained)?;
    }
    Ok(Run { ending, wall, json, complaint })
}

fn wait(child: &mut std::process::Child, limit: Duration) -> Result<Ending> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code().map_or(Ending::Signal, Ending::Code));
        }
        if started.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(Ending::Timeout);
        }
        std::thread::sleep(Duration::from_millis(POLL_MILLISECONDS));
    }
}

/// The line that says most: where it panicked, or else the last one.
fn last_line(path: &Path) -> String {
    let text = std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let panicked = text.lines().find(|line| line.contains("panicked at"));
    panicked.or_else(|| lines.next_back()).unwrap_or_default().trim().to_owned()
}

fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell that does what `script` says, in the place of `check`.
    fn run(script: &str) -> Run {
        let scratch = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        super::run(command, &scratch.path().join("o+n@1.2"), Duration::from_secs(RUN_SECONDS_MAX)).unwrap()
    }

    #[test]
    fn findings_with_exit_code_1_are_a_good_run() {
        let run = run(r#"echo '{"findings": [{"rule": "x"}]}'; exit 1"#);
        assert_eq!((run.failure(), run.findings().len(), run.ending()), (None, 1, "1".to_owned()));
    }

    #[test]
    fn a_panic_an_abort_and_silence_are_failures() {
        let panicked = run("echo \"thread 'main' panicked at src/a.rs:1\" >&2; echo 'note: more' >&2; exit 101");
        assert_eq!(panicked.failure().unwrap(), "PANIC: exit code 101: thread 'main' panicked at src/a.rs:1");
        assert_eq!(run("kill -ABRT $$").failure().unwrap(), "CRASH: killed by a signal");
        assert_eq!(run("exit 3").failure(), None);
        assert_eq!(run("exit 0").failure().unwrap(), "NO JSON: exit code 0");
        assert_eq!(run("echo '{}'; echo why >&2; exit 2").failure().unwrap(), "EXIT CODE 2: why");
    }

    #[test]
    fn a_run_over_the_limit_is_stopped() {
        let mut child = Command::new("sleep").arg("30").spawn().unwrap();
        assert_eq!(wait(&mut child, Duration::from_millis(20)).unwrap(), Ending::Timeout);
    }
}
