//! From text to documents. One bad document is one [`Problem`], and the rest of the file is still read.

use std::collections::BTreeMap;
use std::ops::Range;

use ecow::{EcoString, EcoVec};
use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, Tag};
use source::{FileId, Span, to_u32};

use crate::lenient;
use crate::node::{Entry, Map, Node, Scalar, ScalarKind, Value};

/// Longer than YAML's own 1024: annotations and generated keys get long.
const KEY_CHARACTERS_MAX: usize = 64 * 1024;

/// What one document may cost. Aliases are shared, not copied, so these bound what walking the tree costs.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Nodes of one document, every alias counted as what it stands for.
    pub nodes_max: usize,
    /// How deep containers may nest, through aliases too.
    pub depth_max: usize,
    /// Documents in one file.
    pub documents_max: usize,
}

/// How deep containers may nest, in files and in what is made of them.
pub const DEPTH_MAX: usize = 300;

impl Default for Limits {
    fn default() -> Self {
        Self { nodes_max: 2_000_000, depth_max: DEPTH_MAX, documents_max: 100_000 }
    }
}

/// One document of a file. `root` is `None` when the document could not be read, and the problems say why.
#[derive(Clone, Debug, Default)]
pub struct Document {
    pub root: Option<Node>,
    pub problems: Vec<Problem>,
}

/// What is wrong with a document, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub message: String,
    pub span: Span,
    /// Nothing is wrong with it, but it is more than is read here.
    pub is_limit: bool,
}

impl Problem {
    fn wrong(message: impl Into<String>, span: Span) -> Self {
        Self { message: message.into(), span, is_limit: false }
    }

    fn limit(message: impl Into<String>, span: Span) -> Self {
        Self { message: message.into(), span, is_limit: true }
    }
}

/// How often a text is read again with one more space in it. Each is a slip of one person's in one file.
const SPACES_MAX: usize = 64;
/// Longer texts are not.
const REREAD_BYTES_MAX: usize = 1024 * 1024;

/// Reads all documents of a file.
pub fn parse(file: FileId, text: &str, limits: Limits) -> Vec<Document> {
    let mut best = read(file, text, Moved::default(), limits);
    if bad(&best) == 0 {
        return best;
    }
    let mut missing = lenient::before_colons(text);
    for _ in 0..SPACES_MAX {
        let again = if missing.is_empty() { best.clone() } else { read_filled(file, text, &missing, limits) };
        let problems = again.iter().filter(|document| is_bad(document)).flat_map(|document| &document.problems);
        let mut spaces = problems.filter_map(|problem| lenient::at_problem(text, problem));
        let further = spaces.find(|(at, _)| !missing.contains_key(at) && text.len() <= REREAD_BYTES_MAX);
        if bad(&again) < bad(&best) {
            best = again;
        }
        let Some((at, count)) = further else { break };
        missing.insert(at, count);
    }
    best
}

fn read_filled(file: FileId, text: &str, missing: &lenient::Missing, limits: Limits) -> Vec<Document> {
    let (filled, moved) = lenient::filled(text, missing);
    read(file, &filled, moved, limits)
}

fn bad(documents: &[Document]) -> usize {
    documents.iter().filter(|document| is_bad(document)).count()
}

fn is_bad(document: &Document) -> bool {
    document.root.is_none() && !document.problems.is_empty()
}

/// Reads a file as if these ranges of whole lines (sorted, apart) were not in it. Spans are still those of the whole text.
pub fn parse_leaving_out(file: FileId, text: &str, ranges: &[Range<usize>], limits: Limits) -> Vec<Document> {
    let mut short = String::with_capacity(text.len());
    let mut moved = Moved::default();
    let mut behind = 0;
    for range in ranges {
        short.push_str(text.get(behind..range.start).unwrap_or_default());
        behind = range.end;
        moved.cuts.push((to_u32(short.len()), to_i64(behind - short.len())));
    }
    short.push_str(text.get(behind..).unwrap_or_default());
    read(file, &short, moved, limits)
}

fn read(file: FileId, text: &str, moved: Moved, limits: Limits) -> Vec<Document> {
    let mut options = Options::default();
    options.emit_unresolved_aliases = true;
    // Other users of the parser in the same program may want them.
    options.set_emit_comments(false);
    options.simple_key_max_lookahead = KEY_CHARACTERS_MAX;
    let mut reader = Reader {
        parser: Parser::new_from_str_with_options(text, options),
        text,
        behind: 0,
        file,
        moved,
        limits,
        document: Document::default(),
        anchors: BTreeMap::new(),
        nodes: 0,
        entries: Vec::new(),
        items: Vec::new(),
    };
    reader.documents()
}

