//! Coloured terminal output as a picture of a terminal window.
//!
//! Knows the few escape sequences that this program writes (colours, bold, dim); any other is left out. Lines that boxes
//! are made of are drawn, not written, so that they meet whatever the font.

use std::fmt::Write as _;

pub(crate) const FONT: &str =
    "\"JetBrains Mono\",ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace";
const FONT_PIXELS: f64 = 14.0;
const CELL_WIDTH: f64 = 8.4;
const CELL_HEIGHT: f64 = 20.0;
/// From the top of a line to the foot of its letters.
const BASELINE: f64 = 14.5;
const PADDING: f64 = 20.0;
const TITLE_HEIGHT: f64 = 40.0;
const COLUMNS_MIN: usize = 80;

pub(crate) const BACKGROUND: &str = "#11151c";
const TITLE_BACKGROUND: &str = "#1a202a";
pub(crate) const BORDER: &str = "#2a3240";
pub(crate) const FOREGROUND: &str = "#d5dbe5";
pub(crate) const DIMMED: &str = "#7d8899";
const PROMPT: &str = "#7bd88f";

/// The colours 0 to 7, and their bright sisters.
pub(crate) const PALETTE: [&str; 16] = [
    "#2a3240", "#ff6b6b", "#7bd88f", "#f5c062", "#6cb2ff", "#c792ea", "#6fd6d6", "#d5dbe5", "#7d8899", "#ff7b72",
    "#8be9a8", "#ffd580", "#7cc0ff", "#d7a8ff", "#8ae6e6", "#ffffff",
];

/// A picture of `output`, as if `command` had been typed.
pub fn picture(command: &str, output: &str) -> String {
    let lines: Vec<Vec<Run>> = output.trim_end_matches('\n').lines().map(runs).collect();
    let widest = lines.iter().map(|line| columns(line)).max().unwrap_or(0).max(COLUMNS_MIN).max(command.len() + 2);
    let width = cells(widest) + 2.0 * PADDING;
    let height = TITLE_HEIGHT + rows(lines.len() + 2) + 1.5 * PADDING;
    let mut svg = frame(command, width, height);
    let _ = writeln!(svg, "<g transform=\"translate({PADDING} {})\">", TITLE_HEIGHT + PADDING / 2.0);
    let prompt = [Run::plain("$ ", PROMPT), Run::plain(command, FOREGROUND)];
    draw_line(&mut svg, 0, &prompt);
    for (index, line) in lines.iter().enumerate() {
        draw_line(&mut svg, index + 2, line);
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

fn frame(command: &str, width: f64, height: f64) -> String {
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{}\">",
        escape(command)
    );
    let _ = writeln!(
        svg,
        "<style>text{{font-family:{FONT};font-size:{FONT_PIXELS}px;white-space:pre;font-variant-ligatures:none}}.b{{font-weight:bold}}</style>"
    );
    let (inner_width, inner_height) = (width - 1.0, height - 1.0);
    let _ = writeln!(
        svg,
        "<rect x=\"0.5\" y=\"0.5\" width=\"{inner_width:.0}\" height=\"{inner_height:.0}\" rx=\"10\" fill=\"{BACKGROUND}\" stroke=\"{BORDER}\"/>"
    );
    let _ = writeln!(
        svg,
        "<path d=\"M0.5 {TITLE_HEIGHT}V10.5a10 10 0 0 1 10 -10H{:.1}a10 10 0 0 1 10 10V{TITLE_HEIGHT}z\" fill=\"{TITLE_BACKGROUND}\" stroke=\"{BORDER}\"/>",
        width - 10.5
    );
    for (index, color) in ["#ff6b6b", "#f5c062", "#7bd88f"].iter().enumerate() {
        let x = PADDING + 4.0 + 20.0 * small(index);
        let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{}\" r=\"6\" fill=\"{color}\"/>", TITLE_HEIGHT / 2.0);
    }
    svg
}

/// Neighbouring characters of one style.
#[derive(Clone, Debug, PartialEq)]
struct Run {
    text: String,
    color: &'static str,
    bold: bool,
}

impl Run {
    fn plain(text: &str, color: &'static str) -> Self {
        Self { text: text.to_owned(), color, bold: false }
    }
}

fn columns(line: &[Run]) -> usize {
    line.iter().map(|run| run.text.chars().count()).sum()
}

#[derive(Clone, Copy, Default)]
struct Pen {
    color: Option<&'static str>,
    bold: bool,
    dim: bool,
}

impl Pen {
    /// Takes the numbers of an escape sequence that sets styles.
    fn set(&mut self, codes: &str) {
        for code in codes.split(';') {
            match code.parse::<usize>().unwrap_or(0) {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                22 => (self.bold, self.dim) = (false, false),
                39 => self.color = None,
                code @ 30..=37 => self.color = PALETTE.get(code - 30).copied(),
                code @ 90..=97 => self.color = PALETTE.get(code - 90 + 8).copied(),
                _ => {}
            }
        }
    }

