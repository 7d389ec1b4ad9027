//! A list of jobs on a few threads, results in the order of the list.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Applies `work` to every item, `jobs` at a time.
pub(crate) fn map<'items, T: Sync, R: Send>(
    items: &'items [T],
    jobs: usize,
    work: impl Fn(&'items T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { break };
                    let result = work(item);
                    done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_keep_the_order_of_the_list() {
        let items: Vec<u64> = (0..100).collect();
        let doubled = super::map(&items, 3, |item| item * 2);
        assert_eq!(doubled, (0..100).map(|item| item * 2).collect::<Vec<_>>());
    }
}
