//! ## What it finds
//!
//! Secrets that a SecretStore or ClusterSecretStore names, and that nothing creates, that come from that same store, or
//! that lack the key.
//!
//! ## Why it matters at a cold start
//!
//! External Secrets can't fetch anything without it.
//!
//! ## Fix
//!
//! Seal it with `coldstart seal secret`, or create it in the bootstrap.

use diagnostic::Rule;

pub(super) static RULE: Rule = Rule::new(
    "secret-store-credential",
    "a secret store whose own credential does not exist",
    include_str!("store_credential.rs"),
);
