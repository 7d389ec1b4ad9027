//! ## What it finds
//!
//! Releases and Deployments of the sealed-secrets controller that do not disable its key renewal.
//!
//! ## Why it matters at a cold start
//!
//! When a key is older than thirty days, the controller generates a new one at once, which is in no store: the next
//! rebuild loses what is sealed with it.
//!
//! ## Fix
//!
//! ```yaml
//! values:
//!   keyrenewperiod: "0"
//! ```
//!
//! `coldstart seal verify --write` sets it.

use diagnostic::Rule;

pub(super) static RULE: Rule = Rule::new(
    "controller-renews-keys",
    "a controller that makes new sealing keys by itself",
    include_str!("key_renewal.rs"),
);
