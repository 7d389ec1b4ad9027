//! How a list of commands may end.

use std::ops::BitOr;

/// A set of ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcomes(u8);

impl Outcomes {
    pub(super) const NONE: Self = Self(0);
    /// What follows is run.
    pub(super) const FALLS: Self = Self(1);
    /// The script ends, and has failed.
    pub(super) const FAILS: Self = Self(2);
    /// The script ends, and has succeeded.
    pub(super) const ENDS_WELL: Self = Self(4);
    /// The function ends, and has succeeded.
    pub(super) const RETURNS: Self = Self(8);
    /// The function ends, and has failed.
    pub(super) const RETURNS_FAILURE: Self = Self(16);
    /// `break` and `continue`
    pub(super) const LEAVES_LOOP: Self = Self(32);
    /// Something that is not understood.
    pub(super) const UNKNOWN: Self = Self(64);

    pub(super) const fn may(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether it can only end like this.
    pub(super) const fn only(self, other: Self) -> bool {
        self.0 != 0 && self.0 & !other.0 == 0
    }
}

impl BitOr for Outcomes {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What a list of commands comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    pub(super) outcomes: Outcomes,
    /// Whether it does more than to print and to look.
    pub(super) acts: bool,
}

impl Effect {
    pub(super) const NOTHING: Self = Self { outcomes: Outcomes::FALLS, acts: false };
    pub(super) const UNKNOWN: Self = Self { outcomes: Outcomes(Outcomes::FALLS.0 | Outcomes::UNKNOWN.0), acts: true };

    pub(super) const fn of(outcomes: Outcomes) -> Self {
        Self { outcomes, acts: false }
    }

    /// Either of two.
    pub(super) fn or(self, other: Self) -> Self {
        Self { outcomes: self.outcomes | other.outcomes, acts: self.acts || other.acts }
    }

    /// One after the other.
    pub(super) fn then(self, next: Self) -> Self {
        let outcomes = self.outcomes.without(Outcomes::FALLS) | next.outcomes;
        Self { outcomes, acts: self.acts || next.acts }
    }

    /// Whether it certainly only prints, looks and goes on.
    pub(super) fn only_tells(self) -> bool {
        self.outcomes.only(Outcomes::FALLS) && !self.acts
    }

    /// Whether it may end the script or the function as failed, or do what is not understood.
    pub(super) fn may_fail(self) -> bool {
        self.outcomes.may(Outcomes::FAILS | Outcomes::RETURNS_FAILURE | Outcomes::UNKNOWN)
    }
}
