//! Commands that wait, and whether their failure stops anything.
//!
//! Takes a text for a shell, what runs it and the functions it can call; gives the commands that wait as data, with what they get
//! wrong. Knows the shells and what kubectl, talosctl, helm, flux and their like do. Does not know where a text comes from: scripts,
//! recipes and provisioners of Terraform are judged by the same function.

mod commands;
mod conditions;
mod container;
mod deeds;
mod effect;
mod existence;
mod handlers;
mod library;
mod line;
mod loops;
mod outcomes;
mod skips;
mod text;
mod tree;
mod units;
mod waits;
mod walk;

use ecow::EcoString;
use model::{GateDefect, Wait};
use source::Span;

pub(crate) use commands::{commands, commands_of_text};
pub(crate) use container::{Container, Dialect};
pub(crate) use library::Parsed;
pub(crate) use text::ShellText;
pub(crate) use units::{faults, judged, of_provisioner};

/// A command that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gate {
    pub(crate) wait: Wait,
    pub(crate) at: Span,
    /// It is run whenever the text is, and its failure is looked at, if the text looks at any.
    pub(crate) is_certain: bool,
    /// Something is done if it succeeds: it is a question, and waits for nothing.
    pub(crate) is_asked: bool,
    /// A loop, the gate before it, runs until it succeeds.
    pub(crate) is_retried: bool,
    /// The namespace that it looks at, where it says one.
    pub(crate) namespace: EcoString,
}

/// A loop over files that leaves out those that are not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skip {
    /// The files, as they are written, each with its place.
    pub(crate) files: Vec<(String, Span)>,
    /// What leaves one out.
    pub(crate) at: Span,
}

/// Something that a text gets wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GateFault {
    pub(crate) defect: GateDefect,
    /// The line a person would edit.
    pub(crate) at: Span,
    pub(crate) shown: Vec<Span>,
}

/// What a text waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) gates: Vec<Gate>,
    pub(crate) faults: Vec<GateFault>,
    pub(crate) skips: Vec<Skip>,
    /// How many commands it has, and of how many the program is known.
    pub(crate) commands: usize,
    pub(crate) known: usize,
    /// What of it is not understood.
    pub(crate) unread: Vec<Span>,
}

/// Judges a text by what runs it. `sourced` are the texts whose functions it takes in.
pub(crate) fn judge(parsed: &Parsed, container: Container, sourced: &[&Parsed]) -> Judged {
    walk::Walk::of(parsed, container, sourced).judged()
}

#[cfg(test)]
mod tests;
