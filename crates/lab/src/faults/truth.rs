//! What is true of a cluster after something was done to it, and how far what was told of it differs.

use std::collections::BTreeSet;
use std::fmt;

/// An object, as far as it is told by: kind and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    pub kind: String,
    pub name: String,
}

impl Named {
    pub fn new(kind: &str, name: &str) -> Self {
        Self { kind: kind.to_owned(), name: name.to_owned() }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.name)
    }
}

/// A root as a program told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub object: Named,
    pub id: Option<String>,
    pub blocks: BTreeSet<Named>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Root {
    object: Named,
    id: Option<&'static str>,
    blocks: BTreeSet<Named>,
}

/// The roots, and what each blocks. None: nothing is wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Truth {
    roots: Vec<Root>,
}

impl Truth {
    pub(super) fn healthy() -> Self {
        Self::default()
    }

    /// One root. `id` is its entry in the catalogue of causes; none where any will do.
    pub(super) fn root(kind: &str, name: &str, id: impl Into<Option<&'static str>>) -> Self {
        let root = Root { object: Named::new(kind, name), id: id.into(), blocks: BTreeSet::new() };
        Self { roots: vec![root] }
    }

    /// The root before blocks this.
    pub(super) fn blocks(mut self, kind: &str, name: &str) -> Self {
        if let Some(root) = self.roots.last_mut() {
            root.blocks.insert(Named::new(kind, name));
        }
        self
    }

    pub(super) fn and(mut self, other: Self) -> Self {
        self.roots.extend(other.roots);
        self
    }

    pub fn is_healthy(&self) -> bool {
        self.roots.is_empty()
    }

    /// Whether the root that was told first is one.
    pub fn first_is_right(&self, told: &[Told]) -> bool {
        match told.first() {
            None => self.roots.is_empty(),
            Some(first) => self.roots.iter().any(|root| root.is(first)),
        }
    }

    /// What was told as a root and is none.
    pub fn false_roots(&self, told: &[Told]) -> Vec<Named> {
        let is_false = |told: &&Told| !self.roots.iter().any(|root| root.object == told.object);
        told.iter().filter(is_false).map(|told| told.object.clone()).collect()
    }

    /// Everything that is not as it is true: nothing, where all is told and nothing else.
    pub fn differences(&self, told: &[Told]) -> Vec<String> {
        let mut all: Vec<String> =
            self.false_roots(told).iter().map(|object| format!("{object} is told as a root and is none")).collect();
        for root in &self.roots {
            let Some(told) = told.iter().find(|told| told.object == root.object) else {
                all.push(format!("{} is a root and is not told", root.object));
                continue;
            };
            if !root.is(told) {
                all.push(format!("{} is told as {:?}, not as {:?}", root.object, told.id, root.id));
            }
            let lacks = root.blocks.difference(&told.blocks);
            all.extend(lacks.map(|object| format!("{} blocks {object}, which is not told", root.object)));
            let adds = told.blocks.difference(&root.blocks);
            all.extend(adds.map(|object| format!("{} does not block {object}, which is told", root.object)));
        }
        all
    }

    /// Whether what each root blocks is told as it is.
    pub fn blocks_are_right(&self, told: &[Told]) -> bool {
        self.roots.iter().all(|root| {
            told.iter().find(|told| told.object == root.object).is_some_and(|told| told.blocks == root.blocks)
        })
    }
}

impl Root {
    fn is(&self, told: &Told) -> bool {
        self.object == told.object && self.id.is_none_or(|id| told.id.as_deref() == Some(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str, id: &str, blocks: &[&str]) -> Told {
        let blocks = blocks.iter().map(|name| Named::new("Kustomization", name)).collect();
        Told { object: Named::new("Secret", name), id: Some(id.to_owned()), blocks }
    }

    #[test]
    fn what_is_told_is_held_against_what_is_true() {
        let truth = Truth::root("Secret", "key", "SEC-02").blocks("Kustomization", "apps");
        assert_eq!(truth.differences(&[told("key", "SEC-02", &["apps"])]), Vec::<String>::new());
        let other = [told("other", "SEC-02", &[]), told("key", "SEC-01", &["data"])];
        assert!(!truth.first_is_right(&other));
        assert_eq!(
            truth.differences(&other),
            [
                "Secret/other is told as a root and is none",
                "Secret/key is told as Some(\"SEC-01\"), not as Some(\"SEC-02\")",
                "Secret/key blocks Kustomization/apps, which is not told",
                "Secret/key does not block Kustomization/data, which is told",
            ]
        );
        assert_eq!(Truth::healthy().false_roots(&other[..1]), [Named::new("Secret", "other")]);
        assert!(Truth::healthy().first_is_right(&[]) && !truth.first_is_right(&[]));
    }
}
