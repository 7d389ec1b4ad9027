//! What is typed unseen, and a terminal that shows again what is typed, however the question ends. Whoever is interrupted in the middle
//! of a password goes on typing in their shell.

use std::io;

/// What Ctrl-\ and Ctrl-Z come as, while they do not end or stop the program: both would leave a terminal that shows nothing.
const STOPS: [char; 2] = ['\u{1c}', '\u{1a}'];

/// A line from the terminal, not shown.
pub(crate) fn line(prompt: &str) -> io::Result<String> {
    let shown_again = before::Settings::keep();
    let said = rpassword::prompt_password(prompt);
    if said.as_ref().is_ok_and(|said| said.contains(STOPS)) {
        // Typed to leave: no value has such a character.
        drop(shown_again);
        before::stop();
    }
    if said.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {
        before::wait_for_the_end();
    }
    said
}

#[cfg(unix)]
mod before {
    use std::fs::File;
    use std::sync::{Mutex, Once, PoisonError};
    use std::time::Duration;

    use rustix::termios::{OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

    /// No key: `_POSIX_VDISABLE`.
    const DISABLED: u8 = if cfg!(target_os = "linux") { 0 } else { 0xff };
    /// As shells say it of Ctrl-C.
    const STOPPED: i32 = 130;
    /// A signal that was raised is heard by then.
    const HEARD_MILLISECONDS: u64 = 2_000;

    /// The terminal and how it was, as long as a question hides what is typed.
    static KEPT: Mutex<Option<(File, Termios)>> = Mutex::new(None);
    static LISTENING: Once = Once::new();

    /// Held while a question is asked.
    pub(super) struct Settings;

    impl Settings {
        pub(super) fn keep() -> Self {
            LISTENING.call_once(|| {
                // Where signals can't be heard, one ends the program at once, as ever.
                let _ = ctrlc::set_handler(stop);
            });
            let terminal = File::open("/dev/tty").ok();
            let kept = terminal.and_then(|terminal| tcgetattr(&terminal).ok().map(|settings| (terminal, settings)));
            if let Some((terminal, settings)) = &kept {
                let mut quiet = settings.clone();
                for code in [SpecialCodeIndex::VQUIT, SpecialCodeIndex::VSUSP] {
                    quiet.special_codes[code] = DISABLED;
                }
                let _gone = tcsetattr(terminal, OptionalActions::Now, &quiet);
            }
            *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = kept;
            Self
        }
    }

    impl Drop for Settings {
        fn drop(&mut self) {
            restore();
            *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    fn restore() {
        if let Some((terminal, settings)) = &*KEPT.lock().unwrap_or_else(PoisonError::into_inner) {
            let _gone = tcsetattr(terminal, OptionalActions::Now, settings);
        }
    }

    #[expect(clippy::exit, reason = "a signal ends the program: nothing is to be done after it")]
    pub(super) fn stop() {
        restore();
        std::process::exit(STOPPED);
    }

    /// The signal that the question raised ends the program.
    pub(super) fn wait_for_the_end() {
        std::thread::sleep(Duration::from_millis(HEARD_MILLISECONDS));
    }
}

#[cfg(not(unix))]
mod before {
    pub(super) struct Settings;

    impl Settings {
        pub(super) fn keep() -> Self {
            Self
        }
    }

    pub(super) fn wait_for_the_end() {}

    pub(super) fn stop() {}
}
