//! The analysis of a cluster, as Markdown or a page for people, and JSON for programs. Knows how a section looks, and not where it comes from.

mod html;
mod json;
mod markdown;
pub(crate) mod prose;
mod sections;
mod steps;

pub use html::{Pictures, html};
pub use json::json;
pub use markdown::markdown;
