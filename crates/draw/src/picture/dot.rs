//! For Graphviz.

use std::fmt::Write as _;

use super::{Picture, State, Tone};

/// One digraph, with a cluster of Graphviz for each lane.
pub fn dot(pictures: &[Picture]) -> String {
    let mut out =
        "digraph coldstart {\n  rankdir=LR\n  node [shape=box, style=rounded, fontname=\"sans-serif\"]\n".to_owned();
    for (number, picture) in pictures.iter().enumerate() {
        for (lane, title) in picture.lanes.iter().enumerate() {
            let _ = writeln!(
                out,
                "  subgraph cluster_{number}_{lane} {{\n    label={}",
                quoted(&format!("{} · {title}", picture.title))
            );
            for (index, node) in picture.boxes.iter().enumerate().filter(|(_, node)| node.lane == lane) {
                let look = match node.state {
                    State::Comes if node.is_critical => ", penwidth=2",
                    State::Comes => "",
                    State::Suspended => ", style=\"rounded,dashed\", fontcolor=gray40",
                    State::Stuck => ", color=red3",
                    State::NotFound => ", color=red3, style=\"rounded,dashed\"",
                };
                let label = quoted(&format!("{}\n{}", node.name, node.detail));
                let _ = writeln!(out, "    n{number}_{index} [label={label}, tooltip={}{look}]", quoted(&node.full));
            }
            out.push_str("  }\n");
        }
        for arrow in &picture.arrows {
            let wide = if arrow.is_critical { ", penwidth=3" } else { "" };
            let look = match arrow.tone {
                Tone::Applies => "color=gray70, style=dotted",
                Tone::Declared => "color=gray50",
                Tone::Guaranteed => "color=seagreen4",
                Tone::Soon => "color=gray50, style=dashed",
                Tone::AppliedOnly => "color=orange3",
                Tone::FalselyReady => "color=darkorange2, style=bold",
                Tone::Missing => "color=red3, style=dashed, constraint=false",
                Tone::Deadlocked => "color=red3, style=bold",
            };
            let _ = writeln!(out, "  n{number}_{} -> n{number}_{} [{look}{wide}]", arrow.from, arrow.to);
        }
    }
    out.push_str("}\n");
    out
}

/// A text of Graphviz: it has line ends as `\n`, and nothing else is special.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
