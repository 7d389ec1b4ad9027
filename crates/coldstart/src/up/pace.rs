//! A simulated world at a speed that one can watch, and that somebody can stop.

#![expect(clippy::disallowed_methods, reason = "one watches in real time")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use rehearse::Simulated;
use run::{Hindrance, Look, Step, World};

/// Nobody waits longer than this for an answer to Ctrl-C, or for the next picture.
const FRAME: Duration = Duration::from_millis(100);

/// How often somebody asked to stop: Ctrl-C, or a signal to end.
#[derive(Clone, Debug, Default)]
pub(super) struct Interrupts(Arc<AtomicU32>);

impl Interrupts {
    /// Counts from now on. Where signals can't be heard, a signal ends the run as a crash does, which loses nothing.
    pub(super) fn listen() -> Self {
        let count = Self::default();
        let heard = Arc::clone(&count.0);
        let _ = ctrlc::set_handler(move || {
            heard.fetch_add(1, Ordering::Relaxed);
        });
        count
    }
}

/// When it is, in seconds since 1970; nothing where the clock stands before that.
pub(super) fn date() -> Option<u64> {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// Waits in real time for a part of what passes in the world.
pub(super) struct Paced<'b> {
    world: Simulated<'b>,
    speed: u32,
    interrupts: Interrupts,
}

impl<'b> Paced<'b> {
    /// With a speed of 0, nobody waits.
    pub(super) fn new(world: Simulated<'b>, speed: u32, interrupts: Interrupts) -> Self {
        Self { world, speed, interrupts }
    }
}

impl World for Paced<'_> {
    fn now(&self) -> Duration {
        self.world.now()
    }

    fn act(&mut self, step: &Step) -> Result<(), Hindrance> {
        self.world.act(step)
    }

    fn look(&mut self, step: &Step) -> Look {
        self.world.look(step)
    }

    fn wait(&mut self, until: Option<Duration>) {
        let before = self.world.now();
        let frame = (self.speed > 0).then(|| before + FRAME * self.speed);
        self.world.wait([until, frame].into_iter().flatten().min());
        if let Some(pause) = self.world.now().saturating_sub(before).checked_div(self.speed) {
            thread::sleep(pause);
        }
    }

    fn interrupts(&self) -> u32 {
        self.interrupts.0.load(Ordering::Relaxed)
    }
}
