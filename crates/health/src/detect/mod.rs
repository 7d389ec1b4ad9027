//! What is wrong, layer by layer, and how many are right. Nothing here decides what is a root.

mod admission;
mod api;
mod certificates;
mod dns;
mod gitops;
mod machines;
mod missing;
mod network;
mod nodes;
mod platform;
mod pods;
mod secrets;
mod storage;
mod workloads;

use std::collections::BTreeMap;

use ecow::EcoString;

use crate::facts::{Listed, ObjectKey, Why};
use crate::status::{Count, Gap, LayerName, What};
use crate::symptom::Symptom;
use crate::view::View;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) symptoms: Vec<Symptom>,
    pub(crate) counts: BTreeMap<LayerName, Vec<Count>>,
    /// Lists that a layer is proved by and that are not whole.
    pub(crate) unseen: BTreeMap<LayerName, Why>,
    pub(crate) gaps: Vec<Gap>,
    /// Objects that something names and that do not exist.
    pub(crate) missing: BTreeMap<ObjectKey, LayerName>,
}

impl Found {
    pub(crate) fn add(&mut self, symptom: Symptom) {
        self.symptoms.push(symptom);
    }

    /// Of `of` things so many are right. Nothing is said of none.
    pub(crate) fn count(&mut self, layer: LayerName, what: What, good: usize, of: usize) {
        if of > 0 {
            self.counts.entry(layer).or_default().push(Count { what, good, of });
        }
    }

    /// A list that a layer is proved by.
    pub(crate) fn needs<T>(&mut self, layer: LayerName, kind: &str, list: &Listed<T>) {
        let Some(why) = list.gap.as_ref().filter(|why| !why.is_absence()) else { return };
        self.unseen.entry(layer).or_insert_with(|| why.clone());
        let gap = Gap { kind: EcoString::from(kind), why: why.clone() };
        if !self.gaps.contains(&gap) {
            self.gaps.push(gap);
        }
    }

    /// Something names it: if it does not exist, that is a symptom of its own.
    pub(crate) fn named(&mut self, view: &View<'_>, key: &ObjectKey, layer: LayerName) {
        if view.exists(key) == Some(false) {
            self.missing.entry(key.clone()).or_insert(layer);
        }
    }
}

/// All of it.
pub(crate) fn detect(view: &View<'_>) -> Found {
    let mut found = Found::default();
    machines::detect(view, &mut found);
    api::detect(view, &mut found);
    admission::detect(view, &mut found);
    nodes::detect(view, &mut found);
    network::detect(view, &mut found);
    dns::detect(view, &mut found);
    secrets::detect(view, &mut found);
    storage::detect(view, &mut found);
    certificates::detect(view, &mut found);
    gitops::detect(view, &mut found);
    platform::detect(view, &mut found);
    pods::detect(view, &mut found);
    workloads::detect(view, &mut found);
    missing::detect(view, &mut found);
    found
}