/// Reads text that holds one value (the body of an inline patch, say). `None` for no document or a bad one.
pub fn parse_value(file: FileId, text: &str) -> Option<Node> {
    parse(file, text, Limits::default()).into_iter().next()?.root
}

struct Reader<'text> {
    parser: Parser<'text, granit_parser::StrInput<'text>>,
    text: &'text str,
    /// Where the event before the one at hand ended, in `text`.
    behind: usize,
    file: FileId,
    moved: Moved,
    limits: Limits,
    document: Document,
    anchors: BTreeMap<usize, Anchored>,
    nodes: usize,
    /// The entries of all mappings that are open, the innermost last, and the items of all sequences: a closed one is
    /// moved into memory of just its size, once, instead of growing there.
    entries: Vec<Entry>,
    items: Vec<Node>,
}

/// How the text that is being read differs from the whole one: from which byte of it on, how many bytes further behind it is
/// there.
#[derive(Default)]
pub(crate) struct Moved {
    pub(crate) cuts: Vec<(u32, i64)>,
}

impl Moved {
    /// The place in the whole text of a place in the text without. A node that ends at a cut ends before it.
    fn whole(&self, span: Span) -> Span {
        if self.cuts.is_empty() {
            return span;
        }
        let start = self.there(span.start, self.cuts.partition_point(|(at, _)| *at <= span.start));
        let end = self.there(span.end, self.cuts.partition_point(|(at, _)| *at < span.end));
        Span::new(span.file, start, end.max(start))
    }

    fn there(&self, here: u32, cuts: usize) -> u32 {
        let further = cuts.checked_sub(1).map_or(0, |last| self.cuts[last].1);
        u32::try_from(i64::from(here) + further).unwrap_or(0)
    }
}

/// What an anchor stands for, with what it costs to walk.
#[derive(Clone)]
struct Anchored {
    node: Node,
    nodes: usize,
    depth: usize,
}

/// A node with the depth of what is below it.
struct Built {
    node: Node,
    depth: usize,
}

/// What the parser came upon, and where in the whole text.
enum Next {
    Scalar {
        scalar: Scalar,
        at: Span,
        anchor: usize,
        /// Whether it is the key `<<`.
        merges: bool,
    },
    Sequence {
        at: Span,
        anchor: usize,
    },
    Mapping {
        at: Span,
        anchor: usize,
    },
    Alias {
        at: Span,
        id: usize,
    },
    /// A sequence or mapping ends.
    Closes(Span),
    /// The stream or a document.
    Begins,
    DocumentEnds,
    StreamEnds,
}

