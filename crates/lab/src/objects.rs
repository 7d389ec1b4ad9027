//! Objects of a lab: apply, get, list, wait. Blocking, so that tests read as plain lines.

use std::future::Future;
use std::time::Duration;

use serde_json::{Value, json};

use crate::{Lab, LabError, NotInTime, Object, Until, api};

/// The documents of a YAML text as JSON; empty ones are left out.
pub fn documents(yaml: &str) -> Result<Vec<Value>, LabError> {
    api::documents(yaml)
}

impl Lab {
    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Server-side apply of every document of a YAML text, in order.
    pub fn apply(&self, yaml: &str) -> Result<Vec<Object>, LabError> {
        let documents = api::documents(yaml)?;
        self.block_on(self.kubernetes.apply(&documents))
    }

    /// The same for one object in JSON.
    pub fn apply_value(&self, object: &Value) -> Result<Object, LabError> {
        let applied = self.block_on(self.kubernetes.apply(std::slice::from_ref(object)))?;
        applied.into_iter().next().ok_or(LabError::Incomplete { kind: "nothing".to_owned(), what: "content" })
    }

    pub fn get(&self, object: &Object) -> Result<Option<Value>, LabError> {
        self.block_on(self.kubernetes.get(object))
    }

    /// All objects of a kind, in one namespace or in all.
    pub fn list(&self, api_version: &str, kind: &str, namespace: Option<&str>) -> Result<Vec<Value>, LabError> {
        self.block_on(self.kubernetes.list(api_version, kind, namespace))
    }

    /// Deletes in the background; an object that is not there is fine.
    pub fn delete(&self, object: &Object) -> Result<(), LabError> {
        self.block_on(self.kubernetes.delete(object))
    }

    /// A JSON merge patch.
    pub fn patch(&self, object: &Object, patch: &Value) -> Result<(), LabError> {
        self.block_on(self.kubernetes.patch(object, patch, None))
    }

    /// A JSON merge patch of the status: to play a controller that is not there.
    pub fn patch_status(&self, object: &Object, status: &Value) -> Result<(), LabError> {
        self.block_on(self.kubernetes.patch(object, &json!({ "status": status }), Some("status")))
    }

    /// Sets an annotation, or takes it away.
    pub fn annotate(&self, object: &Object, key: &str, value: Option<&str>) -> Result<(), LabError> {
        self.patch(object, &json!({"metadata": {"annotations": {key: value}}}))
    }

    /// What `flux reconcile` does: asks the controller to look now.
    pub fn reconcile(&self, object: &Object) -> Result<(), LabError> {
        let now = format!("{:?}", self.now());
        self.annotate(object, "reconcile.fluxcd.io/requestedAt", Some(&now))
    }

    /// Watches until the condition holds, and returns the object as it was then. An object or a kind that is not there
    /// yet, and an API server that is away, are only reasons to go on waiting.
    pub fn wait_for(&self, object: &Object, until: &Until, timeout: Duration) -> Result<Value, NotInTime> {
        self.block_on(self.kubernetes.wait(object, until, timeout))
    }
}
