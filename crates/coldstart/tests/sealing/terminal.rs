//! A terminal of its own, by `script` of util-linux, at which somebody reads before they type.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const SECONDS_MAX: u64 = 60;

pub(crate) struct Terminal {
    child: Child,
    keyboard: Option<ChildStdin>,
    screen: Arc<Mutex<Vec<u8>>>,
    /// Has a file with the name of its device.
    notes: TempDir,
}

/// Whether there is a `script` that makes one, and a `stty` that tells how it is set.
pub(crate) fn is_there() -> bool {
    crate::story::works("script", &["--quiet", "--return", "--command", "true", "/dev/null"])
        && crate::story::works("stty", &["--version"])
}

/// A command as a shell takes it.
pub(crate) fn line(command: &Command) -> String {
    let quoted = |word: &std::ffi::OsStr| format!("'{}'", word.to_string_lossy());
    let words: Vec<String> = std::iter::once(command.get_program()).chain(command.get_args()).map(quoted).collect();
    words.join(" ")
}

impl Terminal {
    /// Runs a line of shell in a directory.
    pub(crate) fn run(line: &str, directory: &Path) -> Self {
        let notes = TempDir::new().unwrap();
        let line = format!("tty >'{}'; {line}", notes.path().join("device").display());
        let mut script = Command::new("script");
        script.args(["--quiet", "--return", "--flush", "--command", &line, "/dev/null"]);
        script.current_dir(directory).env("HOME", directory.join("home")).env_remove("COLDSTART_PASSPHRASE");
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (keyboard, mut output) = (child.stdin.take(), child.stdout.take().unwrap());
        let screen = Arc::new(Mutex::new(Vec::new()));
        let shown = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                shown.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        Self { child, keyboard, screen, notes }
    }

    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
    }

    /// Waits until something is on the screen.
    #[track_caller]
    pub(crate) fn reads(self, words: &str) -> Self {
        let started = Instant::now();
        while !self.screen().contains(words) {
            assert!(started.elapsed() < Duration::from_secs(SECONDS_MAX), "no `{words}`:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(20));
        }
        self
    }

    /// Waits for a question whose answer is not shown. It is written before the terminal is told so.
    #[track_caller]
    pub(crate) fn meets(self, words: &str) -> Self {
        let this = self.reads(words);
        let started = Instant::now();
        let device = std::fs::read_to_string(this.notes.path().join("device")).unwrap();
        loop {
            let settings = Command::new("stty").args(["-a", "-F", device.trim()]).output().unwrap();
            if String::from_utf8_lossy(&settings.stdout).contains(" -echo ") {
                return this;
            }
            assert!(started.elapsed() < Duration::from_secs(SECONDS_MAX), "{settings:?}\n{}", this.screen());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn types(mut self, text: &str) -> Self {
        let keyboard = self.keyboard.as_mut().unwrap();
        keyboard.write_all(text.as_bytes()).and_then(|()| keyboard.flush()).unwrap();
        self
    }

    /// All that was on the screen, and the exit code.
    #[track_caller]
    pub(crate) fn ends(mut self) -> (String, i32) {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > Duration::from_secs(SECONDS_MAX) {
                self.child.kill().unwrap();
                panic!("still running:\n{}", self.screen());
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        drop(self.keyboard.take());
        std::thread::sleep(Duration::from_millis(100));
        (self.screen(), status.code().unwrap_or(-1))
    }
}
