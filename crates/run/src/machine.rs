//! The step machine: events in, effects out. No IO, no clock.
//!
//! Every change of a step's state goes through [`Machine::enter`], and every change that others should know of through
//! [`Machine::tell`]. A step is looked at before it is done, always: whoever comes back after a crash knows only what the
//! world shows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::event::{Event, Found, Line, Outcome};
use crate::plan::{Action, Plan, Step, StepId};
use crate::reason::{Hindrance, LeftNeed, LeftOut, TryFailure};
use crate::world::Look;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    Begin,
    /// The answer to [`Effect::Look`].
    Looked(StepId, Look),
    /// The answer to [`Effect::Act`].
    Acted(StepId, Result<(), Hindrance>),
    /// Time passed, or something changed somewhere.
    Woke,
    /// Somebody asks to stop: first gently, the second time at once.
    Interrupt,
}

/// What is to be done, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// To be kept (where [`Event::is_kept`]) before the next effect is carried out, and shown.
    Tell(Line),
    Look(StepId),
    Act(StepId),
    /// The run is over.
    End(Outcome),
}

/// Where a step is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// For its needs.
    Waiting,
    /// Its needs are proved; is it there already?
    Looking,
    Acting,
    /// Done, or under way by somebody else's hand. `until` is when patience ends.
    Proving {
        until: Duration,
        /// What it waits for, where that is known.
        waits: Option<Hindrance>,
    },
    /// Before the next try.
    Pausing {
        until: Duration,
    },
    Proved {
        at: Duration,
    },
    Left,
    Failed {
        why: TryFailure,
    },
    Blocked {
        by: StepId,
    },
}

impl State {
    /// Others may build on it.
    pub fn is_met(&self) -> bool {
        matches!(self, Self::Proved { .. } | Self::Left)
    }

    fn is_final(&self) -> bool {
        self.is_met() || matches!(self, Self::Failed { .. } | Self::Blocked { .. })
    }

    /// Something may still come of it without anything new being begun.
    fn is_in_flight(&self) -> bool {
        matches!(self, Self::Looking | Self::Acting)
    }
}

#[derive(Clone, Debug)]
struct Progress {
    state: State,
    /// How often it was done.
    attempt: u32,
    /// How many of the tries failed.
    failures: u32,
    began: Duration,
    unmet: usize,
}

/// How many steps are in what kind of state: thousands of them are not looked through for every event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    met: usize,
    ended: usize,
    in_flight: usize,
}

impl Tally {
    fn leave(&mut self, state: &State) {
        self.met -= usize::from(state.is_met());
        self.ended -= usize::from(state.is_final());
        self.in_flight -= usize::from(state.is_in_flight());
    }

    fn enter(&mut self, state: &State) {
        self.met += usize::from(state.is_met());
        self.ended += usize::from(state.is_final());
        self.in_flight += usize::from(state.is_in_flight());
    }
}

/// A run of a plan.
#[derive(Clone, Debug)]
pub struct Machine<'a> {
    plan: &'a Plan,
    dependents: Vec<Vec<StepId>>,
    steps: Vec<Progress>,
    /// How the steps stand, all together.
    tally: Tally,
    /// Steps that are proved or pause, which time may bring on.
    timed: BTreeSet<StepId>,
    /// Steps whose content changed since they were proved: to be done again though they are there.
    again: BTreeSet<StepId>,
    /// Steps that somebody does not want, with the reason.
    left: BTreeMap<StepId, LeftOut>,
    interrupts: u32,
    ended: bool,
    effects: Vec<Effect>,
}

impl<'a> Machine<'a> {
    /// `left` are steps that somebody does not want, with the reason; `again` those to be done though they are there.
    pub fn new(plan: &'a Plan, left: BTreeMap<StepId, LeftOut>, again: BTreeSet<StepId>) -> Self {
        let waiting = |step: &Step| Progress {
            state: State::Waiting,
            attempt: 0,
            failures: 0,
            began: Duration::ZERO,
            unmet: step.needs.len(),
        };
        Self {
            plan,
            dependents: plan.dependents(),
            steps: plan.steps.iter().map(waiting).collect(),
            tally: Tally::default(),
            timed: BTreeSet::new(),
            again,
            left,
            interrupts: 0,
            ended: false,
            effects: Vec::new(),
        }
    }

    pub fn state(&self, id: StepId) -> &State {
        &self.steps[id.index()].state
    }

    /// Nobody wants it.
    pub fn is_left(&self, id: StepId) -> bool {
        self.left.contains_key(&id)
    }

    /// When its needs were proved.
    pub fn began(&self, id: StepId) -> Duration {
        self.steps[id.index()].began
    }

    pub fn step(&mut self, input: Input, now: Duration) -> Vec<Effect> {
        if !self.ended {
            match input {
                Input::Begin => self.begin(now),
                Input::Looked(id, look) => self.looked(id, look, now),
                Input::Acted(id, result) => self.acted(id, result, now),
                Input::Woke => self.woke(now),
                Input::Interrupt => self.interrupt(now),
            }
            self.end_if_over(now);
        }
        std::mem::take(&mut self.effects)
    }

