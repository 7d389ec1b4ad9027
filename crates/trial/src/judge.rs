//! What must hold after every run, judged from the lines that were told and from what the world itself recorded.

use std::collections::BTreeMap;
use std::time::Duration;

use run::{Event, Outcome, Plan, Step, StepId, TryFailure};
use simulate::{Action, Fault};

use crate::boot::{Prepared, Ran, later};
use crate::kind::kind;
use crate::truth::Truth;

/// A makespan may be so much longer than the critical path: one twentieth.
const SLACK: u64 = 20;

/// What lines say of each step.
#[derive(Default)]
struct Told<'l> {
    proved: BTreeMap<StepId, u64>,
    failed: BTreeMap<StepId, (u64, &'l TryFailure)>,
    blocked: BTreeMap<StepId, StepId>,
}

/// A run under judgement.
#[expect(missing_debug_implementations, reason = "it holds a question")]
pub struct Case<'a, 'b> {
    pub prepared: &'b Prepared,
    pub plan: &'a Plan,
    pub ran: &'a Ran<'b>,
    pub faults: &'a [Fault],
    /// The same seed without any fault came up; asked only where one failed.
    pub comes_up_without: &'a dyn Fn() -> bool,
}

/// Everything that is wrong with a run, and the kinds of what it failed for.
#[derive(Debug, Default)]
pub struct Judgement {
    pub wrong: Vec<String>,
    pub causes: Vec<&'static str>,
    /// How long the makespan was beyond the critical path, in thousandths of that.
    pub beyond: u64,
}

impl Case<'_, '_> {
    pub fn judge(&self) -> Judgement {
        let mut wrong = Vec::new();
        let mut beyond = 0;
        let told = self.order(&mut wrong);
        self.ending(&told, &mut wrong);
        let truth = Truth::new(&self.ran.world, &self.prepared.blueprint, &self.prepared.settings);
        self.proofs(&told, &truth, &mut wrong);
        for act in self.ran.world.inner().done_twice() {
            wrong.push(format!("done twice: {}", called(act.action)));
        }
        let mut causes = Vec::new();
        for (id, (at, why)) in &told.failed {
            causes.push(kind(why).unwrap_or(UNNAMED));
            self.failure(*id, *at, why, &told, &truth, &mut wrong);
        }
        if self.ran.outcome == Outcome::Healthy
            && self.prepared.cluster.defect.is_some_and(crate::cluster::Defect::is_fatal)
        {
            wrong.push("healthy, and it can't be".to_owned());
        }
        if self.ran.outcome == Outcome::Healthy && self.faults.is_empty() {
            beyond = self.makespan(&truth, &mut wrong);
        }
        Judgement { wrong, causes, beyond }
    }

    fn step(&self, id: StepId) -> &Step {
        self.plan.step(id)
    }

    fn key(&self, id: StepId) -> &str {
        &self.plan.step(id).key
    }

