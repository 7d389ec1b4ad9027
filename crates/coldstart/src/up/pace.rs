//! A simulated world at a speed that one can watch.

use std::thread;
use std::time::Duration;

use run::{Look, Simulated, Step, World};

/// Waits in real time for a part of what passes in the world.
pub(super) struct Paced<'b> {
    world: Simulated<'b>,
    speed: u32,
}

impl<'b> Paced<'b> {
    /// With a speed of 0, nobody waits.
    pub(super) fn new(world: Simulated<'b>, speed: u32) -> Self {
        Self { world, speed }
    }
}

impl World for Paced<'_> {
    fn now(&self) -> Duration {
        self.world.now()
    }

    fn act(&mut self, step: &Step) -> Result<(), String> {
        self.world.act(step)
    }

    fn look(&mut self, step: &Step) -> Look {
        self.world.look(step)
    }

    fn wait(&mut self, until: Option<Duration>) {
        let before = self.world.now();
        self.world.wait(until);
        if let Some(pause) = self.world.now().saturating_sub(before).checked_div(self.speed) {
            thread::sleep(pause);
        }
    }
}
