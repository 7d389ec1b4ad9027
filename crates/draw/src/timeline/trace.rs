//! Times for viewers of traces: the JSON of Chrome's trace events, which Perfetto opens as well.
//!
//! Spans of one track must not overlap there. So each group has as many tracks as run at the same time.

use std::collections::BTreeMap;
use std::time::Duration;

use run::{Bar, Timeline};
use serde_json::{Map, Value, json};

use crate::clean::{clean, clean_json};
use crate::story::took;

/// Something that lasted. Times are in microseconds.
pub(super) struct Span {
    pub process: String,
    pub track: String,
    pub name: String,
    pub from: u64,
    pub until: u64,
    pub facts: Vec<(&'static str, String)>,
}

/// A run: what every step took, and as a process of its own what it was expected to take.
pub fn trace(timeline: &Timeline, title: &str) -> Result<String, serde_json::Error> {
    let title = clean(title);
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let span = |bar: &Bar, is_expected: bool| {
        let until = if is_expected { bar.expected_until } else { bar.until.unwrap_or(timeline.took) };
        let from = if is_expected { bar.expected_from } else { bar.from };
        let spent = bar.until.unwrap_or(timeline.took).saturating_sub(bar.from);
        Span {
            process: format!("{title}{}", if is_expected { ", expected" } else { "" }),
            track: bar.layer.name().to_owned(),
            name: clean(&bar.key).into_owned(),
            from: micros(from),
            until: micros(until),
            facts: vec![
                ("took", took(spent)),
                ("expected", took(super::expected(bar))),
                ("critical path", if bar.is_critical { "yes" } else { "no" }.to_owned()),
                ("done", if bar.until.is_some() { "yes" } else { "no" }.to_owned()),
            ],
        }
    };
    let taken = timeline.bars.iter().map(|bar| span(bar, false));
    let expected = timeline.bars.iter().map(|bar| span(bar, true));
    json(&taken.chain(expected).collect::<Vec<_>>(), timeline.is_simulated)
}

/// The events, with a name for every process and track.
pub(super) fn json(spans: &[Span], is_simulated: bool) -> Result<String, serde_json::Error> {
    let mut tracks = Tracks::default();
    // In the order in which they were given, whichever begins first.
    for span in spans {
        tracks.process(&span.process);
    }
    let mut order: Vec<&Span> = spans.iter().collect();
    order.sort_by_key(|span| (span.from, std::cmp::Reverse(span.until)));
    let mut events: Vec<Value> = Vec::new();
    for span in order {
        let (process, track) = tracks.of(span);
        let facts: Map<String, Value> =
            span.facts.iter().map(|(name, value)| ((*name).to_owned(), Value::from(value.as_str()))).collect();
        events.push(json!({
            "ph": "X", "pid": process, "tid": track, "ts": span.from, "dur": span.until.saturating_sub(span.from),
            "name": span.name, "cat": span.track, "args": facts,
        }));
    }
    let mut all = tracks.names();
    all.append(&mut events);
    let document = json!({
        "displayTimeUnit": "ms",
        "otherData": { "tool": crate::json::TOOL, "simulated": is_simulated },
        "traceEvents": all,
    });
    Ok(clean_json(serde_json::to_string(&document)?) + "\n")
}

/// Processes and their tracks, in the order in which they are met.
#[derive(Default)]
struct Tracks {
    processes: Vec<String>,
    /// Process, group and which of its tracks, with when the last of its spans ends.
    tracks: Vec<(usize, String, usize, u64)>,
}

impl Tracks {
    fn process(&mut self, name: &str) -> usize {
        self.processes.iter().position(|known| known == name).unwrap_or_else(|| {
            self.processes.push(name.to_owned());
            self.processes.len() - 1
        })
    }

    /// The numbers of the process and of a track that is free.
    fn of(&mut self, span: &Span) -> (usize, usize) {
        let process = self.process(&span.process);
        let is_own = |track: &(usize, String, usize, u64)| track.0 == process && track.1 == span.track;
        let free = self.tracks.iter().position(|track| is_own(track) && track.3 <= span.from);
        let at = free.unwrap_or_else(|| {
            let number = self.tracks.iter().filter(|track| is_own(track)).count() + 1;
            self.tracks.push((process, span.track.clone(), number, 0));
            self.tracks.len() - 1
        });
        self.tracks[at].3 = span.until;
        (process + 1, at + 1)
    }

    fn names(&self) -> Vec<Value> {
        let name = |what: &str, process: usize, track: usize, name: String| json!({ "ph": "M", "name": what, "pid": process, "tid": track, "args": { "name": name } });
        let mut counts: BTreeMap<(usize, &str), usize> = BTreeMap::new();
        for (process, group, _, _) in &self.tracks {
            *counts.entry((*process, group)).or_default() += 1;
        }
        let processes =
            self.processes.iter().enumerate().map(|(at, title)| name("process_name", at + 1, 0, title.clone()));
        let tracks = self.tracks.iter().enumerate().map(|(at, (process, group, number, _))| {
            let is_only = counts.get(&(*process, group.as_str())) == Some(&1);
            let title = if is_only { group.clone() } else { format!("{group} {number}") };
            name("thread_name", process + 1, at + 1, title)
        });
        processes.chain(tracks).collect()
    }
}
