//! Objects as they reach a cluster: built, patched, put into their namespaces.

use ecow::EcoString;
use yaml::Node;

use crate::flux;
use crate::object::Object;
use crate::repository::Repository;

/// An object of a cluster. Its values still know the file they came from.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The directory that the cluster starts from.
    pub cluster: String,
    pub node: Node,
    /// Where it lands: its own namespace, or that of the Kustomization that applies it.
    pub namespace: EcoString,
}

/// Every object of these kinds that a cluster of the repository applies.
pub fn applied(repository: &Repository, kinds: &[&str]) -> Vec<Applied> {
    let (mut clusters, mut assembled) = flux::Clusters::declared(repository);
    let live = clusters.files().collect();
    assembled.extend(clusters.undeclared(&live));
    let mut found = Vec::new();
    for one in assembled {
        let cluster = one.cluster.name;
        let wanted = one.objects.into_iter().filter(|built| kinds.contains(&Object::new(&built.node).kind()));
        found.extend(wanted.map(|built| {
            let own = Object::new(&built.node).namespace();
            let namespace = if own.is_empty() { built.namespace } else { own.into() };
            Applied { cluster: cluster.clone(), node: built.node, namespace }
        }));
    }
    found.sort_by(|a, b| a.cluster.cmp(&b.cluster));
    found
}
