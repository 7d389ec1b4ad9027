//! The analysis of a cluster, as Markdown for people and JSON for programs. Knows how a section looks, and not where it comes from.

mod json;
mod markdown;
pub(crate) mod prose;
mod sections;
mod steps;

pub use json::json;
pub use markdown::markdown;
