//! One thing that is wrong.

use model::{Consequence, ObjectRef, Stage, Verdict};

use crate::{Cost, Fix, Label, Note, Rule, Severity, Site, Statement, Subject};

/// One thing that is wrong, with its evidence and its cost. It has one primary location, and can't be made without.
#[derive(Clone, Debug)]
pub struct Finding {
    pub rule: &'static Rule,
    pub severity: Severity,
    pub statement: Statement,
    /// Which cluster of the repository: its directory.
    pub cluster: String,
    pub component: ObjectRef,
    /// When in the life of a cluster the component comes up.
    pub stage: Stage,
    pub provider: Option<ObjectRef>,
    /// When the provider comes up.
    pub provider_stage: Stage,
    /// What it is about beside the two.
    pub subject: Option<Subject>,
    pub verdict: Option<Verdict>,
    pub consequence: Option<Consequence>,
    pub cost: Option<Cost>,
    /// How many components of the cluster never become ready because of it, the ones that it speaks of included; 0 where that was
    /// not looked for.
    pub blocks: usize,
    /// The line a person would edit or look at first.
    pub primary: Location,
    /// What else shows it, in the order in which it is to be read.
    pub evidence: Vec<Evidence>,
    pub fix: Option<Fix>,
    /// More worth saying.
    pub notes: Vec<Note>,
    /// Providers that the component's own files ask for, and that the advised order brings along: the provider comes after
    /// them.
    pub covers: Vec<ObjectRef>,
    /// The same order one level higher or lower: between the releases, or between the Kustomizations that apply them.
    pub levels: Vec<Level>,
    /// Others that the very same thing is wrong with: one finding speaks for them all.
    pub also: Vec<Also>,
    /// Findings that had the same to say, and are told by this one.
    pub alike: Vec<Alike>,
    /// Where everything it speaks for has a line to edit, the finding of each by itself, with its own evidence; made only
    /// when it is asked for.
    pub each: Vec<Finding>,
}

impl Finding {
    /// A finding about one component, to be filled in further.
    pub fn new(
        rule: &'static Rule,
        severity: Severity,
        cluster: &str,
        component: &ObjectRef,
        statement: impl Into<Statement>,
        primary: Location,
    ) -> Self {
        Self {
            rule,
            severity,
            statement: statement.into(),
            cluster: cluster.to_owned(),
            component: component.clone(),
            stage: Stage::GitOps,
            provider: None,
            provider_stage: Stage::GitOps,
            subject: None,
            verdict: None,
            consequence: None,
            cost: None,
            blocks: 0,
            primary,
            evidence: Vec::new(),
            fix: None,
            notes: Vec::new(),
            covers: Vec::new(),
            levels: Vec::new(),
            also: Vec::new(),
            alike: Vec::new(),
            each: Vec::new(),
        }
    }

    /// The same, about what another component should provide.
    pub fn with_provider(self, provider: &ObjectRef) -> Self {
        Self { provider: Some(provider.clone()), ..self }
    }

    /// The same, about this.
    pub fn with_subject(self, subject: impl Into<Subject>) -> Self {
        Self { subject: Some(subject.into()), ..self }
    }

    /// The same, judged so.
    pub fn with_verdict(self, verdict: Verdict) -> Self {
        Self { verdict: Some(verdict), ..self }
    }

    /// The same, with what comes of it.
    pub fn with_consequence(self, consequence: Consequence) -> Self {
        Self { consequence: Some(consequence), ..self }
    }

    /// The same, with what it costs.
    pub fn with_cost(self, cost: impl Into<Cost>) -> Self {
        Self { cost: Some(cost.into()), ..self }
    }

    /// The same, with one more place that shows it.
    pub fn with_evidence(mut self, role: EvidenceRole, at: impl Into<Site>, label: impl Into<Label>) -> Self {
        self.evidence.push(Evidence { role, at: at.into(), label: Some(label.into()) });
        self
    }

    /// The same, with what to do.
    pub fn with_fix(self, fix: Fix) -> Self {
        Self { fix: Some(fix), ..self }
    }

    /// The same, with one more note.
    pub fn with_note(mut self, note: Note) -> Self {
        self.notes.push(note);
        self
    }

    /// Whether it speaks of nothing but the bootstrap, which several clusters may share.
    pub fn is_of_bootstrap(&self) -> bool {
        self.stage == Stage::Bootstrap && (self.provider.is_none() || self.provider_stage == Stage::Bootstrap)
    }

    /// Every place that it points at, the primary one first, each with the word for what it is.
    pub fn places(&self) -> impl Iterator<Item = (&'static str, &Site)> {
        let evidence = self.evidence.iter().map(|evidence| (evidence.role.word(), &evidence.at));
        std::iter::once((Location::WORD, &self.primary.at)).chain(evidence)
    }
}

/// An order between two components, where another level could declare it as well.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level {
    pub component: ObjectRef,
    pub provider: ObjectRef,
}

/// One more component that a finding speaks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Also {
    pub component: ObjectRef,
    pub provider: Option<ObjectRef>,
    /// Where its own finding would point first.
    pub at: Site,
    /// How bad it is for this one by itself.
    pub severity: Severity,
    /// What it costs this one.
    pub cost: Option<Cost>,
    pub consequence: Option<Consequence>,
}

/// A finding that is told by another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alike {
    pub who: Who,
    /// How long it loses, where that is not what the other one does.
    pub seconds: Option<u64>,
}

/// What tells a finding that is told by another from that other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    Component(ObjectRef),
    Provider(ObjectRef),
    Both { component: ObjectRef, provider: ObjectRef },
}

/// A place and what is to be said beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub at: Site,
    pub label: Option<Label>,
}

impl Location {
    /// The word for the primary one.
    const WORD: &str = "primary";

    /// A place with something to say beside it.
    pub fn new(at: impl Into<Site>, label: impl Into<Label>) -> Self {
        Self { at: at.into(), label: Some(label.into()) }
    }
}

/// A place beside the primary one, and what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub role: EvidenceRole,
    pub at: Site,
    pub label: Option<Label>,
}

/// What a place shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EvidenceRole {
    /// What has the need.
    Need,
    /// What offers it.
    Offer,
    /// The tie or gate that should have ordered the two, or where one would stand.
    Order,
    Related,
}

impl EvidenceRole {
    /// The word that programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Need => "need",
            Self::Offer => "offer",
            Self::Order => "order",
            Self::Related => "related",
        }
    }
}
