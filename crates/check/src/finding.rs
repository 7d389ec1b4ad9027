use std::fmt;

use graph::{Consequence, Verdict};
use model::ObjectRef;
use read::helmfile::{ONLY_CRDS, RELEASE};
use yaml::Span;

/// How much a finding matters: what losing the race costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Said only when asked for.
    Pedantic,
    Info,
    Warning,
    Error,
}

impl Severity {
    pub const ALL: [Self; 4] = [Self::Pedantic, Self::Info, Self::Warning, Self::Error];

    pub fn word(self) -> &'static str {
        match self {
            Self::Pedantic => "pedantic",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// One step lower, for needs that most people hold to be soft.
    pub fn lowered(self) -> Self {
        match self {
            Self::Error => Self::Warning,
            Self::Warning => Self::Info,
            Self::Info | Self::Pedantic => Self::Pedantic,
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One thing that is wrong, with its evidence and its cost.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The kebab-case name of the rule.
    pub rule: &'static str,
    pub severity: Severity,
    /// One line; names in backticks.
    pub message: String,
    /// Which cluster of the repository: its directory.
    pub cluster: String,
    pub component: ObjectRef,
    pub provider: Option<ObjectRef>,
    /// What is needed, in words: `CRD clusters.postgresql.cnpg.io`.
    pub capability: Option<String>,
    pub verdict: Option<Verdict>,
    pub consequence: Option<Consequence>,
    /// What it costs, as a sentence: `if the race is lost, waits 1 h (interval; no retryInterval)`.
    pub cost: String,
    /// The first is the primary one: the line a person would edit or look at first.
    pub locations: Vec<Location>,
    /// What to do, as a sentence.
    pub fix: Option<String>,
    /// More worth saying, a line each.
    pub notes: Vec<String>,
    /// Others that the very same thing is wrong with: one finding speaks for them all.
    pub also: Vec<Also>,
    /// Where everybody it speaks for has a line to edit, the finding of each by itself, with its own evidence; made only
    /// for those who ask.
    pub each: Vec<Finding>,
}

impl Finding {
    /// A finding about one component, to be filled in further.
    pub(crate) fn new(
        rule: &'static str,
        severity: Severity,
        cluster: &str,
        component: &ObjectRef,
        message: String,
        cost: impl Into<String>,
    ) -> Self {
        Self {
            rule,
            severity,
            message,
            cluster: cluster.to_owned(),
            component: component.clone(),
            provider: None,
            capability: None,
            verdict: None,
            consequence: None,
            cost: cost.into(),
            locations: Vec::new(),
            fix: None,
            notes: Vec::new(),
            also: Vec::new(),
            each: Vec::new(),
        }
    }

    /// Whether it speaks of nothing but the bootstrap, which several clusters may share.
    pub fn is_of_bootstrap(&self) -> bool {
        let is_early = |object: &ObjectRef| [RELEASE, ONLY_CRDS, "Bootstrap"].contains(&object.kind.as_str());
        is_early(&self.component) && self.provider.as_ref().is_none_or(is_early)
    }

    pub(crate) fn with(mut self, role: LocationRole, span: Span, label: impl Into<String>) -> Self {
        self.locations.push(Location { span, role, label: label.into() });
        self
    }
}

/// One more component that a finding speaks for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Also {
    pub component: ObjectRef,
    pub provider: Option<ObjectRef>,
    /// Where its own finding would point first.
    pub at: Span,
}

/// A place and what it has to do with the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub span: Span,
    pub role: LocationRole,
    /// What is to be said beside the snippet.
    pub label: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LocationRole {
    /// Where to look first.
    Primary,
    /// What has the need.
    Need,
    /// What offers it.
    Offer,
    /// The tie or gate that should have ordered the two, or where one would stand.
    Order,
    Related,
}

impl LocationRole {
    pub fn word(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Need => "need",
            Self::Offer => "offer",
            Self::Order => "order",
            Self::Related => "related",
        }
    }
}