impl Reader<'_> {
    fn documents(&mut self) -> Vec<Document> {
        let mut documents = Vec::new();
        loop {
            match self.document() {
                Ok(true) => documents.push(std::mem::take(&mut self.document)),
                Ok(false) => break,
                Err(problem) => {
                    self.document.root = None;
                    self.document.problems.push(problem);
                    documents.push(std::mem::take(&mut self.document));
                    if !matches!(self.parser.proceed_next_document(), Ok(true)) {
                        break;
                    }
                }
            }
            if documents.len() >= self.limits.documents_max {
                let message =
                    format!("more than {} documents in one file; the rest was not read", self.limits.documents_max);
                let problem = Problem::limit(message, Span::new(self.file, 0, 0));
                documents.push(Document { problems: vec![problem], ..Document::default() });
                break;
            }
        }
        documents
    }

    /// Reads up to the end of the next document; `false` when there is none.
    fn document(&mut self) -> Result<bool, Problem> {
        self.anchors.clear();
        self.nodes = 0;
        // A document with a problem leaves what it had open.
        self.entries.clear();
        self.items.clear();
        loop {
            match self.next()? {
                Next::Begins => {}
                Next::DocumentEnds => return Ok(true),
                Next::StreamEnds => return Ok(false),
                next => self.document.root = Some(self.node(next, 0)?.node),
            }
        }
    }

    /// The parser's events are large: what of each counts is taken out at once.
    fn next(&mut self) -> Result<Next, Problem> {
        let (event, span) = match self.parser.next_event() {
            Some(Ok(next)) => next,
            Some(Err(error)) => return Err(self.scan_problem(&error)),
            None => return Ok(Next::StreamEnds),
        };
        Ok(match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let at = self.begin(if is_block { self.block_span(span) } else { self.span_as_read(span) });
                let merges = style == ScalarStyle::Plain && text == "<<";
                Next::Scalar { scalar: scalar(&text, style, tag.as_deref()), at, anchor, merges }
            }
            Event::SequenceStart(_, anchor, _) => Next::Sequence { at: self.begin(self.span_as_read(span)), anchor },
            Event::MappingStart(_, anchor, _) => Next::Mapping { at: self.begin(self.span_as_read(span)), anchor },
            Event::Alias(id) => Next::Alias { at: self.begin(self.span_as_read(span)), id },
            Event::SequenceEnd | Event::MappingEnd => Next::Closes(self.span(span)),
            Event::DocumentStart(..) | Event::StreamStart => Next::Begins,
            Event::DocumentEnd => Next::DocumentEnds,
            Event::StreamEnd => Next::StreamEnds,
            Event::UnresolvedAlias(name) => {
                let message = format!("alias `*{name}` names no anchor of this document");
                return Err(Problem::wrong(message, self.span(span)));
            }
            other => return Err(Problem::wrong(format!("unexpected {other:?}"), self.span(span))),
        })
    }

    /// Notes that a value stands here in the text that is being read; its place in the whole one.
    fn begin(&mut self, read: Span) -> Span {
        self.behind = read.end as usize;
        self.moved.whole(read)
    }

    fn node(&mut self, next: Next, depth: usize) -> Result<Built, Problem> {
        let before = self.nodes;
        let (anchor, built) = match next {
            Next::Scalar { scalar, at, anchor, .. } => {
                self.count(1, depth, at)?;
                (anchor, Built { node: Node::new(Value::Scalar(scalar), at), depth: 0 })
            }
            Next::Sequence { at, anchor } => (anchor, self.sequence(at, depth)?),
            Next::Mapping { at, anchor } => (anchor, self.mapping(at, depth)?),
            Next::Alias { id, at } => return self.alias(id, at, depth),
            Next::Closes(at) => return Err(Problem::wrong("an end without a beginning", at)),
            Next::Begins | Next::DocumentEnds | Next::StreamEnds => {
                let end = Span::new(self.file, to_u32(self.behind), to_u32(self.behind));
                return Err(Problem::wrong("the file ends inside a mapping or sequence", end));
            }
        };
        if anchor != 0 {
            let nodes = self.nodes - before;
            self.anchors.insert(anchor, Anchored { node: built.node.clone(), nodes, depth: built.depth });
        }
        Ok(built)
    }

    fn alias(&mut self, id: usize, at: Span, depth: usize) -> Result<Built, Problem> {
        let Some(anchored) = self.anchors.get(&id).cloned() else {
            return Err(Problem::wrong("an alias inside its own anchor", at));
        };
        self.count(anchored.nodes + 1, depth + anchored.depth, at)?;
        Ok(Built { node: anchored.node, depth: anchored.depth })
    }

    fn sequence(&mut self, start: Span, depth: usize) -> Result<Built, Problem> {
        self.count(1, depth, start)?;
        let first = self.items.len();
        let mut deepest = 0;
        loop {
            let next = self.next()?;
            if let Next::Closes(end) = next {
                let span = self.closed(start, self.items[first..].last().map(|item| item.span), end);
                let items: EcoVec<Node> = self.items.drain(first..).collect();
                return Ok(Built { node: Node::seq(items, span), depth: deepest });
            }
            let item = self.node(next, depth + 1)?;
            deepest = deepest.max(item.depth + 1);
            self.items.push(item.node);
        }
    }

    fn mapping(&mut self, start: Span, depth: usize) -> Result<Built, Problem> {
        self.count(1, depth, start)?;
        let first = self.entries.len();
        let mut keys = Keys::default();
        let mut sources = Vec::new();
        let mut deepest = 0;
        loop {
            let next = self.next()?;
            if let Next::Closes(end) = next {
                let span = self.closed(start, self.entries[first..].last().map(|entry| entry.value.span), end);
                merge_into(&mut self.entries, first, &mut keys, &sources);
                let map: Map = self.entries.drain(first..).collect();
                return Ok(Built { node: Node::map(map, span), depth: deepest });
            }
            let merges = matches!(next, Next::Scalar { merges: true, .. });
            let key = self.node(next, depth + 1)?.node;
            let Value::Scalar(Scalar { text, .. }) = key.value else {
                return Err(Problem::wrong("a mapping key that is itself a mapping or a sequence", key.span));
            };
            let next = self.next()?;
            let value = self.node(next, depth + 1)?;
            deepest = deepest.max(value.depth + 1);
            if merges {
                sources.push(value.node);
            } else if let Some(at) = keys.position(&text, &self.entries[first..]) {
                let message = format!("key `{text}` stands twice in one mapping");
                self.document.problems.push(Problem::wrong(message, key.span));
                self.entries[first + at].value = value.node;
            } else {
                self.entries.push(Entry { key: text, key_span: key.span, value: value.node });
            }
        }
    }

    fn count(&mut self, nodes: usize, depth: usize, span: Span) -> Result<(), Problem> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > self.limits.nodes_max {
            let max = self.limits.nodes_max;
            let message = format!("more than {max} values in one document, aliases counted as what they stand for");
            return Err(Problem::limit(message, span));
        }
        if depth > self.limits.depth_max {
            return Err(Problem::limit(format!("nested deeper than {} levels", self.limits.depth_max), span));
        }
        Ok(())
    }

    /// The range of a container: flow style ends at its bracket, block style with its last child.
    fn closed(&self, start: Span, last_child: Option<Span>, end: Span) -> Span {
        let last = match last_child {
            Some(child) if end.end <= end.start => child.end.max(start.end),
            _ => end.end.max(start.end),
        };
        Span::new(self.file, start.start, last.max(start.start))
    }

    /// The range of a literal or folded block: from its indicator, not from its first word, to its last line, not into
    /// the one after.
    fn block_span(&self, span: granit_parser::Span) -> Span {
        let span = self.span_as_read(span);
        let (start, end) = (span.start as usize, span.end as usize);
        let indicator = self.text.get(self.behind..start).and_then(|between| between.find(['|', '>']));
        let start = indicator.map_or(start, |at| self.behind + at);
        let block = self.text.get(start..end).unwrap_or_default();
        let whole_lines = block.trim_end_matches([' ', '\t']);
        let end = if whole_lines.ends_with('\n') { start + whole_lines.len() } else { end };
        Span::new(self.file, to_u32(start), to_u32(end))
    }

    fn span(&self, span: granit_parser::Span) -> Span {
        self.moved.whole(self.span_as_read(span))
    }

    /// Where it is in the text that is being read.
    fn span_as_read(&self, span: granit_parser::Span) -> Span {
        let range = span.byte_range().unwrap_or(0..0);
        Span::new(self.file, to_u32(range.start), to_u32(range.end))
    }

    fn scan_problem(&self, error: &ScanError) -> Problem {
        let at = to_u32(error.marker().byte_offset().unwrap_or(0));
        let span = self.moved.whole(Span::new(self.file, at, at));
        match error.kind() {
            ErrorKind::RecursionLimitExceeded => Problem::limit("nested more deeply than is read", span),
            _ => Problem::wrong(error.info(), span),
        }
    }
}

