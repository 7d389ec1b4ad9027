//! The layout beside Graphviz: crossings, length of all edges and time, for graphs of `coldstart graph --format dot`.
//!
//! Both get the same boxes and the same room, and no lanes, and both results are measured alike: curves as short straight pieces, crossings
//! of edges that do not meet at a box.

#![expect(clippy::print_stdout, reason = "its output is the table")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use coldstart_layout::{Edge, Graph, Node, Route, Spacing, layout};

const SPACING: Spacing = Spacing { layers: 46.0, nodes: 12.0, edges: 9.0, lanes: 0.0 };
const WIDE: f64 = 180.0;
const HIGH: f64 = 38.0;
const PIECES: u32 = 8;
const INCH: f64 = 72.0;

type Line = Vec<Point>;
type Point = (f64, f64);

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|first| first == "--time").is_some() {
        return arguments.for_each(|path| time(&path));
    }
    println!(
        "| graph | boxes | arrows | crossings | dot | length | dot | ms | dot |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    );
    for path in arguments {
        let text = std::fs::read_to_string(&path).expect("a graph");
        let name = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".dot");
        row(name, &graph(&text));
    }
}

/// The least time of a few, with layers as `draw` limits them.
fn time(path: &str) {
    let mut graph = graph(&std::fs::read_to_string(path).expect("a graph"));
    graph.layer_nodes_max = graph.nodes.len().isqrt().max(9);
    let once = |_| {
        let begun = Instant::now();
        let drawing = layout(&graph, &SPACING);
        (begun.elapsed(), drawing.crossings)
    };
    let least = (0..3).map(once).min().expect("three");
    println!(
        "{path}: {} nodes, {} edges, {} crossings, {} ms",
        graph.nodes.len(),
        graph.edges.len(),
        least.1,
        least.0.as_millis()
    );
}

/// The nodes and edges of a digraph as we write it.
fn graph(text: &str) -> Graph {
    let mut known: BTreeMap<&str, u32> = BTreeMap::new();
    let mut edges = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| line.starts_with('n')) {
        let mut words = line.split(' ');
        let first = words.next().unwrap_or_default();
        let next = u32::try_from(known.len()).expect("a small graph");
        match (words.next(), words.next()) {
            (Some("->"), Some(to)) => edges.push((known[first], known[to])),
            (Some(word), _) if word.starts_with('[') && first != "node" => drop(known.insert(first, next)),
            _ => {}
        }
    }
    let node = Node { along: WIDE, across: HIGH, lane: 0 };
    let edges = edges.into_iter().map(|(from, to)| Edge { from, to, weight: 1 });
    Graph { nodes: vec![node; known.len()], edges: edges.collect(), ..Graph::default() }
}

fn row(name: &str, graph: &Graph) {
    let begun = Instant::now();
    let drawing = layout(graph, &SPACING);
    let ours = begun.elapsed().as_millis();
    let lines: Vec<Line> = drawing.routes.iter().map(bent).collect();
    let ends: Vec<(u32, u32)> = graph.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let begun = Instant::now();
    let theirs = dot(graph);
    let took = begun.elapsed().as_millis();
    let (their_ends, their_lines): (Vec<_>, Vec<_>) = theirs.into_iter().unzip();
    println!(
        "| {name} | {} | {} | {} | {} | {:.0} | {:.0} | {ours} | {took} |",
        graph.nodes.len(),
        graph.edges.len(),
        crossings(&ends, &lines),
        crossings(&their_ends, &their_lines),
        length(&lines),
        length(&their_lines),
    );
}

/// As `draw` bends routes between layers.
fn bent(route: &Route) -> Line {
    let mut line = Line::new();
    for pair in route.points.windows(2) {
        let (a, b) = ((pair[0].along, pair[0].across), (pair[1].along, pair[1].across));
        let middle = f64::midpoint(a.0, b.0);
        line.extend(cubic([a, (middle, a.1), (middle, b.1), b]));
    }
    line
}