    /// Nothing is said of a step before all its needs are proved; nothing twice that may be said once.
    fn order<'l>(&'l self, wrong: &mut Vec<String>) -> Told<'l> {
        let ids: BTreeMap<&str, StepId> = self.plan.ids().map(|id| (self.key(id), id)).collect();
        let mut told = Told::default();
        let mut last = 0;
        for line in &self.ran.lines {
            if line.at < last {
                wrong.push(format!("time goes back at {:?}", line.event));
            }
            last = line.at;
            let Some(id) = line.event.step().and_then(|key| ids.get(key)).copied() else { continue };
            if let Event::Blocked { by, .. } = &line.event {
                if let Some(by) = ids.get(by.as_str()) {
                    told.blocked.insert(id, *by);
                }
                continue;
            }
            let early = self.step(id).needs.iter().find(|need| !told.proved.contains_key(&need.step));
            if let Some(need) = early {
                wrong.push(format!("{:?} before {} is proved", line.event, self.key(need.step)));
            }
            let is_over = told.proved.contains_key(&id) || told.failed.contains_key(&id);
            if is_over {
                wrong.push(format!("{:?} after its end", line.event));
            }
            match &line.event {
                Event::Proved { .. } => _ = told.proved.insert(id, line.at),
                Event::Failed { why, .. } => _ = told.failed.insert(id, (line.at, why)),
                _ => {}
            }
        }
        told
    }

    /// Healthy with everything proved, or failed with all else proved or blocked by what failed.
    fn ending(&self, told: &Told<'_>, wrong: &mut Vec<String>) {
        let ended = self.ran.lines.last().map(|line| &line.event);
        if ended != Some(&Event::Ended { outcome: self.ran.outcome }) {
            wrong.push(format!("the last line is {ended:?}"));
        }
        for id in self.plan.ids() {
            let is_told = told.proved.contains_key(&id) || told.failed.contains_key(&id);
            if !is_told && !told.blocked.contains_key(&id) {
                wrong.push(format!("it is over, and nothing was said of {}", self.key(id)));
            }
        }
        for (id, by) in &told.blocked {
            if !told.failed.contains_key(by) || told.proved.contains_key(id) {
                wrong.push(format!("{} is blocked by {}, which did not fail", self.key(*id), self.key(*by)));
            }
        }
        let expected = if told.failed.is_empty() { Outcome::Healthy } else { Outcome::Failed };
        if self.ran.outcome != expected {
            wrong.push(format!("{:?} with {} failed steps", self.ran.outcome, told.failed.len()));
        }
    }

    /// Nothing is proved before the world had it.
    fn proofs(&self, told: &Told<'_>, truth: &Truth<'_, '_>, wrong: &mut Vec<String>) {
        for (id, at) in &told.proved {
            match truth.done_at(self.step(*id)) {
                Some(done) if done <= *at => {}
                done => wrong.push(format!("{} proved at {at} ms, in the world at {done:?}", self.key(*id))),
            }
        }
    }

    fn began(&self, id: StepId, told: &Told<'_>) -> u64 {
        self.step(id).needs.iter().filter_map(|need| told.proved.get(&need.step)).max().copied().unwrap_or(0)
    }

    /// A failure has a name, comes not before the limits, and is what a fault or a defect did.
    fn failure(
        &self,
        id: StepId,
        at: u64,
        why: &TryFailure,
        told: &Told<'_>,
        truth: &Truth<'_, '_>,
        wrong: &mut Vec<String>,
    ) {
        let step = self.step(id);
        let began = self.began(id, told);
        let reason = draw::say::failure(why);
        if kind(why).is_none() {
            wrong.push(format!("{} failed without a name: {reason:?}", step.key));
        }
        let limit = Duration::from_millis(began) + step.limits.timeout;
        let then = later(&self.ran.world, limit);
        let then = Truth::new(&then, &self.prepared.blueprint, &self.prepared.settings);
        if then.was_done_between(step, began, u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)) {
            wrong.push(format!("{} failed at {at} ms, and would have been done within its limit: {reason}", step.key));
        }
        let is_spoilt = || {
            let path = step.key.rsplitn(3, '/').take(2).collect::<Vec<_>>();
            let path = format!("{}/{}", path.get(1).unwrap_or(&""), path[0]);
            self.prepared.cluster.spoilt.contains(&path)
        };
        let defect = self.prepared.cluster.defect;
        if self.faults.is_empty() {
            if !is_spoilt() {
                wrong.push(format!("{} failed without a fault, and nothing is wrong with it: {reason}", step.key));
            }
        } else if defect.is_none() || !is_spoilt() {
            if !truth.is_struck(step, began) {
                wrong.push(format!("{} failed, and no fault strikes what it waited for: {reason}", step.key));
            }
            if defect.is_none() && !(self.comes_up_without)() {
                wrong.push(format!("{} failed, and without the fault it does not come up either", step.key));
            }
        }
    }

    /// The longest path over what each step took by itself: since it was done, or since the world had what it needs.
    fn makespan(&self, truth: &Truth<'_, '_>, wrong: &mut Vec<String>) -> u64 {
        let mut longest: Vec<u64> = Vec::with_capacity(self.plan.steps.len());
        for step in &self.plan.steps {
            let done = truth.done_at(step).unwrap_or(0);
            let there = step.needs.iter().filter_map(|need| truth.done_at(self.step(need.step))).max().unwrap_or(0);
            let own = done.saturating_sub(truth.begun_at(step).unwrap_or(there));
            let before = step.needs.iter().map(|need| longest[need.step.index()]).max().unwrap_or(0);
            longest.push(before + own);
        }
        let path = longest.iter().max().copied().unwrap_or(0);
        let took = self.ran.lines.last().map_or(0, |line| line.at);
        if took > path + path / SLACK {
            wrong.push(format!("took {took} ms, the critical path {path} ms"));
        }
        took.saturating_sub(path) * 1000 / path.max(1)
    }
}

/// A failure that names no cause, in a table.
const UNNAMED: &str = "unnamed";

/// What must be done once.
fn called(action: Action) -> String {
    match action {
        Action::MakeSecrets => "make-secrets".to_owned(),
        Action::BootstrapEtcd(machine) => format!("bootstrap-etcd {machine}"),
        other => format!("{other:?}"),
    }
}
