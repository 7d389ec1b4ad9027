//! Does what happens in the simulated world fit `lab.yaml`? The same questions that the lab asks of the real controllers.

use coldstart_simulate::{Blueprint, BootEvent, Id, Millis, Reason, What, World};
use read::rendered::Rendered;

use super::stage::{self, Case, find, millis};
use super::told::{Ending, Fails, From, Happens, Slow, Stuck};

const LOOK_EVERY: Millis = 300;
const WITHIN_SECONDS: f64 = 120.0;
const HOLDS_SECONDS: f64 = 20.0;
/// The real world is not as even: nothing here is more exact than the moments at which controllers look.
const POLL_SECONDS: f64 = 5.0;

pub(crate) struct Verify<'a, 'b> {
    pub(crate) case: &'a Case,
    pub(crate) world: World<'b>,
    pub(crate) blueprint: &'b Blueprint,
    pub(crate) revisions: &'a [Rendered],
}

struct Failure {
    began: Millis,
    at: Millis,
    said: String,
}

impl Verify<'_, '_> {
    pub(crate) fn happens(&mut self, told: &Happens, since: Millis) -> Vec<String> {
        let limit = self.world.now() + millis(told.within.unwrap_or(WITHIN_SECONDS));
        loop {
            let missing = self.missing(told, since);
            if missing.is_empty() {
                break;
            }
            if self.world.now() > limit {
                return missing;
            }
            self.world.advance(self.world.now() + LOOK_EVERY);
        }
        let mut wrong = self.hold(told);
        wrong.extend(told.slow.iter().filter_map(|slow| self.slow(slow, since)));
        wrong.extend(self.order(&told.order));
        for absent in &told.absent {
            if find(self.blueprint, absent).is_some_and(|id| self.world.exists(id)) {
                wrong.push(format!("{absent} is there"));
            }
        }
        if told.clean {
            wrong.extend(self.failed().map(|(at, said)| format!("not clean: {at} ms {said}")));
        }
        wrong
    }

    fn missing(&self, told: &Happens, since: Millis) -> Vec<String> {
        let mut missing = self.unstuck(told);
        for ready in &told.ready {
            if !find(self.blueprint, ready).is_some_and(|id| self.world.is_ready(id)) {
                missing.push(format!("{ready} is not ready: {}", self.said(ready)));
            }
        }
        missing.extend(told.fails.iter().filter_map(|fails| self.fails(fails, since)));
        missing
    }

    fn unstuck(&self, told: &Happens) -> Vec<String> {
        let mut missing: Vec<String> = told.stuck.iter().filter_map(|stuck| self.stuck(stuck)).collect();
        for holds in &told.objects {
            let Some(id) = find(self.blueprint, &holds.of).filter(|id| self.world.exists(*id)) else {
                missing.push(format!("{} is not there", holds.of));
                continue;
            };
            let wanted = holds.is.clone().unwrap_or_default();
            match holds.at.as_deref() {
                None => {}
                Some("status.phase") if wanted == "Bound" && self.world.is_ready(id) => {}
                Some("status.phase") if wanted == "Bound" => missing.push(format!("{} is not bound", holds.of)),
                Some(path) => {
                    let is = stage::content(self.case, &self.world, self.blueprint, self.revisions, id, path);
                    if is != wanted {
                        missing.push(format!("{path} of {} is {is:?}, not {wanted:?}", holds.of));
                    }
                }
            }
        }
        missing
    }

    fn said(&self, of: &str) -> String {
        find(self.blueprint, of).map(|id| say(self.world.reason(id), self.blueprint)).unwrap_or_default()
    }

    fn stuck(&self, told: &Stuck) -> Option<String> {
        let Some(id) = find(self.blueprint, &told.of).filter(|id| self.world.exists(*id)) else {
            return Some(format!("{} is not there", told.of));
        };
        if told.at_old_revision {
            let applied = self.world.applied_revision(id);
            let is_old = applied.is_some_and(|applied| applied < self.world.newest_revision());
            return (!is_old).then(|| format!("{} is at {applied:?}", told.of));
        }
        let mut said = self.said(&told.of);
        if said.is_empty() {
            said = self.failures(&told.of).pop().map(|failure| failure.said).unwrap_or_default();
        }
        let is_stuck =
            !self.world.is_ready(id) && said.contains(&told.says) && (!told.stalled || self.world.has_stalled(id));
        (!is_stuck).then(|| format!("{} is not stuck with {:?}: {said}", told.of, told.says))
    }

    fn hold(&mut self, told: &Happens) -> Vec<String> {
        if told.stuck.is_empty() && told.holds.is_none() {
            return Vec::new();
        }
        let until = self.world.now() + millis(told.holds.unwrap_or(HOLDS_SECONDS));
        while self.world.now() < until {
            let missing = self.unstuck(told);
            if !missing.is_empty() {
                return missing.into_iter().map(|one| format!("did not stay so: {one}")).collect();
            }
            self.world.advance(self.world.now() + LOOK_EVERY);
        }
        Vec::new()
    }

    fn events_of(&self, of: &str) -> impl Iterator<Item = &BootEvent> {
        let id = find(self.blueprint, of);
        self.world.events().iter().filter(move |event| event.thing.is_some() && event.thing == id)
    }

