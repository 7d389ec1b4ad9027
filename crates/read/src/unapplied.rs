//! Manifests of Secrets, ConfigMaps and Namespaces that something needs and that nothing applies: a person or a script does it by hand.

use std::collections::{BTreeMap, BTreeSet};

use ecow::EcoString;
use model::{Capability, CapabilityKind, Cluster, Unapplied};

use crate::live::Live;
use crate::naming::{is_archived, is_for_show};
use crate::object::Object;
use crate::repository::Repository;
use ::repository::path;

/// Files that would make an object, with the namespace that each says, by the object's kind and name.
type Makers<'a> = BTreeMap<(CapabilityKind, &'a str), Vec<(&'a str, &'a str)>>;

/// Fills in what each cluster needs, nothing offers, and a file would make.
pub(crate) fn find(repository: &Repository, clusters: &mut [Cluster], live: &Live) {
    let wanted: Vec<BTreeSet<Capability>> = clusters.iter().map(unoffered).collect();
    if wanted.iter().all(BTreeSet::is_empty) {
        return;
    }
    let makers = makers(repository, live);
    for (cluster, wanted) in clusters.iter_mut().zip(wanted) {
        let found = wanted.into_iter().filter_map(|needed| {
            let file = EcoString::from(file_for(&makers, &needed)?);
            Some(Unapplied { needed, file })
        });
        cluster.unapplied.extend(found);
    }
}

fn unoffered(cluster: &Cluster) -> BTreeSet<Capability> {
    let is_one = |capability: &&Capability| {
        matches!(capability.kind, CapabilityKind::Secret | CapabilityKind::ConfigMap | CapabilityKind::Namespace)
    };
    let offered: BTreeSet<&Capability> = cluster.offers.iter().map(|offer| &offer.capability).filter(is_one).collect();
    let needed = cluster.needs.iter().map(|need| &need.capability).filter(is_one);
    needed.filter(|capability| !offered.contains(capability)).cloned().collect()
}

fn makers<'a>(repository: &'a Repository, live: &Live) -> Makers<'a> {
    let mut makers = Makers::new();
    let is_meant = |file: &str| !live.may_hold(file) && !is_archived(file) && !is_for_show(path::parent(file));
    for (_, file, documents) in repository.yaml_files().filter(|(_, file, _)| is_meant(file)) {
        for node in documents.iter().filter_map(|document| document.root.as_ref()) {
            let object = Object::new(node);
            let made = match (object.group(), object.kind()) {
                ("", "Secret") | ("bitnami.com", "SealedSecret") => (CapabilityKind::Secret, object.name()),
                ("", "ConfigMap") => (CapabilityKind::ConfigMap, object.name()),
                ("", "Namespace") => (CapabilityKind::Namespace, object.name()),
                ("external-secrets.io", "ExternalSecret") => {
                    let target = node.text_at(&["spec", "target", "name"]);
                    (CapabilityKind::Secret, target.unwrap_or(object.name()))
                }
                _ => continue,
            };
            let namespace = node.text_at(&["metadata", "namespace"]).unwrap_or_default();
            makers.entry(made).or_default().push((namespace, file));
        }
    }
    makers
}

/// The first file that makes it: in its namespace, or in one that is chosen when it is applied.
fn file_for<'a>(makers: &Makers<'a>, needed: &Capability) -> Option<&'a str> {
    let all = makers.get(&(needed.kind, needed.name.as_str()))?;
    let is_one = |(namespace, _): &&(&str, &str)| namespace.is_empty() || *namespace == needed.namespace;
    all.iter().find(is_one).map(|(_, file)| *file)
}
