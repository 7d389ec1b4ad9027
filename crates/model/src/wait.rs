//! A command of the boot that waits: for what, and how long.

use ecow::EcoString;

/// A command that waits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wait {
    pub by: Waiter,
    /// What it waits for, as far as it says so.
    pub on: Option<Awaited>,
    pub ends: Ends,
}

/// What does the waiting.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Waiter {
    KubectlWait,
    RolloutStatus,
    TalosctlHealth,
    CiliumStatus,
    Flux,
    Helm,
    Helmfile,
    /// A loop around a command, by its first words.
    Loop(EcoString),
    /// A command that has to succeed, by its first words.
    Command(EcoString),
}

/// What a command waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Awaited {
    /// As it is written: `node`, `pods`, `deployment`.
    pub kind: EcoString,
    /// Empty if it is not said, `*` for a part that is not known.
    pub namespace: EcoString,
    /// `condition=Ready`, `delete`, `jsonpath=…`
    pub condition: EcoString,
    pub which: Which,
}

/// Which objects of a kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Which {
    Named(Vec<EcoString>),
    Selected(EcoString),
    /// All that exist when it begins.
    All,
}

/// How a command that waits ends if what it waits for does not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ends {
    After {
        seconds: u32,
    },
    /// Some time, which is not known.
    Sometime,
    Never,
}
