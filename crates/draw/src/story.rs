//! A run as it is told line by line, now or later.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use model::say_seconds;
use run::{Event, Found, LeftNeed, Line, Outcome, TryFailure, Where};
use serde::Serialize;

use crate::clean::{clean, clean_json};
use crate::paint::Paint;
use crate::say;
use crate::words::{count, first_few};

/// Tells lines; keeps in mind in which world they happened.
#[derive(Clone, Debug)]
pub struct Teller {
    paint: Paint,
    is_simulated: bool,
    /// Steps that were already in place.
    there: usize,
    done: usize,
    /// Steps that were left out, by the reason.
    left: BTreeMap<String, usize>,
    /// What failed, why, and what can't begin for it.
    failed: Vec<Failure>,
}

#[derive(Clone, Debug)]
struct Failure {
    step: String,
    /// From what was seen of the step down to the fact.
    why: Vec<String>,
    blocks: Vec<String>,
}

impl Teller {
    pub fn new(color: bool) -> Self {
        Self {
            paint: Paint { color },
            is_simulated: false,
            there: 0,
            done: 0,
            left: BTreeMap::new(),
            failed: Vec::new(),
        }
    }

    /// One line of text with a line end; none for what people need not hear.
    pub fn tell(&mut self, line: &Line) -> Option<String> {
        match &line.event {
            Event::Began { world, .. } => self.is_simulated = world.is_simulated(),
            Event::Proved { found: Found::There, .. } => self.there += 1,
            Event::Proved { found: Found::Done, .. } => self.done += 1,
            Event::Left { why, .. } => *self.left.entry(say::left_out(why)).or_default() += 1,
            Event::Failed { step, why, left_out } => {
                let why = failed_parts(why, left_out.as_ref());
                self.failed.push(Failure { step: step.clone(), why, blocks: Vec::new() });
            }
            Event::Blocked { step, by, .. } => {
                if let Some(failure) = self.failed.iter_mut().find(|failure| failure.step == *by) {
                    failure.blocks.push(step.clone());
                }
            }
            _ => {}
        }
        let says = self.says(&line.event)?;
        let mark = mark(self.is_simulated, self.paint.color);
        let told = says.lines().map(|says| format!("{mark}{:>10}  {says}\n", clock(line.at)));
        Some(told.collect())
    }

    /// Each cause, from the step that failed down to the fact, and what can't begin for it.
    fn causes(&self) -> String {
        const NAMED_MAX: usize = 3;
        let paint = self.paint;
        let told = self.failed.iter().map(|failure| {
            let mut out = format!("\n{} {}", paint.bad("failed"), paint.name(&clean(&failure.step)));
            for part in &failure.why {
                let _ = write!(out, "\n  {} {}", paint.dim("←"), clean(part));
            }
            let blocks: Vec<String> = failure.blocks.iter().map(|step| clean(step).into_owned()).collect();
            if !blocks.is_empty() {
                let number = count(blocks.len(), "step");
                let _ = write!(out, "\n  {} {number}: {}", paint.poor("blocks"), first_few(&blocks, NAMED_MAX));
            }
            out
        });
        told.collect()
    }

    fn counted(&self) -> String {
        let reasons: Vec<String> = self.left.keys().map(|reason| clean(reason).into_owned()).collect();
        let left = match self.left.values().sum::<usize>() {
            0 => String::new(),
            number => format!(", {number} left out ({})", reasons.join("; ")),
        };
        match (self.done, self.there) {
            (0, there) if self.failed.is_empty() => {
                format!("all {} already in place, nothing to do{left}", count(there, "step"))
            }
            (0, there) => format!("{} already in place{left}", count(there, "step")),
            (done, 0) => format!("{} completed{left}", count(done, "step")),
            (done, there) => format!("{} completed, {there} already in place{left}", count(done, "step")),
        }
    }

    fn says(&self, event: &Event) -> Option<String> {
        let paint = self.paint;
        let named = |step: &str| paint.name(&clean(step));
        Some(match event {
            Event::Began { run, steps, world, .. } => format!("run {run} begins: {steps} steps{}", say_world(world)),
            // What was there, what was left and what is blocked is told in the end.
            Event::Planned { .. }
            | Event::Acted { .. }
            | Event::Blocked { .. }
            | Event::Left { .. }
            | Event::Proved { found: Found::There, .. } => return None,
            Event::Started { step, attempt: 1 } => format!("{} begins", named(step)),
            Event::Started { step, attempt } => format!("{} begins, try {attempt}", named(step)),
            Event::Waiting { step, why } => format!("{} waits: {}", named(step), clean(&say::hindrance(why))),
            Event::Tried { step, why, again_at, .. } => {
                let why = say::failure(why);
                format!("{} {}: {}; again at {}", named(step), paint.poor("failed"), clean(&why), clock(*again_at))
            }
            Event::Proved { step, found: Found::Done, .. } => format!("{} {}", named(step), paint.good("done")),
            Event::Failed { step, .. } => {
                let why = reason(event).unwrap_or_default();
                format!("{} {}: {}", named(step), paint.bad("failed"), clean(&why))
            }
            Event::Stopping => "stopping: no new steps are started".to_owned(),
            Event::Ended { outcome: Outcome::Healthy } => format!("{}: {}", paint.good("healthy"), self.counted()),
            Event::Ended { outcome: Outcome::Failed } => {
                format!("{}: {}{}", paint.bad("incomplete"), self.counted(), self.causes())
            }
            Event::Ended { outcome: Outcome::Stopped } => paint.poor("stopped"),
        })
    }
}

/// Why a step failed for good, each part by itself.
fn failed_parts(why: &TryFailure, left_out: Option<&LeftNeed>) -> Vec<String> {
    let mut parts = say::failure_parts(why);
    if let (Some(last), Some(need)) = (parts.last_mut(), left_out) {
        last.push_str(&say::needed_and_left_out(need));
    }
    parts
}

/// The reason that an event has, in one line of words.
fn reason(event: &Event) -> Option<String> {
    match event {
        Event::Left { why, .. } => Some(say::left_out(why)),
        Event::Waiting { why, .. } => Some(say::hindrance(why)),
        Event::Tried { why, .. } => Some(say::failure(why)),
        Event::Failed { why, left_out, .. } => {
            let needed = left_out.as_ref().map(say::needed_and_left_out).unwrap_or_default();
            Some(say::failure(why) + &needed)
        }
        _ => None,
    }
}

/// What stands before every line of what did not really happen.
pub fn mark(is_simulated: bool, color: bool) -> String {
    if is_simulated { Paint { color }.dim("simulated  ") } else { String::new() }
}

fn say_world(world: &Where) -> String {
    match world {
        Where::Real => String::new(),
        Where::Simulated { seed, faults } if faults.is_empty() => format!(", seed {seed}"),
        Where::Simulated { seed, faults } => format!(", seed {seed}, {}", faults.join(", ")),
    }
}

/// One line of JSON with a line end: what happened, and whether it happened only in a simulated world.
pub fn json(line: &Line, is_simulated: bool) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct Twin<'a> {
        #[serde(flatten)]
        line: &'a Line,
        /// `why` in words.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        simulated: bool,
    }
    serde_json::to_string(&Twin { line, reason: reason(&line.event), simulated: is_simulated })
        .map(|json| clean_json(json) + "\n")
}

/// Hours, minutes and seconds, as a stopwatch shows them.
pub(crate) fn clock(millis: u64) -> String {
    let seconds = millis / 1000;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// A duration in words.
pub fn took(duration: std::time::Duration) -> String {
    say_seconds(duration.as_secs())
}
