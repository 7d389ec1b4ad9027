//! The reader of `${…}`. It reads and writes in one pass: arguments are expanded before the variable they belong to is
//! looked up, and what a variable holds is never read again.

use yaml::{Budget, Cost, EcoString, Spent};

use super::functions::{self, Operator};
use super::is_touched;

/// How deep `${a:-${b:-…}}` may nest.
pub const NESTING_MAX: usize = 100;
/// What one text may grow to.
pub const OUTPUT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How often all patterns of one text may be held against a character.
pub const COMPARISONS_MAX: usize = 4 * 1024 * 1024;

/// As many take the time of one node.
const COMPARISONS_OF_NODE: usize = 4;

/// A NUL ends the text for the original, wherever it stands.
const END: char = '\0';

/// Text with its variables replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Substituted {
    pub text: EcoString,
    /// Variables with neither value nor default, in the order they were read. They became empty text.
    pub undefined: Vec<EcoString>,
}

/// Why Flux refuses to build such text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubstituteError {
    #[error("bad substitution")]
    BadSubstitution,
    #[error("missing closing brace")]
    MissingClosingBrace,
    #[error("no variable name after `${{`")]
    VariableName,
    #[error("`{0}` is not a variable name: use letters, digits and `_`, and no digit first")]
    NameOfNone(EcoString),
    #[error("no argument for the function of `${{{0}…}}`")]
    Argument(EcoString),
    #[error("nested deeper than {NESTING_MAX} levels")]
    TooDeep,
    #[error("grows larger than {} MiB", OUTPUT_BYTES_MAX / (1024 * 1024))]
    TooLarge,
    #[error("trims long text by long patterns, which takes too long")]
    TooSlow,
    #[error(transparent)]
    Spent(#[from] Spent),
}

impl SubstituteError {
    /// Whether it is a limit of this reader: Flux would substitute.
    pub fn is_limit(&self) -> bool {
        matches!(self, Self::TooDeep | Self::TooLarge | Self::TooSlow | Self::Spent(_))
    }
}

/// Replaces every `${…}` of `text`, and `$$` by `$`. A bare `$name` stays.
pub fn substitute(text: &str, lookup: &dyn Fn(&str) -> Option<EcoString>) -> Result<Substituted, SubstituteError> {
    substitute_within(text, lookup, &mut Budget::of_build())
}

/// As [`substitute`], for a text of many.
pub(super) fn substitute_within(
    text: &str,
    lookup: &dyn Fn(&str) -> Option<EcoString>,
    budget: &mut Budget,
) -> Result<Substituted, SubstituteError> {
    if !is_touched(text) && !text.contains(END) {
        return Ok(Substituted { text: text.into(), undefined: Vec::new() });
    }
    let mut expansion =
        Expansion { text, at: 0, lookup, undefined: Vec::new(), nesting: 0, comparisons: COMPARISONS_MAX, budget };
    expansion.budget.spend(Cost::made(1, text.len()))?;
    let mut output = String::with_capacity(text.len());
    loop {
        output.push_str(&expansion.run(Until::Never, true));
        if !expansion.opens() {
            break;
        }
        output.push_str(&expansion.function()?);
        if output.len() > OUTPUT_BYTES_MAX {
            return Err(SubstituteError::TooLarge);
        }
    }
    let compared = COMPARISONS_MAX - expansion.comparisons;
    expansion.budget.spend(Cost::seen(compared / COMPARISONS_OF_NODE))?;
    Ok(Substituted { text: output.into(), undefined: expansion.undefined })
}

/// Where a run of text ends, besides at a `${` and at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    Never,
    Brace,
    ColonOrBrace,
    Slash,
}

impl Until {
    fn stops_at(self, character: char) -> bool {
        match self {
            Self::Never => false,
            Self::Brace => character == '}',
            Self::ColonOrBrace => matches!(character, ':' | '}'),
            Self::Slash => character == '/',
        }
    }
}

struct Expansion<'text> {
    text: &'text str,
    at: usize,
    lookup: &'text dyn Fn(&str) -> Option<EcoString>,
    undefined: Vec<EcoString>,
    nesting: usize,
    /// How many are left.
    comparisons: usize,
    budget: &'text mut Budget,
}

