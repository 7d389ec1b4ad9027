//! ## What it finds
//!
//! Recipients of `seal.recipients` in `coldstart.yaml` that the store is not encrypted to yet, and recipients that the store is
//! encrypted to though `coldstart.yaml` does not name them.
//!
//! ## Why it matters at a cold start
//!
//! A recipient can open the store, and has every private key from then on. The first kind gets them with the next command that
//! writes the store; the second kind has them already, also after its line was removed from `coldstart.yaml`.
//!
//! ## Fix
//!
//! If you know the recipient, leave it, or add its line. If you do not: remove the line, and
//! `coldstart seal rotate --remove-recipient RECIPIENT`, which makes a new key that the recipient can't open. What was sealed for
//! the older keys is known to it: change those values, too.

use diagnostic::Rule;

pub(super) static RULE: Rule = Rule::new(
    "store-recipients",
    "recipients of the store that coldstart.yaml and the store do not agree on",
    include_str!("store_recipients.rs"),
);
