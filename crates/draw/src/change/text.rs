//! What changes, for a terminal.

use std::fmt::Write as _;

use model::{ObjectRef, say_seconds};

use super::{Change, News, OrderChange, Told};
use crate::clean::clean;
use crate::paint::Paint;
use crate::picture::Tone;
use crate::say::change as say;
use crate::words::{count, first_few};

/// Lines of one list.
const LINES_MAX: usize = 20;
const NAMED_MAX: usize = 6;

/// All clusters, one after the other.
pub fn text(changes: &[Change<'_>], color: bool) -> String {
    let paint = Paint { color };
    let told: Vec<String> =
        changes.iter().filter(|change| !change.is_empty()).map(|change| one(change, paint)).collect();
    if told.is_empty() { format!("{}\n", say::NOTHING) } else { told.join("\n") }
}

fn one(change: &Change<'_>, paint: Paint) -> String {
    let mut out = format!("{} · {}\n", paint.bold(&clean(&change.name)), say::headline(change));
    for (title, objects) in say::lists(change) {
        let names: Vec<String> = objects.iter().map(|object| clean(&object.path()).into_owned()).collect();
        let _ = writeln!(out, "  {title}: {}", first_few(&names, NAMED_MAX));
    }
    if !change.orders.is_empty() {
        let _ = writeln!(out, "\n{}", paint.bold(&count(change.orders.len(), "order")));
        for order in change.orders.iter().take(LINES_MAX) {
            let _ = writeln!(out, "  {}", self::order(order, paint));
        }
        more(&mut out, change.orders.len());
    }
    if !change.moved.is_empty() {
        let _ = writeln!(out, "\n{}", paint.bold("ready at another time"));
        for (object, then, now) in change.moved.iter().take(LINES_MAX) {
            let _ = writeln!(
                out,
                "  {}  {} → {} ({})",
                paint.name(&name(object)),
                say_seconds(*then),
                say_seconds(*now),
                say::difference(*then, *now)
            );
        }
        more(&mut out, change.moved.len());
    }
    for (title, findings) in [("new findings", &change.new_findings), ("findings that go", &change.gone_findings)] {
        if findings.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n{}", paint.bold(title));
        for told in findings.iter().take(LINES_MAX) {
            finding(&mut out, told, paint);
        }
        more(&mut out, findings.len());
    }
    out
}

fn name(object: &ObjectRef) -> String {
    clean(&object.to_string()).into_owned()
}

fn order(it: &OrderChange, paint: Paint) -> String {
    let word = |tone: Option<Tone>| tone.map_or("no order", Tone::word);
    let says = match (it.before, it.after) {
        (None, after) => format!("new: {}", word(after)),
        (before, None) => format!("gone: {}", word(before)),
        (before, after) => format!("{} → {}", word(before), word(after)),
    };
    let says = match it.news() {
        News::Worse => paint.bad(&says),
        News::Lost => paint.poor(&says),
        News::Better => paint.good(&says),
        News::Other => paint.dim(&says),
    };
    format!("{} before {}  {says}", name(&it.first), name(&it.then))
}

fn finding(out: &mut String, told: &Told, paint: Paint) {
    let place = if told.place.is_empty() { String::new() } else { format!("  {}", paint.dim(&clean(&told.place))) };
    let _ = writeln!(out, "  {} {}: {}{place}", told.severity, told.rule, clean(&told.message));
}

fn more(out: &mut String, all: usize) {
    if all > LINES_MAX {
        let _ = writeln!(out, "  and {} more: --format json has all", all - LINES_MAX);
    }
}
