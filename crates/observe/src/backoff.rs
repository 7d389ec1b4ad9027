//! How long to wait before asking again. Knows no clock.

use std::time::Duration;

use crate::limits::RETRY_AFTER_MAX;

/// Pauses that double, each a little different from everybody else's.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    first: Duration,
    longest: Duration,
    tried: u32,
    random: u64,
}

impl Backoff {
    /// `seed` makes the pauses of several different.
    pub(crate) fn new(first: Duration, longest: Duration, seed: u64) -> Self {
        // Neighbours become strangers (the finalizer of splitmix64); xorshift needs something else than 0.
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Self { first, longest, tried: 0, random: (mixed ^ (mixed >> 31)) | 1 }
    }

    /// The next pause: between half and the whole of what doubling gives, and never shorter than asked for.
    pub(crate) fn pause(&mut self, asked: Option<Duration>) -> Duration {
        let doubled = self.first.saturating_mul(1 << self.tried.min(16)).min(self.longest);
        self.tried = self.tried.saturating_add(1);
        let own = doubled / 2 + (doubled / 2).mul_f64(self.share());
        asked.map_or(own, |asked| asked.min(RETRY_AFTER_MAX).max(own))
    }

    /// It worked.
    pub(crate) fn reset(&mut self) {
        self.tried = 0;
    }

    /// Between 0 and 1 (xorshift).
    fn share(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let upper = u32::try_from(self.random >> 32).unwrap_or(u32::MAX);
        f64::from(upper) / f64::from(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Backoff;

    #[test]
    fn pauses_double_up_to_the_longest_and_begin_anew_after_success() {
        let (first, longest) = (Duration::from_millis(100), Duration::from_secs(5));
        let mut backoff = Backoff::new(first, longest, 7);
        for doubled in [100, 200, 400, 800, 1600, 3200, 5000, 5000] {
            let pause = backoff.pause(None);
            let doubled = Duration::from_millis(doubled);
            assert!(pause >= doubled / 2 && pause <= doubled, "{pause:?} of {doubled:?}");
        }
        backoff.reset();
        assert!(backoff.pause(None) <= first);
    }

    #[test]
    fn what_the_server_asks_for_is_kept_within_reason() {
        let mut backoff = Backoff::new(Duration::from_millis(1), Duration::from_millis(1), 7);
        assert_eq!(backoff.pause(Some(Duration::from_secs(2))), Duration::from_secs(2));
        assert_eq!(backoff.pause(Some(Duration::from_hours(1))), Duration::from_secs(30));
    }

    #[test]
    fn two_seeds_wait_differently() {
        let mut pauses =
            [3, 5].map(|seed| Backoff::new(Duration::from_secs(1), Duration::from_secs(1), seed).pause(None));
        pauses.sort();
        assert_ne!(pauses[0], pauses[1]);
    }
}
