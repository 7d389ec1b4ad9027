//! Statements one after another.

use crate::{At, Command};

/// Statements that run one after another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    pub statements: Vec<Statement>,
}

/// Pipelines that `&&` and `||` join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub first: Pipeline,
    pub rest: Vec<(Joint, Pipeline)>,
    /// Ends in `&`.
    pub is_background: bool,
    pub at: At,
}

/// Commands that `|` joins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Begins with `!`.
    pub is_negated: bool,
    /// Never empty.
    pub commands: Vec<Command>,
    pub at: At,
}

/// What stands between two pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    And,
    Or,
}

impl Statement {
    /// Its pipelines in their order.
    pub fn pipelines(&self) -> impl DoubleEndedIterator<Item = &Pipeline> {
        std::iter::once(&self.first).chain(self.rest.iter().map(|(_, pipeline)| pipeline))
    }

    /// The one that decides whether it succeeded.
    pub fn last(&self) -> &Pipeline {
        self.rest.last().map_or(&self.first, |(_, pipeline)| pipeline)
    }
}
