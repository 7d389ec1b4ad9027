//! Finds the comments in a text, and what each of them covers.

use std::ops::Range;

use kustomize::Files as _;
use read::Repository;
use source::{FileId, Span};
use yaml::{Node, Value};

/// What every such comment holds.
pub(super) const NEEDLE: &str = "coldstart:";
const WORD: &str = "allow";
const BEFORE_REASON: &str = "--";

/// One comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comment {
    /// From the `#` to the end of the line.
    pub(crate) span: Span,
    /// The bytes of the file that it covers.
    pub(crate) scope: Range<u32>,
    /// Whether that is a whole document, and not one line.
    pub(crate) is_of_document: bool,
    /// The names it gives, with their places.
    pub(crate) rules: Vec<(String, Span)>,
    pub(crate) has_reason: bool,
}

/// The comments of a file, in their order.
pub(super) fn all(repository: &Repository, file: FileId, text: &str) -> Vec<Comment> {
    let mut found = in_text(file, text);
    if let Some((_, documents)) = repository.path(file).and_then(|path| repository.documents(path)) {
        let texts = Texts::of(file, documents.iter().filter_map(|document| document.root.as_ref()));
        found.retain(|comment| !texts.hold(comment.span));
    }
    found
}

/// Where the texts of a file are: what looks like a comment in a script in a ConfigMap is none.
struct Texts(Vec<Range<u32>>);

impl Texts {
    fn of<'n>(file: FileId, roots: impl Iterator<Item = &'n Node>) -> Self {
        let mut found = Vec::new();
        roots.for_each(|root| gather(file, root, &mut found));
        found.sort_by_key(|text| (text.start, text.end));
        found.dedup();
        Self(found)
    }

    /// Whether a place is inside of one.
    fn hold(&self, at: Span) -> bool {
        let before = self.0.partition_point(|text| text.start < at.start);
        before.checked_sub(1).is_some_and(|last| at.start < self.0[last].end)
    }
}

fn gather(file: FileId, node: &Node, found: &mut Vec<Range<u32>>) {
    match &node.value {
        Value::Map(map) => map.iter().for_each(|entry| gather(file, &entry.value, found)),
        Value::Seq(items) => items.iter().for_each(|item| gather(file, item, found)),
        Value::Scalar(_) if node.span.file == file => found.push(node.span.start..node.span.end),
        Value::Scalar(_) => {}
    }
}

fn in_text(file: FileId, text: &str) -> Vec<Comment> {
    let lines = lines(text);
    let kinds: Vec<Kind> = lines.iter().map(|line| Kind::of(&text[line.clone()])).collect();
    let ahead = Ahead::new(&kinds);
    let start_of = |index: Option<usize>| index.map_or(text.len(), |index| lines[index].start);
    let mut found = Vec::new();
    let mut head = Head::default();
    for (index, line) in lines.iter().enumerate() {
        let content = &text[line.clone()];
        let kind = kinds[index];
        head.pass(kind, line.start);
        let Some((at, rest)) = words(content) else { continue };
        let is_of_document = kind != Kind::Content && !head.has_content;
        let scope = match kind {
            Kind::Content => line.clone(),
            _ if is_of_document => head.start..start_of(ahead.document_end(index)),
            _ => ahead.said(index).map_or(text.len()..text.len(), |next| lines[next].clone()),
        };
        let mut comment = comment(file, line.start + at, line.end, rest..content.len(), content, scope);
        comment.is_of_document = is_of_document;
        found.push(comment);
    }
    found
}

fn comment(file: FileId, start: usize, end: usize, words: Range<usize>, line: &str, scope: Range<usize>) -> Comment {
    let said = &line[words.clone()];
    let (names, reason) = said.split_once(BEFORE_REASON).unwrap_or((said, ""));
    let first = end - said.len();
    let mut rules = Vec::new();
    let mut offset = 0;
    for name in names.split([',', ' ', '\t']) {
        if !name.is_empty() {
            rules.push((name.to_owned(), span(file, first + offset, first + offset + name.len())));
        }
        offset += name.len() + 1;
    }
    let scope = source::to_u32(scope.start)..source::to_u32(scope.end);
    let has_reason = !reason.trim().is_empty();
    Comment { span: span(file, start, end), scope, is_of_document: false, rules, has_reason }
}

