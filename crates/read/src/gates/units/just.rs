//! Recipes of just: each line a shell of its own, or the whole body a script.

use std::ops::Range;

use source::FileId;

use super::Unit;
use crate::gates::{Container, ShellText};

/// What a justfile says of its shells.
struct Settings {
    line: Container,
    script: Container,
    are_all_scripts: bool,
}

impl Settings {
    fn of(text: &str) -> Self {
        let mut settings = Self { line: Container::SH, script: Container::SH, are_all_scripts: false };
        for line in text.lines().filter_map(|line| line.strip_prefix("set ")) {
            let (name, value) = line.split_once(":=").unwrap_or((line, ""));
            let words: Vec<&str> =
                value.split(['[', ']', ',', '"', '\'', ' ']).filter(|word| !word.is_empty()).collect();
            match name.trim() {
                "shell" => settings.line = Container::of_command(&words),
                "script-interpreter" => settings.script = Container::of_command(&words),
                "default-script" => settings.are_all_scripts = value.trim() != "false",
                _ => {}
            }
        }
        settings
    }
}

pub(super) fn units(file: FileId, text: &str, parts: &[Range<usize>]) -> Vec<Unit> {
    let settings = Settings::of(text);
    parts.iter().flat_map(|range| recipe(file, text, range, &settings)).collect()
}

fn recipe(file: FileId, text: &str, range: &Range<usize>, settings: &Settings) -> Vec<Unit> {
    let Some(whole) = text.get(range.clone()) else { return Vec::new() };
    // The heading may go on over lines.
    let heading = whole.find('\n').map_or(whole.len(), |line| line + 1);
    let (begin, body) = (range.start + heading, &whole[heading..]);
    let first = body.lines().next().unwrap_or_default().trim_start();
    let is_script = settings.are_all_scripts || is_marked(&text[..range.start]);
    if first.starts_with("#!") || is_script {
        let container = if first.starts_with("#!") { Container::of_shebang(first) } else { settings.script };
        let is_shell =
            !first.starts_with("#!") || ["sh", "bash", "dash", "zsh"].iter().any(|shell| first.contains(shell));
        let mut unit = ShellText::new(file);
        unit.push_template(body, begin, "{{", "}}");
        return if is_shell { vec![Unit { text: unit, container }] } else { Vec::new() };
    }
    lines(body).into_iter().map(|line| line_unit(file, body, line, begin, settings)).collect()
}

fn line_unit(file: FileId, body: &str, line: Range<usize>, begin: usize, settings: &Settings) -> Unit {
    let raw = &body[line.clone()];
    let trimmed = raw.trim_start_matches(['@', '-', ' ', '\t']);
    let signs = &raw[..raw.len() - trimmed.len()];
    let mut text = ShellText::new(file);
    text.push_template(trimmed, begin + line.start + signs.len(), "{{", "}}");
    Unit { text, container: Container { is_ignored: signs.contains('-'), ..settings.line } }
}

/// Whether the attributes above a recipe say that it is a script.
fn is_marked(above: &str) -> bool {
    above.lines().rev().take_while(|line| line.starts_with(['[', '#'])).any(|line| line.starts_with("[script"))
}

/// The lines of a body, those that go on made one.
pub(super) fn lines(body: &str) -> Vec<Range<usize>> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    let (mut at, mut goes_on) = (0, false);
    for line in body.split_inclusive('\n') {
        let end = at + line.len();
        match lines.last_mut().filter(|_| goes_on) {
            Some(open) => open.end = end,
            None => lines.push(at..end),
        }
        goes_on = line.trim_end_matches(['\n', '\r']).ends_with('\\');
        at = end;
    }
    lines
}
