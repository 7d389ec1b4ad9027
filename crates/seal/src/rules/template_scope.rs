//! ## What it finds
//!
//! SealedSecrets whose template is annotated with a wider scope than their own metadata.
//!
//! ## Why it matters at a cold start
//!
//! The controller opens it by its own metadata. `kubeseal --re-encrypt` uses the template instead, and would widen the
//! scope.
//!
//! ## Fix
//!
//! Remove the annotation from the template, or seal the values in the intended scope.

use diagnostic::Rule;

pub(super) static RULE: Rule = Rule::new(
    "sealed-template-scope",
    "a SealedSecret whose template names a wider scope than it has",
    include_str!("template_scope.rs"),
);
