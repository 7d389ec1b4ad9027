//! What kustomize tells objects apart by: group, version, kind, name and namespace.
//!
//! Knows the scope rules of an id. Does not know the objects.

use ecow::EcoString;

use crate::kinds;

/// The namespace that ids of cluster-scoped objects carry, so that they never meet a real one.
pub(crate) const NOT_A_NAMESPACE: &str = "_non_namespaceable_";
pub(crate) const DEFAULT_NAMESPACE: &str = "default";

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Gvk {
    pub(crate) group: EcoString,
    pub(crate) version: EcoString,
    pub(crate) kind: EcoString,
}

impl Gvk {
    pub(crate) fn new(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self { group: group.into(), version: version.into(), kind: kind.into() }
    }

    /// Whether a selector of exact values, empty ones meaning any, picks this.
    pub(crate) fn is_selected_by(&self, selector: &Self) -> bool {
        let fits = |have: &EcoString, want: &EcoString| want.is_empty() || have == want;
        fits(&self.group, &selector.group) && fits(&self.version, &selector.version) && fits(&self.kind, &selector.kind)
    }

    /// Only kinds that Kubernetes itself brings are known to be cluster-scoped.
    pub(crate) fn is_cluster_scoped(&self) -> bool {
        kinds::is_cluster_scoped(&self.group, &self.version, &self.kind)
    }
}

/// Two objects of the same id cannot be in one build. The namespace is the effective one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Id {
    pub(crate) gvk: Gvk,
    pub(crate) name: EcoString,
    pub(crate) namespace: EcoString,
}

impl std::fmt::Display for Id {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} ", self.gvk.kind)?;
        if self.namespace != NOT_A_NAMESPACE {
            write!(out, "{}/", self.namespace)?;
        }
        write!(out, "{}", self.name)
    }
}

/// No namespace and `default` are the same place.
pub(crate) fn effective_namespace(gvk: &Gvk, namespace: &EcoString) -> EcoString {
    if gvk.is_cluster_scoped() {
        NOT_A_NAMESPACE.into()
    } else if namespace.is_empty() {
        DEFAULT_NAMESPACE.into()
    } else {
        namespace.clone()
    }
}
