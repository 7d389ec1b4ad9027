//! Rules over the graph, one file each. A rule turns verdicts into findings that a person can act on.
//!
//! This crate knows what is worth saying and how much it matters. It does not know how findings are printed.

mod finding;

pub use finding::{Finding, Location, LocationRole, Severity};
