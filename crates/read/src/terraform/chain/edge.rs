//! Why one block waits for another.

use source::Span;

use super::block::BlockId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// An item of its `depends_on`.
    DependsOn,
    /// An item of the `depends_on` of a module that it is in.
    ModuleDependsOn,
    /// It refers to it, maybe through locals, variables and outputs.
    Reference,
    /// Which modules there are that it is in depends on it: `for_each`, `count`.
    ModuleExpansion,
    /// It is the configuration of its provider.
    Configuration,
}

impl Why {
    /// Whether the order is written down.
    pub fn is_explicit(self) -> bool {
        matches!(self, Self::DependsOn | Self::ModuleDependsOn)
    }
}

/// One block waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub from: BlockId,
    pub to: BlockId,
    pub why: Why,
    /// It needs a value that is known only when the other is made.
    pub is_computed: bool,
    /// The item or the reference that says so.
    pub at: Span,
}
