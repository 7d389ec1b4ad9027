//! ## What it finds
//!
//! Items of SealedSecrets that no key in the store opens for the name and namespace they are applied with, and items
//! that are not sealed values at all.
//!
//! ## Why it matters at a cold start
//!
//! The controller opens all items of a SealedSecret or none. What does not open now does not open in a new cluster either, and
//! what needs the Secret never starts.
//!
//! ## Fix
//!
//! Seal the value again with `coldstart seal secret`, for the name, namespace and scope that the finding names; or bring back the
//! key it was sealed for with `coldstart seal restore`.

use diagnostic::Rule;

pub(super) static RULE: Rule = Rule::new(
    "sealed-item-does-not-open",
    "a sealed value that no key in the store opens where it is applied",
    include_str!("closed_item.rs"),
);
