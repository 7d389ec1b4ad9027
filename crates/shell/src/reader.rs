//! A place in the text that moves forward, and what bounds the work.

use crate::{At, DEPTH_MAX, Document, Fault, FaultKind, List, NODES_MAX, Script};

/// How many bytes may be looked at for each byte of a text.
const STEPS_PER_BYTE: usize = 40;
/// And for a text of no bytes.
const STEPS_MIN: usize = 20_000;

pub(crate) type Read<T> = Result<T, Fault>;

/// A here-document whose lines are still to come.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) end: String,
    pub(crate) is_verbatim: bool,
    pub(crate) is_unindented: bool,
}

pub(crate) struct Reader<'text> {
    pub(crate) text: &'text str,
    pub(crate) at: usize,
    pub(crate) end: usize,
    pub(crate) pending: Vec<Pending>,
    documents: Vec<Document>,
    depth: usize,
    nodes: usize,
    steps: usize,
}

impl<'text> Reader<'text> {
    pub(crate) fn new(text: &'text str, within: At) -> Self {
        let steps = (within.end - within.start) * STEPS_PER_BYTE + STEPS_MIN;
        let (at, end) = (within.start, within.end);
        Self { text, at, end, pending: Vec::new(), documents: Vec::new(), depth: 0, nodes: 0, steps }
    }

    /// Reads all of it. After a fault it goes on with the next line.
    pub(crate) fn script(mut self) -> Script {
        let (mut statements, mut faults) = (Vec::new(), Vec::new());
        while self.at < self.end {
            let begin = self.at;
            self.depth = 0;
            let fault = match self.list(&mut statements) {
                Ok(()) if self.at >= self.end => break,
                Ok(()) => self.fault(FaultKind::Unexpected, self.at),
                Err(fault) => fault,
            };
            let is_last = fault.kind == FaultKind::TooLarge || faults.len() >= NODES_MAX / 100;
            // A quote that does not end takes only its own line with it.
            self.at = if fault.kind == FaultKind::Unclosed { fault.at.start.max(begin) } else { self.at };
            self.pending.clear();
            let rest = self.text.get(self.at..self.end).unwrap_or_default();
            self.at += rest.find('\n').map_or(rest.len(), |line| line + 1);
            faults.push(fault);
            if is_last {
                break;
            }
        }
        Script { body: List { statements }, documents: self.documents, faults }
    }

    pub(crate) fn rest(&self) -> &'text str {
        self.text.get(self.at..self.end).unwrap_or_default()
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(crate) fn peek_at(&self, ahead: usize) -> Option<u8> {
        let at = self.at + ahead;
        if at < self.end { self.text.as_bytes().get(at).copied() } else { None }
    }

    pub(crate) fn starts_with(&self, sign: &str) -> bool {
        self.rest().as_bytes().starts_with(sign.as_bytes())
    }

    /// Takes a sign if it stands here.
    pub(crate) fn take(&mut self, sign: &str) -> bool {
        let is_here = self.starts_with(sign);
        self.at += if is_here { sign.len() } else { 0 };
        is_here
    }

    pub(crate) fn expect(&mut self, sign: &str, begun: usize) -> Read<()> {
        if self.take(sign) {
            return Ok(());
        }
        let kind = if self.at >= self.end { FaultKind::Unclosed } else { FaultKind::Unexpected };
        Err(self.fault(kind, begun))
    }

    /// The next character, taken.
    pub(crate) fn next_char(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    pub(crate) fn fault(&self, kind: FaultKind, start: usize) -> Fault {
        Fault { kind, at: At::new(start, self.at.max(start)) }
    }

    pub(crate) fn since(&self, start: usize) -> At {
        At::new(start, self.at)
    }

    /// Reads something that may hold itself.
    pub(crate) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.fault(FaultKind::TooDeep, self.at));
        }
        let read = read(self);
        self.depth = self.depth.saturating_sub(1);
        read
    }

    /// Counts a word or a command.
    pub(crate) fn count(&mut self) -> Read<()> {
        self.nodes += 1;
        if self.nodes > NODES_MAX { Err(self.fault(FaultKind::TooLarge, self.at)) } else { Ok(()) }
    }

    /// Counts bytes that are looked at, perhaps not for the first time.
    pub(crate) fn spend(&mut self, bytes: usize) -> Read<()> {
        match self.steps.checked_sub(bytes + 1) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => Err(self.fault(FaultKind::TooLarge, self.at)),
        }
    }

    /// Blanks and lines that continue.
    pub(crate) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                Some(b'\\') if self.starts_with("\\\r\n") => self.at += 3,
                _ => return,
            }
        }
    }

    /// A comment, if one begins here.
    pub(crate) fn skip_comment(&mut self) {
        if self.peek() == Some(b'#') {
            self.at += self.rest().find('\n').unwrap_or(self.end - self.at);
        }
    }

    /// Blanks, comments and line ends, with the documents that begin after them.
    pub(crate) fn skip_lines(&mut self) -> Read<()> {
        loop {
            self.skip_blanks();
            self.skip_comment();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.line_end()?;
        }
    }

    /// The end of a line, and the documents that were announced on it.
    pub(crate) fn line_end(&mut self) -> Read<()> {
        self.spend(1)?;
        self.at += 1;
        for pending in std::mem::take(&mut self.pending) {
            self.document(&pending)?;
        }
        Ok(())
    }

    fn document(&mut self, pending: &Pending) -> Read<()> {
        let start = self.at;
        let mut body_end = start;
        while self.at < self.end {
            let rest = self.rest();
            let length = rest.find('\n').map_or(rest.len(), |line| line + 1);
            self.spend(length)?;
            let line = rest.get(..length).unwrap_or_default().trim_end_matches(['\n', '\r']);
            let line = if pending.is_unindented { line.trim_start_matches('\t') } else { line };
            self.at += length;
            if line == pending.end {
                break;
            }
            body_end = self.at;
        }
        let Pending { is_verbatim, is_unindented, .. } = *pending;
        self.documents.push(Document { at: At::new(start, body_end), is_verbatim, is_unindented });
        Ok(())
    }

    /// The place that the next document announced will have in the list of them.
    pub(crate) fn next_document(&self) -> usize {
        self.documents.len() + self.pending.len()
    }
}