    /// When it wants to be woken though nothing happened.
    pub fn deadline(&self) -> Option<Duration> {
        let until = |id: &StepId| match self.state(*id) {
            State::Proving { until, .. } | State::Pausing { until } => Some(*until),
            _ => None,
        };
        self.timed.iter().filter_map(until).min()
    }

    fn begin(&mut self, now: Duration) {
        for (id, why) in self.left.clone() {
            self.tell(Event::Left { step: self.plan.step(id).key.clone(), why }, now);
        }
        for id in self.plan.ids() {
            if self.steps[id.index()].unmet > 0 || self.state(id) != &State::Waiting {
                continue;
            }
            if self.is_left(id) {
                self.enter(id, State::Left, now);
            } else {
                self.ready(id, now);
            }
        }
    }

    /// All its needs are proved.
    fn ready(&mut self, id: StepId, now: Duration) {
        if self.interrupts > 0 {
            return;
        }
        self.steps[id.index()].began = now;
        self.enter(id, State::Looking, now);
        self.effects.push(Effect::Look(id));
    }

    fn looked(&mut self, id: StepId, look: Look, now: Duration) {
        match self.state(id).clone() {
            State::Looking => self.first_look(id, look, now),
            State::Proving { until, waits } => self.proof_look(id, look, until, waits, now),
            // An answer that comes too late to matter.
            _ => {}
        }
    }

    fn first_look(&mut self, id: StepId, look: Look, now: Duration) {
        let step = self.plan.step(id);
        let may_act = step.action != Action::Watch && !(step.once && look != Look::Absent);
        let is_changed = self.again.remove(&id);
        let is_retry = self.steps[id.index()].failures > 0;
        match look {
            Look::Done if is_changed && may_act => self.act(id, now),
            Look::Done => self.proved(id, Found::There, now),
            Look::UnderWay(_) if is_retry && may_act => self.act(id, now),
            Look::UnderWay(waits) => self.prove(id, waits, now),
            Look::Absent | Look::Failed(_) if may_act => self.act(id, now),
            Look::Absent => self.prove(id, None, now),
            Look::Failed(by) => self.try_failed(id, TryFailure::Hindered { by }, now),
        }
    }

    fn proof_look(&mut self, id: StepId, look: Look, until: Duration, known: Option<Hindrance>, now: Duration) {
        let step = self.plan.step(id);
        let too_late = |last| TryFailure::TooLate { limit_seconds: step.limits.timeout.as_secs(), last };
        match look {
            Look::Done => self.proved(id, Found::Done, now),
            Look::Failed(by) => self.try_failed(id, TryFailure::Hindered { by }, now),
            // Somebody else had begun it, or nobody could look; it is for us to do after all.
            Look::Absent if step.action != Action::Watch && self.steps[id.index()].attempt == 0 => self.act(id, now),
            // What was done is gone: an action may be tried again, something watched may still come.
            Look::Absent if step.action != Action::Watch => self.try_failed(id, TryFailure::GoneAgain, now),
            Look::UnderWay(last) if now >= until => self.try_failed(id, too_late(last), now),
            Look::Absent if now >= until => {
                self.try_failed(id, too_late(Some(known.unwrap_or(Hindrance::NotMade))), now);
            }
            Look::Absent | Look::UnderWay(None) => {}
            Look::UnderWay(waits) if waits == known => {}
            Look::UnderWay(Some(why)) => {
                self.tell(Event::Waiting { step: step.key.clone(), why: why.clone() }, now);
                self.enter(id, State::Proving { until, waits: Some(why) }, now);
            }
        }
    }

    fn act(&mut self, id: StepId, now: Duration) {
        if self.interrupts > 0 {
            self.enter(id, State::Waiting, now);
            return;
        }
        let progress = &mut self.steps[id.index()];
        progress.attempt += 1;
        let attempt = progress.attempt;
        self.tell(Event::Started { step: self.plan.step(id).key.clone(), attempt }, now);
        self.enter(id, State::Acting, now);
        self.effects.push(Effect::Act(id));
    }

    fn acted(&mut self, id: StepId, result: Result<(), Hindrance>, now: Duration) {
        if self.state(id) != &State::Acting {
            return;
        }
        match result {
            Ok(()) => {
                let attempt = self.steps[id.index()].attempt;
                self.tell(Event::Acted { step: self.plan.step(id).key.clone(), attempt }, now);
                self.prove(id, None, now);
                self.effects.push(Effect::Look(id));
            }
            Err(by) => self.try_failed(id, TryFailure::Hindered { by }, now),
        }
    }

    fn prove(&mut self, id: StepId, waits: Option<Hindrance>, now: Duration) {
        let step = self.plan.step(id);
        let until = now + step.limits.timeout;
        if let Some(why) = waits.clone() {
            self.tell(Event::Waiting { step: step.key.clone(), why }, now);
        }
        self.enter(id, State::Proving { until, waits }, now);
    }

