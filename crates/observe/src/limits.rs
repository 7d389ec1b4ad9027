//! How long and how much.

use std::time::Duration;

/// A body of anything but a list.
pub(crate) const BODY_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// A page of a list: more than this, and fewer objects are asked for at once.
pub(crate) const PAGE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// One event of a watch. The largest object that an API server stores is far below.
pub(crate) const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// What an API server says about a refusal.
pub(crate) const STATUS_BYTES_MAX: u64 = 256 * 1024;
/// No `Retry-After` is kept longer.
pub(crate) const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);

/// What a session waits for, and how often it tries.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A connection.
    pub connect: Duration,
    /// The first byte of an answer.
    pub answer: Duration,
    /// The next byte of an answer that has begun. There is no limit on how long a whole list takes.
    pub progress: Duration,
    /// After so long the API server ends a watch, which is then asked for again; one that died silently is noticed so late.
    pub watch: Duration,
    /// Objects in a page.
    pub page: u32,
    /// Lists at a time.
    pub at_once: usize,
    /// How often a list is tried before it is told as not seen.
    pub attempts: u32,
    /// How often a list begins anew because what it continued is too old.
    pub restarts: u32,
    /// The first pause between attempts; the next ones are longer.
    pub pause: Duration,
    pub pause_max: Duration,
    /// How often it is asked anew which kinds are served.
    pub rediscover: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            answer: Duration::from_secs(20),
            progress: Duration::from_secs(15),
            watch: Duration::from_secs(30),
            page: 500,
            at_once: 4,
            attempts: 4,
            restarts: 3,
            pause: Duration::from_millis(100),
            pause_max: Duration::from_secs(5),
            rediscover: Duration::from_secs(30),
        }
    }
}
