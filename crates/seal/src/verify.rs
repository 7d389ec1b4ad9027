//! Whether a SealedSecret will open at the next cold start, and if not, why not.

use std::collections::BTreeSet;
use std::fmt;

use diagnostic::seal::{Cause, Unopened};

use crate::envelope::{Envelope, OpenError};
use crate::key::Fingerprint;
use crate::manifest::{Item, SealedSecret};
use crate::ring::Ring;
use crate::scope::Scope;

/// Where an object ends up: kustomize may rename it, and put it into another namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Landing {
    pub namespace: String,
    pub name: String,
}

impl fmt::Display for Landing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// What is to be said of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It opens, with this key.
    Opens(Fingerprint),
    /// It is no sealed value at all.
    Broken(OpenError),
    /// It opens, but only somewhere else or in another scope.
    Bound { scope: Scope, namespace: String, name: String },
    /// No key of the ring opens it anywhere it was tried: another key is needed, or a place that nothing names.
    NoKey { bits: usize },
}

/// Labels that are tried to find out where an item belongs. Each is a decryption with every key.
pub const LABELS_TRIED_MAX: usize = 100;

/// Tries one item where it lands, and nowhere else: [`Verdict::NoKey`] is all that is said if it does not open there.
pub fn lands(sealed: &SealedSecret, item: &Item, landing: &Landing, ring: &Ring) -> Verdict {
    let envelope = match Envelope::from_base64(&item.text) {
        Ok(envelope) => envelope,
        Err(error) => return Verdict::Broken(error),
    };
    match ring.open(&envelope, &sealed.scope.label(&landing.namespace, &landing.name)) {
        Ok((pair, _)) => Verdict::Opens(pair.fingerprint()),
        Err(error @ OpenError::Damaged) => Verdict::Broken(error),
        Err(_) => Verdict::NoKey { bits: envelope.key_bits() },
    }
}

/// Tries one item where it lands. When it does not open there, says where it would: among what is written in it and `places`,
/// which are other landings, in any scope. Those that have its name or its namespace come first.
pub fn item(sealed: &SealedSecret, item: &Item, landing: &Landing, ring: &Ring, places: &[Landing]) -> Verdict {
    let there = lands(sealed, item, landing, ring);
    let (Verdict::NoKey { .. }, Ok(envelope)) = (&there, Envelope::from_base64(&item.text)) else { return there };
    let own = Landing { namespace: sealed.namespace.clone().unwrap_or_default(), name: sealed.name.clone() };
    let (namespace, name) = &sealed.template;
    let written = Landing {
        namespace: namespace.clone().unwrap_or_else(|| own.namespace.clone()),
        name: name.clone().unwrap_or_else(|| own.name.clone()),
    };
    let mut near: Vec<&Landing> = places.iter().collect();
    near.sort_by_key(|place| (place.name != own.name, place.namespace != own.namespace));
    let mut tried = BTreeSet::from([sealed.scope.label(&landing.namespace, &landing.name)]);
    for place in [landing, &own, &written].into_iter().chain(near) {
        for scope in Scope::ALL {
            let label = scope.label(&place.namespace, &place.name);
            if tried.len() > LABELS_TRIED_MAX || !tried.insert(label.clone()) {
                continue;
            }
            if ring.open(&envelope, &label).is_ok() {
                let (namespace, name) = (place.namespace.clone(), place.name.clone());
                return Verdict::Bound { scope, namespace, name };
            }
        }
    }
    there
}

impl Verdict {
    pub fn is_fine(&self) -> bool {
        matches!(self, Self::Opens(_))
    }

    /// Why it does not open where it lands; nothing where it does.
    pub fn why(&self, sealed: &SealedSecret, landing: &Landing) -> Option<Unopened> {
        Some(match self {
            Self::Opens(_) => return None,
            Self::Broken(error) => Unopened::Broken(Cause::new(*error)),
            Self::NoKey { bits } => Unopened::NoKey { bits: *bits },
            Self::Bound { scope, namespace, name } if *scope != sealed.scope => {
                let is_here = (namespace, name) == (&landing.namespace, &landing.name) || *scope == Scope::ClusterWide;
                let place = (!is_here).then(|| format!("{namespace}/{name}"));
                let (own, annotation) = (sealed.scope.word(), scope.annotation());
                Unopened::OtherScope { scope: scope.word(), place, own, annotation }
            }
            Self::Bound { namespace, name, .. } => {
                Unopened::Elsewhere { place: format!("{namespace}/{name}"), landing: landing.to_string() }
            }
        })
    }
}
