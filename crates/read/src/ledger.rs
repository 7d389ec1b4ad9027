//! What everything that is built of one repository may cost together.
//!
//! Knows how to share that among many builds at once, so that the same files give the same report on any number of cores. Does not know
//! what is built.

use std::sync::Arc;

use yaml::{Budget, Cost, Shared};

use ::repository::parallel;

/// What is left.
#[derive(Debug)]
pub(crate) struct Ledger {
    left: Cost,
}

impl Default for Ledger {
    fn default() -> Self {
        Self { left: Cost::REPORT_MAX }
    }
}

impl Ledger {
    /// Does one thing.
    pub(crate) fn one<O>(&mut self, work: impl FnOnce(&mut Budget) -> O) -> O {
        let mut budget = Budget::of_rest(self.left);
        let made = work(&mut budget);
        self.take(budget.spent());
        made
    }

    /// Does many things on every core. Where that is too much together, they are done again one after the other, until there is nothing
    /// left: who goes without must not depend on who was first.
    pub(crate) fn map<I: Sync, O: Send>(
        &mut self,
        items: &[I],
        work: impl Fn(&I, &mut Budget) -> O + Sync + Send,
    ) -> Vec<O> {
        let shared = Arc::new(Shared::new(self.left));
        let made = parallel::map(items, |item| work(item, &mut Budget::beside(&shared)));
        if shared.suffices() {
            self.take(shared.spent());
            return made;
        }
        drop(made);
        items.iter().map(|item| self.one(|budget| work(item, budget))).collect()
    }

    /// An equal part of what is left for each of so many. What they leave of it comes back later.
    pub(crate) fn parts(&mut self, count: usize) -> impl Iterator<Item = Self> {
        let part = self.left.shared_by(count);
        self.take(part.times(count));
        (0..count).map(move |_| Self { left: part })
    }

    /// Takes back what a part of it has left.
    pub(crate) fn take_back(&mut self, part: &Self) {
        self.left = self.left.and(part.left);
    }

    fn take(&mut self, cost: Cost) {
        self.left = self.left.without(cost);
    }
}

#[cfg(test)]
mod tests {
    use yaml::Spent;

    use super::*;

    /// Builds of a million nodes each: which of them are there?
    fn built(ledger: &mut Ledger, millions: &[usize]) -> Vec<Result<(), Spent>> {
        ledger.map(millions, |millions, budget| (0..*millions).try_for_each(|_| budget.spend(Cost::seen(1_000_000))))
    }

    #[test]
    fn what_is_within_the_limit_is_all_there() {
        let mut ledger = Ledger::default();
        assert_eq!(built(&mut ledger, &[5, 10, 3]), [Ok(()); 3]);
        assert_eq!(ledger.left.nodes, Cost::REPORT_MAX.nodes - 18_000_000);
    }

    #[test]
    fn one_build_too_large_takes_nothing_from_the_others() {
        assert_eq!(built(&mut Ledger::default(), &[5, 2_000, 3]), [Ok(()), Err(Spent::Build), Ok(())]);
    }

    #[test]
    fn the_first_ones_are_there_whatever_is_faster() {
        let many = [8; 20];
        let found = built(&mut Ledger::default(), &many);
        let mut expected = [Err(Spent::Report); 20];
        expected[..5].fill(Ok(()));
        assert_eq!(found, expected);
    }
}
