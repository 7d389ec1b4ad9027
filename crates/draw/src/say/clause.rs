//! A clause that stands after a name or after a number.

use std::borrow::Cow;

use crate::clean::clean;
use crate::words::shorten;

/// The verb of a clause, which is another one after a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Is,
    Has,
    Comes,
}

impl Verb {
    fn after(self, number: usize) -> &'static str {
        match (self, number) {
            (Self::Is, 1) => "is",
            (Self::Is, _) => "are",
            (Self::Has, 1) => "has",
            (Self::Has, _) => "have",
            (Self::Comes, 1) => "comes",
            (Self::Comes, _) => "come",
        }
    }
}

/// Why something was not seen, after its name or after a number: `is made by a template`, `3 are made by a template`.
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    verb: Option<Verb>,
    rest: Cow<'static, str>,
}

impl Clause {
    pub(super) fn plain(words: impl Into<Cow<'static, str>>) -> Self {
        Self { verb: None, rest: words.into() }
    }

    pub(super) fn is(rest: impl Into<Cow<'static, str>>) -> Self {
        Self { verb: Some(Verb::Is), rest: rest.into() }
    }

    pub(super) fn has(rest: impl Into<Cow<'static, str>>) -> Self {
        Self { verb: Some(Verb::Has), rest: rest.into() }
    }

    pub(super) fn comes(rest: impl Into<Cow<'static, str>>) -> Self {
        Self { verb: Some(Verb::Comes), rest: rest.into() }
    }

    /// As it stands after that many.
    pub(crate) fn said(&self, number: usize) -> String {
        match self.verb {
            Some(verb) => format!("{} {}", verb.after(number), self.rest),
            None => self.rest.to_string(),
        }
    }

    /// As it stands after that many, fit for a terminal and cut where the clause for one would be longer than this.
    pub(crate) fn cut(&self, number: usize, chars_max: usize) -> String {
        let verb = self.verb.map_or(0, |verb| verb.after(1).len() + 1);
        let rest = shorten(&clean(&self.rest), chars_max.saturating_sub(verb));
        Self { verb: self.verb, rest: rest.into() }.said(number)
    }
}
