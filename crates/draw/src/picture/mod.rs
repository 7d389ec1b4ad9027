//! The graph of a cluster as a picture: boxes, arrows by verdict and lanes, as SVG, as a page to explore, for Mermaid and for Graphviz.
//!
//! Knows what is worth drawing and how it looks. Where boxes and arrows go is for `layout` to say.

mod alarms;
mod build;
mod dot;
mod mermaid;
mod page;
mod paths;
mod placed;
mod reduce;
mod svg;
mod wanted;

use std::collections::BTreeSet;

use model::{ComponentId, ObjectRef};

pub use alarms::Alarms;
pub use dot::dot;
pub use mermaid::mermaid;
pub use page::{Findings, page};
pub use svg::svg;
pub(crate) use svg::{STYLE, drawn};

/// What to draw of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    pub lanes: Lanes,
    pub collapse: Option<Collapse>,
    /// Only what is at most so many arrows away from one of these; where none is named, everything.
    pub focus: BTreeSet<ComponentId>,
    pub depth: usize,
    pub only_missing: bool,
    /// A box for every release, also where a Kustomization applies little else.
    pub releases: bool,
}

/// What stands together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lanes {
    #[default]
    Stage,
    Namespace,
}

/// What becomes one box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collapse {
    Namespace,
    Tier,
}

/// A cluster, ready to be drawn.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    pub title: String,
    /// How much there is, in words.
    pub summary: String,
    pub boxes: Vec<Node>,
    pub arrows: Vec<Arrow>,
    /// Their titles; boxes name them by their places.
    pub lanes: Vec<String>,
    /// Lanes lie beside each other, and not one after another: arrows run to the right then, and down otherwise.
    pub lanes_beside: bool,
    /// Arrows that follow from others.
    pub implied: usize,
}

/// A component with its parts, or several that are drawn as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub name: String,
    /// What stands below the name.
    pub detail: String,
    /// The name in full, with kind and namespace.
    pub full: String,
    /// What it stands for, where that is one object.
    pub object: Option<ObjectRef>,
    pub namespace: String,
    pub components: Vec<ComponentId>,
    pub lane: usize,
    pub tier: u32,
    pub state: State,
    pub is_critical: bool,
    pub turn: Turn,
    /// By the estimate; never where it is stuck.
    pub start: Option<u64>,
    pub done: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    Comes,
    Suspended,
    /// In a cycle, or behind one.
    Stuck,
    /// Something is tied to it, and nothing of that name was read.
    NotFound,
}

/// What a change of the files makes of a box or an arrow. Where no change is looked at, everything stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    #[default]
    Stays,
    Comes,
    Goes,
    /// An arrow says something else than before.
    Turns(Tone),
}

impl Turn {
    /// A class of the style sheets, with a space before it.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Stays => "",
            Self::Comes => " comes",
            Self::Goes => " goes",
            Self::Turns(_) => " turns",
        }
    }
}

/// From what comes first to what waits for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    pub from: usize,
    pub to: usize,
    pub tone: Tone,
    pub is_critical: bool,
    pub turn: Turn,
    /// By their places in the lists of the cluster.
    pub needs: Vec<usize>,
    pub ties: Vec<usize>,
}

/// What an arrow says, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// The first applies the other.
    Applies,
    /// Declared, and nothing that was read needs it.
    Declared,
    Guaranteed,
    /// Not proven, and it recovers by itself soon.
    Soon,
    AppliedOnly,
    FalselyReady,
    /// Nothing orders the two, and that is reported.
    Missing,
    Deadlocked,
}

impl Tone {
    pub const ALL: [Self; 8] = [
        Self::Applies,
        Self::Declared,
        Self::Guaranteed,
        Self::Soon,
        Self::AppliedOnly,
        Self::FalselyReady,
        Self::Missing,
        Self::Deadlocked,
    ];

    /// Whether it is an order that holds.
    pub(crate) fn orders(self) -> bool {
        matches!(self, Self::Applies | Self::Declared | Self::Guaranteed)
    }

    /// A class of the style sheets.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Applies => "applies",
            Self::Declared => "declared",
            Self::Guaranteed => "guaranteed",
            Self::Soon => "soon",
            Self::AppliedOnly => "applied-only",
            Self::FalselyReady => "falsely-ready",
            Self::Missing => "missing",
            Self::Deadlocked => "deadlocked",
        }
    }

    /// On an arrow.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Applies => "applies",
            Self::Declared => "declared",
            Self::Guaranteed => "guaranteed",
            Self::Soon => "recovers soon",
            Self::AppliedOnly => "applied only",
            Self::FalselyReady => "falsely ready",
            Self::Missing => "missing",
            Self::Deadlocked => "cycle",
        }
    }

    /// A line of the legend.
    pub(crate) fn says(self) -> &'static str {
        match self {
            Self::Applies => "applies",
            Self::Declared => "declared order",
            Self::Guaranteed => "guaranteed",
            Self::Soon => "not guaranteed, recovers soon",
            Self::AppliedOnly => "applied only",
            Self::FalselyReady => "falsely ready",
            Self::Missing => "order is missing",
            Self::Deadlocked => "cycle",
        }
    }
}

impl Picture {
    pub fn new(cluster: &model::Cluster, analysis: &graph::Analysis, alarms: &Alarms, wish: &Wish) -> Self {
        let whole = build::whole(cluster, analysis, alarms, wish);
        let mut picture = wanted::wanted(whole, wish);
        reduce::reduce(&mut picture);
        picture.summary = build::summary(cluster, analysis, &picture);
        picture
    }

    /// Every component in a box of its own, with every arrow, also those that follow from others.
    pub(crate) fn unreduced(cluster: &model::Cluster, analysis: &graph::Analysis, alarms: &Alarms) -> Self {
        build::whole(cluster, analysis, alarms, &Wish { releases: true, ..Wish::default() })
    }

    /// The tones that it has arrows of.
    pub(crate) fn tones(&self) -> BTreeSet<Tone> {
        self.arrows.iter().map(|arrow| arrow.tone).collect()
    }
}

/// More arrows than this Mermaid does not draw.
pub const MERMAID_ARROWS_MAX: usize = 500;
