//! What a sealed value is bound to.

use std::fmt;
use std::str::FromStr;

/// The annotation that binds to nothing.
pub const CLUSTER_WIDE: &str = "sealedsecrets.bitnami.com/cluster-wide";
/// The annotation that binds to the namespace only.
pub const NAMESPACE_WIDE: &str = "sealedsecrets.bitnami.com/namespace-wide";

/// Where a sealed value may be unsealed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Only under its own name in its own namespace.
    #[default]
    Strict,
    /// Under any name in its namespace.
    NamespaceWide,
    /// Anywhere.
    ClusterWide,
}

impl Scope {
    pub const ALL: [Self; 3] = [Self::Strict, Self::NamespaceWide, Self::ClusterWide];

    /// The scope that annotations of a SealedSecret's *own* metadata say; those of its template say nothing.
    pub fn of_annotations<'a>(annotation: impl Fn(&str) -> Option<&'a str>) -> Self {
        if annotation(CLUSTER_WIDE) == Some("true") {
            Self::ClusterWide
        } else if annotation(NAMESPACE_WIDE) == Some("true") {
            Self::NamespaceWide
        } else {
            Self::Strict
        }
    }

    /// The annotation that says so, if it takes one.
    pub fn annotation(self) -> Option<&'static str> {
        match self {
            Self::Strict => None,
            Self::NamespaceWide => Some(NAMESPACE_WIDE),
            Self::ClusterWide => Some(CLUSTER_WIDE),
        }
    }

    /// What the encryption is bound to. Upstream's own document leaves the slash out; its code has it.
    pub fn label(self, namespace: &str, name: &str) -> Vec<u8> {
        match self {
            Self::Strict => format!("{namespace}/{name}").into_bytes(),
            Self::NamespaceWide => namespace.as_bytes().to_vec(),
            Self::ClusterWide => Vec::new(),
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::NamespaceWide => "namespace-wide",
            Self::ClusterWide => "cluster-wide",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A word that is no scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a scope: use strict, namespace-wide or cluster-wide")]
pub struct NoScope(String);

impl FromStr for Scope {
    type Err = NoScope;

    fn from_str(word: &str) -> Result<Self, NoScope> {
        Self::ALL.into_iter().find(|scope| scope.word() == word).ok_or_else(|| NoScope(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::{CLUSTER_WIDE, NAMESPACE_WIDE, Scope};

    #[test]
    fn the_wider_annotation_wins_and_only_true_is_true() {
        let of = |said: &'static [(&'static str, &'static str)]| {
            Scope::of_annotations(|key| said.iter().find(|(name, _)| *name == key).map(|(_, value)| *value))
        };
        assert_eq!(of(&[]), Scope::Strict);
        assert_eq!(of(&[(NAMESPACE_WIDE, "true")]), Scope::NamespaceWide);
        assert_eq!(of(&[(NAMESPACE_WIDE, "true"), (CLUSTER_WIDE, "true")]), Scope::ClusterWide);
        assert_eq!(of(&[(CLUSTER_WIDE, "yes")]), Scope::Strict);
    }

    #[test]
    fn labels_are_as_upstream_makes_them() {
        assert_eq!(Scope::Strict.label("ns", "n"), b"ns/n");
        assert_eq!(Scope::NamespaceWide.label("ns", "n"), b"ns");
        assert_eq!(Scope::ClusterWide.label("ns", "n"), b"");
    }
}
