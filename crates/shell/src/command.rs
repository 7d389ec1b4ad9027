//! One command of a pipeline.

use crate::{At, List, Redirect, Word};

/// A command and where its input and output go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub kind: CommandKind,
    pub redirects: Vec<Redirect>,
    pub at: At,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandKind {
    Simple(Simple),
    /// `( … )`
    Subshell(List),
    /// `{ …; }`
    Group(List),
    If {
        branches: Vec<Branch>,
        otherwise: Option<List>,
    },
    /// `while` and `until`
    Loop {
        is_until: bool,
        condition: List,
        body: List,
    },
    /// `for` and `select`. Without words it goes through the arguments.
    For {
        variable: String,
        words: Option<Vec<Word>>,
        body: List,
    },
    /// `for ((…))`
    Count {
        header: String,
        body: List,
    },
    Case {
        subject: Word,
        arms: Vec<Arm>,
    },
    Function {
        name: String,
        body: Box<Command>,
    },
    /// `[[ … ]]`, the words between.
    Test(Vec<Word>),
    /// `(( … ))`
    Arithmetic(String),
}

/// A program or a function with its arguments; or assignments alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    pub assignments: Vec<Assignment>,
    pub words: Vec<Word>,
}

/// `name=value`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub name: String,
    /// `+=`
    pub appends: bool,
    pub value: Value,
    pub at: At,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Word(Word),
    /// `( … )`
    Array(Vec<Word>),
}

/// A condition of `if` or `elif` and what it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    pub condition: List,
    pub body: List,
}

/// The patterns of a `case` and what they lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    pub patterns: Vec<Word>,
    pub body: List,
}
