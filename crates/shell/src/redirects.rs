//! Reads redirections.

use crate::parts::{Stop, is_name_byte};
use crate::reader::{Pending, Read, Reader};
use crate::{FaultKind, Redirect, RedirectKind, Word};

/// The longer ones first.
const SIGNS: [(&str, RedirectKind); 12] = [
    ("&>>", RedirectKind::Append),
    ("<<<", RedirectKind::Text),
    ("<<-", RedirectKind::Document(None)),
    ("&>", RedirectKind::Output),
    ("<<", RedirectKind::Document(None)),
    (">>", RedirectKind::Append),
    (">&", RedirectKind::Output),
    (">|", RedirectKind::Output),
    ("<&", RedirectKind::Input),
    ("<>", RedirectKind::Input),
    (">", RedirectKind::Output),
    ("<", RedirectKind::Input),
];

impl Reader<'_> {
    /// The next redirection, if one begins here; with the number of its descriptor.
    pub(crate) fn redirect(&mut self) -> Read<Option<Redirect>> {
        self.skip_blanks();
        let start = self.at;
        let rest = self.rest().as_bytes();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let named = if rest.first() == Some(&b'{') {
            let name = rest[1..].iter().take_while(|byte| is_name_byte(**byte)).count();
            if rest.get(name + 1) == Some(&b'}') { name + 2 } else { 0 }
        } else {
            0
        };
        self.spend(digits + named)?;
        self.at += digits.max(named);
        let is_process = self.starts_with("<(") || self.starts_with(">(");
        let sign = SIGNS.iter().find(|(sign, _)| !is_process && self.starts_with(sign));
        let Some((sign, kind)) = sign else {
            self.at = start;
            return Ok(None);
        };
        self.at += sign.len();
        let Some(target) = self.word()? else { return Err(self.fault(FaultKind::Unexpected, start)) };
        let kind = if matches!(kind, RedirectKind::Document(_)) { self.announce(&target, sign) } else { *kind };
        Ok(Some(Redirect { kind, target, at: self.since(start) }))
    }

    /// Remembers that a document follows.
    fn announce(&mut self, target: &Word, sign: &str) -> RedirectKind {
        let raw = self.text.get(target.at.start..target.at.end).unwrap_or_default();
        let is_verbatim = raw.contains(['\'', '"', '\\']);
        let end: String = raw.chars().filter(|letter| !matches!(letter, '\'' | '"' | '\\')).collect();
        let document = self.next_document();
        self.pending.push(Pending { end, is_verbatim, is_unindented: sign == "<<-" });
        RedirectKind::Document(Some(document))
    }

    /// The words of `[[ … ]]`.
    pub(crate) fn test_words(&mut self, begun: usize) -> Read<Vec<Word>> {
        let mut words: Vec<Word> = Vec::new();
        loop {
            self.skip_lines()?;
            if self.take_keyword("]]") {
                return Ok(words);
            }
            let start = self.at;
            let is_pattern = words
                .last()
                .is_some_and(|word| ["=~", "==", "!=", "="].iter().any(|operator| word.is_bare_text(operator)));
            let sign = ["&&", "||", "(", ")", "<", ">", "!"].iter().find(|sign| self.starts_with(sign));
            let parts = match sign {
                _ if self.at >= self.end => return Err(self.fault(FaultKind::Unclosed, begun)),
                Some(sign) if !(is_pattern || *sign == "!" && self.peek_at(1) == Some(b'=')) => {
                    self.at += sign.len();
                    vec![crate::Part { kind: crate::PartKind::Literal((*sign).to_owned()), at: self.since(start) }]
                }
                _ => self.parts(Stop::Test { is_pattern })?,
            };
            if self.at == start {
                return Err(self.fault(FaultKind::Unexpected, begun));
            }
            self.count()?;
            words.push(Word { parts, at: self.since(start) });
        }
    }
}
