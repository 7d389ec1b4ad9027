//! A run as it is told line by line, now or later.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use model::say_seconds;
use run::{Event, Found, Line, Outcome, Where};
use serde::Serialize;

use crate::clean::clean;
use crate::paint::Paint;
use crate::words::{count, first_few};

/// Tells lines; keeps in mind in which world they happened.
#[derive(Clone, Debug)]
pub struct Teller {
    paint: Paint,
    is_simulated: bool,
    /// Steps that nobody had to do.
    there: usize,
    done: usize,
    /// Steps that nobody wanted, by the reason.
    left: BTreeMap<String, usize>,
    /// What failed, why, and what can't begin for it.
    failed: Vec<Failure>,
}

#[derive(Clone, Debug)]
struct Failure {
    step: String,
    reason: String,
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
            Event::Left { reason, .. } => *self.left.entry(reason.clone()).or_default() += 1,
            Event::Failed { step, reason } => {
                self.failed.push(Failure { step: step.clone(), reason: reason.clone(), blocks: Vec::new() });
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
            for part in failure.reason.split(" ← ") {
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
                format!("all {} were there, nothing to do{left}", count(there, "step"))
            }
            (0, there) => format!("{} {}{left}", count(there, "step"), were_there(there)),
            (done, 0) => format!("{} proved{left}", count(done, "step")),
            (done, there) => format!("{} proved, {there} {}{left}", count(done, "step"), were_there(there)),
        }
    }

    fn says(&self, event: &Event) -> Option<String> {
        let paint = self.paint;
        let named = |step: &str| paint.name(&clean(step));
        Some(match event {
            Event::Began { run, steps, world } => format!("run {run} begins: {steps} steps{}", say_world(world)),
            // What was there, what was left and what is blocked is told in the end.
            Event::Planned { .. }
            | Event::Acted { .. }
            | Event::Blocked { .. }
            | Event::Left { .. }
            | Event::Proved { found: Found::There, .. } => return None,
            Event::Started { step, attempt: 1 } => format!("{} begins", named(step)),
            Event::Started { step, attempt } => format!("{} begins, try {attempt}", named(step)),
            Event::Waiting { step, reason } => format!("{} waits: {}", named(step), clean(reason)),
            Event::Tried { step, reason, again_at, .. } => {
                format!("{} {}: {}; again at {}", named(step), paint.poor("failed"), clean(reason), clock(*again_at))
            }
            Event::Proved { step, found: Found::Done, .. } => format!("{} {}", named(step), paint.good("proved")),
            Event::Failed { step, reason } => format!("{} {}: {}", named(step), paint.bad("failed"), clean(reason)),
            Event::Stopping => "asked to stop: nothing new begins".to_owned(),
            Event::Ended { outcome: Outcome::Healthy } => format!("{}: {}", paint.good("healthy"), self.counted()),
            Event::Ended { outcome: Outcome::Failed } => {
                format!("{}: {}{}", paint.bad("not everything is proved"), self.counted(), self.causes())
            }
            Event::Ended { outcome: Outcome::Stopped } => paint.poor("stopped"),
        })
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
        simulated: bool,
    }
    serde_json::to_string(&Twin { line, simulated: is_simulated }).map(|json| json + "\n")
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

fn were_there(steps: usize) -> &'static str {
    if steps == 1 { "was there" } else { "were there" }
}
