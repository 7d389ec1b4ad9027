//! What a run took against what was expected, as bars of text.

use std::fmt::Write as _;
use std::time::Duration;

use run::{Bar, Timeline};

use crate::clean::clean;
use crate::paint::Paint;
use crate::story::took;
use crate::words::width;

/// Columns that the bars have.
const BAR_COLUMNS: u32 = 60;
const NAME_COLUMNS_MAX: usize = 64;

/// The steps of the critical path, each with its bar; the others are counted.
pub fn text(timeline: &Timeline, color: bool) -> String {
    let paint = Paint { color };
    let critical: Vec<&Bar> = timeline.bars.iter().filter(|bar| bar.is_critical).collect();
    let widest = critical.iter().map(|bar| width(&bar.key)).max().unwrap_or(0).min(NAME_COLUMNS_MAX);
    let mut out = format!(
        "{} took {}, expected {} · critical path {} of {} steps\n",
        paint.bold("timeline"),
        took(timeline.took),
        took(timeline.expected),
        critical.len(),
        timeline.bars.len()
    );
    for bar in critical {
        let name = clean(&bar.key);
        let pad = " ".repeat(widest.saturating_sub(width(&name)));
        let until = bar.until.unwrap_or(timeline.took);
        let drawn = drawn(bar.from, until, timeline.took);
        let expected = bar.expected_until.saturating_sub(bar.expected_from);
        let spent = took(until.saturating_sub(bar.from));
        let _ =
            writeln!(out, "  {}{pad}  {}  {spent}, expected {}", paint.name(&name), paint.good(&drawn), took(expected));
    }
    out
}

fn drawn(from: Duration, until: Duration, whole: Duration) -> String {
    let column = |at: Duration| {
        let share = at.as_millis() * u128::from(BAR_COLUMNS) / whole.as_millis().max(1);
        usize::try_from(share).unwrap_or(0).min(BAR_COLUMNS as usize)
    };
    let (first, last) = (column(from), column(until));
    let length = (last - first.min(last)).max(1);
    let rest = (BAR_COLUMNS as usize).saturating_sub(first + length);
    format!("{}{}{}", "·".repeat(first.min(BAR_COLUMNS as usize - 1)), "━".repeat(length), "·".repeat(rest))
}
