//! Faults for a cluster of a lab, each with what is true of it: which objects are the roots, and what each blocks.
//!
//! [`Scene::healthy`] puts a small whole cluster together; a [`Case`] breaks one thing of it (or makes it look broken), and
//! [`Scene::restore`] puts it right again. What Flux, Helm, Kubernetes and kwok do then is theirs. What operators that are not in
//! the lab would report (cert-manager, external-secrets, the sealed-secrets controller) is written here, as theirs does.

mod api;
mod applications;
mod build;
mod certificates;
mod gitops;
mod ground;
mod look_alikes;
mod network;
mod nodes;
mod platform;
mod releases;
mod scene;
mod secrets;
mod several;
mod stale;
mod storage;
mod truth;

use std::time::Duration;

use crate::LabError;

pub use scene::Scene;
pub use truth::{Named, Told, Truth};

/// What a case is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// One fault.
    Fault,
    /// A fault whose lowest failing layer is a consequence of it, or has nothing to do with it.
    Consequence,
    /// Two or three at once.
    Several,
    /// Something still says that it is ready, from before.
    Stale,
    /// Nothing is wrong.
    LookAlike,
}

impl Sort {
    pub const ALL: [Self; 5] = [Self::Fault, Self::Consequence, Self::Several, Self::Stale, Self::LookAlike];

    pub fn name(self) -> &'static str {
        match self {
            Self::Fault => "one fault",
            Self::Consequence => "lowest failing layer is a consequence or unrelated",
            Self::Several => "two or three at once",
            Self::Stale => "stale Ready conditions",
            Self::LookAlike => "healthy look-alikes",
        }
    }
}

/// Something that is done to a cluster.
#[derive(Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    pub sort: Sort,
    /// How long it takes by itself until it is a fault: what Kubernetes and people wait for before they call it one.
    pub ripe: Duration,
    /// Whether nodes must have been there for some minutes: new ones are still coming up.
    pub old_nodes: bool,
    act: Act,
    meanwhile: Option<Meanwhile>,
}

type Act = fn(&Scene<'_>) -> Result<Truth, LabError>;
type Meanwhile = fn(&Scene<'_>) -> Result<(), LabError>;

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Case {
    const fn new(name: &'static str, sort: Sort, act: Act) -> Self {
        Self { name, sort, ripe: Duration::from_secs(0), old_nodes: false, act, meanwhile: None }
    }

    const fn ripe(mut self, after: Duration) -> Self {
        self.ripe = after;
        self
    }

    const fn of_old_nodes(mut self) -> Self {
        self.old_nodes = true;
        self
    }

    const fn while_waiting(mut self, goes_on: Meanwhile) -> Self {
        self.meanwhile = Some(goes_on);
        self
    }

    /// Does it, and says what is true then.
    pub fn act(&self, scene: &Scene<'_>) -> Result<Truth, LabError> {
        (self.act)(scene)
    }

    /// What the rest of the cluster goes on doing: to be called every few seconds.
    pub fn meanwhile(&self, scene: &Scene<'_>) -> Result<(), LabError> {
        self.meanwhile.map_or(Ok(()), |goes_on| goes_on(scene))
    }
}

/// All of them, by layer.
pub fn all() -> Vec<Case> {
    let layers: [&[Case]; 14] = [
        gitops::CASES,
        releases::CASES,
        secrets::CASES,
        certificates::CASES,
        storage::CASES,
        applications::CASES,
        platform::CASES,
        api::CASES,
        look_alikes::CASES,
        several::CASES,
        network::DNS,
        network::CASES,
        nodes::CASES,
        stale::CASES,
    ];
    layers.concat()
}

/// One of them.
pub fn named(name: &str) -> Option<Case> {
    all().into_iter().find(|case| case.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_enough_of_every_sort_and_each_has_a_name_of_its_own() {
        let all = all();
        let names: BTreeSet<&str> = all.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), all.len());
        let of = |sort| all.iter().filter(|case| case.sort == sort).count();
        assert!(all.len() - of(Sort::LookAlike) >= 40);
        for (sort, least) in [(Sort::Consequence, 10), (Sort::LookAlike, 10), (Sort::Stale, 10), (Sort::Several, 5)] {
            assert!(of(sort) >= least, "{}: {}", sort.name(), of(sort));
        }
    }
}
