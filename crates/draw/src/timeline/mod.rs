//! What a run took against what was expected: bars of text for the critical path, a picture of everything, a page to look through and
//! events for a viewer of traces. Many simulated boots are such a page, too.

mod boots;
mod chart;
mod run_page;
mod trace;

use std::fmt::Write as _;
use std::time::Duration;

use run::{Bar, Layer, Timeline};

use crate::clean::clean;
use crate::paint::Paint;
use crate::story::{clock, mark, took};
use crate::svg::{BACKGROUND, BORDER, DIMMED, FONT, FOREGROUND, PALETTE, escape, small};
use crate::words::{count, first_few, shorten, width};

/// Columns where the terminal does not say how many there are.
const COLUMNS: usize = 160;
const BAR_COLUMNS_MIN: usize = 12;
/// What a step took, and what it was expected to.
const TIME_COLUMNS: usize = 34;

/// The steps of the critical path, each with its bar; the others are counted. As wide as the terminal, if there is one.
pub fn text(timeline: &Timeline, columns: Option<usize>, color: bool) -> String {
    let paint = Paint { color };
    let taken = TIME_COLUMNS + 6 + width(&mark(timeline.is_simulated, false));
    let mark = mark(timeline.is_simulated, color);
    let columns = columns.unwrap_or(COLUMNS);
    let room = columns.saturating_sub(taken);
    let has_bars = room >= 2 * BAR_COLUMNS_MIN;
    let critical: Vec<&Bar> = timeline.bars.iter().filter(|bar| bar.is_critical).collect();
    let widest = critical.iter().map(|bar| width(&bar.key)).max().unwrap_or(0);
    let names_max = if has_bars { room.saturating_sub(BAR_COLUMNS_MIN) } else { room + 2 };
    let widest = widest.min(names_max).max(BAR_COLUMNS_MIN);
    let bar_columns = room.saturating_sub(widest).max(BAR_COLUMNS_MIN);
    let mut out = String::new();
    for (at, line) in summary(timeline, columns.saturating_sub(taken - TIME_COLUMNS)).iter().enumerate() {
        let title = if at == 0 { paint.bold("timeline") } else { " ".repeat("timeline".len()) };
        let _ = writeln!(out, "{mark}{title} {line}");
    }
    for bar in critical {
        let name = shorten(&clean(&bar.key), widest.saturating_sub(1));
        let name = if width(&bar.key) <= widest { clean(&bar.key).into_owned() } else { name };
        let pad = " ".repeat(widest.saturating_sub(width(&name)));
        let until = bar.until.unwrap_or(timeline.took);
        let drawn = drawn((bar.from, until), timeline.took, bar_columns);
        let drawn = if bar.until.is_some() { paint.good(&drawn) } else { paint.bad(&drawn) };
        let spent = took(until.saturating_sub(bar.from));
        let drawn = if has_bars { format!("{drawn}  ") } else { String::new() };
        let _ = writeln!(out, "{mark}  {}{pad}  {drawn}{spent}, expected {}", paint.name(&name), took(expected(bar)));
    }
    out
}

/// In as many lines as a terminal of so many columns needs.
fn summary(timeline: &Timeline, columns: usize) -> Vec<String> {
    let critical = timeline.bars.iter().filter(|bar| bar.is_critical).count();
    let absent =
        if timeline.absent == 0 { String::new() } else { format!(", {} of which never began", timeline.absent) };
    let times = format!("took {}, expected {}", took(timeline.took), took(timeline.expected));
    let steps = timeline.bars.len() + timeline.absent;
    let path = format!("critical path {critical} of {steps} steps{absent}");
    let one = format!("{times} · {path}");
    if width(&one) <= columns { vec![one] } else { vec![times, path] }
}

fn drawn((from, until): (Duration, Duration), whole: Duration, columns: usize) -> String {
    let column = |at: Duration| {
        let share = at.as_millis() * (columns as u128) / whole.as_millis().max(1);
        usize::try_from(share).unwrap_or(0).min(columns)
    };
    let first = column(from).min(columns - 1);
    let length = column(until).saturating_sub(first).max(1);
    let rest = columns - first - length;
    format!("{}{}{}", "·".repeat(first), "━".repeat(length), "·".repeat(rest))
}

pub use boots::{BootRow, Boots, boots_html, boots_trace};
pub use run_page::html;
pub use trace::trace;

const ROW: f64 = 18.0;
const HEAD: f64 = 78.0;
const MARGIN: f64 = 20.0;
const CHART: f64 = 1000.0;
/// A letter of the labels.
const LETTER: f64 = 7.3;
const LABEL_LETTERS_MAX: usize = 60;
/// A row without a bar.
const ROW_LETTERS_MAX: usize = 130;
/// Two screens.
const ROWS_MAX: usize = 84;
/// Names in a row that stands for several steps.
const NAMES_MAX: usize = 3;
/// About this many lines with a time stand behind the bars.
const TICKS: u64 = 8;
const CRITICAL: &str = PALETTE[3];
const CALM: &str = PALETTE[4];
const BROKEN: &str = PALETTE[1];

