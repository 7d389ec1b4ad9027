//! Shell text that a file holds in another form: indented, escaped, with expressions of a template in it.

use source::{FileId, Span, to_u32};

use crate::scripts::UNKNOWN;
use crate::terraform::chain::ScriptText;

/// A text for a shell, and where in a file each part of it is written.
#[derive(Clone, Debug)]
pub(crate) struct ShellText {
    text: String,
    places: Places,
}

#[derive(Clone, Debug)]
enum Places {
    /// Where each stretch begins in the text, and where in the file.
    File { file: FileId, stretches: Vec<(usize, usize)> },
    /// What Terraform puts together, perhaps of several files.
    Terraform { script: ScriptText, header: Span },
}

impl ShellText {
    pub(crate) fn new(file: FileId) -> Self {
        Self { text: String::new(), places: Places::File { file, stretches: Vec::new() } }
    }

    /// A text as it stands in its file.
    pub(crate) fn plain(file: FileId, text: &str, at: usize) -> Self {
        let mut plain = Self::new(file);
        plain.push(text, at);
        plain
    }

    /// The script of a provisioner; `header` is the place of what has no place of its own.
    pub(crate) fn of_terraform(script: &ScriptText, header: Span) -> Self {
        Self { text: script.text.clone(), places: Places::Terraform { script: script.clone(), header } }
    }

    /// Adds what is written at a place of the file.
    pub(crate) fn push(&mut self, text: &str, at: usize) {
        if let Places::File { stretches, .. } = &mut self.places {
            stretches.push((self.text.len(), at));
            self.text.push_str(text);
        }
    }

    /// Adds something whose value only a tool knows.
    pub(crate) fn push_unknown(&mut self, at: usize) {
        self.push(UNKNOWN.encode_utf8(&mut [0; 4]), at);
    }

    /// Adds text with expressions in it, from one mark to another; they are not known.
    pub(crate) fn push_template(&mut self, text: &str, at: usize, open: &str, close: &str) {
        let mut done = 0;
        while let Some(begin) = text[done..].find(open).map(|begin| done + begin) {
            self.push(&text[done..begin], at + done);
            let inner = begin + open.len();
            let end = text[inner..].find(close).map_or(text.len(), |end| inner + end + close.len());
            self.push_unknown(at + begin);
            done = end;
        }
        self.push(&text[done..], at + done);
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Where a part of the text is written.
    pub(crate) fn span(&self, at: shell::At) -> Span {
        match &self.places {
            Places::Terraform { script, header } => script.span(at.start..at.end).unwrap_or(*header),
            Places::File { file, stretches } => {
                let start = in_file(stretches, at.start);
                // The end belongs to the stretch of the last byte.
                let last = in_file(stretches, at.end.saturating_sub(1).max(at.start));
                let end = last + usize::from(at.end > at.start);
                Span::new(*file, to_u32(start), to_u32(end.max(start)))
            }
        }
    }
}

fn in_file(stretches: &[(usize, usize)], at: usize) -> usize {
    let next = stretches.partition_point(|(begin, _)| *begin <= at);
    let stretch = next.checked_sub(1).and_then(|before| stretches.get(before));
    stretch.map_or(0, |(begin, in_file)| in_file + (at - begin))
}
