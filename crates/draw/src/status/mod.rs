//! The status of a live cluster: a screen for people, a document for programs, Markdown for an issue; and the way from one
//! object to its root.
//!
//! Knows how it looks. Does not know how it was found. Names and messages come from the cluster, and are cleaned here.

mod json;
mod markdown;
mod text;
mod trace;

use health::facts::ObjectKey;
use health::status::{Evidence, Layer, Root, State, Status};

use crate::clean;
use crate::say::health as say;
use crate::words::shorten;

pub use json::{VERSION, json};
pub use markdown::markdown;
pub use text::text;
pub use trace::trace;

/// Objects that a line names.
const NAMED_MAX: usize = 3;
/// A value of a field is cut here; the JSON has all of it.
const VALUE_CHARS_MAX: usize = 140;

/// What a layer's line says after its state.
fn layer_line(layer: &Layer) -> String {
    let counts: Vec<String> = layer.counts.iter().map(say::counted).collect();
    let reason = say::reason(&layer.reason);
    let mut parts = counts;
    if !reason.is_empty() {
        parts.push(reason);
    }
    parts.join(" · ")
}

/// The objects that fail in a layer, one line each.
fn failing_lines(layer: &Layer, max: usize) -> Vec<String> {
    let line = |it: &health::status::Failing| {
        format!("{} {}", clean(&say::object(&it.object)), clean(&say::problem(&it.problem)))
    };
    let mut lines: Vec<String> = layer.failing.iter().take(max).map(line).collect();
    if layer.failing.len() > max {
        lines.push(format!("and {} more", layer.failing.len() - max));
    }
    lines
}

fn headline(root: &Root) -> String {
    format!("{} {}", clean(&say::object(&root.object)), clean(&say::problem(&root.problem)))
}

/// An object's field, its value and its age.
fn shown(status: &Status, it: &Evidence) -> String {
    let age = match (status.seen, it.since) {
        (Some(seen), Some(since)) => format!(" ({})", say::age(seen.since(since))),
        _ => String::new(),
    };
    let value = if it.value.is_empty() { "empty".to_owned() } else { shorten(it.value.trim(), VALUE_CHARS_MAX) };
    format!("{} {}: {}{age}", clean(&say::object(&it.object)), it.field, clean(&value))
}

/// What is blocked, nearest first.
fn blocked(root: &Root, max: usize) -> Vec<String> {
    let line = |it: &health::status::Blocked| {
        let (object, by) = (say::object(&it.object), say::object(&it.by));
        format!("{} {} {}", clean(&object), say::because(it.because), clean(&by))
    };
    let mut lines: Vec<String> = root.blocks.iter().take(max).map(line).collect();
    if root.blocks.len() > max {
        lines.push(format!("and {} more", root.blocks.len() - max));
    }
    lines
}

/// The objects of a cycle, the first again at the end.
fn cycle(root: &Root) -> String {
    let first = root.cycle.first().map(|it| clean(&say::object(&it.object)).into_owned()).unwrap_or_default();
    let steps: Vec<String> = root
        .cycle
        .iter()
        .map(|it| format!("{} {}", clean(&say::object(&it.object)), say::because(it.because)))
        .collect();
    format!("{} {first}", steps.join(" "))
}

/// The command of a remedy as a shell takes it.
fn command(root: &Root) -> String {
    let words: Vec<String> = root.remedy.command.iter().map(|word| crate::shell::word(word)).collect();
    words.join(" ")
}

fn sign(state: State) -> &'static str {
    match state {
        State::Healthy => "✓",
        State::Progressing => "…",
        State::Degraded => "!",
        State::Failed => "✗",
        State::Unknown => "?",
        State::Absent => "-",
    }
}

/// The object that text names: `Kind/name`, `Kind/namespace/name`, or `Kind name` with the namespace apart.
pub fn object_of(text: &str, namespace: Option<&str>) -> Option<ObjectKey> {
    let (kind, rest) = text.split_once('/')?;
    let (own, name) = rest.split_once('/').unwrap_or((namespace.unwrap_or_default(), rest));
    let is_named = !kind.is_empty() && !name.is_empty();
    is_named.then(|| ObjectKey::new("", kind, own, name))
}
