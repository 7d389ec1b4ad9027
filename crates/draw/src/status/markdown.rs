//! For an issue or a comment: a table of layers, then the roots.

use std::fmt::Write as _;

use health::status::{Root, Status};

use super::{blocked, command, cycle, failing_lines, headline, layer_line, shown, sign};
use crate::clean;
use crate::say::{self, health as words};

/// Objects that a cell or a list names.
const NAMED_MAX: usize = 10;

/// What a cell of a table may hold: no bar, no tag, no line break of its own.
fn cell(text: &str) -> String {
    let escaped = clean(text).replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;").replace('>', "&gt;");
    escaped.replace('`', "'").replace('\n', " ").replace('@', "@\u{200b}")
}

pub fn markdown(status: &Status) -> String {
    let mut out = format!("# Status: {}\n\n", words::outcome(status.outcome));
    if let Some(seen) = status.seen {
        let _ = writeln!(out, "Seen {seen}.\n");
    }
    out.push_str("| | layer | state | shown by |\n|---|---|---|---|\n");
    for layer in &status.layers {
        let mut lines = vec![layer_line(layer)];
        lines.extend(failing_lines(layer, NAMED_MAX));
        let told: Vec<String> = lines.iter().filter(|line| !line.is_empty()).map(|line| cell(line)).collect();
        let (name, state) = (words::layer(layer.name), words::state(layer.state));
        let _ = writeln!(out, "| {} | {name} | {state} | {} |", sign(layer.state), told.join("<br>"));
    }
    for (index, it) in status.roots.iter().enumerate() {
        out.push_str(&root(status, index + 1, it));
    }
    if !status.gaps.is_empty() {
        out.push_str("\n## Not seen\n\n");
        for gap in &status.gaps {
            let _ = writeln!(out, "- {}", cell(&words::gap(gap)));
        }
    }
    out
}

fn root(status: &Status, number: usize, root: &Root) -> String {
    let id = root.id.map(|id| format!(" ({id})")).unwrap_or_default();
    let mut out = format!("\n## {number}. {}{id}\n\n", cell(&headline(root)));
    let cure = root.cause.map(say::cure);
    if let Some(cure) = cure {
        let _ = writeln!(out, "{}\n", cure.cause);
    }
    if !root.cycle.is_empty() {
        let _ = writeln!(out, "Cycle: {}\n", cell(&cycle(root)));
    }
    out.push_str("Shown by:\n\n");
    for it in &root.evidence {
        let _ = writeln!(out, "- {}", cell(&shown(status, it)));
    }
    if !root.blocks.is_empty() {
        out.push_str("\nBlocks:\n\n");
        for line in blocked(root, NAMED_MAX) {
            let _ = writeln!(out, "- {}", cell(&line));
        }
    }
    if let Some(cure) = cure {
        let _ = writeln!(out, "\nRemedy: {}", cure.remedy);
        if !cure.guard.is_empty() {
            let _ = writeln!(out, "\nOnly if: {}.", cure.guard);
        }
        let _ = writeln!(out, "\nProof: {}.", cure.proof);
    }
    let _ = writeln!(out, "\n```console\n$ {}\n```", command(root).replace("```", "'''"));
    out
}
