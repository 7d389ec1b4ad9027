//! Colours by meaning, or none at all.

use annotate_snippets::renderer::{AnsiColor, Effects, Style};
use diagnostic::Severity;

/// Puts a style around words, if styles are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    pub color: bool,
}

const BOLD: Style = Style::new().effects(Effects::BOLD);
const DIM: Style = Style::new().effects(Effects::DIMMED);
const NAME: Style = AnsiColor::Cyan.on_default();
const GOOD: Style = AnsiColor::Green.on_default();
const POOR: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::BrightRed.on_default().effects(Effects::BOLD);

impl Paint {
    pub(crate) fn bold(self, text: &str) -> String {
        self.with(BOLD, text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.with(DIM, text)
    }

    pub(crate) fn name(self, text: &str) -> String {
        self.with(NAME, text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.with(GOOD, text)
    }

    pub(crate) fn poor(self, text: &str) -> String {
        self.with(POOR, text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.with(BAD, text)
    }

    pub(crate) fn severity(self, severity: Severity, text: &str) -> String {
        let style = match severity {
            Severity::Error => BAD,
            Severity::Warning => AnsiColor::Yellow.on_default().effects(Effects::BOLD),
            Severity::Info => AnsiColor::BrightBlue.on_default().effects(Effects::BOLD),
            Severity::Pedantic => AnsiColor::BrightGreen.on_default().effects(Effects::BOLD),
        };
        self.with(style, text)
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.color && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
