//! Shell text into a tree of statements in which every part knows its place.
//!
//! This crate knows the grammar that sh and bash share, and what bash adds to it. It runs nothing, expands nothing, and does not know
//! any program, any file or any tool that a text came from. Text that is no shell is a [`Fault`] with its place; what stands before
//! and after it is read.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod at;
mod command;
mod commands;
mod compound;
mod document;
mod fault;
mod list;
mod lists;
mod parts;
mod reader;
mod redirect;
mod redirects;
mod word;

pub use at::At;
pub use command::{Arm, Assignment, Branch, Command, CommandKind, Simple, Value};
pub use document::Document;
pub use fault::{Fault, FaultKind};
pub use list::{Joint, List, Pipeline, Statement};
pub use redirect::{Redirect, RedirectKind};
pub use word::{Parameter, Part, PartKind, Word};

use reader::Reader;

/// A text of more bytes than this is not read.
pub const BYTES_MAX: usize = 1024 * 1024;
/// How deep statements, substitutions and quotes may stand in each other.
pub const DEPTH_MAX: usize = 64;
/// How many words and commands a text may hold.
pub const NODES_MAX: usize = 400_000;

/// A text that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    pub body: List,
    /// The here-documents of it, in the order of their ends.
    pub documents: Vec<Document>,
    /// What of it is not understood.
    pub faults: Vec<Fault>,
}

/// Reads a whole text.
pub fn parse(text: &str) -> Script {
    parse_within(text, At::new(0, text.len()))
}

/// Reads a part of a text. Places are those of the whole.
pub fn parse_within(text: &str, at: At) -> Script {
    let is_whole = text.get(at.start..at.end).is_some();
    if !is_whole || at.end - at.start > BYTES_MAX {
        let fault = Fault { kind: FaultKind::TooLarge, at };
        return Script { faults: vec![fault], ..Script::default() };
    }
    Reader::new(text, at).script()
}

#[cfg(test)]
mod tests;