    fn run(self, text: &str) -> Run {
        let color = self.color.unwrap_or(if self.dim { DIMMED } else { FOREGROUND });
        Run { text: text.to_owned(), color, bold: self.bold }
    }
}

/// A line with escape sequences into runs.
fn runs(line: &str) -> Vec<Run> {
    let mut pen = Pen::default();
    let mut runs = Vec::new();
    let mut pieces = line.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default();
    if !first.is_empty() {
        runs.push(pen.run(first));
    }
    for piece in pieces {
        let end = piece.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(piece.len());
        let (codes, rest) = piece.split_at(end);
        if rest.starts_with('m') {
            pen.set(codes);
        }
        let text = rest.get(1..).unwrap_or_default();
        if !text.is_empty() {
            runs.push(pen.run(text));
        }
    }
    runs
}

fn draw_line(svg: &mut String, row: usize, line: &[Run]) {
    let mut column = 0;
    for run in line {
        let mut word = String::new();
        let mut word_column = column;
        for c in run.text.chars() {
            if let Some(arms) = arms(c) {
                write_word(svg, row, word_column, &word, run);
                word.clear();
                draw_box(svg, row, column, arms, run.color);
                word_column = column + 1;
            } else {
                if word.is_empty() {
                    word_column = column;
                }
                word.push(c);
            }
            column += 1;
        }
        write_word(svg, row, word_column, &word, run);
    }
}

fn write_word(svg: &mut String, row: usize, column: usize, text: &str, run: &Run) {
    let indent = text.chars().take_while(|c| *c == ' ').count();
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    let (x, y) = (cells(column + indent), rows(row) + BASELINE);
    let class = if run.bold { " class=\"b\"" } else { "" };
    let length = cells(text.chars().count());
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{}\"{class} textLength=\"{length:.1}\">{}</text>",
        run.color,
        escape(text)
    );
}

/// How thick the lines of a box character are: up, right, down, left.
type Arms = [f64; 4];

fn arms(c: char) -> Option<Arms> {
    const THIN: f64 = 1.3;
    const THICK: f64 = 2.6;
    Some(match c {
        '│' => [THIN, 0.0, THIN, 0.0],
        '┃' => [THICK, 0.0, THICK, 0.0],
        '─' => [0.0, THIN, 0.0, THIN],
        '━' => [0.0, THICK, 0.0, THICK],
        '╭' | '┌' => [0.0, THIN, THIN, 0.0],
        '╰' | '└' => [THIN, THIN, 0.0, 0.0],
        '╮' | '┐' => [0.0, 0.0, THIN, THIN],
        '╯' | '┘' => [THIN, 0.0, 0.0, THIN],
        '├' => [THIN, THIN, THIN, 0.0],
        '┬' => [0.0, THIN, THIN, THIN],
        '┯' => [0.0, THICK, THIN, THICK],
        '┴' => [THIN, THIN, 0.0, THIN],
        '╴' => [0.0, 0.0, 0.0, THIN],
        _ => return None,
    })
}

fn draw_box(svg: &mut String, row: usize, column: usize, arms: Arms, color: &str) {
    let (left, top) = (cells(column), rows(row));
    let (x, y) = (left + CELL_WIDTH / 2.0, top + CELL_HEIGHT / 2.0);
    let ends = [(x, top), (left + CELL_WIDTH, y), (x, top + CELL_HEIGHT), (left, y)];
    for (thick, (to_x, to_y)) in arms.iter().zip(ends).filter(|(thick, _)| **thick > 0.0) {
        let _ = writeln!(
            svg,
            "<path d=\"M{x:.1} {y:.1}L{to_x:.1} {to_y:.1}\" stroke=\"{color}\" stroke-width=\"{thick}\" stroke-linecap=\"round\"/>"
        );
    }
}

fn cells(columns: usize) -> f64 {
    small(columns) * CELL_WIDTH
}

fn rows(rows: usize) -> f64 {
    small(rows) * CELL_HEIGHT
}

/// Counts of lines and columns are far below what a float holds exactly.
pub(crate) fn small(number: usize) -> f64 {
    f64::from(source::to_u32(number))
}

pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::{FOREGROUND, PALETTE, picture, runs};

    #[test]
    fn styles_become_runs() {
        let line = runs("a \u{1b}[1m\u{1b}[91mred\u{1b}[0m b\u{1b}[K");
        let told: Vec<_> = line.iter().map(|run| (run.text.as_str(), run.color, run.bold)).collect();
        assert_eq!(told, [("a ", FOREGROUND, false), ("red", PALETTE[9], true), (" b", FOREGROUND, false)]);
    }

    #[test]
    fn text_can_not_break_out_of_the_picture() {
        let svg = picture("x", "<script>\"&\"</script>");
        assert!(!svg.contains("<script>"));
        assert!(svg.contains("&lt;script&gt;"));
    }
}
