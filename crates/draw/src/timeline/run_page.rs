//! One run as a page: every step with what it waited for, what it took and what was expected.

use std::collections::BTreeMap;
use std::time::Duration;

use run::{Bar, Event, Line, Plan, StepId, Timeline};

use super::chart::{After, Chart, Row, page};
use super::summary;
use crate::clean::clean;
use crate::say;

/// Tries of one step that are told.
const TRIES_MAX: usize = 12;

/// A run, with what its journal tells of it.
pub fn html(timeline: &Timeline, plan: &Plan, lines: &[Line], title: &str) -> Result<String, serde_json::Error> {
    let start = lines.first().map(Line::time).unwrap_or_default();
    let rows: BTreeMap<StepId, usize> = timeline.bars.iter().enumerate().map(|(at, bar)| (bar.step, at)).collect();
    let tries = tries(lines, start);
    let row = |bar: &Bar| row(bar, plan, &rows, tries.get(bar.key.as_str()));
    let began = lines.iter().find_map(|line| match &line.event {
        Event::Began { date, .. } => *date,
        _ => None,
    });
    let what = if timeline.is_simulated { ", simulated" } else { "" };
    let chart = Chart {
        title: format!("{}{what}", clean(title)),
        summary: summary(timeline, usize::MAX).join(" · "),
        whole: millis(timeline.took),
        began,
        many: false,
        rows: timeline.bars.iter().map(row).collect(),
    };
    page(&[chart])
}

fn row(bar: &Bar, plan: &Plan, rows: &BTreeMap<StepId, usize>, tries: Option<&Vec<(u64, String)>>) -> Row {
    let step = plan.step(bar.step);
    let after = step.needs.iter().map(|need| After {
        name: clean(&plan.step(need.step).key).into_owned(),
        row: rows.get(&need.step).copied(),
        why: clean(&say::need(&need.why)).into_owned(),
    });
    let expected = [bar.from, bar.from + super::expected(bar)].map(millis);
    Row {
        name: clean(&bar.key).into_owned(),
        group: bar.layer.name().to_owned(),
        from: millis(bar.from),
        until: bar.until.map(millis),
        middle: None,
        share: None,
        expected: Some(expected),
        critical: bar.is_critical,
        proof: clean(&say::proof(&step.proof)).into_owned(),
        after: after.collect(),
        tries: tries.cloned().unwrap_or_default(),
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What failed, by step.
fn tries(lines: &[Line], start: Duration) -> BTreeMap<&str, Vec<(u64, String)>> {
    let mut all: BTreeMap<&str, Vec<(u64, String)>> = BTreeMap::new();
    for line in lines {
        let says = match &line.event {
            Event::Tried { why, .. } | Event::Failed { why, .. } => say::failure(why),
            _ => continue,
        };
        let own = all.entry(line.event.step().unwrap_or_default()).or_default();
        if own.len() < TRIES_MAX {
            own.push((millis(line.time().saturating_sub(start)), clean(&says).into_owned()));
        }
    }
    all
}