    fn proved(&mut self, id: StepId, found: Found, now: Duration) {
        let step = self.plan.step(id);
        self.tell(Event::Proved { step: step.key.clone(), hash: step.hash.clone(), found }, now);
        self.enter(id, State::Proved { at: now }, now);
    }

    fn try_failed(&mut self, id: StepId, why: TryFailure, now: Duration) {
        let step = self.plan.step(id);
        let progress = &mut self.steps[id.index()];
        progress.failures += 1;
        if progress.failures < step.limits.attempts && self.interrupts == 0 {
            let attempt = progress.failures;
            let until = now + step.limits.pause;
            let again_at = u64::try_from(until.as_millis()).unwrap_or(u64::MAX);
            self.tell(Event::Tried { step: step.key.clone(), attempt, why, again_at }, now);
            self.enter(id, State::Pausing { until }, now);
        } else {
            let left_out = self.left_before(id);
            self.tell(Event::Failed { step: step.key.clone(), why: why.clone(), left_out }, now);
            self.enter(id, State::Failed { why }, now);
            self.block_dependents(id, now);
        }
    }

    /// What it needs and was left out: it may be missing.
    fn left_before(&self, id: StepId) -> Option<LeftNeed> {
        let needs = self.plan.step(id).needs.iter().map(|need| need.step);
        let mut left = needs.filter_map(|need| Some((need, self.left.get(&need)?)));
        let (first, why) = left.next()?;
        Some(LeftNeed { step: self.plan.step(first).key.clone(), why: why.clone(), more: left.count() })
    }

    /// Whoever needs it, however indirectly, can't begin. The nearest come first, so that each is told the shortest way.
    fn block_dependents(&mut self, by: StepId, now: Duration) {
        let mut next: VecDeque<(StepId, Vec<String>)> =
            self.dependents[by.index()].iter().map(|id| (*id, Vec::new())).collect();
        while let Some((id, through)) = next.pop_front() {
            if self.state(id).is_final() {
                continue;
            }
            let step = self.plan.step(id).key.clone();
            let below = [vec![step.clone()], through.clone()].concat();
            if !self.is_left(id) {
                self.tell(Event::Blocked { step, by: self.plan.step(by).key.clone(), through }, now);
            }
            self.enter(id, State::Blocked { by }, now);
            next.extend(self.dependents[id.index()].iter().map(|id| (*id, below.clone())));
        }
    }

    fn woke(&mut self, now: Duration) {
        for id in self.timed.clone() {
            match self.state(id) {
                State::Proving { .. } => self.effects.push(Effect::Look(id)),
                State::Pausing { until } if *until <= now => {
                    self.enter(id, State::Looking, now);
                    self.effects.push(Effect::Look(id));
                }
                _ => {}
            }
        }
    }

    fn interrupt(&mut self, now: Duration) {
        self.interrupts += 1;
        if self.interrupts == 1 {
            self.tell(Event::Stopping, now);
        }
    }

    /// The one place where a state changes.
    fn enter(&mut self, id: StepId, state: State, now: Duration) {
        let is_met = state.is_met();
        self.change(id, state);
        // What somebody does not want is taken as done when its own needs are: whoever needs it needs those, too. A list, not a
        // call of itself: a plan may leave thousands in a row.
        let mut met: VecDeque<StepId> = is_met.then_some(id).into_iter().collect();
        while let Some(id) = met.pop_front() {
            for dependent in self.dependents[id.index()].clone() {
                let progress = &mut self.steps[dependent.index()];
                progress.unmet = progress.unmet.saturating_sub(1);
                if progress.unmet > 0 || progress.state != State::Waiting {
                    continue;
                }
                if self.left.contains_key(&dependent) {
                    self.change(dependent, State::Left);
                    met.push_back(dependent);
                } else {
                    self.ready(dependent, now);
                }
            }
        }
    }

    fn change(&mut self, id: StepId, state: State) {
        self.tally.enter(&state);
        if matches!(state, State::Proving { .. } | State::Pausing { .. }) {
            self.timed.insert(id);
        } else {
            self.timed.remove(&id);
        }
        let before = std::mem::replace(&mut self.steps[id.index()].state, state);
        self.tally.leave(&before);
    }

    fn tell(&mut self, event: Event, now: Duration) {
        self.effects.push(Effect::Tell(Line::new(now, event)));
    }

    fn end_if_over(&mut self, now: Duration) {
        let outcome = if self.tally.met == self.steps.len() {
            Outcome::Healthy
        } else if self.tally.ended == self.steps.len() {
            Outcome::Failed
        } else if self.interrupts > 1 || (self.interrupts == 1 && self.tally.in_flight == 0) {
            Outcome::Stopped
        } else {
            return;
        };
        self.ended = true;
        self.tell(Event::Ended { outcome }, now);
        self.effects.push(Effect::End(outcome));
    }
}
