//! One finding as a diagnostic: its title, the lines of source it is about, and what to do.

use std::borrow::Cow;
use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet, Title};
use diagnostic::{Severity, Site};
use source::Sources;

use crate::clean::{clean, clean_source};
use crate::merge::Merged;
use crate::say::{self, Said};
use crate::words;

/// Places in one file that are further apart than this are shown as two snippets.
const LINES_APART_MAX: usize = 30;
/// A place further to the right than this has a snippet of its own: lines above each other are cut at the same column.
const COLUMN_SHARED_MAX: usize = 80;
/// A place further to the right than this is named, not shown.
const COLUMN_MAX: usize = 2_000;
/// What is shown of a line to the right of the place, at most.
const REST_CHARS_MAX: usize = 160;
/// Source lines are trimmed to this where no terminal says otherwise.
const COLUMNS_DEFAULT: usize = 140;
/// What stands before a wrapped text beside its name: a line number, the line down the side, a colon.
const MARGIN_COLUMNS: usize = 9;
/// Text is not wrapped to less than this, however narrow the terminal.
const WRAP_COLUMNS_MIN: usize = 40;

/// How diagnostics look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub color: bool,
    /// Columns of the terminal; nothing is wrapped without.
    pub width: Option<usize>,
}

/// The whole diagnostic, with a line end.
pub(crate) fn finding(one: &Merged<'_>, clusters: Option<&str>, sources: &impl Sources, look: Look) -> String {
    let mut group = Group::with_title(title(one, look.width));
    let mut asides = Vec::new();
    for shown in arrange(one, sources, look.width) {
        match shown {
            Shown::Lines(chunk) => group = group.element(chunk.snippet()),
            Shown::Place { path, line, column, label } => {
                let origin = Origin::path(path).line(line).char_column(column);
                group = group.element(Element::Origin(origin));
                asides.extend(label);
            }
            Shown::Nowhere(label) => asides.push(label),
        }
    }
    let elsewhere = one.elsewhere.iter().filter_map(|site| sources.locate(site.span()));
    let elsewhere: Vec<String> = elsewhere.map(|(path, at)| format!("{path}:{}", at.line)).collect();
    for (name, text) in footers(&one.said, clusters, asides, &elsewhere) {
        group = group.element(Level::NOTE.with_name(name).message(wrapped(&text, name, look.width)));
    }
    let renderer = if look.color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Unicode).term_width(look.width.unwrap_or(COLUMNS_DEFAULT));
    let mut text = with_common_signs(&renderer.render(&[group]));
    text.push('\n');
    text
}

/// The sign before a further file is one that few fonts have; that before the first file is one that all have.
fn with_common_signs(text: &str) -> String {
    let lines = text.split('\n').map(|line| match line.split_once("⸬ ") {
        Some((before, after)) if is_blank(before) => Cow::Owned(format!("{before}├▸{after}")),
        _ => Cow::Borrowed(line),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Nothing but spaces and styles.
fn is_blank(text: &str) -> bool {
    let mut pieces = text.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default();
    let rest = |piece: &str| piece.split_once('m').is_some_and(|(_, rest)| rest.trim().is_empty());
    first.trim().is_empty() && pieces.all(rest)
}

fn title<'a>(one: &'a Merged<'_>, width: Option<usize>) -> Title<'a> {
    let finding = one.finding;
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
        Severity::Pedantic => Level::NOTE.with_name("pedantic"),
    };
    let name = format!("{}[{}]: ", finding.severity, finding.rule.id);
    let message = clean(&one.said.message);
    let message = match width {
        Some(width) => {
            let room = width.saturating_sub(name.len()).max(WRAP_COLUMNS_MIN);
            Cow::Owned(words::wrap(&message, room).join("\n"))
        }
        None => message,
    };
    level.primary_title(message).id(finding.rule.id)
}

/// The lines below the snippets, each with the word it begins with.
fn footers(
    said: &Said,
    clusters: Option<&str>,
    asides: Vec<String>,
    elsewhere: &[String],
) -> Vec<(&'static str, String)> {
    let mut lines: Vec<(&'static str, String)> = asides.into_iter().map(|text| ("note", text)).collect();
    if !said.cost.is_empty() {
        lines.push(("cost", clean(&said.cost).into_owned()));
    }
    lines.extend(said.fix.iter().map(|fix| ("fix", clean(fix).into_owned())));
    lines.extend(said.notes.iter().map(|note| ("note", clean(note).into_owned())));
    lines.extend(say::elsewhere(elsewhere).map(|text| ("note", clean(&text).into_owned())));
    lines.extend(clusters.map(|clusters| ("cluster", clean(clusters).into_owned())));
    lines
}

fn wrapped(text: &str, name: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let room = width.saturating_sub(MARGIN_COLUMNS + name.len()).max(WRAP_COLUMNS_MIN);
    words::wrap(text, room).join("\n")
}

/// How one or several locations are shown.
enum Shown<'a> {
    Lines(Chunk<'a>),
    /// A place whose text can't be shown.
    Place {
        path: String,
        line: usize,
        column: usize,
        label: Option<String>,
    },
    /// No file holds it.
    Nowhere(String),
}

/// Lines of one file with what is marked in them.
struct Chunk<'a> {
    path: String,
    text: &'a str,
    /// Numbers of lines, from 0.
    first: usize,
    last: usize,
    marks: Vec<Mark<'a>>,
}

/// A place in one line.
struct Mark<'a> {
    line: usize,
    /// Bytes of that line.
    bytes: Range<usize>,
    site: &'a Site,
    role: &'static str,
    label: &'a str,
    /// The place that the finding is about.
    is_primary: bool,
}

/// Locations into chunks: those of one file that are near to each other together, in the order of their first.
fn arrange<'a>(one: &'a Merged<'_>, sources: &'a impl Sources, width: Option<usize>) -> Vec<Shown<'a>> {
    let mut shown: Vec<Shown<'a>> = Vec::new();
    let mut asides: Vec<Shown<'a>> = Vec::new();
    for (index, ((role, site), label)) in one.finding.places().zip(&one.said.labels).enumerate() {
        let span = site.span();
        let Some((path, position)) = sources.locate(span) else {
            if !label.is_empty() {
                shown.push(Shown::Nowhere(clean(label).into_owned()));
            }
            continue;
        };
        let (line, column) = (position.line as usize, position.column as usize);
        let text = sources.source(span.file).map(source::Source::text).filter(|_| column <= COLUMN_MAX);
        let Some(text) = text else {
            let label = (!label.is_empty()).then(|| clean(label).into_owned());
            shown.push(Shown::Place { path: clean(path).into_owned(), line, column, label });
            continue;
        };
        let (start, bytes) = first_line(text, span.start as usize, span.end as usize);
        let bytes = bytes.start - start..bytes.end - start;
        // The gutter, the line up to the end of the mark, and a space.
        let before = line.to_string().len() + 3 + column + bytes.len();
        let fits = width.is_none_or(|width| before + words::width(label) <= width.max(WRAP_COLUMNS_MIN));
        let label = if fits {
            label.as_str()
        } else {
            let file = path.rsplit('/').next().unwrap_or(path);
            asides.push(Shown::Nowhere(clean(&format!("{file}:{line}: {label}")).into_owned()));
            ""
        };
        // The primary place is the first of them.
        let mark = Mark { line: line - 1, bytes, site, role, label, is_primary: index == 0 };
        add(&mut shown, &clean(path), text, mark);
    }
    shown.extend(asides);
    shown
}

