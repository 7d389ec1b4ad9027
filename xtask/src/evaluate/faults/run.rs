//! A lab, its cases one after the other, and the judgement of each.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use lab::Lab;
use lab::faults::{Case, Scene, Truth};

use super::looker::{Looker, Report};
use super::watch::Watch;
use super::{Kept, Outcome, lock};

/// So long a case may take beyond what it takes by itself: machines are slow.
const SLACK: Duration = Duration::from_mins(1);
/// So long a cluster may take to become healthy again.
const HEALS: Duration = Duration::from_secs(150);
/// What `status` takes for a node that is still coming up.
const NODES_ARE_NEW: Duration = Duration::from_secs(190);
const EVERY: Duration = Duration::from_millis(300);

/// The cases of one lab; another lab takes over where one does not heal.
pub(super) fn share(number: usize, cases: &[Case], seed: u64, binary: &Path, kept: &Mutex<Kept>) -> Result<()> {
    let (mut open, mut life) = (cases.iter().peekable(), 0);
    while open.peek().is_some() {
        life += 1;
        let names = seed * 1_000 + u64::try_from(number)? * 100 + life;
        let lab = Lab::start(Scene::options(&format!("faults-{number}-{life}")))?;
        let scene = Scene::healthy(&lab, names)?;
        let looker = Looker::new(binary, &lab)?;
        let began = Instant::now();
        let mut watch = Watch::start(&looker)?;
        let mut place = Place { scene, looker, watch: &mut watch, began };
        place.heals()?;
        for case in open.by_ref() {
            let judged = place.judge(case);
            let outcome =
                judged.unwrap_or_else(|error| Outcome { broken: Some(format!("{error:#}")), ..Outcome::default() });
            eprintln!("{:>5.0} s  {} {}", began.elapsed().as_secs_f64(), case.name, verdict(&outcome));
            lock(kept).add(Outcome { name: case.name.to_owned(), ..outcome })?;
            let healed = place.scene.restore().map_err(anyhow::Error::from).and_then(|()| place.heals());
            if let Err(error) = healed {
                eprintln!("         a new lab, because after {}: {error:#}", case.name);
                break;
            }
        }
    }
    Ok(())
}

fn verdict(outcome: &Outcome) -> String {
    if outcome.is_right() && outcome.passing.is_empty() {
        return "right".to_owned();
    }
    format!("{outcome:?}")
}

struct Place<'a> {
    scene: Scene<'a>,
    looker: Looker<'a>,
    watch: &'a mut Watch,
    began: Instant,
}

impl Place<'_> {
    fn judge(&mut self, case: &Case) -> Result<Outcome> {
        if case.old_nodes {
            std::thread::sleep(NODES_ARE_NEW.saturating_sub(self.began.elapsed()));
        }
        let truth = case.act(&self.scene)?;
        let started = Instant::now();
        let (report, mut passing) = self.until_right(case, &truth, started)?;
        let seconds = started.elapsed().as_secs_f64();
        case.meanwhile(&self.scene)?;
        let (live, recorded) = self.looker.look_twice()?;
        let cold = differences(&truth, &report);
        let watched = self.watched(case, &truth, started)?;
        passing.extend(self.watch.since(started).iter().flat_map(|told| false_roots(&truth, told, "--watch")));
        Ok(Outcome {
            first: truth.first_is_right(&report.roots),
            blocks: truth.blocks_are_right(&report.roots),
            // A recording is judged as the cluster was: the truth of a cluster that goes on may be another.
            recorded: if live.roots == recorded.roots { Vec::new() } else { differences(&truth, &recorded) },
            passing: passing.into_iter().collect(),
            cold,
            watched,
            seconds,
            ..Outcome::default()
        })
    }

    /// What is told in the end, and what was told on the way and is no root.
    fn until_right(&self, case: &Case, truth: &Truth, started: Instant) -> Result<(Report, BTreeSet<String>)> {
        let mut passing = BTreeSet::new();
        loop {
            case.meanwhile(&self.scene)?;
            let report = self.looker.look()?;
            passing.extend(false_roots(truth, &report, "cold"));
            let is_right = differences(truth, &report).is_empty();
            let is_over = started.elapsed() > case.ripe + SLACK;
            // Of a look-alike nothing may be told all the time.
            let is_settled = if truth.is_healthy() { started.elapsed() > case.ripe } else { true };
            if is_over || (is_right && is_settled) {
                return Ok((report, passing));
            }
            std::thread::sleep(EVERY);
        }
    }

    /// What `--watch` shows in the end, given a moment.
    fn watched(&mut self, case: &Case, truth: &Truth, started: Instant) -> Result<Vec<String>> {
        let limit = Instant::now() + Duration::from_secs(15);
        loop {
            ensure!(self.watch.is_running(), "--watch ended by itself");
            let last = self.watch.since(started).pop();
            let found = last.map_or_else(|| vec!["nothing was told".to_owned()], |told| differences(truth, &told));
            if found.is_empty() || Instant::now() > limit {
                return Ok(found);
            }
            case.meanwhile(&self.scene)?;
            std::thread::sleep(EVERY);
        }
    }

    fn heals(&self) -> Result<()> {
        let started = Instant::now();
        loop {
            let report = self.looker.look()?;
            if report.roots.is_empty() && report.outcome == "healthy" {
                return Ok(());
            }
            ensure!(started.elapsed() < HEALS, "it is still {}: {:?}", report.outcome, report.roots);
            std::thread::sleep(EVERY);
        }
    }
}

fn differences(truth: &Truth, report: &Report) -> Vec<String> {
    let mut all = truth.differences(&report.roots);
    let is_fine = report.outcome == "healthy" || report.outcome == "progressing";
    if truth.is_healthy() && !is_fine {
        all.push(format!("told as {}", report.outcome));
    }
    all
}

fn false_roots(truth: &Truth, report: &Report, how: &str) -> Vec<String> {
    truth.false_roots(&report.roots).iter().map(|object| format!("{object} ({how})")).collect()
}
