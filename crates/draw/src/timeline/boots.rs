//! Many simulated boots of a cluster as one chart: for everything that Flux looks after, when it is ready in half of them and in nearly
//! all.

use model::{ObjectRef, say_seconds};

use super::chart::{After, Chart, Row, page};
use super::trace::{self, Span};
use crate::clean::clean;

/// A cluster, booted many times. Times are in seconds.
#[derive(Clone, Debug)]
pub struct Boots {
    pub cluster: String,
    pub boots: u64,
    /// From what is ready first to what is ready last.
    pub rows: Vec<BootRow>,
}

/// One component in all of these boots.
#[derive(Clone, Debug)]
pub struct BootRow {
    pub object: ObjectRef,
    /// When it was ready, in the boots in which it was, sorted.
    pub ready: Vec<u64>,
    /// As it is estimated without a simulation.
    pub expected: Option<(u64, u64)>,
    pub is_critical: bool,
    /// What it is to come after, as files say.
    pub after: Vec<ObjectRef>,
}

impl BootRow {
    /// The time within which this share of the boots had it ready.
    fn percentile(&self, percent: usize) -> Option<u64> {
        let last = self.ready.len().checked_sub(1)?;
        self.ready.get((last * percent).div_ceil(100)).copied()
    }
}

/// As a page.
pub fn boots_html(all: &[Boots]) -> Result<String, serde_json::Error> {
    let charts: Vec<Chart> = all.iter().map(chart).collect();
    page(&charts)
}

fn chart(boots: &Boots) -> Chart {
    let last = |percent: usize| boots.rows.iter().filter_map(|row| row.percentile(percent)).max().unwrap_or(0);
    let expected = boots.rows.iter().filter_map(|row| row.expected).map(|(_, until)| until).max().unwrap_or(0);
    let row_of = |object: &ObjectRef| boots.rows.iter().position(|row| row.object == *object);
    let row = |row: &BootRow| Row {
        name: clean(&row.object.to_string()).into_owned(),
        group: clean(&row.object.namespace).into_owned(),
        from: row.percentile(5).unwrap_or(0) * 1000,
        until: row.percentile(95).map(|seconds| seconds * 1000),
        middle: row.percentile(50).map(|seconds| seconds * 1000),
        share: Some(format!("{} of {}", row.ready.len(), boots.boots)),
        expected: row.expected.map(|(from, until)| [from * 1000, until * 1000]),
        critical: row.is_critical,
        proof: String::new(),
        after: row
            .after
            .iter()
            .map(|object| After {
                name: clean(&object.to_string()).into_owned(),
                row: row_of(object),
                why: String::new(),
            })
            .collect(),
        tries: Vec::new(),
    };
    Chart {
        title: format!("{}, {} simulated boots", clean(&boots.cluster), boots.boots),
        summary: format!(
            "what is ready last: p50 {}, p95 {}{}",
            say_seconds(last(50)),
            say_seconds(last(95)),
            if expected == 0 { String::new() } else { format!(" · estimated {}", say_seconds(expected)) }
        ),
        whole: last(100).max(expected) * 1000,
        began: None,
        many: true,
        rows: boots.rows.iter().map(row).collect(),
    }
}

/// As events for a viewer of traces: from the fastest twentieth to all but the slowest.
pub fn boots_trace(all: &[Boots]) -> Result<String, serde_json::Error> {
    let spans = all.iter().flat_map(|boots| {
        boots.rows.iter().filter_map(|row| {
            let (from, middle, until) = (row.percentile(5)?, row.percentile(50)?, row.percentile(95)?);
            let seconds = |it: u64| (it * 1_000_000).to_string();
            Some(Span {
                process: clean(&boots.cluster).into_owned(),
                track: clean(&row.object.namespace).into_owned(),
                name: clean(&row.object.to_string()).into_owned(),
                from: from * 1_000_000,
                until: until * 1_000_000,
                facts: vec![
                    ("ready in", format!("{} of {} boots", row.ready.len(), boots.boots)),
                    ("p50", say_seconds(middle)),
                    ("p95", say_seconds(until)),
                    ("p50_microseconds", seconds(middle)),
                ],
            })
        })
    });
    trace::json(&spans.collect::<Vec<_>>(), true)
}