fn add<'a>(shown: &mut Vec<Shown<'a>>, path: &str, text: &'a str, mark: Mark<'a>) {
    let near = shown.iter_mut().find_map(|shown| match shown {
        Shown::Lines(chunk) if chunk.path == path && chunk.is_near(&mark) => Some(chunk),
        _ => None,
    });
    let Some(chunk) = near else {
        let (first, last) = (mark.line, mark.line);
        shown.push(Shown::Lines(Chunk { path: path.to_owned(), text, first, last, marks: vec![mark] }));
        return;
    };
    chunk.first = chunk.first.min(mark.line);
    chunk.last = chunk.last.max(mark.line);
    // One place may be evidence for two things; said twice it would only confuse.
    if !chunk.marks.iter().any(|known| (known.site, known.role, known.label) == (mark.site, mark.role, mark.label)) {
        chunk.marks.push(mark);
    }
}

/// The beginning of the line that a span begins in, and the part of the span in that line.
fn first_line(text: &str, start: usize, end: usize) -> (usize, Range<usize>) {
    let start = floor(text, start);
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let end = floor(text, end).clamp(start, line_end);
    let shown = text[start..end].trim_end().len();
    (line_start, start..start + shown)
}

/// The nearest place at or before `at` where a character begins.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl<'a> Chunk<'a> {
    fn is_near(&self, mark: &Mark<'_>) -> bool {
        let one_line = self.first == mark.line && self.last == mark.line;
        let in_view = mark.is_in_view() && self.marks.iter().all(Mark::is_in_view);
        let near = mark.line + LINES_APART_MAX >= self.first && mark.line <= self.last + LINES_APART_MAX;
        one_line || (in_view && near)
    }

    /// The chunk's own lines, cleaned and cut, with the marks moved accordingly.
    fn snippet(&self) -> Snippet<'a, Annotation<'a>> {
        let mut source = String::new();
        let mut annotations = Vec::new();
        let lines = self.text.split('\n').enumerate().skip(self.first).take(self.last - self.first + 1);
        for (number, line) in lines {
            let line = line.strip_suffix('\r').unwrap_or(line);
            let marks = || self.marks.iter().filter(move |mark| mark.line == number);
            for mark in marks() {
                let at = source.len();
                let start = at + clean_source(&line[..mark.bytes.start.min(line.len())]).len();
                let end = at + clean_source(&line[..mark.bytes.end.min(line.len())]).len();
                annotations.push(mark.annotation(start..end));
            }
            let needed = marks().map(|mark| mark.bytes.end).max().unwrap_or(0);
            source.push_str(&clean_source(cut(line, needed)));
            source.push('\n');
        }
        Snippet::source(source).path(self.path.clone()).line_start(self.first + 1).annotations(annotations)
    }
}

impl<'a> Mark<'a> {
    fn is_in_view(&self) -> bool {
        self.bytes.start <= COLUMN_SHARED_MAX
    }

    fn annotation(&self, range: Range<usize>) -> Annotation<'a> {
        let kind = if self.is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        let label = (!self.label.is_empty()).then(|| clean(self.label));
        kind.span(range).label(label)
    }
}

/// A line without most of what follows byte `needed`.
fn cut(line: &str, needed: usize) -> &str {
    let needed = floor(line, needed);
    match line[needed..].char_indices().nth(REST_CHARS_MAX) {
        Some((rest, _)) => &line[..needed + rest],
        None => line,
    }
}