fn cubic(p: [(f64, f64); 4]) -> impl Iterator<Item = (f64, f64)> {
    (0..=PIECES).map(move |piece| {
        let t = f64::from(piece) / f64::from(PIECES);
        let u = 1.0 - t;
        let mix =
            |a: f64, b: f64, c: f64, d: f64| u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d;
        (mix(p[0].0, p[1].0, p[2].0, p[3].0), mix(p[0].1, p[1].1, p[2].1, p[3].1))
    })
}

/// What `dot` makes of the same graph, in the same units.
fn dot(graph: &Graph) -> Vec<((u32, u32), Line)> {
    let mut text = format!(
        "digraph g {{ rankdir=LR; ranksep={:.3}; nodesep={:.3}; node [shape=box, fixedsize=true, label=\"\", width={:.3}, height={:.3}]\n",
        SPACING.layers / INCH,
        SPACING.nodes / INCH,
        WIDE / INCH,
        HIGH / INCH
    );
    (0..graph.nodes.len()).for_each(|node| writeln!(text, "{node}").expect("a text"));
    graph.edges.iter().for_each(|edge| writeln!(text, "{} -> {}", edge.from, edge.to).expect("a text"));
    text.push('}');
    let mut child =
        Command::new("dot").arg("-Tplain").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Graphviz");
    child.stdin.take().expect("its input").write_all(text.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("its output");
    let output = String::from_utf8(output.stdout).expect("text");
    output.lines().filter(|line| line.starts_with("edge ")).map(edge).collect()
}

fn edge(line: &str) -> ((u32, u32), Line) {
    let words: Vec<&str> = line.split(' ').collect();
    let count: usize = words[3].parse().expect("a count");
    let number = |at: usize| words[at].parse::<f64>().expect("a number") * INCH;
    let points: Line = (0..count).map(|point| (number(4 + 2 * point), number(5 + 2 * point))).collect();
    let bent = (0..count / 3).flat_map(|piece| {
        cubic([points[3 * piece], points[3 * piece + 1], points[3 * piece + 2], points[3 * piece + 3]])
    });
    ((words[1].parse().expect("a node"), words[2].parse().expect("a node")), bent.collect())
}

fn length(lines: &[Line]) -> f64 {
    lines.iter().flat_map(|line| line.windows(2)).map(|pair| (pair[0].0 - pair[1].0).hypot(pair[0].1 - pair[1].1)).sum()
}

/// Crossings of pieces of different edges that share no box.
fn crossings(ends: &[(u32, u32)], lines: &[Line]) -> u64 {
    let pieces =
        lines.iter().enumerate().flat_map(|(edge, line)| line.windows(2).map(move |pair| (edge, pair[0], pair[1])));
    let mut pieces: Vec<_> = pieces.map(|(edge, a, b)| if a.0 <= b.0 { (edge, a, b) } else { (edge, b, a) }).collect();
    pieces.sort_by(|a, b| a.1.0.total_cmp(&b.1.0));
    let mut count = 0;
    let mut open: Vec<(usize, Point, Point)> = Vec::new();
    for piece in pieces {
        open.retain(|other| other.2.0 > piece.1.0);
        for other in &open {
            let (a, b) = (ends[piece.0], ends[other.0]);
            let meet = a.0 == b.0 || a.0 == b.1 || a.1 == b.0 || a.1 == b.1;
            count += u64::from(!meet && cross((piece.1, piece.2), (other.1, other.2)));
        }
        open.push(piece);
    }
    count
}

fn cross((a, b): ((f64, f64), (f64, f64)), (c, d): ((f64, f64), (f64, f64))) -> bool {
    let side = |p: (f64, f64), q: (f64, f64), r: (f64, f64)| (q.0 - p.0) * (r.1 - p.1) - (q.1 - p.1) * (r.0 - p.0);
    side(a, b, c) * side(a, b, d) < 0.0 && side(c, d, a) * side(c, d, b) < 0.0
}
