//! Why a template can't be worked out.

use super::evaluate::VALUE_DEPTH_MAX;
use super::template::NESTING_MAX;

/// What of a template is not understood, or too much.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("`<<` without `>>`")]
    UnclosedAction,
    #[error("an empty action")]
    EmptyAction,
    #[error("an `end` or `else` without its block")]
    UnopenedBlock,
    #[error("a block without its `end`")]
    UnclosedBlock,
    #[error("an `if` or `with` without its `end`")]
    UnclosedChoice,
    #[error("a `range` without its `end`")]
    UnclosedRange,
    #[error("a quote that does not end")]
    UnclosedQuote,
    #[error("a quoted string that does not end or has an unknown escape")]
    BadQuote,
    #[error("a `(` without its `)`")]
    UnclosedParenthesis,
    #[error("an unexpected `)`")]
    UnopenedParenthesis,
    #[error("unexpected `{0}`")]
    Unexpected(String),
    #[error("`{0}` is not a number")]
    NoNumber(String),
    #[error("a missing value")]
    MissingValue,
    #[error("`{0}` is not read")]
    UnreadWord(String),
    #[error("nested deeper than {NESTING_MAX} levels")]
    NestedTooDeep,
    #[error("the template renders to too much text")]
    TooMuchText,
    #[error("the template works out too much")]
    TooMuchWork,
    #[error("a value nested deeper than {VALUE_DEPTH_MAX} levels")]
    ValueTooDeep,
    #[error("a list or mapping is printed as it is")]
    PrintedStructure,
    #[error("a value is used as if it were a function")]
    CalledValue,
    #[error("`${0}` has no known value")]
    UnknownVariable(String),
    #[error("no input has the field `{0}`")]
    NoField(String),
    /// A value that is neither a list nor a mapping.
    #[error("`range` over `{0}`")]
    RangeOver(String),
    #[error("the function `{0}` is not known, or not with such arguments")]
    UnknownFunction(String),
    #[error("`{0}` finds nothing there")]
    NothingFound(String),
    #[error("`{0}` of a list or mapping")]
    OfStructure(String),
    #[error("`{0}` makes too much text")]
    MakesTooMuch(String),
    #[error("an indent that is too wide")]
    WideIndent,
    #[error("`join` of something other than a list of strings")]
    JoinOfOthers,
    #[error("`printf` with too few arguments")]
    PrintfArguments,
    #[error("`printf` with a verb that is not read")]
    PrintfVerb,
    /// What is rendered is no YAML: what its reader says.
    #[error("{0}")]
    Yaml(String),
}
