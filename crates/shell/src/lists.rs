//! Reads lists, statements and pipelines.

use crate::reader::{Read, Reader};
use crate::{At, FaultKind, Joint, List, Pipeline, Statement};

/// Words that end a list where a command could begin.
const CLOSERS: [&str; 7] = ["then", "else", "elif", "fi", "do", "done", "esac"];
/// What ends a word without quotes.
const ENDS: [u8; 10] = [b' ', b'\t', b'\r', b'\n', b';', b'&', b'|', b'<', b'>', b'('];

impl Reader<'_> {
    /// Statements up to what can't begin one.
    pub(crate) fn list(&mut self, statements: &mut Vec<Statement>) -> Read<()> {
        loop {
            self.skip_lines()?;
            if self.is_list_end() {
                return Ok(());
            }
            let statement = self.statement()?;
            statements.push(statement);
        }
    }

    /// Statements in something.
    pub(crate) fn inner_list(&mut self) -> Read<List> {
        let mut statements = Vec::new();
        self.nested(|reader| reader.list(&mut statements))?;
        Ok(List { statements })
    }

    fn is_list_end(&self) -> bool {
        match self.peek() {
            None | Some(b')' | b';' | b'&' | b'|') => true,
            Some(b'}') => self.is_keyword("}"),
            _ => CLOSERS.iter().any(|closer| self.is_keyword(closer)),
        }
    }

    /// Whether a word stands here that has a meaning of its own.
    pub(crate) fn is_keyword(&self, word: &str) -> bool {
        self.starts_with(word) && self.peek_at(word.len()).is_none_or(|next| ENDS.contains(&next) || next == b')')
    }

    pub(crate) fn take_keyword(&mut self, word: &str) -> bool {
        let is_here = self.is_keyword(word);
        self.at += if is_here { word.len() } else { 0 };
        is_here
    }

    pub(crate) fn expect_keyword(&mut self, word: &str, begun: usize) -> Read<()> {
        self.skip_lines()?;
        if self.take_keyword(word) {
            return Ok(());
        }
        let kind = if self.at >= self.end { FaultKind::Unclosed } else { FaultKind::Unexpected };
        Err(self.fault(kind, begun))
    }

    fn statement(&mut self) -> Read<Statement> {
        let start = self.at;
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let joint = if self.take("&&") {
                Joint::And
            } else if self.take("||") {
                Joint::Or
            } else {
                break;
            };
            self.skip_lines()?;
            rest.push((joint, self.pipeline()?));
        }
        let end = rest.last().map_or(first.at.end, |(_, last): &(Joint, Pipeline)| last.at.end);
        let at = At::new(start, end);
        let is_background = self.separator()?;
        Ok(Statement { first, rest, is_background, at })
    }

    /// What ends a statement; whether it goes on in the background.
    fn separator(&mut self) -> Read<bool> {
        self.skip_blanks();
        self.skip_comment();
        match self.peek() {
            Some(b';') if !self.starts_with(";;") && !self.starts_with(";&") => self.at += 1,
            Some(b'&') => {
                self.at += 1;
                return Ok(true);
            }
            Some(b'\n') => self.line_end()?,
            None | Some(b';' | b')' | b'}') => {}
            // `{ a; } fi` and the like are told where something else is expected.
            Some(_) if self.is_list_end() => {}
            Some(_) => return Err(self.fault(FaultKind::Unexpected, self.at)),
        }
        Ok(false)
    }

    fn pipeline(&mut self) -> Read<Pipeline> {
        let start = self.at;
        let mut is_negated = false;
        loop {
            self.skip_blanks();
            if self.take_keyword("!") {
                is_negated = !is_negated;
            } else if self.take_keyword("time") {
                self.skip_blanks();
                self.take_keyword("-p");
            } else {
                break;
            }
        }
        let mut commands = vec![self.command()?];
        loop {
            self.skip_blanks();
            if self.starts_with("||") || !(self.take("|&") || self.take("|")) {
                break;
            }
            self.skip_lines()?;
            commands.push(self.command()?);
        }
        let end = commands.last().map_or(self.at, |last| last.at.end);
        Ok(Pipeline { is_negated, commands, at: At::new(start, end) })
    }
}
