//! The loop: what the machine wants is done in a world, kept in a journal, and shown to whoever listens.

use std::collections::VecDeque;
use std::time::Duration;

use crate::event::{Line, Outcome};
use crate::journal::{Journal, JournalError, Tape};
use crate::machine::{Effect, Input, Machine};
use crate::plan::Plan;
use crate::world::World;

/// Hears everything, in its order.
pub trait Listener {
    fn hear(&mut self, line: &Line, machine: &Machine<'_>);

    /// Time passed, and perhaps nothing else.
    fn pass(&mut self, _machine: &Machine<'_>, _now: Duration) {}
}

/// Why a run broke off. Whatever was begun goes on in the world, and the next run finds it there.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    #[error("the journal can't be written: {0}")]
    Journal(#[from] JournalError),
}

/// Runs the machine to its end.
pub fn drive(
    plan: &Plan,
    machine: &mut Machine<'_>,
    world: &mut dyn World,
    journal: &mut Journal<impl Tape>,
    listener: &mut dyn Listener,
) -> Result<Outcome, DriveError> {
    let mut interrupts = 0;
    let mut inputs = VecDeque::from([Input::Begin]);
    loop {
        while let Some(input) = inputs.pop_front() {
            for effect in machine.step(input, world.now()) {
                match effect {
                    Effect::Tell(line) => {
                        journal.keep(&line)?;
                        listener.hear(&line, machine);
                    }
                    Effect::Look(id) => inputs.push_back(Input::Looked(id, world.look(plan.step(id)))),
                    Effect::Act(id) => inputs.push_back(Input::Acted(id, world.act(plan.step(id)))),
                    Effect::End(outcome) => return Ok(outcome),
                }
            }
        }
        if world.interrupts() > interrupts {
            interrupts += 1;
            inputs.push_back(Input::Interrupt);
            continue;
        }
        listener.pass(machine, world.now());
        world.wait(machine.deadline());
        inputs.push_back(Input::Woke);
    }
}
