//! ## What it finds
//!
//! The file that `seal.certificate` in `coldstart.yaml` names, where it can't be read, has expired, or belongs to another key than
//! the newest of the store.
//!
//! ## Why it matters at a cold start
//!
//! You and others seal with it. What is sealed with the certificate of a key that is in no store is lost.
//!
//! ## Fix
//!
//! `coldstart seal verify --write` writes the newest certificate there.

use diagnostic::Rule;

pub(super) static RULE: Rule = Rule::new(
    "sealing-certificate",
    "a certificate in the repository that does not belong to the newest key of the store",
    include_str!("sealing_certificate.rs"),
);
