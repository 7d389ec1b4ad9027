//! What the stories are told with: a tree of files in a directory of its own, and a run of the command with limits.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each story uses its own part, and a story that can not be set up fails"
)]

pub(crate) mod repair;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// No small tree takes longer, whatever is in it.
const RUN_SECONDS_MAX: u64 = 20;
const MEMORY_KIB_MAX: u64 = 1024 * 1024;

/// Files in a directory that goes away with it.
#[derive(Debug)]
pub(crate) struct Tree {
    directory: TempDir,
}

impl Tree {
    pub(crate) fn empty() -> Self {
        Self { directory: TempDir::new().unwrap() }
    }

    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self::empty().with(files)
    }

    pub(crate) fn with(self, files: &[(&str, &str)]) -> Self {
        for (path, text) in files {
            self.write(path, text.as_bytes());
        }
        self
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// A small cluster that comes up as it should.
pub(crate) fn sound() -> Tree {
    Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("clusters/home/apps.yaml", APPS),
        ("apps/kustomization.yaml", "resources:\n  - config.yaml\n"),
        ("apps/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\n  namespace: default\n"),
    ])
}

/// As [`sound`], with a dependency on something that is not there and one that can never be met.
pub(crate) fn broken() -> Tree {
    sound().with(&[("clusters/home/broken.yaml", BROKEN)])
}

pub(crate) const SYNC: &str = "\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 1m
  url: https://example.invalid/home.git
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 10m
  path: ./clusters/home
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
";

pub(crate) const APPS: &str = "\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: apps
  namespace: flux-system
spec:
  interval: 10m
  path: ./apps
  prune: true
  wait: true
  sourceRef:
    kind: GitRepository
    name: flux-system
";

/// Two that wait for each other.
pub(crate) const BROKEN: &str = "\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: hen
  namespace: flux-system
spec:
  dependsOn:
    - name: egg
  interval: 1h
  path: ./apps
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: egg
  namespace: flux-system
spec:
  dependsOn:
    - name: hen
  interval: 1h
  path: ./apps
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
";

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn never_says(self, words: &str) -> Self {
        assert!(!self.stdout.contains(words) && !self.stderr.contains(words), "{words:?} is in {self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn says(self, words: &str) -> Self {
        let said = self.stdout.contains(words) || self.stderr.contains(words);
        assert!(said, "`{words}` was not said\nstdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{}", self.stdout))
    }
}

pub(crate) fn binary() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_coldstart"))
}

/// The command with these words, in an environment that is the same everywhere.
pub(crate) fn command(words: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(words).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").stdin(Stdio::null());
    command
}

pub(crate) fn check(tree: &Tree, words: &[&str]) -> Ran {
    run(command(&["check"]).args(words).arg(tree.path()))
}

/// Runs to the end, within limits of time and memory.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> Ran {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    // Both pipes are read while it runs, or a long report would block it.
    let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let readers = [read_all(stdout), read_all(stderr)];
    let mut memory_kib = 0;
    let status = loop {
        memory_kib = memory_kib.max(peak_kib(&child));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > Duration::from_secs(RUN_SECONDS_MAX) {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("still running after {RUN_SECONDS_MAX} s");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    assert!(memory_kib < MEMORY_KIB_MAX, "used {memory_kib} KiB");
    let [stdout, stderr] = readers.map(|reader| reader.join().unwrap());
    let ran = Ran { code: status.code().unwrap_or(-1), stdout, stderr };
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    ran
}

fn read_all(mut pipe: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The most memory it had so far; 0 where nobody tells.
fn peak_kib(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or(0)
}

/// Whether a helper program is there and works.
pub(crate) fn works(program: &str, words: &[&str]) -> bool {
    let output: std::io::Result<Output> = Command::new(program).args(words).stdin(Stdio::null()).output();
    output.is_ok_and(|output| output.status.success())
}

/// A story that this machine can't tell is named, not passed over in silence.
#[expect(clippy::print_stderr, reason = "the reader of a test run must see it")]
pub(crate) fn skipped(what: &str) {
    eprintln!("SKIPPED: {what}");
}
