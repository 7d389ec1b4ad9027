//! What is known of a rule beside what it does: everything that others decide by it.

use std::fmt;

use crate::symptom::Symptom;

/// A rule: its name, its manual, and how its findings are to be treated. Declared once, in the rule's own file.
pub struct Rule {
    /// The kebab-case name.
    pub id: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The source of the rule, whose opening comment is the manual page.
    source: &'static str,
    /// How findings of it are told as one.
    pub folding: Folding,
    /// What was seen to go wrong that a finding of it explains.
    pub explains: &'static [Explains],
    /// A program or script that ran before everything else may have brought what a finding of it misses: where one was not
    /// read, the finding is no alarm.
    pub may_be_brought: bool,
    /// One finding is about a provider, and speaks for everything that relies on it.
    pub speaks_for_several: bool,
    /// It is about things of every kind: whatever a symptom names may be meant.
    pub is_about_everything: bool,
}

/// A symptom that findings of a rule explain, and how well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explains {
    pub symptom: Symptom,
    /// Of several rules that explain the same, the one with the least rank tells most.
    pub rank: u8,
}

impl Explains {
    /// The rules that explain a symptom are counted from 1.
    pub const fn new(symptom: Symptom, rank: u8) -> Self {
        Self { symptom, rank }
    }
}

/// Which findings of a rule have the same to say, so that one may speak for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folding {
    pub together: Together,
    /// What becomes of those that matter little and have nothing in common otherwise.
    pub quiet: Quiet,
}

/// What findings of a rule usually share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    Nothing,
    /// The provider that many lack.
    Provider,
    /// The thing that is not there, or not in time.
    Subject,
}

/// Which findings at info or below are one question for the whole cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quiet {
    /// None: each stays by itself.
    Alone,
    /// All of them.
    Cluster,
    /// Those that do not say what the order is for.
    ClusterUnlessExplained,
    /// Those that do not say what the order is for, or that cost nothing.
    ClusterUnlessCostly,
}

impl Rule {
    /// A rule whose findings each stand for themselves. `source` is the text of the rule's own file.
    pub const fn new(id: &'static str, summary: &'static str, source: &'static str) -> Self {
        Self {
            id,
            summary,
            source,
            folding: Folding { together: Together::Nothing, quiet: Quiet::Alone },
            explains: &[],
            may_be_brought: false,
            speaks_for_several: false,
            is_about_everything: false,
        }
    }

    /// How its findings are told as one.
    pub const fn folding(self, together: Together, quiet: Quiet) -> Self {
        Self { folding: Folding { together, quiet }, ..self }
    }

    /// The symptoms that its findings explain.
    pub const fn explains(self, explains: &'static [Explains]) -> Self {
        Self { explains, ..self }
    }

    /// See [`Rule::may_be_brought`].
    pub const fn may_be_brought(self) -> Self {
        Self { may_be_brought: true, ..self }
    }

    /// See [`Rule::speaks_for_several`].
    pub const fn speaks_for_several(self) -> Self {
        Self { speaks_for_several: true, ..self }
    }

    /// See [`Rule::is_about_everything`].
    pub const fn is_about_everything(self) -> Self {
        Self { is_about_everything: true, ..self }
    }

    /// The manual page, as Markdown.
    pub fn manual(&self) -> String {
        let lines = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        let text: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        format!("# {}\n\n{}\n", self.id, text.join("\n").trim())
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rule({})", self.id)
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Rule {}