    fn failures(&self, of: &str) -> Vec<Failure> {
        let mut began = 0;
        let mut all = Vec::new();
        for event in self.events_of(of) {
            match event.what {
                What::Began => began = event.at,
                What::Failed(reason) => {
                    all.push(Failure { began, at: event.at, said: self.words(event.thing, reason) });
                }
                _ => {}
            }
        }
        all
    }

    /// A release says what went wrong under the name of what it did.
    fn words(&self, of: Option<Id>, reason: Reason) -> String {
        let said = say(reason, self.blueprint);
        let is_release = of.is_some_and(|id| self.blueprint.thing(id).kind == "HelmRelease");
        if is_release && !said.contains("Error") { format!("InstallFailed: {said}") } else { said }
    }

    fn failed(&self) -> impl Iterator<Item = (Millis, String)> {
        self.world.events().iter().filter_map(|event| match event.what {
            What::Failed(reason) if !matches!(reason, Reason::SourceNotFound(_)) => {
                let of = event.thing.map(|id| self.blueprint.thing(id).object().to_string()).unwrap_or_default();
                Some((event.at, format!("{of}: {}", say(reason, self.blueprint))))
            }
            _ => None,
        })
    }

    fn fails(&self, told: &Fails, since: Millis) -> Option<String> {
        let all = self.failures(&told.of);
        let count = all.iter().filter(|failure| failure.at >= since && failure.said.contains(&told.says)).count();
        let said: Vec<&str> = all.iter().map(|failure| failure.said.as_str()).collect();
        (count < told.times).then(|| format!("{} failed {count} times with {:?}: {said:?}", told.of, told.says))
    }

    fn slow(&self, told: &Slow, since: Millis) -> Option<String> {
        let failures = self.failures(&told.of);
        let Some(last) = failures.iter().rfind(|failure| failure.at >= since) else {
            return Some(format!("{} never failed, so it never had to recover", told.of));
        };
        let recovered = self.events_of(&told.of).find(|event| event.at > last.at && event.what == What::Ready);
        let Some(recovered) = recovered else { return Some(format!("{} did not recover", told.of)) };
        let from = if told.from == From::Failure { last.at } else { last.began };
        let took = seconds(recovered.at - from);
        #[expect(clippy::cast_precision_loss, reason = "seconds of an interval")]
        let (soonest, latest) = match told.seconds {
            Some(stated) => {
                let stated = stated as f64 / self.case.told.pace;
                (stated - told.early, stated + told.slack.max(POLL_SECONDS))
            }
            None if told.backoff => (0.0, seconds(last.at - failures[0].at) + told.slack),
            None => (0.0, told.slack),
        };
        (took < soonest || took > latest)
            .then(|| format!("{} recovered after {took:.1} s, not {soonest:.1} to {latest:.1} s", told.of))
    }

    fn order(&self, told: &[String]) -> Vec<String> {
        let first = |name: &String| self.events_of(name).find(|event| event.what == What::Ready).map(|event| event.at);
        let times: Vec<Option<Millis>> = told.iter().map(first).collect();
        told.windows(2)
            .zip(times.windows(2))
            .filter(|(_, times)| !matches!(times, [Some(first), Some(second)] if first <= second))
            .map(|(names, times)| format!("{} was not ready before {} ({times:?})", names[0], names[1]))
            .collect()
    }

    /// How the story ends, in the words of `lab.yaml`: stalls and deadlocks are one here, for both stay as they are.
    pub(crate) fn ends(&self, told: Ending) -> Option<String> {
        let flux = || self.blueprint.flux_objects().filter(|id| self.world.exists(*id));
        let stays = flux().any(|id| !self.world.is_ready(id) && self.world.reason(id) != Reason::Suspended)
            || self
                .world
                .events()
                .iter()
                .any(|event| matches!(event.what, What::Failed(Reason::NoSealingKey) | What::BootstrapFailed(_)));
        let is_noise = |reason: &Reason| matches!(reason, Reason::ValuesNotFound(_) | Reason::SourceNotFound(_));
        let retried =
            self.world.events().iter().any(|event| matches!(event.what, What::Failed(reason) if !is_noise(&reason)));
        let fits = match told {
            Ending::Stalls | Ending::Deadlocks => stays,
            Ending::Recovers => !stays && retried,
            Ending::Converges => !stays && !retried,
            Ending::Loses => !stays,
        };
        (!fits).then(|| {
            format!("it should be {told:?}; something stays unready: {stays}, something was retried: {retried}")
        })
    }

    pub(crate) fn story(&self) -> String {
        let lines = self.world.events().iter().map(|event| {
            let of = event.thing.map(|id| self.blueprint.thing(id).object().to_string()).unwrap_or_default();
            let what = match event.what {
                What::Failed(reason) | What::Waits(reason) => say(reason, self.blueprint),
                what => format!("{what:?}"),
            };
            format!("{:8.2} {of}: {what}", seconds(event.at))
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of a case")]
fn seconds(millis: Millis) -> f64 {
    millis as f64 / 1000.0
}

/// A reason as people read it.
fn say(reason: Reason, of: &Blueprint) -> String {
    reason.named(of).as_ref().map(draw::say::obstacle).unwrap_or_default()
}
