//! Does what happens in the lab fit `lab.yaml`?

use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::CaseError;
use super::names::object;
use super::record::{Failure, Record, State};
use super::told::{Fails, From, Happens, Holds, Slow, Stuck};
use crate::{Lab, Until};

const LOOK_EVERY: Duration = Duration::from_millis(300);
const DEFAULT_WITHIN_SECONDS: f64 = 180.0;
const DEFAULT_HOLDS_SECONDS: f64 = 20.0;

pub(super) struct Verify<'a> {
    pub(super) lab: &'a Lab,
    pub(super) record: &'a Record,
    pub(super) pace: f64,
}

impl Verify<'_> {
    /// Waits for all of it, lets it hold, and says what is not as told.
    pub(super) fn happens(&self, told: &Happens, since: Duration) -> Result<Vec<String>, CaseError> {
        let limit = self.record.now() + Duration::from_secs_f64(told.within.unwrap_or(DEFAULT_WITHIN_SECONDS));
        loop {
            let missing = self.missing(told, since)?;
            if missing.is_empty() {
                break;
            }
            if self.record.now() > limit {
                return Ok(missing);
            }
            if told.clean {
                let unclean = self.unclean();
                if !unclean.is_empty() {
                    return Ok(unclean);
                }
            }
            sleep(LOOK_EVERY);
        }
        let mut wrong = self.hold(told)?;
        for slow in &told.slow {
            wrong.extend(self.slow(slow, since));
        }
        wrong.extend(self.order(&told.order));
        for absent in &told.absent {
            // A kind that is not served has no objects.
            if let Ok(Some(_)) = self.lab.get(&object(absent)?) {
                wrong.push(format!("{absent} is there"));
            }
        }
        if told.clean {
            wrong.extend(self.unclean());
        }
        Ok(wrong)
    }

    fn missing(&self, told: &Happens, since: Duration) -> Result<Vec<String>, CaseError> {
        let mut missing = self.unstuck(told)?;
        for ready in &told.ready {
            let found = self.lab.get(&object(ready)?);
            let seen = found.as_ref().ok().and_then(Option::as_ref);
            if let Err(reason) = Until::ready().test(seen) {
                missing.push(format!("{ready} is not ready: {reason}"));
            }
        }
        for fails in &told.fails {
            missing.extend(self.fails(fails, since));
        }
        // An object may be ready a moment before the watch, from which times are taken, hears of it.
        missing.extend(told.slow.iter().filter_map(|slow| self.recovery(slow, since).err()));
        missing.extend(
            told.order
                .iter()
                .filter(|name| self.first_ready(name).is_none())
                .map(|name| format!("{name} was never seen ready")),
        );
        Ok(missing)
    }

    /// The part that must stay as it is, too. What is ready may be looked at anew meanwhile.
    fn unstuck(&self, told: &Happens) -> Result<Vec<String>, CaseError> {
        let mut missing = Vec::new();
        for holds in &told.objects {
            missing.extend(self.holds(holds)?);
        }
        for stuck in &told.stuck {
            missing.extend(self.stuck(stuck)?);
        }
        Ok(missing)
    }

    fn fails(&self, told: &Fails, since: Duration) -> Option<String> {
        let all = self.record.failures(&told.of);
        let count = all.iter().filter(|failure| failure.at >= since && failure.said.contains(&told.says)).count();
        let said: Vec<&str> = all.iter().map(|failure| failure.said.as_str()).collect();
        (count < told.times).then(|| {
            format!("{} failed {count} times, not {}, with {:?}; it said {said:?}", told.of, told.times, told.says)
        })
    }

    fn holds(&self, told: &Holds) -> Result<Option<String>, CaseError> {
        let Ok(Some(found)) = self.lab.get(&object(&told.of)?) else {
            return Ok(Some(format!("{} is not there", told.of)));
        };
        let Some(path) = &told.at else { return Ok(None) };
        let mut value = &found;
        for step in path.split('.') {
            value = match step.parse::<usize>() {
                Ok(index) if value.is_array() => value.get(index).unwrap_or(&Value::Null),
                _ => value.get(step).unwrap_or(&Value::Null),
            };
        }
        let is = value
            .as_str()
            .map_or_else(|| if value.is_null() { "~".to_owned() } else { value.to_string() }, str::to_owned);
        let wanted = told.is.as_deref().unwrap_or_default();
        Ok((is != wanted).then(|| format!("{path} of {} is {is:?}, not {wanted:?}", told.of)))
    }

    fn stuck(&self, told: &Stuck) -> Result<Option<String>, CaseError> {
        let Some((_, state)) = self.record.states(&told.of).pop() else {
            return self.stuck_elsewhere(told);
        };
        if told.at_old_revision {
            let source = self.lab.get(&object("GitRepository flux-system/flux-system")?)?.unwrap_or_default();
            let revision = source.pointer("/status/artifact/revision").and_then(Value::as_str).unwrap_or_default();
            return Ok((state.revision.is_empty() || state.revision == revision)
                .then(|| format!("{} is at {revision}, the newest revision", told.of)));
        }
        let words = state.said().contains(&told.says) && (!told.stalled || state.stalled);
        // Between two attempts the words may be away for a moment; that it is not ready must hold always.
        let ok = !state.is_ready() && (words || state.reason.starts_with("Progressing"));
        Ok((!ok)
            .then(|| format!("{} is not stuck with {:?}: Ready={} {}", told.of, told.says, state.ready, state.said())))
    }

    /// Of a kind that is not Flux's: any condition may say it.
    fn stuck_elsewhere(&self, told: &Stuck) -> Result<Option<String>, CaseError> {
        let Ok(Some(found)) = self.lab.get(&object(&told.of)?) else {
            return Ok(Some(format!("{} was not seen", told.of)));
        };
        let all = crate::conditions(&found);
        let says = |one: &crate::Condition| {
            one.status != "True" && format!("{}: {}", one.reason, one.message).contains(&told.says)
        };
        Ok((!all.iter().any(says)).then(|| format!("{} is not stuck with {:?}: {all:?}", told.of, told.says)))
    }

    fn hold(&self, told: &Happens) -> Result<Vec<String>, CaseError> {
        if told.stuck.is_empty() && told.holds.is_none() {
            return Ok(Vec::new());
        }
        let until = self.record.now() + Duration::from_secs_f64(told.holds.unwrap_or(DEFAULT_HOLDS_SECONDS));
        while self.record.now() < until {
            let missing = self.unstuck(told)?;
            if !missing.is_empty() {
                return Ok(missing.into_iter().map(|one| format!("did not stay so: {one}")).collect());
            }
            sleep(LOOK_EVERY);
        }
        Ok(Vec::new())
    }

    fn slow(&self, told: &Slow, since: Duration) -> Option<String> {
        let Recovery { first, last, recovered } = match self.recovery(told, since) {
            Ok(recovery) => recovery,
            Err(reason) => return Some(reason),
        };
        let from = match told.from {
            From::Failure => last.at,
            From::Attempt => last.began,
        };
        let took = recovered.saturating_sub(from).as_secs_f64();
        let (soonest, latest) = match told.seconds {
            Some(seconds) => {
                #[expect(clippy::cast_precision_loss, reason = "seconds of an interval")]
                let stated = seconds as f64 / self.pace;
                (stated - told.early, stated + told.slack)
            }
            None if told.backoff => (0.0, last.at.saturating_sub(first).as_secs_f64() + told.slack),
            None => (0.0, told.slack),
        };
        self.record
            .note(&told.of, format!("recovered {took:.1} s after, where {soonest:.1} to {latest:.1} s are stated"));
        (took < soonest || took > latest)
            .then(|| format!("{} recovered after {took:.1} s, not {soonest:.1} to {latest:.1} s", told.of))
    }

    fn recovery(&self, told: &Slow, since: Duration) -> Result<Recovery, String> {
        let failures = self.record.failures(&told.of);
        let Some(last) = failures.iter().rfind(|failure| failure.at >= since) else {
            return Err(format!("{} never failed, so it never had to recover", told.of));
        };
        let ready = |(at, state): &(Duration, State)| *at > last.at && state.is_ready();
        match self.record.states(&told.of).into_iter().find(ready) {
            Some((recovered, _)) => Ok(Recovery { first: failures[0].at, last: last.clone(), recovered }),
            None => Err(format!("{} did not recover", told.of)),
        }
    }

    fn order(&self, told: &[String]) -> Vec<String> {
        let times: Vec<Option<Duration>> = told.iter().map(|name| self.first_ready(name)).collect();
        let pairs = told.windows(2).zip(times.windows(2));
        pairs
            .filter(|(_, times)| !matches!(times, [Some(first), Some(second)] if first <= second))
            .map(|(names, times)| format!("{} was not ready before {} ({times:?})", names[0], names[1]))
            .collect()
    }

    fn first_ready(&self, name: &str) -> Option<Duration> {
        self.record.states(name).into_iter().find(|(_, state)| state.is_ready()).map(|(at, _)| at)
    }

    fn unclean(&self) -> Vec<String> {
        self.record.all_failures().iter().map(|entry| format!("not clean: {entry}")).collect()
    }
}

/// From the first failure over the last one to the first moment after it at which the object was ready.
struct Recovery {
    first: Duration,
    last: Failure,
    recovered: Duration,
}