/// Where the comment begins in a line, and where the words after `allow` do.
fn words(line: &str) -> Option<(usize, usize)> {
    let needle = line.find(NEEDLE)?;
    let hash = line[..needle].trim_end_matches([' ', '\t']).strip_suffix('#')?.len();
    if hash > 0 && !line[..hash].ends_with([' ', '\t']) {
        return None;
    }
    let after = needle + NEEDLE.len();
    let rest = line[after..].trim_start_matches([' ', '\t']).strip_prefix(WORD)?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then_some((hash, line.len() - rest.len()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Blank, or nothing but a comment, or a directive.
    Nothing,
    /// `---`.
    Start,
    Content,
}

impl Kind {
    fn of(line: &str) -> Self {
        match line.trim_start_matches([' ', '\t']).as_bytes().first() {
            None | Some(b'#') => Self::Nothing,
            Some(b'%') if line.starts_with('%') => Self::Nothing,
            _ if line.strip_prefix("---").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t'])) => {
                Self::Start
            }
            _ => Self::Content,
        }
    }
}

/// The beginning of the document at hand.
#[derive(Default)]
struct Head {
    start: usize,
    has_content: bool,
}

impl Head {
    fn pass(&mut self, kind: Kind, start: usize) {
        match kind {
            Kind::Start if self.has_content => *self = Self { start, has_content: false },
            Kind::Content => self.has_content = true,
            Kind::Start | Kind::Nothing => {}
        }
    }
}

/// For every line, which of those below it is the first of a kind. There may be as many comments as lines.
struct Ahead {
    content: Vec<Option<usize>>,
    start: Vec<Option<usize>>,
}

impl Ahead {
    fn new(kinds: &[Kind]) -> Self {
        Self { content: first_below(kinds, Kind::Content), start: first_below(kinds, Kind::Start) }
    }

    /// The first line below that says something.
    fn said(&self, line: usize) -> Option<usize> {
        self.content[line].into_iter().chain(self.start[line]).min()
    }

    /// The line that ends the document whose first content is still to come.
    fn document_end(&self, line: usize) -> Option<usize> {
        self.start[self.content[line]?]
    }
}

fn first_below(kinds: &[Kind], wanted: Kind) -> Vec<Option<usize>> {
    let mut next = None;
    let mut found = vec![None; kinds.len()];
    for (line, kind) in kinds.iter().enumerate().rev() {
        found[line] = next;
        if *kind == wanted {
            next = Some(line);
        }
    }
    found
}

/// The ranges of all lines, without their ends.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        lines.push(start..start + line.trim_end_matches(['\n', '\r']).len());
        start += line.len();
    }
    lines
}

fn span(file: FileId, start: usize, end: usize) -> Span {
    Span::new(file, source::to_u32(start), source::to_u32(end))
}

#[cfg(test)]
mod tests {
    use source::FileId;

    use super::in_text;

    /// What each comment of a text covers, and whether it says why.
    fn covered(text: &str) -> Vec<(&str, Vec<String>, bool)> {
        let found = in_text(FileId(0), text);
        let shown = found.into_iter().map(|comment| {
            let scope = comment.scope.start as usize..comment.scope.end as usize;
            for (name, at) in &comment.rules {
                assert_eq!(&text[at.start as usize..at.end as usize], name);
            }
            (&text[scope], comment.rules.into_iter().map(|(name, _)| name).collect(), comment.has_reason)
        });
        shown.collect()
    }

    #[test]
    fn at_the_end_of_a_line_it_covers_that_line() {
        let text = "a: 1\nb: 2 # coldstart: allow slow-retry -- rebuilt twice a year\nc: 3\n";
        let line = "b: 2 # coldstart: allow slow-retry -- rebuilt twice a year";
        assert_eq!(covered(text), [(line, vec!["slow-retry".to_owned()], true)]);
    }

    #[test]
    fn on_a_line_of_its_own_it_covers_the_next_that_says_something() {
        let text = "a: 1\n  # coldstart: allow one, two -- why\n\n# more words\nb: 2\n";
        assert_eq!(covered(text), [("b: 2", vec!["one".to_owned(), "two".to_owned()], true)]);
        assert_eq!(covered("a: 1\n# coldstart: allow one -- why"), [("", vec!["one".to_owned()], true)]);
    }

    #[test]
    fn above_all_content_it_covers_the_document() {
        let text = "# hello\n---\n# coldstart: allow one -- why\na: 1\nb: 2\n---\nc: 3\n---\n# coldstart: allow two -- why\nd: 4\n";
        let covered = covered(text);
        assert!(covered[0].0.starts_with("# hello") && covered[0].0.ends_with("b: 2\n"), "{covered:?}");
        assert!(covered[1].0.starts_with("---\n# cold") && covered[1].0.ends_with("d: 4\n"), "{covered:?}");
    }

    #[test]
    fn without_a_reason_it_says_so() {
        assert!(!covered("# coldstart: allow one\na: 1\n")[0].2);
        assert!(!covered("# coldstart: allow one --  \na: 1\n")[0].2);
        assert!(covered("#coldstart:allow one -- b\r\na: 1\r\n")[0].2);
    }

    #[test]
    fn other_words_are_no_such_comment() {
        for text in [
            "a: x#coldstart: allow one -- b\n",
            "# coldstart: allowance\n",
            "coldstart: allow\n",
            "# see coldstart: allow it\n",
        ] {
            assert_eq!(covered(text), []);
        }
    }
}
