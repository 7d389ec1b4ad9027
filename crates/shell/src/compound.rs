//! Reads commands that hold others.

use crate::parts::is_name_byte;
use crate::reader::{Read, Reader};
use crate::{Arm, Branch, CommandKind, FaultKind, List, Word};

impl Reader<'_> {
    /// The command that a keyword or a bracket begins; none for a simple one.
    pub(crate) fn compound(&mut self) -> Read<Option<CommandKind>> {
        let begun = self.at;
        if self.peek() == Some(b'(') {
            return self.bracketed(begun).map(Some);
        }
        if !self.peek().is_some_and(|byte| byte.is_ascii_lowercase() || matches!(byte, b'{' | b'[')) {
            return Ok(None);
        }
        let read = if self.take_keyword("{") {
            let list = self.inner_list()?;
            self.expect_keyword("}", begun)?;
            CommandKind::Group(list)
        } else if self.take_keyword("[[") {
            CommandKind::Test(self.test_words(begun)?)
        } else if self.take_keyword("if") {
            self.condition(begun)?
        } else if self.take_keyword("while") {
            self.repeated(begun, false)?
        } else if self.take_keyword("until") {
            self.repeated(begun, true)?
        } else if self.take_keyword("for") || self.take_keyword("select") {
            self.iteration(begun)?
        } else if self.take_keyword("case") {
            self.case(begun)?
        } else if self.is_keyword("function") {
            return self.declared_function();
        } else {
            return Ok(None);
        };
        Ok(Some(read))
    }

    fn bracketed(&mut self, begun: usize) -> Read<CommandKind> {
        if self.starts_with("((")
            && let Some(text) = self.arithmetic(2)?
        {
            return Ok(CommandKind::Arithmetic(text));
        }
        self.at += 1;
        let list = self.inner_list()?;
        self.skip_lines()?;
        self.expect(")", begun)?;
        Ok(CommandKind::Subshell(list))
    }

    /// The text of `((…))`, if these brackets are of that kind; `opening` bytes begin it.
    pub(crate) fn arithmetic(&mut self, opening: usize) -> Read<Option<String>> {
        let start = self.at + opening;
        let bytes = self.text.as_bytes();
        let mut depth = 2_usize;
        let mut at = start;
        while at < self.end && depth > 0 {
            match bytes[at] {
                b'(' => depth += 1,
                b')' if depth == 2 && bytes.get(at + 1) != Some(&b')') => break,
                b')' => depth -= 1,
                _ => {}
            }
            at += 1;
        }
        self.spend(at - start)?;
        if depth > 0 || at > self.end {
            return Ok(None);
        }
        let text = self.text.get(start..at - 2).unwrap_or_default().to_owned();
        self.at = at;
        Ok(Some(text))
    }

    fn condition(&mut self, begun: usize) -> Read<CommandKind> {
        let mut branches = Vec::new();
        loop {
            let condition = self.filled_list(begun)?;
            self.expect_keyword("then", begun)?;
            let body = self.filled_list(begun)?;
            branches.push(Branch { condition, body });
            self.skip_lines()?;
            if !self.take_keyword("elif") {
                break;
            }
        }
        let otherwise = if self.take_keyword("else") { Some(self.filled_list(begun)?) } else { None };
        self.expect_keyword("fi", begun)?;
        Ok(CommandKind::If { branches, otherwise })
    }

    /// A list that may not be empty.
    fn filled_list(&mut self, begun: usize) -> Read<List> {
        let list = self.inner_list()?;
        if list.statements.is_empty() {
            let kind = if self.at >= self.end { FaultKind::Unclosed } else { FaultKind::Unexpected };
            return Err(self.fault(kind, begun));
        }
        Ok(list)
    }

    fn repeated(&mut self, begun: usize, is_until: bool) -> Read<CommandKind> {
        let condition = self.filled_list(begun)?;
        let body = self.loop_body(begun)?;
        Ok(CommandKind::Loop { is_until, condition, body })
    }

    /// `do … done`; after `for` also `{ … }`.
    fn loop_body(&mut self, begun: usize) -> Read<List> {
        self.skip_lines()?;
        if self.take_keyword("{") {
            let body = self.filled_list(begun)?;
            self.expect_keyword("}", begun)?;
            return Ok(body);
        }
        self.expect_keyword("do", begun)?;
        let body = self.filled_list(begun)?;
        self.expect_keyword("done", begun)?;
        Ok(body)
    }

    fn iteration(&mut self, begun: usize) -> Read<CommandKind> {
        self.skip_blanks();
        if self.starts_with("((") {
            let Some(header) = self.arithmetic(2)? else { return Err(self.fault(FaultKind::Unclosed, begun)) };
            self.skip_blanks();
            self.take(";");
            let body = self.loop_body(begun)?;
            return Ok(CommandKind::Count { header, body });
        }
        let length = self.rest().bytes().take_while(|byte| is_name_byte(*byte)).count();
        let variable = self.rest()[..length].to_owned();
        self.at += length;
        self.skip_lines()?;
        let words = if self.take_keyword("in") { Some(self.words()?) } else { None };
        self.skip_blanks();
        self.take(";");
        if variable.is_empty() {
            return Err(self.fault(FaultKind::Unexpected, begun));
        }
        let body = self.loop_body(begun)?;
        Ok(CommandKind::For { variable, words, body })
    }

    fn words(&mut self) -> Read<Vec<Word>> {
        let mut words = Vec::new();
        while let Some(word) = self.word()? {
            words.push(word);
        }
        Ok(words)
    }

    fn case(&mut self, begun: usize) -> Read<CommandKind> {
        let Some(subject) = self.word()? else { return Err(self.fault(FaultKind::Unexpected, begun)) };
        self.expect_keyword("in", begun)?;
        let mut arms = Vec::new();
        loop {
            self.skip_lines()?;
            if self.take_keyword("esac") {
                return Ok(CommandKind::Case { subject, arms });
            }
            arms.push(self.arm(begun)?);
        }
    }

    fn arm(&mut self, begun: usize) -> Read<Arm> {
        self.take("(");
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks();
            let Some(pattern) = self.word()? else {
                let kind = if self.at >= self.end { FaultKind::Unclosed } else { FaultKind::Unexpected };
                return Err(self.fault(kind, begun));
            };
            patterns.push(pattern);
            self.skip_blanks();
            if !self.take("|") {
                break;
            }
        }
        self.expect(")", begun)?;
        let body = self.inner_list()?;
        self.skip_lines()?;
        let ends = [";;&", ";;", ";&"].iter().any(|end| self.take(end));
        if !ends && !self.is_keyword("esac") {
            let kind = if self.at >= self.end { FaultKind::Unclosed } else { FaultKind::Unexpected };
            return Err(self.fault(kind, begun));
        }
        Ok(Arm { patterns, body })
    }

    /// `function name body` and `function name () body`.
    fn declared_function(&mut self) -> Read<Option<CommandKind>> {
        self.at += "function".len();
        let begun = self.at;
        let Some(name) = self.word()?.and_then(|word| word.literal()) else {
            return Err(self.fault(FaultKind::Unexpected, begun));
        };
        self.skip_blanks();
        if self.take("(") {
            self.skip_blanks();
            self.expect(")", begun)?;
        }
        self.function_body(name).map(Some)
    }
}
