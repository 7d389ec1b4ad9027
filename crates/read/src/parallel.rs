//! Work on every core, results in the order of the input.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Asked once: the answer takes some files of the system.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Maps every item; each worker takes the next item that nobody has taken. The caller's thread is one of the workers.
pub fn map<I: Sync, O: Send>(items: &[I], work: impl Fn(&I) -> O + Sync) -> Vec<O> {
    let workers = cores().min(items.len());
    if workers <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let take = || {
        let mut own = Vec::with_capacity(items.len() / workers + 1);
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            own.push((index, work(item)));
        }
        own
    };
    let mut done = std::thread::scope(|scope| {
        let helpers: Vec<_> = (1..workers).map(|_| scope.spawn(take)).collect();
        let mut done = take();
        for helper in helpers {
            match helper.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, output)| output).collect()
}

/// Maps few items here and many on every core: starting a thread takes as long as some work.
pub fn map_many<I: Sync, O: Send>(items: &[I], few: usize, work: impl Fn(&I) -> O + Sync) -> Vec<O> {
    if items.len() <= few { items.iter().map(work).collect() } else { map(items, work) }
}
