//! ## What it finds
//!
//! SOPS files whose age recipients are not those of the rule for them in `.sops.yaml`.
//!
//! ## Why it matters at a cold start
//!
//! A recipient that is missing can't open it at the next cold start; one that is listed by mistake still can.
//!
//! ## Fix
//!
//! `sops updatekeys FILE`.

use diagnostic::Rule;

pub(super) static RULE: Rule = Rule::new(
    "sops-recipients",
    "a SOPS file that is encrypted to others than its rule names",
    include_str!("sops_recipients.rs"),
);
