//! Kubernetes events: what controllers say they did.

use std::fmt;

use serde_json::Value;

use crate::{Lab, LabError, Object};

/// An event as the API server has it now. Equal events of one object are folded into one with a count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KubeEvent {
    pub object: Object,
    /// `Normal` or `Warning`.
    pub kind: String,
    pub reason: String,
    pub message: String,
    pub count: i64,
    /// RFC 3339, whole seconds.
    pub first: String,
    pub last: String,
    /// Who said it.
    pub component: String,
}

impl KubeEvent {
    pub(crate) fn of(value: &Value) -> Self {
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let or = |first: String, second: String| if first.is_empty() { second } else { first };
        let namespace = text("/involvedObject/namespace");
        Self {
            object: Object {
                api_version: text("/involvedObject/apiVersion"),
                kind: text("/involvedObject/kind"),
                namespace: (!namespace.is_empty()).then_some(namespace),
                name: text("/involvedObject/name"),
            },
            kind: text("/type"),
            reason: text("/reason"),
            message: text("/message"),
            count: value["count"].as_i64().or_else(|| value["series"]["count"].as_i64()).unwrap_or(1),
            first: or(text("/firstTimestamp"), text("/eventTime")),
            last: or(or(text("/lastTimestamp"), text("/series/lastObservedTime")), text("/eventTime")),
            component: or(text("/source/component"), text("/reportingComponent")),
        }
    }

    pub fn is_warning(&self) -> bool {
        self.kind == "Warning"
    }
}

impl fmt::Display for KubeEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, kind, reason, message, count, last, component, .. } = self;
        write!(f, "{last} {kind} {object} {reason} (x{count}, {component}): {message}")
    }
}

impl Lab {
    /// All events of all namespaces, oldest first.
    pub fn events(&self) -> Result<Vec<KubeEvent>, LabError> {
        let mut events: Vec<KubeEvent> = self.list("v1", "Event", None)?.iter().map(KubeEvent::of).collect();
        events.sort_by(|a, b| (&a.first, &a.object).cmp(&(&b.first, &b.object)));
        Ok(events)
    }

    /// The events about one object.
    pub fn events_of(&self, object: &Object) -> Result<Vec<KubeEvent>, LabError> {
        let about = |event: &KubeEvent| {
            (&event.object.kind, &event.object.namespace, &event.object.name)
                == (&object.kind, &object.namespace, &object.name)
        };
        Ok(self.events()?.into_iter().filter(about).collect())
    }
}
