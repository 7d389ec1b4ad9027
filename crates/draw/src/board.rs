//! A run at a glance, as wide as the terminal: a bar for each layer, what is waited for and why, and how long it may still
//! take. Always the same number of lines for the same plan, so that nothing jumps; fewer where the terminal is low.

use std::time::Duration;

use run::{Layer, Machine, Plan, State, StepId, Where, remaining};

use crate::clean::clean;
use crate::paint::Paint;
use crate::say;
use crate::story::{clock, took};
use crate::words::{count, shorten, width};

/// What is waited for, the longest wait first.
const WAITS_SHOWN: usize = 4;
const LAYER_COLUMNS: usize = 13;
const COUNT_COLUMNS: usize = 7;
/// Below this there is no room for bars.
pub const COLUMNS_MIN: usize = 50;
/// Below this there is no room for a board: its head, a layer or two, and the row of the cursor.
pub const ROWS_MIN: usize = 5;
/// Told apart without colours, too.
const PROVED: &str = "━";
const LOST: &str = "×";
const BEGUN: &str = "╍";
const WAITING: &str = "─";

/// What stands first in the head of a board.
pub fn mark(world: &Where) -> String {
    match world {
        Where::Real => String::new(),
        Where::Simulated { seed, .. } => format!("simulated, seed {seed}"),
    }
}

/// What the board is told besides the machine.
#[derive(Clone, Debug)]
pub struct Board {
    /// Of the terminal.
    pub columns: usize,
    /// Of the terminal; a board that is taller could not be drawn over itself.
    pub rows: usize,
    pub color: bool,
    /// `simulated, seed 0`, or nothing in the real world.
    pub mark: String,
    /// Nothing will move any more: what is empty needs no line.
    pub is_over: bool,
}

impl Board {
    /// The lines, without line ends, none wider than the terminal. In a low terminal waits go first, then layers that are
    /// done.
    pub fn lines(&self, plan: &Plan, machine: &Machine<'_>, now: Duration) -> Vec<String> {
        // The last row is the cursor's.
        let room = self.rows.saturating_sub(1).max(1);
        let mut layers: Vec<(bool, String)> =
            Layer::ALL.iter().filter_map(|layer| self.layer(plan, machine, *layer)).collect();
        let mut too_many = (1 + layers.len()).saturating_sub(room);
        layers.retain(|(is_done, _)| {
            let goes = *is_done && too_many > 0;
            too_many -= usize::from(goes);
            !goes
        });
        let head = std::iter::once(self.head(plan, machine, now));
        let mut lines: Vec<String> = head.chain(layers.into_iter().map(|(_, line)| line)).collect();
        lines.extend(self.waits(plan, machine, now).into_iter().filter(|line| !self.is_over || !line.is_empty()));
        lines.truncate(room);
        lines
    }

    fn paint(&self) -> Paint {
        Paint { color: self.color }
    }

    fn head(&self, plan: &Plan, machine: &Machine<'_>, now: Duration) -> String {
        let proved = plan.ids().filter(|id| machine.state(*id).is_met()).count();
        let left = remaining(plan, machine, now);
        let ahead = match left.as_secs() {
            0 if proved == plan.steps.len() => "done".to_owned(),
            0 => "at any moment".to_owned(),
            _ => format!("about {} left", took(left)),
        };
        let millis = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let all = plan.steps.len();
        let parts =
            [self.mark.clone(), clock(millis), format!("{proved} of {} completed", count(all, "step")), ahead.clone()];
        let joined = |parts: &[String]| {
            let said: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
            said.join(" · ")
        };
        let room = self.columns.saturating_sub(1);
        // What moves is told first where there is no room for all: where it happens is known.
        let short = [clock(millis), format!("{proved}/{all}"), ahead];
        let said = [joined(&parts), joined(&parts[1..]), joined(&short)];
        let fitting = said.iter().find(|said| width(said) <= room).unwrap_or(&said[2]);
        self.paint().bold(&shorten(fitting, room.saturating_sub(1)))
    }

    /// Whether all of it is done, and its line.
    fn layer(&self, plan: &Plan, machine: &Machine<'_>, layer: Layer) -> Option<(bool, String)> {
        let states: Vec<&State> =
            plan.ids().filter(|id| plan.step(*id).layer == layer).map(|id| machine.state(id)).collect();
        if states.is_empty() {
            return None;
        }
        let met = states.iter().filter(|state| state.is_met()).count();
        let counted = format!("{met}/{}", states.len());
        let room = self.columns.saturating_sub(LAYER_COLUMNS + COUNT_COLUMNS + 7).max(1);
        let bar = self.bar(&states, room);
        let line = format!("  {:<LAYER_COLUMNS$}  {bar}  {counted:>COUNT_COLUMNS$}", layer.name());
        Some((met == states.len(), line))
    }

    /// Proved first, then what failed, what is under way and what has not begun.
    fn bar(&self, states: &[&State], room: usize) -> String {
        let paint = self.paint();
        let number = |is: fn(&State) -> bool| states.iter().filter(|state| is(state)).count();
        let met = number(State::is_met);
        let lost = number(|state| matches!(state, State::Failed { .. } | State::Blocked { .. }));
        let begun = number(|state| !state.is_met() && !matches!(state, State::Waiting)) - lost;
        // Where each part ends, so that the parts fill the room whatever is rounded.
        let end = |parts: usize| parts * room / states.len();
        let (one, two, three) = (end(met), end(met + lost), end(met + lost + begun));
        let part = |from: usize, to: usize, sign: &str| sign.repeat(to - from);
        [
            paint.good(&part(0, one, PROVED)),
            paint.bad(&part(one, two, LOST)),
            paint.poor(&part(two, three, BEGUN)),
            paint.dim(&part(three, room, WAITING)),
        ]
        .concat()
    }

    fn waits(&self, plan: &Plan, machine: &Machine<'_>, now: Duration) -> Vec<String> {
        let is_waited_for = |id: &StepId| matches!(machine.state(*id), State::Proving { .. } | State::Pausing { .. });
        let mut waits: Vec<StepId> = plan.ids().filter(is_waited_for).collect();
        waits.sort_by_key(|id| (machine.began(*id), *id));
        let mut lines: Vec<String> =
            waits.iter().take(WAITS_SHOWN).map(|id| self.wait(plan, machine, *id, now)).collect();
        let more = waits.len().saturating_sub(WAITS_SHOWN);
        lines.resize(WAITS_SHOWN, String::new());
        lines.push(if more == 0 { String::new() } else { self.paint().dim(&format!("  and {more} more")) });
        lines
    }

    fn wait(&self, plan: &Plan, machine: &Machine<'_>, id: StepId, now: Duration) -> String {
        let since = took(now.saturating_sub(machine.began(id)));
        let key = clean(&plan.step(id).key).into_owned();
        let begin = format!("  {since:>12}  ");
        let key = shorten(&key, self.columns.saturating_sub(width(&begin) + 2));
        let room = self.columns.saturating_sub(width(&begin) + width(&key) + 4);
        let told = match machine.state(id) {
            State::Proving { waits: Some(why), .. } => say::hindrance(why),
            State::Pausing { .. } => "before the next try".to_owned(),
            _ => format!("until {}", say::proof(&plan.step(id).proof)),
        };
        let told = if room == 0 { String::new() } else { format!(": {}", shorten(&clean(&told), room)) };
        format!("{}{}{told}", self.paint().dim(&begin), self.paint().name(&key))
    }
}
