//! Findings and graphs as people and programs read them: text for a terminal, JSON, SARIF, annotations
//! and comments for GitHub, a picture.
//!
//! This crate knows how things look. It does not know how they were found, does no IO, and gives the same bytes for the
//! same input. Whatever it prints on a terminal has been cleaned: a name in a repository can't move the cursor.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod board;
pub mod change;
mod clean;
mod diff;
mod edits;
pub mod explain;
pub mod github;
mod graph_boot;
pub mod graph_json;
pub mod graph_text;
mod html;
pub mod impact;
pub mod json;
mod left_out;
pub mod markdown;
mod merge;
mod paint;
pub mod picture;
mod place;
pub mod plan;
pub mod repairs;
pub mod report;
pub mod review;
pub mod runs;
pub mod sarif;
pub mod say;
pub mod shell;
pub mod simulation;
mod snippet;
pub mod status;
pub mod story;
pub mod svg;
pub mod text;
pub mod timeline;
pub mod words;

pub use clean::{clean, clean_json, yaml_text};
pub use edits::Edits;

/// What is different between a file and what would be written to it, as `git diff` shows it.
pub fn difference(path: &str, before: &str, after: &str) -> String {
    let changed = diagnostic::Changed {
        path: path.to_owned(),
        before: Some(before.to_owned()),
        after: Some(after.to_owned()),
        from: None,
    };
    diff::unified(&changed, paint::Paint { color: false })
}
