//! What a program may see of our environment, and what is set for it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};

/// What of our environment is passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Passed {
    AllBut(BTreeSet<OsString>),
    Only(BTreeSet<OsString>),
}

/// The variables that a program gets: a part of ours, and some of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    passed: Passed,
    set: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// All of ours.
    pub fn everything() -> Self {
        Self::all_but::<&str>([])
    }

    /// None of ours.
    pub fn nothing() -> Self {
        Self::only::<&str>([])
    }

    /// Those of ours that are named, where they are set.
    pub fn only<N: Into<OsString>>(names: impl IntoIterator<Item = N>) -> Self {
        Self { passed: Passed::Only(names.into_iter().map(Into::into).collect()), set: BTreeMap::new() }
    }

    /// All of ours but those that are named: variables that hold secrets which are none of the program's business.
    pub fn all_but<N: Into<OsString>>(names: impl IntoIterator<Item = N>) -> Self {
        Self { passed: Passed::AllBut(names.into_iter().map(Into::into).collect()), set: BTreeMap::new() }
    }

    /// And this one, whatever it is with us.
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.set.insert(name.into(), value.into());
        self
    }

    /// What is set beyond ours, by name.
    pub fn set(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.set.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// Whether a variable of ours reaches the program.
    pub fn passes(&self, name: impl AsRef<OsStr>) -> bool {
        let name = name.as_ref();
        let is_passed = match &self.passed {
            Passed::AllBut(names) => !names.contains(name),
            Passed::Only(names) => names.contains(name),
        };
        is_passed && !self.set.contains_key(name)
    }

    pub(crate) fn apply(&self, command: &mut std::process::Command) {
        match &self.passed {
            Passed::AllBut(names) => {
                for name in names {
                    command.env_remove(name);
                }
            }
            Passed::Only(names) => {
                let ours = names.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
                command.env_clear().envs(ours);
            }
        }
        command.envs(&self.set);
    }
}