/// Finds keys of a mapping that is being read: by looking through it while it is small, by an index once it is not, so
/// that neither many keys nor many doubled or merged ones cost more than their number.
#[derive(Default)]
struct Keys {
    index: BTreeMap<EcoString, usize>,
}

impl Keys {
    const SMALL: usize = 16;

    /// Where `key` stands in a mapping, which has only grown since the last call.
    fn position(&mut self, key: &EcoString, entries: &[Entry]) -> Option<usize> {
        if entries.len() < Self::SMALL {
            return entries.iter().position(|entry| entry.key == *key);
        }
        for (at, entry) in entries.iter().enumerate().skip(self.index.len()) {
            self.index.insert(entry.key.clone(), at);
        }
        self.index.get(key).copied()
    }
}

/// `<<`: keys that the mapping, which begins at `first`, does not have itself come from the merged mappings, earlier ones
/// first.
fn merge_into(entries: &mut Vec<Entry>, first: usize, keys: &mut Keys, merges: &[Node]) {
    for merged in merges {
        let sources = match &merged.value {
            Value::Seq(items) => items.as_slice(),
            _ => std::slice::from_ref(merged),
        };
        for entry in sources.iter().flat_map(Node::entries) {
            if keys.position(&entry.key, &entries[first..]).is_none() {
                entries.push(entry.clone());
            }
        }
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Scalar {
    let kind = match tag.and_then(Tag::core_suffix) {
        Some("str" | "binary") => ScalarKind::Str,
        Some("int") => ScalarKind::Int,
        Some("float") => ScalarKind::Float,
        Some("bool") => ScalarKind::Bool,
        Some("null") => ScalarKind::Null,
        _ if style == ScalarStyle::Plain => ScalarKind::of_plain(text),
        _ => ScalarKind::Str,
    };
    Scalar { text: text.into(), kind }
}

pub(crate) fn to_i64(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
