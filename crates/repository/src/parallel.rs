//! Work on every core, results in the order of the input.
//!
//! One set of threads does all of it. A thread of its own for every stretch of work was slower: a new thread begins on the
//! core of the one that made it, and the system takes milliseconds to move it to an idle one.

use std::sync::OnceLock;

use rayon::prelude::*;

/// Room for what a thread takes up while it waits, on top of what it is doing.
const STACK_BYTES: usize = 8 * 1024 * 1024;

/// Makes the calling thread one of those that work, so that it need not hand over and wait. For programs, once, at their
/// start; without it there are threads all the same.
pub fn start() {
    // Fails only where there are threads already, or may be none: both are fine.
    let _ = rayon::ThreadPoolBuilder::new().use_current_thread().stack_size(STACK_BYTES).build_global();
}

/// Maps every item; whoever has nothing to do takes one that nobody has taken.
pub fn map<I: Sync, O: Send>(items: &[I], work: impl Fn(&I) -> O + Sync + Send) -> Vec<O> {
    // One by one: files differ in size by a factor of a thousand.
    items.par_iter().with_max_len(1).map(work).collect()
}

/// Maps every item, and what comes of it once more: whoever has nothing to do takes any of both, the first steps before
/// the second ones.
pub fn map_twice<I: Send, M: Send + Sync, O: Send + Sync>(
    items: Vec<I>,
    first: impl Fn(I) -> M + Sync,
    second: impl Fn(&M) -> O + Sync,
) -> Vec<(M, O)> {
    let done: Vec<(OnceLock<M>, OnceLock<O>)> = items.iter().map(|_| (OnceLock::new(), OnceLock::new())).collect();
    rayon::scope_fifo(|scope| {
        for (item, (middle, out)) in items.into_iter().zip(&done) {
            let (first, second) = (&first, &second);
            scope.spawn_fifo(move |scope| {
                let made = middle.get_or_init(|| first(item));
                scope.spawn_fifo(move |_| drop(out.set(second(made))));
            });
        }
    });
    done.into_iter().filter_map(|(middle, out)| Some((middle.into_inner()?, out.into_inner()?))).collect()
}

/// Changes every item.
pub fn each<I: Send>(items: &mut [I], work: impl Fn(&mut I) + Sync + Send) {
    items.par_iter_mut().with_max_len(1).for_each(work);
}

/// Does two things that have nothing to do with each other.
pub fn both<A: Send, B: Send>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B + Send) -> (A, B) {
    rayon::join(one, other)
}

/// Sorts what has no equals.
pub fn sort<T: Ord + Send>(items: &mut [T]) {
    items.par_sort_unstable();
}
