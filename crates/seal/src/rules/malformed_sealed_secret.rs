//! ## What it finds
//!
//! SealedSecrets without a name or without items, with items that are not text, in both forms at once, or larger than
//! the API server accepts.
//!
//! ## Why it matters at a cold start
//!
//! The controller treats a malformed `encryptedData` as an empty one, without any error.
//!
//! ## Fix
//!
//! Write it as `kubeseal` or `coldstart seal secret` does; split one that is too large.

use diagnostic::Rule;

pub(super) static RULE: Rule = Rule::new(
    "malformed-sealed-secret",
    "a SealedSecret that the controller rejects, or treats as empty",
    include_str!("malformed_sealed_secret.rs"),
);
