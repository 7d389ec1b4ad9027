//! `sortOptions`: the order of kinds that kustomize once always had.
//!
//! Without it objects stay in the order they were read, which is also what Flux applies.

use foldhash::HashMap;
use std::cmp::Ordering;

use yaml::Node;

use crate::error::BuildError;
use crate::id::Gvk;
use crate::resource::Resource;

const FIRST: [&str; 22] = [
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];

const LAST: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

pub(crate) enum Order {
    AsRead,
    /// The place of each kind that has one: below zero before all others, above after them.
    Kinds(HashMap<String, i64>),
}

impl Order {
    pub(crate) fn read(options: &Node) -> Result<Self, BuildError> {
        let legacy = options.get("legacySortOptions").filter(|node| !node.is_null());
        match (options.text_at(&["order"]).unwrap_or_default(), legacy) {
            ("fifo", None) => Ok(Self::AsRead),
            ("fifo", Some(_)) => Err(BuildError::LegacySortOptions),
            ("legacy", None) => Ok(Self::kinds(FIRST.iter().copied(), LAST.iter().copied())),
            ("legacy", Some(legacy)) => {
                let list = |key: &str| legacy.items_at(key).iter().filter_map(Node::text).collect::<Vec<_>>();
                Ok(Self::kinds(list("orderFirst").into_iter(), list("orderLast").into_iter()))
            }
            (other, _) => Err(BuildError::SortOrder { order: other.to_owned() }),
        }
    }

    fn kinds<'a>(first: impl ExactSizeIterator<Item = &'a str>, last: impl Iterator<Item = &'a str>) -> Self {
        let count = i64::try_from(first.len()).unwrap_or(i64::MAX);
        let first = first.zip(0..).map(|(kind, at): (&str, i64)| (kind.to_owned(), at - count));
        let last = last.zip(1..).map(|(kind, at): (&str, i64)| (kind.to_owned(), at));
        Self::Kinds(first.chain(last).collect())
    }

    pub(crate) fn sort(&self, list: &mut [Resource]) {
        if let Self::Kinds(places) = self {
            let place = |resource: &Resource| places.get(resource.gvk.kind.as_str()).copied().unwrap_or_default();
            list.sort_by(|one, other| place(one).cmp(&place(other)).then_with(|| compare(one, other)));
        }
    }
}

fn compare(one: &Resource, other: &Resource) -> Ordering {
    let name = |resource: &Resource| format!("{}|{}", or(&resource.namespace, "~X"), or(&resource.name, "~N"));
    gvk_text(&one.gvk).cmp(&gvk_text(&other.gvk)).then_with(|| name(one).cmp(&name(other)))
}

/// The order of kinds in transformer configurations.
pub(crate) fn compare_kinds(one: &Gvk, other: &Gvk) -> Ordering {
    let place = |gvk: &Gvk| {
        let at = |list: &[&str]| list.iter().position(|kind| *kind == gvk.kind).and_then(|at| i64::try_from(at).ok());
        at(&FIRST).map(|at| at - 100).or_else(|| at(&LAST).map(|at| at + 1)).unwrap_or_default()
    };
    place(one).cmp(&place(other)).then_with(|| gvk_text(one).cmp(&gvk_text(other)))
}

fn gvk_text(gvk: &Gvk) -> String {
    format!("{}_{}_{}", or(&gvk.group, "~G"), or(&gvk.version, "~V"), or(&gvk.kind, "~K"))
}

fn or<'a>(text: &'a str, absent: &'a str) -> &'a str {
    if text.is_empty() { absent } else { text }
}
