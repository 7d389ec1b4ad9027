//! For Mermaid, which draws at most 500 arrows: those that say least are left out first.

use std::fmt::Write as _;

use super::{Arrow, MERMAID_ARROWS_MAX, Picture, State, Tone, Turn, reduce};
use crate::words::shorten;

/// Longer names make boxes that nothing else has room beside.
const LETTERS_MAX: usize = 60;

/// A flowchart with a box for each lane, or for each cluster with its lanes.
pub fn mermaid(pictures: &[Picture]) -> String {
    let mut out = "flowchart LR\n".to_owned();
    let mut styles = String::new();
    let mut drawn = 0;
    let each = MERMAID_ARROWS_MAX / pictures.len().max(1);
    for (number, picture) in pictures.iter().enumerate() {
        let arrows = reduce::first_few(picture, each);
        if arrows.len() < picture.arrows.len() {
            let _ = writeln!(out, "  %% {} of {} arrows: Mermaid draws no more", arrows.len(), picture.arrows.len());
        }
        lanes(&mut out, number, picture, pictures.len() > 1);
        for index in arrows {
            let arrow = &picture.arrows[index];
            let label = label(arrow).map(|label| format!("|{label}|")).unwrap_or_default();
            let _ = writeln!(out, "  b{number}_{} {}{label} b{number}_{}", arrow.from, line(arrow), arrow.to);
            if let Some(color) = color(arrow) {
                let _ = writeln!(styles, "  linkStyle {drawn} stroke:{color}");
            }
            drawn += 1;
        }
    }
    out.push_str(&styles);
    out.push_str("  classDef bad stroke:#c62828,stroke-width:2px\n  classDef off stroke-dasharray:4 3\n");
    let turns = |turn: Turn| pictures.iter().flat_map(|picture| &picture.boxes).any(|node| node.turn == turn);
    if turns(Turn::Comes) {
        out.push_str("  classDef new stroke:#2e8b57,stroke-width:3px\n");
    }
    if turns(Turn::Goes) {
        out.push_str("  classDef gone stroke-dasharray:2 4,color:#808080\n");
    }
    out
}

fn line(arrow: &Arrow) -> &'static str {
    match arrow.tone {
        _ if arrow.turn == Turn::Goes => "-.->",
        _ if arrow.is_critical && arrow.tone.orders() => "==>",
        Tone::Applies | Tone::Soon | Tone::Missing => "-.->",
        Tone::Declared | Tone::Guaranteed | Tone::AppliedOnly | Tone::FalselyReady => "-->",
        Tone::Deadlocked => "==>",
    }
}

/// What is wrong with it, and what changes.
fn label(arrow: &Arrow) -> Option<String> {
    match arrow.turn {
        Turn::Stays if arrow.tone <= Tone::Soon => None,
        Turn::Stays => Some(arrow.tone.word().to_owned()),
        Turn::Comes if arrow.tone == Tone::Applies => None,
        Turn::Comes => Some(format!("new: {}", arrow.tone.word())),
        Turn::Goes => Some(format!("gone: {}", arrow.tone.word())),
        Turn::Turns(from) => Some(format!("{} → {}", from.word(), arrow.tone.word())),
    }
}

fn lanes(out: &mut String, number: usize, picture: &Picture, with_title: bool) {
    for (lane, title) in picture.lanes.iter().enumerate() {
        let title = if with_title { format!("{} · {title}", picture.title) } else { title.clone() };
        let _ = writeln!(out, "  subgraph l{number}_{lane}[\"{}\"]", text(&title));
        for (index, node) in picture.boxes.iter().enumerate().filter(|(_, node)| node.lane == lane) {
            let class = match (node.state, node.turn) {
                (_, Turn::Goes) => ":::gone",
                (State::Stuck | State::NotFound, _) => ":::bad",
                (_, Turn::Comes) => ":::new",
                (State::Suspended, _) => ":::off",
                (State::Comes, _) => "",
            };
            let _ = writeln!(out, "    b{number}_{index}[\"{}\"]{class}", text(&shorten(&node.name, LETTERS_MAX)));
        }
        out.push_str("  end\n");
    }
}

fn color(arrow: &Arrow) -> Option<&'static str> {
    match arrow.tone {
        _ if arrow.turn == Turn::Goes => Some("#808080"),
        Tone::Declared | Tone::Guaranteed if arrow.turn != Turn::Stays => Some("#2e8b57"),
        Tone::Applies | Tone::Declared | Tone::Guaranteed | Tone::Soon => None,
        Tone::AppliedOnly => Some("#b7791f"),
        Tone::FalselyReady => Some("#dd6b20"),
        Tone::Missing | Tone::Deadlocked => Some("#c62828"),
    }
}

/// A text between quotes, which Mermaid takes for Markdown and HTML otherwise.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '#' | '&' | '<' | '>' | '"' | '`' | '*' | '_' | '\\' | '[' | ']' | '{' | '}' | '(' | ')' | '|' | '~' => {
                let _ = write!(out, "#{};", u32::from(c));
            }
            '\n' | '\r' => out.push(' '),
            _ => out.push(c),
        }
    }
    out
}
