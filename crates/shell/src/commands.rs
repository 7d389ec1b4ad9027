//! Reads commands: which one begins here, and the simple ones.

use crate::parts::{Stop, is_name_byte};
use crate::reader::{Read, Reader};
use crate::{Assignment, At, Command, CommandKind, FaultKind, PartKind, Redirect, Simple, Value, Word};

impl Reader<'_> {
    pub(crate) fn command(&mut self) -> Read<Command> {
        self.count()?;
        self.spend(1)?;
        self.skip_blanks();
        let start = self.at;
        let Some(kind) = self.nested(Self::compound)? else { return self.simple(start) };
        let mut end = self.at;
        let mut redirects = Vec::new();
        if !matches!(kind, CommandKind::Function { .. }) {
            while let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                end = self.at;
            }
        }
        Ok(Command { kind, redirects, at: At::new(start, end) })
    }

    fn simple(&mut self, start: usize) -> Read<Command> {
        let (mut simple, mut redirects) = (Simple::default(), Vec::<Redirect>::new());
        let mut end = self.at;
        loop {
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
            } else if let Some(assignment) = self.assignment(&simple)? {
                simple.assignments.push(assignment);
            } else if let Some(word) = self.word()? {
                simple.words.push(word);
                if let Some(kind) = self.function(&simple, &redirects)? {
                    return Ok(Command { kind, redirects, at: self.since(start) });
                }
            } else {
                break;
            }
            end = self.at;
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && redirects.is_empty() {
            return Err(self.fault(FaultKind::Unexpected, start));
        }
        Ok(Command { kind: CommandKind::Simple(simple), redirects, at: At::new(start, end) })
    }

    /// The next word, if one begins here.
    pub(crate) fn word(&mut self) -> Read<Option<Word>> {
        self.skip_blanks();
        let start = self.at;
        let begins = match self.peek() {
            None | Some(b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'#') => false,
            Some(b'<' | b'>') => self.peek_at(1) == Some(b'('),
            Some(_) => true,
        };
        if !begins {
            return Ok(None);
        }
        self.count()?;
        let parts = self.parts(Stop::Word)?;
        Ok(Some(Word { parts, at: self.since(start) }))
    }

    /// `name=value` before the first word, and after the words that declare: `export`, `local`.
    fn assignment(&mut self, simple: &Simple) -> Read<Option<Assignment>> {
        const DECLARES: [&str; 5] = ["export", "local", "readonly", "declare", "typeset"];
        let declares = |word: &Word| DECLARES.iter().any(|declares| word.is_bare_text(declares));
        if !(simple.words.is_empty() || simple.words.first().is_some_and(declares)) {
            return Ok(None);
        }
        self.skip_blanks();
        let start = self.at;
        let rest = self.rest().as_bytes();
        let length = rest.iter().take_while(|byte| is_name_byte(**byte)).count();
        self.spend(length)?;
        if length == 0 || rest[0].is_ascii_digit() {
            return Ok(None);
        }
        let name = self.rest()[..length].to_owned();
        let mut after = length;
        if rest.get(length) == Some(&b'[') {
            let line = rest.iter().take_while(|byte| **byte != b'\n').count();
            let Some(close) = rest[..line].windows(2).position(|pair| pair == b"]=" || pair == b"]+") else {
                return Ok(None);
            };
            self.spend(close)?;
            after = close + 1;
        }
        let appends = rest.get(after) == Some(&b'+') && rest.get(after + 1) == Some(&b'=');
        if !appends && rest.get(after) != Some(&b'=') {
            return Ok(None);
        }
        self.at += after + if appends { 2 } else { 1 };
        let value = if self.peek() == Some(b'(') { Value::Array(self.array()?) } else { Value::Word(self.value()?) };
        Ok(Some(Assignment { name, appends, value, at: self.since(start) }))
    }

    /// What follows `=`, perhaps nothing.
    fn value(&mut self) -> Read<Word> {
        self.count()?;
        let start = self.at;
        let parts = self.parts(Stop::Word)?;
        Ok(Word { parts, at: self.since(start) })
    }

    fn array(&mut self) -> Read<Vec<Word>> {
        let begun = self.at;
        self.at += 1;
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            match self.word()? {
                Some(word) => words.push(word),
                None => break,
            }
        }
        self.expect(")", begun)?;
        Ok(words)
    }

    /// `name () body`, once the name is read.
    fn function(&mut self, simple: &Simple, redirects: &[Redirect]) -> Read<Option<CommandKind>> {
        let [word] = &simple.words[..] else { return Ok(None) };
        let [part] = &word.parts[..] else { return Ok(None) };
        let PartKind::Literal(name) = &part.kind else { return Ok(None) };
        if !simple.assignments.is_empty() || !redirects.is_empty() {
            return Ok(None);
        }
        let before = self.at;
        self.skip_blanks();
        if self.take("(") {
            self.skip_blanks();
            if self.take(")") {
                return self.function_body(name.clone()).map(Some);
            }
        }
        self.at = before;
        Ok(None)
    }

    pub(crate) fn function_body(&mut self, name: String) -> Read<CommandKind> {
        self.skip_lines()?;
        let body = self.nested(Self::command)?;
        Ok(CommandKind::Function { name, body: Box::new(body) })
    }
}
