//! A cluster by what rules look for in it. Made once, so that no finding searches all of it.

use std::collections::BTreeMap;

use ecow::EcoString;
use model::{CapabilityKind, Cluster, ComponentId, ObjectRef, Offer, Phase};

pub(crate) struct Index<'a> {
    by_object: BTreeMap<&'a ObjectRef, ComponentId>,
    by_name: BTreeMap<&'a str, Vec<ComponentId>>,
    children: BTreeMap<ComponentId, Vec<ComponentId>>,
    offers: BTreeMap<ComponentId, Vec<&'a Offer>>,
    /// Which CRD an object needs first.
    kinds: BTreeMap<&'a ObjectRef, &'a EcoString>,
    /// Needs without which a component can't be built.
    built_with: BTreeMap<ComponentId, Vec<usize>>,
}

impl<'a> Index<'a> {
    pub(crate) fn new(cluster: &'a Cluster) -> Self {
        let mut index = Self {
            by_object: BTreeMap::new(),
            by_name: BTreeMap::new(),
            children: BTreeMap::new(),
            offers: BTreeMap::new(),
            kinds: BTreeMap::new(),
            built_with: BTreeMap::new(),
        };
        for id in cluster.ids() {
            let component = cluster.component(id);
            index.by_object.entry(&component.object).or_insert(id);
            index.by_name.entry(&component.object.name).or_default().push(id);
            if let Some(parent) = component.parent {
                index.children.entry(parent).or_default().push(id);
            }
        }
        for offer in &cluster.offers {
            index.offers.entry(offer.by).or_default().push(offer);
        }
        for (at, need) in cluster.needs.iter().enumerate() {
            if need.capability.kind == CapabilityKind::Crd {
                index.kinds.entry(&need.object).or_insert(&need.capability.name);
            }
            if need.phase == Phase::Build && !need.optional {
                index.built_with.entry(need.of).or_default().push(at);
            }
        }
        index
    }

    /// The first component of this kind, namespace and name.
    pub(crate) fn find(&self, object: &ObjectRef) -> Option<ComponentId> {
        self.by_object.get(object).copied()
    }

    /// All components of this name.
    pub(crate) fn named(&self, name: &str) -> &[ComponentId] {
        self.by_name.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// What a component applies.
    pub(crate) fn children(&self, of: ComponentId) -> &[ComponentId] {
        self.children.get(&of).map(Vec::as_slice).unwrap_or_default()
    }

    pub(crate) fn offers(&self, by: ComponentId) -> &[&'a Offer] {
        self.offers.get(&by).map(Vec::as_slice).unwrap_or_default()
    }

    /// The CRD that an object needs, `group/Kind`.
    pub(crate) fn kind(&self, object: &ObjectRef) -> Option<&'a EcoString> {
        self.kinds.get(object).copied()
    }

    /// The needs without which a component can't be built.
    pub(crate) fn built_with(&self, of: ComponentId) -> &[usize] {
        self.built_with.get(&of).map(Vec::as_slice).unwrap_or_default()
    }
}
