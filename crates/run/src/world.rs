//! The seam between deciding and doing.

use std::time::Duration;

use crate::plan::Step;
use crate::reason::Hindrance;

/// What was seen of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// Nothing of it is there: it may be done.
    Absent,
    /// It was begun; with what it still waits for, where that is known.
    UnderWay(Option<Hindrance>),
    /// Proved.
    Done,
    /// It will not become healthy by itself.
    Failed(Hindrance),
}

/// Where steps happen.
pub trait World {
    /// The time of this world, since whatever it counts from. Never goes back.
    fn now(&self) -> Duration;

    /// Begins what the step says, and returns at once: what comes of it is for looks to see. An error is one failed try.
    fn act(&mut self, step: &Step) -> Result<(), Hindrance>;

    /// Looks whether the step is done. Changes nothing.
    fn look(&mut self, step: &Step) -> Look;

    /// Waits until something changed, or until that time if nothing did. `None`: for whatever comes.
    fn wait(&mut self, until: Option<Duration>);

    /// How often somebody asked to stop.
    fn interrupts(&self) -> u32 {
        0
    }
}
