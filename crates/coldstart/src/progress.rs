//! A sign of life while reading takes long. Only a person at a terminal sees it, and only after a while.

#![expect(clippy::disallowed_methods, reason = "progress is shown in real time")]

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const SILENT_MILLISECONDS: u64 = 1_000;
const STEP_MILLISECONDS: u64 = 100;
const WHEEL: [&str; 8] = ["⣾", "⣽", "⣻", "⢿", "⡿", "⣟", "⣯", "⣷"];

/// Shows that something is being done until it is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    thread: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    pub(crate) fn start(doing: &'static str) -> Self {
        if !io::stderr().is_terminal() {
            return Self { thread: None };
        }
        let (stop, stopped) = mpsc::channel::<()>();
        let show = move || {
            let started = Instant::now();
            let mut wait = Duration::from_millis(SILENT_MILLISECONDS);
            let mut shown = false;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = Duration::from_millis(STEP_MILLISECONDS);
                let elapsed = started.elapsed();
                let turn = usize::try_from(elapsed.as_millis() / u128::from(STEP_MILLISECONDS)).unwrap_or(0);
                let _ = write!(io::stderr(), "\r{} {doing}… {} s", WHEEL[turn % WHEEL.len()], elapsed.as_secs());
                shown = true;
            }
            if shown {
                let _ = write!(io::stderr(), "\r\u{1b}[K");
            }
        };
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(show).ok();
        Self { thread: thread.map(|thread| (stop, thread)) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.thread.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}
