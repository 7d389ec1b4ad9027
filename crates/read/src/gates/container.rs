//! What runs a text, and what stops it.

/// Who reads a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Bash,
    /// Whatever `sh` is: dash on Debian and Ubuntu.
    Sh,
}

/// How a text is run.
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Container {
    pub(crate) dialect: Dialect,
    /// Whether a command that fails ends it.
    pub(crate) errexit: bool,
    /// Whether a pipeline fails where any of its commands does.
    pub(crate) pipefail: bool,
    /// Whether its failure is not looked at.
    pub(crate) is_ignored: bool,
    /// Whether a program runs it that has no limit, where no person sees what it prints.
    pub(crate) is_unattended: bool,
}

impl Container {
    /// A line of make, a line of just without settings: `sh -c`.
    pub(crate) const SH: Self =
        Self { dialect: Dialect::Sh, errexit: false, pipefail: false, is_ignored: false, is_unattended: false };

    /// An item of a Taskfile: a shell of its own that knows bash, always with -e.
    pub(crate) const TASK: Self = Self { dialect: Dialect::Bash, errexit: true, ..Self::SH };

    /// A script by the program it names in its first line.
    pub(crate) fn of_shebang(text: &str) -> Self {
        let line = text.lines().next().and_then(|line| line.strip_prefix("#!")).unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        Self::of_command(&words)
    }

    /// `/bin/bash -eu -o pipefail -c`, by its words.
    pub(crate) fn of_command(words: &[&str]) -> Self {
        let is_sh = |word: &&&str| matches!(word.rsplit('/').next(), Some("sh" | "dash" | "ash"));
        let dialect = if words.iter().any(|word| is_sh(&word)) { Dialect::Sh } else { Dialect::Bash };
        let mut container = Self { dialect, ..Self::SH };
        for (at, word) in words.iter().enumerate() {
            container.set(word, words.get(at + 1).copied());
        }
        container
    }

    /// An option of a shell or of `set`, and the word after it.
    pub(crate) fn set(&mut self, word: &str, next: Option<&str>) {
        let Some(is_on) = word.chars().next().filter(|sign| "+-".contains(*sign)).map(|sign| sign == '-') else {
            return;
        };
        let flags = &word[1..];
        if flags.starts_with('-') || !flags.chars().all(|flag| flag.is_ascii_alphabetic()) {
            return;
        }
        if flags.contains('e') {
            self.errexit = is_on;
        }
        if flags.ends_with('o') {
            match next {
                Some("errexit") => self.errexit = is_on,
                Some("pipefail") => self.pipefail = is_on,
                _ => {}
            }
        }
    }
}
