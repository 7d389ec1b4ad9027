//! An item that a fix adds to a list of a file, and where it goes.
//!
//! Knows what is to be written, not how it looks in YAML.

use ecow::EcoString;
use source::Span;

/// One more item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub list: List,
    pub item: Item,
    /// Not known where the list is written in a way that the lines around it do not show.
    pub place: Option<Place>,
}

/// The list that an item goes into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum List {
    DependsOn,
    /// Of a release in a helmfile.
    Needs,
}

impl List {
    /// As it is written in a file.
    pub fn key(self) -> &'static str {
        match self {
            Self::DependsOn => "dependsOn",
            Self::Needs => "needs",
        }
    }
}

/// What is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A text of its own.
    Text(EcoString),
    /// Fields and their values, in the order in which people write them.
    Fields(Vec<(&'static str, EcoString)>),
}

/// Where an item goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// After the line in which this place ends, with its dash in this column (from 0), written as the item before it is.
    After { last: Span, column: u32, shape: Shape },
    /// Into the brackets of the list that this item stands in.
    Inside { last: Span },
    /// There is no such list: its key goes after the line of this place, in this column (from 0).
    Key { above: Span, column: u32 },
}

impl Place {
    /// What the new item stands behind.
    pub fn at(self) -> Span {
        match self {
            Self::After { last, .. } | Self::Inside { last } => last,
            Self::Key { above, .. } => above,
        }
    }
}

/// How the items of a list are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A line for each field.
    Block,
    /// In braces.
    Flow,
}