impl<'text> Expansion<'text> {
    fn rest(&self) -> &'text str {
        &self.text[self.at..]
    }

    fn peek(&self) -> char {
        self.rest().chars().next().unwrap_or(END)
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == wanted && wanted != END;
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    /// Takes `${`.
    fn opens(&mut self) -> bool {
        let found = self.rest().starts_with("${");
        if found {
            self.at += 2;
        }
        found
    }

    /// Text up to the next `${` or `until`. With `escapes`, `$$` stands for `$`; inside of functions (where `until` is
    /// something) `\/` and `\\` stand for their second character too.
    fn run(&mut self, until: Until, escapes: bool) -> String {
        let mut run = String::new();
        loop {
            let next = self.peek();
            let is_escape = escapes && self.is_escape(next, until != Until::Never);
            if is_escape {
                self.at += 1;
                let literal = self.peek();
                self.at += literal.len_utf8();
                run.push(literal);
            } else if next == END || self.rest().starts_with("${") || until.stops_at(next) {
                return run;
            } else {
                self.at += next.len_utf8();
                run.push(next);
            }
        }
    }

    fn is_escape(&self, next: char, backslash: bool) -> bool {
        let second = self.rest().chars().nth(1);
        match next {
            '$' => second == Some('$'),
            '\\' => backslash && matches!(second, Some('/' | '\\')),
            _ => false,
        }
    }

    /// What stands between `${` and `}`, and the `}`.
    fn function(&mut self) -> Result<String, SubstituteError> {
        if self.nesting == NESTING_MAX {
            return Err(SubstituteError::TooDeep);
        }
        self.nesting += 1;
        let expanded = self.function_inner();
        self.nesting -= 1;
        expanded
    }

    fn function_inner(&mut self) -> Result<String, SubstituteError> {
        if self.take('#') {
            let name = self.name().ok_or(SubstituteError::BadSubstitution)?;
            return self.close(Operator::Length, name, &[]);
        }
        let name = self.name().ok_or(SubstituteError::VariableName)?;
        match self.peek() {
            ':' => match self.rest()[1..].chars().next() {
                Some('=' | '-' | '?' | '+') => self.default(name, 2),
                _ => self.part(name),
            },
            '=' => self.default(name, 1),
            ',' | '^' => self.case(name),
            '/' => self.replace(name),
            '#' => self.trim(name, '#', [Operator::TrimShortestPrefix, Operator::TrimLongestPrefix]),
            '%' => self.trim(name, '%', [Operator::TrimShortestSuffix, Operator::TrimLongestSuffix]),
            '}' => self.close(Operator::Plain, name, &[]),
            _ => Err(SubstituteError::MissingClosingBrace),
        }
    }

    fn name(&mut self) -> Option<&'text str> {
        let rest = self.rest();
        let end = rest.find(|character: char| !(character.is_alphanumeric() || character == '_')).unwrap_or(rest.len());
        self.at += end;
        Some(&rest[..end]).filter(|name| !name.is_empty())
    }

    /// One argument: text, or one nested `${…}`, never both.
    fn argument(&mut self, name: &str, until: Until, escapes: bool) -> Result<String, SubstituteError> {
        if self.opens() {
            return self.function();
        }
        let before = self.at;
        let run = self.run(until, escapes);
        if self.at == before { Err(SubstituteError::Argument(name.into())) } else { Ok(run) }
    }

    /// `${v:=d}`, `${v:-d}`, `${v=d}`: the only ones whose argument may mix text and nested variables.
    fn default(&mut self, name: &str, operator_bytes: usize) -> Result<String, SubstituteError> {
        self.at += operator_bytes;
        let mut arguments = String::new();
        while self.peek() != '}' {
            arguments.push_str(&self.argument(name, Until::Brace, false)?);
            if arguments.len() > OUTPUT_BYTES_MAX {
                return Err(SubstituteError::TooLarge);
            }
        }
        self.close(Operator::Default, name, &[arguments])
    }

    /// `${v:offset}` and `${v:offset:length}`.
    fn part(&mut self, name: &str) -> Result<String, SubstituteError> {
        self.take(':');
        let mut arguments = vec![self.argument(name, Until::ColonOrBrace, false)?];
        if self.take(':') {
            while self.take(':') {}
            arguments.push(self.argument(name, Until::Brace, false)?);
        }
        self.close(Operator::Part, name, &arguments)
    }

    /// `${v,}`, `${v,,}`, `${v^}`, `${v^^}`. A mix of the two is taken, and does nothing.
    fn case(&mut self, name: &str) -> Result<String, SubstituteError> {
        let signs = self.rest().bytes().take(2).take_while(|byte| matches!(byte, b',' | b'^')).count();
        let operator = match &self.rest()[..signs] {
            "," => Operator::LowerFirst,
            ",," => Operator::Lower,
            "^" => Operator::UpperFirst,
            "^^" => Operator::Upper,
            _ => Operator::Plain,
        };
        self.at += signs;
        self.close(operator, name, &[])
    }

    /// `${v/a/b}`, `${v//a/b}`, `${v/#a/b}`, `${v/%a/b}`; the replacement may be missing, its slash may not.
    fn replace(&mut self, name: &str) -> Result<String, SubstituteError> {
        self.take('/');
        let operator = match self.peek() {
            '/' => Operator::ReplaceAll,
            '#' => Operator::ReplacePrefix,
            '%' => Operator::ReplaceSuffix,
            _ => Operator::ReplaceFirst,
        };
        if operator != Operator::ReplaceFirst {
            self.at += 1;
        }
        let mut arguments = vec![self.argument(name, Until::Slash, true)?];
        if !self.take('/') {
            return Err(SubstituteError::BadSubstitution);
        }
        while self.take('/') {}
        if self.peek() != '}' {
            arguments.push(self.argument(name, Until::Brace, true)?);
        }
        self.close(operator, name, &arguments)
    }

    /// `${v#p}`, `${v##p}`, `${v%p}`, `${v%%p}`.
    fn trim(&mut self, name: &str, sign: char, operators: [Operator; 2]) -> Result<String, SubstituteError> {
        self.take(sign);
        let operator = operators[usize::from(self.take(sign))];
        let pattern = self.argument(name, Until::Brace, false)?;
        self.close(operator, name, &[pattern])
    }

    /// Takes the `}`, looks the variable up and applies the function.
    fn close(&mut self, operator: Operator, name: &str, arguments: &[String]) -> Result<String, SubstituteError> {
        if !self.take('}') {
            return Err(SubstituteError::BadSubstitution);
        }
        let value = (self.lookup)(name);
        let bytes = value.as_ref().map_or(0, EcoString::len) + arguments.iter().map(String::len).sum::<usize>();
        self.budget.spend(Cost::made(0, bytes))?;
        if value.is_none() && operator != Operator::Default {
            self.undefined.push(name.into());
        }
        functions::apply(operator, value.as_deref().unwrap_or_default(), arguments, &mut self.comparisons)
    }
}