/// Every step that could begin, layer by layer: what it took as a bar with its name, what it was expected to take as a line below it,
/// from the same beginning. Steps that took no time are one row of their layer, and so are the shortest where there are too many.
pub fn svg(timeline: &Timeline, title: &str) -> String {
    let layers = layers(timeline);
    let rows = layers.iter().map(LayerRows::rows).sum();
    let view = Picture::new(timeline, rows);
    let mut out = view.frame(title);
    let mut row = 0;
    for layer in layers {
        let steps = layer.shown.len() + layer.folded.len();
        word(&mut out, MARGIN, row, FOREGROUND, &format!("{} · {steps}", layer.layer.name()));
        for (below, bar) in layer.shown.iter().enumerate() {
            view.bar(&mut out, row + 1 + below, bar);
        }
        row += layer.rows();
        if let Some(text) = layer.folds() {
            word(&mut out, MARGIN + 12.0, row - 1, DIMMED, &shorten(&text, ROW_LETTERS_MAX));
        }
    }
    out.push_str("</svg>\n");
    out
}

/// The steps of a layer: those with a row each, and those that share one.
struct LayerRows<'a> {
    layer: Layer,
    shown: Vec<&'a Bar>,
    folded: Vec<&'a Bar>,
    longest: Duration,
}

impl LayerRows<'_> {
    fn rows(&self) -> usize {
        1 + self.shown.len() + usize::from(!self.folded.is_empty())
    }

    /// `and 12 steps of 0 s: a, b, c and 9 more`.
    fn folds(&self) -> Option<String> {
        if self.folded.is_empty() {
            return None;
        }
        let names: Vec<String> = self.folded.iter().map(|bar| name(bar).to_owned()).collect();
        let time = if self.longest.as_secs() == 0 { "0 s".to_owned() } else { format!("up to {}", took(self.longest)) };
        Some(format!("{} of {time}: {}", count(names.len(), "step"), first_few(&names, NAMES_MAX)))
    }
}

/// What goes into which row.
fn layers(timeline: &Timeline) -> Vec<LayerRows<'_>> {
    let spent = |bar: &Bar| bar.until.unwrap_or(timeline.took).saturating_sub(bar.from);
    let must_show = |bar: &Bar| bar.until.is_none() || (bar.is_critical && spent(bar).as_secs() > 0);
    let used: Vec<Layer> =
        Layer::ALL.into_iter().filter(|layer| timeline.bars.iter().any(|bar| bar.layer == *layer)).collect();
    // How long a step must have taken to have a row: more than nothing, or as much as leaves no more rows than there may be.
    let mut times: Vec<Duration> = timeline.bars.iter().filter(|bar| !must_show(bar)).map(spent).collect();
    times.sort_unstable_by(|a, b| b.cmp(a));
    let must = timeline.bars.iter().filter(|bar| must_show(bar)).count();
    let room = ROWS_MAX.saturating_sub(must + 2 * used.len());
    let least = times.get(room).copied().unwrap_or_default();
    let is_shown = |bar: &&Bar| must_show(bar) || (spent(bar).as_secs() > 0 && spent(bar) > least);
    let one = |layer: Layer| {
        let (shown, folded): (Vec<&Bar>, Vec<&Bar>) =
            timeline.bars.iter().filter(|bar| bar.layer == layer).partition(is_shown);
        let longest = folded.iter().map(|bar| spent(bar)).max().unwrap_or_default();
        LayerRows { layer, shown, folded, longest }
    };
    used.into_iter().map(one).collect()
}

/// The key without its layer.
fn name(bar: &Bar) -> &str {
    bar.key.split_once('/').map_or(bar.key.as_str(), |(_, name)| name)
}

struct Picture<'a> {
    timeline: &'a Timeline,
    /// What the width of the chart stands for.
    whole: Duration,
    rows: usize,
}

impl<'a> Picture<'a> {
    fn new(timeline: &'a Timeline, rows: usize) -> Self {
        let expected = timeline.bars.iter().map(|bar| bar.from + expected(bar)).max().unwrap_or_default();
        let whole = timeline.took.max(expected).max(Duration::from_secs(1));
        Self { timeline, whole, rows }
    }

    fn x(&self, at: Duration) -> f64 {
        MARGIN + CHART * (at.as_secs_f64() / self.whole.as_secs_f64()).min(1.0)
    }

