//! Reads the parts of words.

use crate::reader::{Read, Reader};
use crate::{At, FaultKind, Parameter, Part, PartKind};

/// What ends the parts that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A word of a command.
    Word,
    /// A word of `[[ … ]]`; a pattern may hold brackets and bars.
    Test { is_pattern: bool },
    /// `"`
    Double,
    /// `}`, perhaps between double quotes.
    Brace { in_double: bool },
}

impl Stop {
    fn is_quoted(self) -> bool {
        matches!(self, Self::Double | Self::Brace { in_double: true })
    }
}

pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Parts read so far, and the bare text that is still open.
struct Gathered {
    parts: Vec<Part>,
    bare: String,
    begun: usize,
}

impl Gathered {
    fn push(&mut self, text: &str, at: usize) {
        if self.bare.is_empty() {
            self.begun = at;
        }
        self.bare.push_str(text);
    }

    /// Ends the bare text before `at`.
    fn close(&mut self, at: usize) {
        if !self.bare.is_empty() {
            let kind = PartKind::Literal(std::mem::take(&mut self.bare));
            self.parts.push(Part { kind, at: At::new(self.begun, at) });
        }
    }
}

impl Reader<'_> {
    /// Parts up to what ends them, which is left.
    pub(crate) fn parts(&mut self, stop: Stop) -> Read<Vec<Part>> {
        let mut gathered = Gathered { parts: Vec::new(), bare: String::new(), begun: self.at };
        let mut brackets = 0_usize;
        while let Some(byte) = self.peek() {
            if brackets == 0 && self.stops(stop, byte) {
                break;
            }
            self.spend(1)?;
            let start = self.at;
            if let Some(kind) = self.expanded(stop, byte)? {
                gathered.close(start);
                gathered.parts.push(Part { kind, at: self.since(start) });
                continue;
            }
            let (is_word, before) =
                (matches!(stop, Stop::Word | Stop::Test { .. }), self.text.as_bytes()[..start].last());
            match byte {
                b'\\' => {
                    self.escaped(stop, &mut gathered, start);
                    continue;
                }
                // `@(a|b)`, and all brackets of a pattern.
                b'(' if is_word => brackets += 1,
                b')' if is_word => brackets = brackets.saturating_sub(1),
                b'\n' if is_word && brackets > 0 && before != Some(&b'(') => {
                    return Err(self.fault(FaultKind::Unexpected, start));
                }
                _ => {}
            }
            let Some(next) = self.next_char() else { break };
            gathered.push(next.encode_utf8(&mut [0; 4]), start);
        }
        gathered.close(self.at);
        Ok(gathered.parts)
    }

    /// Whether a byte ends the parts.
    fn stops(&self, stop: Stop, byte: u8) -> bool {
        let before = || self.text.as_bytes()[..self.at].last();
        match stop {
            Stop::Double => byte == b'"',
            Stop::Brace { .. } => byte == b'}',
            Stop::Test { is_pattern } => match byte {
                b' ' | b'\t' | b'\r' | b'\n' => true,
                b')' | b';' | b'<' | b'>' => !is_pattern,
                b'&' => self.peek_at(1) == Some(b'&') && !is_pattern,
                b'|' => self.peek_at(1) == Some(b'|'),
                _ => false,
            },
            Stop::Word => match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b')' => true,
                b'<' | b'>' => self.peek_at(1) != Some(b'('),
                b'(' => !before().is_some_and(|before| matches!(before, b'?' | b'*' | b'+' | b'@' | b'!')),
                _ => false,
            },
        }
    }

    /// A quote, a parameter or a substitution that begins here.
    fn expanded(&mut self, stop: Stop, byte: u8) -> Read<Option<PartKind>> {
        let begun = self.at;
        match byte {
            b'\'' if !stop.is_quoted() => {
                self.at += 1;
                self.quoted(begun, false).map(Some)
            }
            b'"' if stop != Stop::Double => {
                self.at += 1;
                let parts = self.nested(|reader| reader.parts(Stop::Double))?;
                self.expect("\"", begun)?;
                Ok(Some(PartKind::Double(parts)))
            }
            b'`' => self.backticks(begun).map(Some),
            b'$' => self.dollar(stop),
            b'<' | b'>' if self.peek_at(1) == Some(b'(') && stop == Stop::Word => {
                self.at += 2;
                let list = self.inner_list()?;
                self.skip_lines()?;
                self.expect(")", begun)?;
                Ok(Some(PartKind::Process(list)))
            }
            _ => Ok(None),
        }
    }

    /// Text up to the next `'`.
    fn quoted(&mut self, begun: usize, is_escaped: bool) -> Read<PartKind> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut at = start;
        while at < self.end && bytes[at] != b'\'' {
            at += if is_escaped && bytes[at] == b'\\' { 2 } else { 1 };
        }
        self.spend(at.saturating_sub(start))?;
        if at >= self.end {
            return Err(self.fault(FaultKind::Unclosed, begun));
        }
        let text = self.text.get(start..at).unwrap_or_default().to_owned();
        self.at = at + 1;
        Ok(PartKind::Quoted(text))
    }

    /// A command between backticks: read in place, up to the one that ends it.
    fn backticks(&mut self, begun: usize) -> Read<PartKind> {
        let bytes = self.text.as_bytes();
        let mut close = begun + 1;
        while close < self.end && bytes[close] != b'`' {
            close += if bytes[close] == b'\\' { 2 } else { 1 };
        }
        self.spend(close.saturating_sub(begun))?;
        if close >= self.end {
            return Err(self.fault(FaultKind::Unclosed, begun));
        }
        let end = std::mem::replace(&mut self.end, close);
        self.at = begun + 1;
        let list = self.inner_list();
        let is_whole = self.at >= close;
        self.end = end;
        let list = list?;
        if !is_whole {
            return Err(self.fault(FaultKind::Unexpected, begun));
        }
        self.at = close + 1;
        Ok(PartKind::Substitution(list))
    }

    fn escaped(&mut self, stop: Stop, gathered: &mut Gathered, start: usize) {
        self.at += 1;
        let Some(next) = self.next_char() else {
            gathered.push("\\", start);
            return;
        };
        if next == '\n' {
            return;
        }
        // Between double quotes a backslash stands for itself before most characters.
        if stop.is_quoted() && !matches!(next, '$' | '`' | '"' | '\\' | '}') {
            gathered.push("\\", start);
        }
        gathered.push(next.encode_utf8(&mut [0; 4]), start);
    }

    fn dollar(&mut self, stop: Stop) -> Read<Option<PartKind>> {
        let begun = self.at;
        match self.peek_at(1) {
            Some(b'(') => {
                if self.starts_with("$((")
                    && let Some(text) = self.arithmetic(3)?
                {
                    return Ok(Some(PartKind::Arithmetic(text)));
                }
                self.at += 2;
                let list = self.inner_list()?;
                self.skip_lines()?;
                self.expect(")", begun)?;
                Ok(Some(PartKind::Substitution(list)))
            }
            Some(b'{') => {
                self.at += 2;
                self.nested(|reader| reader.braced(begun, stop.is_quoted())).map(Some)
            }
            Some(b'\'') if !stop.is_quoted() => {
                self.at += 2;
                self.quoted(begun, true).map(Some)
            }
            Some(b'"') if !stop.is_quoted() => {
                self.at += 1;
                self.expanded(stop, b'"')
            }
            Some(byte) if is_name_byte(byte) || b"@*#?-$!".contains(&byte) => {
                self.at += 1;
                let rest = self.rest().as_bytes();
                let is_name = byte.is_ascii_alphabetic() || byte == b'_';
                let length = if is_name { rest.iter().take_while(|byte| is_name_byte(**byte)).count() } else { 1 };
                let name = self.rest().get(..length).unwrap_or_default().to_owned();
                self.at += length;
                Ok(Some(PartKind::Parameter(Parameter { name, prefix: None, rest: Vec::new() })))
            }
            _ => Ok(None),
        }
    }

    /// `${…}` once it is open.
    fn braced(&mut self, begun: usize, in_double: bool) -> Read<PartKind> {
        let second = self.peek_at(1);
        let prefix = match self.peek() {
            Some(sign @ (b'#' | b'!')) if second.is_some_and(|byte| is_name_byte(byte) || b"@*".contains(&byte)) => {
                self.at += 1;
                Some(char::from(sign))
            }
            _ => None,
        };
        let rest = self.rest().as_bytes();
        let named = rest.iter().take_while(|byte| is_name_byte(**byte)).count();
        let special = usize::from(rest.first().is_some_and(|byte| b"@*#?-$!".contains(byte)));
        let length = named.max(special);
        self.spend(length)?;
        let name = self.rest().get(..length).unwrap_or_default().to_owned();
        self.at += length;
        let rest = self.parts(Stop::Brace { in_double })?;
        self.expect("}", begun)?;
        Ok(PartKind::Parameter(Parameter { name, prefix, rest }))
    }
}
