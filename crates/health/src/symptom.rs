//! One thing that is wrong with one object, and what it may wait for.

use ecow::EcoString;

use crate::Time;
use crate::facts::{Condition, ObjectKey};
use crate::status::{Because, Evidence, LayerName, Problem, State};

/// A failing object. Whether it is a root is not known here.
#[derive(Clone, Debug)]
pub(crate) struct Symptom {
    pub(crate) layer: LayerName,
    pub(crate) object: ObjectKey,
    pub(crate) problem: Problem,
    /// Failed, Degraded, or Progressing: then it is no fault.
    pub(crate) state: State,
    pub(crate) since: Option<Time>,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) edges: Vec<Edge>,
    /// The object that people know: a pod's controller.
    pub(crate) shown: ObjectKey,
}

/// What it waits for, if that fails as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) to: ObjectKey,
    pub(crate) because: Because,
}

impl Symptom {
    pub(crate) fn new(layer: LayerName, object: ObjectKey, problem: Problem) -> Self {
        Self {
            layer,
            shown: object.clone(),
            object,
            problem,
            state: State::Failed,
            since: None,
            evidence: Vec::new(),
            edges: Vec::new(),
        }
    }

    pub(crate) fn state(mut self, state: State) -> Self {
        self.state = state;
        self
    }

    pub(crate) fn progressing_if(self, is: bool) -> Self {
        if is { self.state(State::Progressing) } else { self }
    }

    /// A field of the object itself.
    pub(crate) fn shows(self, field: &'static str, value: impl Into<EcoString>, since: Option<Time>) -> Self {
        let object = self.object.clone();
        self.shows_of(object, field, value, since)
    }

    /// A field of another object.
    pub(crate) fn shows_of(
        mut self,
        object: ObjectKey,
        field: &'static str,
        value: impl Into<EcoString>,
        since: Option<Time>,
    ) -> Self {
        self.since = self.since.or(since);
        self.evidence.push(Evidence { object, field, value: value.into(), since });
        self
    }

    /// What one of its conditions says.
    pub(crate) fn shows_condition(self, condition: &Condition) -> Self {
        let value =
            ecow::eco_format!("{}={:?} {}: {}", condition.kind, condition.status, condition.reason, condition.message);
        self.shows("status.conditions", value, condition.since)
    }

    pub(crate) fn edge(mut self, to: ObjectKey, because: Because) -> Self {
        self.add(to, because);
        self
    }

    pub(crate) fn edges(mut self, to: impl IntoIterator<Item = (ObjectKey, Because)>) -> Self {
        for (to, because) in to {
            self.add(to, because);
        }
        self
    }

    pub(crate) fn add(&mut self, to: ObjectKey, because: Because) {
        let edge = Edge { to, because };
        if !self.edges.contains(&edge) {
            self.edges.push(edge);
        }
    }

    pub(crate) fn is_red(&self) -> bool {
        matches!(self.state, State::Failed | State::Degraded)
    }
}