    fn frame(&self, title: &str) -> String {
        let width = 2.0 * MARGIN + CHART;
        let height = HEAD + ROW * small(self.rows) + MARGIN;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{}\">\n",
            escape(&clean(title))
        );
        let _ = writeln!(out, "<style>text{{font-family:{FONT};font-size:12px;white-space:pre}}</style>");
        let _ = writeln!(out, "<rect width=\"{width:.0}\" height=\"{height:.0}\" rx=\"10\" fill=\"{BACKGROUND}\"/>");
        let what = if self.timeline.is_simulated { ", simulated" } else { "" };
        let head = format!("{}{what}: {}", clean(title), summary(self.timeline, usize::MAX).join(" · "));
        let _ = writeln!(
            out,
            "<text x=\"{MARGIN}\" y=\"26\" fill=\"{FOREGROUND}\" font-weight=\"bold\">{}</text>",
            escape(&head)
        );
        let legend =
            [(CRITICAL, "critical path"), (CALM, "had time"), (BROKEN, "never completed"), (DIMMED, "expected")];
        for (index, (color, says)) in legend.iter().enumerate() {
            let x = MARGIN + 120.0 * small(index);
            let _ = writeln!(out, "<rect x=\"{x:.0}\" y=\"38\" width=\"12\" height=\"8\" rx=\"2\" fill=\"{color}\"/>");
            let _ = writeln!(out, "<text x=\"{:.0}\" y=\"47\" fill=\"{DIMMED}\">{says}</text>", x + 18.0);
        }
        self.ticks(&mut out, height);
        out
    }

    fn ticks(&self, out: &mut String, height: f64) {
        let step = tick(self.whole.as_secs());
        for number in 0..=self.whole.as_secs() / step {
            let seconds = number * step;
            let x = self.x(Duration::from_secs(seconds));
            let _ = writeln!(
                out,
                "<path d=\"M{x:.1} {HEAD}V{:.0}\" stroke=\"{BORDER}\"/><text x=\"{x:.1}\" y=\"{:.0}\" fill=\"{DIMMED}\" text-anchor=\"{}\">{}</text>",
                height - MARGIN,
                HEAD - 6.0,
                // The first would begin outside of the picture.
                if number == 0 { "start" } else { "middle" },
                clock(seconds * 1000)
            );
        }
    }

    fn bar(&self, out: &mut String, row: usize, bar: &Bar) {
        let top = HEAD + ROW * small(row);
        let until = bar.until.unwrap_or(self.timeline.took);
        let color = match (bar.until, bar.is_critical) {
            (None, _) => BROKEN,
            (_, true) => CRITICAL,
            (_, false) => CALM,
        };
        let (from, to) = (self.x(bar.from), self.x(until));
        let length = (to - from).max(2.0);
        let spent = took(until.saturating_sub(bar.from));
        let _ = writeln!(
            out,
            "<rect x=\"{from:.1}\" y=\"{:.1}\" width=\"{length:.1}\" height=\"8\" rx=\"2\" fill=\"{color}\"><title>{}: {spent}, expected {}</title></rect>",
            top + 3.0,
            escape(&clean(&bar.key)),
            took(expected(bar))
        );
        let ends = self.x(bar.from + expected(bar)).max(from + 2.0);
        let _ = writeln!(
            out,
            "<path d=\"M{from:.1} {0:.1}H{ends:.1}\" stroke=\"{DIMMED}\" stroke-width=\"2\"/>",
            top + 14.0
        );
        let label = format!("{} {spent}", shorten(name(bar), LABEL_LETTERS_MAX));
        Self::label(out, row, (from, (from + length).max(ends)), &label);
    }

    /// Behind the bar, or before it where there is more room.
    fn label(out: &mut String, row: usize, (from, to): (f64, f64), text: &str) {
        let wide = LETTER * small(width(text)) + 6.0;
        let (left, right) = (from - MARGIN, 2.0 * MARGIN + CHART - to);
        let x = if right >= wide || right >= left { to + 6.0 } else { (from - wide).max(MARGIN) };
        word(out, x, row, FOREGROUND, text);
    }
}

/// How long it was expected to take.
fn expected(bar: &Bar) -> Duration {
    bar.expected_until.saturating_sub(bar.expected_from)
}

/// A word in a row.
fn word(out: &mut String, x: f64, row: usize, color: &str, text: &str) {
    let y = HEAD + ROW * small(row) + 13.0;
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{color}\">{}</text>", escape(&clean(text)));
}

/// A round number of seconds between two lines.
fn tick(whole: u64) -> u64 {
    const ROUND: [u64; 10] = [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];
    let last = whole.div_ceil(TICKS * 3600).max(1) * 3600;
    ROUND.into_iter().find(|seconds| whole / seconds <= TICKS).unwrap_or(last)
}
