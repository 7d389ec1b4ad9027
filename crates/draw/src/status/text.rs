//! One screen: a line per layer from the bottom up, then every root with its evidence, what it blocks and its remedy.

use std::fmt::Write as _;

use health::status::{Automatic, Layer, Outcome, Root, State, Status};

use super::{NAMED_MAX, blocked, command, cycle, failing_lines, headline, layer_line, shown, sign};
use crate::clean;
use crate::paint::Paint;
use crate::say::{self, health as words};
use crate::words::{count, shorten, wrap};

const NAME_COLUMNS: usize = "certificates".len();
const LABEL_COLUMNS: usize = "remedy".len();
const COLUMNS: usize = 110;

/// `verbose` also shows all failing objects, all that is blocked, and what was not seen.
pub fn text(status: &Status, verbose: bool, color: bool) -> String {
    let view = View { status, paint: Paint { color }, max: if verbose { usize::MAX } else { NAMED_MAX } };
    let mut out = view.head();
    for layer in &status.layers {
        // What is not part of the cluster takes no line of a screen.
        if verbose || layer.state != State::Absent {
            out.push_str(&view.layer(layer));
        }
    }
    for (index, root) in status.roots.iter().enumerate() {
        out.push_str(&view.root(index + 1, root));
    }
    out.push_str(&view.gaps(verbose));
    out
}

struct View<'a> {
    status: &'a Status,
    paint: Paint,
    max: usize,
}

impl View<'_> {
    fn head(&self) -> String {
        let said = words::outcome(self.status.outcome);
        let painted = match self.status.outcome {
            Outcome::Healthy => self.paint.good(said),
            Outcome::Progressing | Outcome::Unknown => self.paint.poor(said),
            Outcome::Degraded => self.paint.bad(said),
        };
        let seen = self.status.seen.map(|at| self.paint.dim(&format!(" · seen {at}"))).unwrap_or_default();
        let roots = match self.status.roots.len() {
            0 => String::new(),
            number => format!(" · {}", count(number, "root cause")),
        };
        format!("{painted}{roots}{seen}\n\n")
    }

    fn mark(&self, state: State) -> String {
        let sign = sign(state);
        match state {
            State::Healthy => self.paint.good(sign),
            State::Progressing | State::Unknown | State::Degraded => self.paint.poor(sign),
            State::Failed => self.paint.bad(sign),
            State::Absent => self.paint.dim(sign),
        }
    }

    fn layer(&self, layer: &Layer) -> String {
        let name = words::layer(layer.name);
        let pad = " ".repeat(NAME_COLUMNS.saturating_sub(name.len()));
        let state = words::state(layer.state);
        let line = clean(&layer_line(layer)).into_owned();
        let mut out = format!("{} {}{pad}  {state:<11}", self.mark(layer.state), self.paint.bold(name));
        let indent = " ".repeat(NAME_COLUMNS + 4);
        for (index, part) in wrap(&line, COLUMNS).into_iter().enumerate() {
            let _ = if index == 0 { write!(out, "  {part}") } else { write!(out, "\n{indent}{:13}{part}", "") };
        }
        let mut out = out.trim_end().to_owned();
        out.push('\n');
        for line in failing_lines(layer, self.max) {
            let _ = writeln!(out, "{indent}{}", if self.max == usize::MAX { line } else { shorten(&line, COLUMNS) });
        }
        out
    }

    fn labelled(&self, label: &str, lines: &[String]) -> String {
        let mut out = String::new();
        let pad = " ".repeat(LABEL_COLUMNS.saturating_sub(label.len()));
        let parts = lines.iter().flat_map(|line| wrap(line, COLUMNS));
        for (index, part) in parts.enumerate() {
            let lead = if index == 0 { format!("{}{pad}", self.paint.dim(label)) } else { " ".repeat(LABEL_COLUMNS) };
            let _ = writeln!(out, "   {lead}  {part}");
        }
        out
    }

    fn root(&self, number: usize, root: &Root) -> String {
        let id = root.id.map(|id| self.paint.dim(&format!("  [{id}]"))).unwrap_or_default();
        let mut out = format!("\n{number}. {}{id}\n", self.paint.bold(&headline(root)));
        let cure = root.cause.map(say::cure);
        if let Some(cure) = cure {
            out.push_str(&self.labelled("cause", &[cure.cause.to_owned()]));
        }
        if !root.cycle.is_empty() {
            out.push_str(&self.labelled("cycle", &[cycle(root)]));
        }
        let evidence: Vec<String> = root.evidence.iter().take(self.max).map(|it| shown(self.status, it)).collect();
        out.push_str(&self.labelled("shown", &evidence));
        if !root.blocks.is_empty() {
            out.push_str(&self.labelled("blocks", &blocked(root, self.max)));
        }
        match cure {
            Some(cure) => {
                out.push_str(&self.labelled("remedy", &[cure.remedy.to_owned()]));
                if !cure.guard.is_empty() {
                    out.push_str(&self.labelled("if", &[cure.guard.to_owned()]));
                } else if root.remedy.automatic == Automatic::Never {
                    out.push_str(&self.labelled("if", &[words::automatic(root.remedy.automatic).to_owned()]));
                }
                out.push_str(&self.labelled("proof", &[cure.proof.to_owned()]));
                out.push_str(&self.labelled("look", &[format!("$ {}", command(root))]));
            }
            // No cause without evidence: what to look at next.
            None => out.push_str(&self.labelled("next", &[format!("$ {}", command(root))])),
        }
        out
    }

    fn gaps(&self, verbose: bool) -> String {
        let gaps = &self.status.gaps;
        if gaps.is_empty() {
            return String::new();
        }
        let mut out = format!("\n{}\n", self.paint.dim(&format!("{} not seen", count(gaps.len(), "kind"))));
        let max = if verbose { usize::MAX } else { NAMED_MAX };
        for gap in gaps.iter().take(max) {
            let _ = writeln!(out, "   {}", clean(&words::gap(gap)));
        }
        out
    }
}
