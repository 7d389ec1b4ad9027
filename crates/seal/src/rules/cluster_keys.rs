//! ## What it finds
//!
//! With `--cluster`: keys of the cluster that are not in the store, keys of the store that are not in the cluster,
//! Secrets that are labelled as keys and are not keys, and a controller that generates keys by itself or does not
//! exist.
//!
//! ## Why it matters at a cold start
//!
//! A rebuild loses what is sealed with a key that is only in the cluster. A controller that starts with a Secret that
//! is not a key exits at once.
//!
//! ## Fix
//!
//! `coldstart seal init --adopt-cluster`, or `coldstart seal deploy`.

use diagnostic::Rule;

pub(super) static RULE: Rule = Rule::new(
    "cluster-keys",
    "keys of a cluster that the store does not have, or the other way round",
    include_str!("cluster_keys.rs"),
);
