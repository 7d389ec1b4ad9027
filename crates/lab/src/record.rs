//! A recording: every status that the Flux objects went through, and every event, with the time.
//!
//! It watches, so it sees each change that the API server tells of. What it cannot see: changes between the loss of a
//! watch (an API server that is down) and the next list.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use kube::runtime::watcher::{self, Event as Seen};
use kube::runtime::{WatchStreamExt as _, watcher::watcher};
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::api::{Kubernetes, typed};
use crate::failures::FLUX_KINDS;
use crate::object::conditions;
use crate::{Condition, KubeEvent, Lab, Object};

/// How long to wait before asking again for a kind that is not served.
const RETRY: Duration = Duration::from_millis(500);
/// Reasons for not being ready that are no failed attempt: somebody else is waited for.
const WAITING: &[&str] = &["DependencyNotReady", "Progressing", "ProgressingWithRetry", "SourceNotReady"];
/// What a Kustomization says, with the reason of a failure, while its source has nothing yet.
const NO_ARTIFACT_YET: &str = "Source artifact not found";

/// A status that an object had from this time on.
#[derive(Debug, Clone)]
pub struct Change {
    /// Since the lab was started.
    pub at: Duration,
    pub object: Object,
    pub generation: Option<i64>,
    /// The whole `.status`; `Null` before there is one.
    pub status: Value,
    pub conditions: Vec<Condition>,
    pub deleted: bool,
}

impl Change {
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.kind == kind)
    }
}

/// An attempt that failed: `Ready` turned false, and not because a dependency or a source was not there yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub at: Duration,
    pub reason: String,
    pub message: String,
}

#[derive(Debug, Default)]
struct Tape {
    changes: Vec<Change>,
    events: Vec<(Duration, KubeEvent)>,
    last: BTreeMap<Object, (Value, Option<i64>)>,
    last_count: BTreeMap<String, i64>,
}

/// Records until it is dropped.
#[derive(Debug)]
pub struct Recording {
    tape: Arc<Mutex<Tape>>,
    watches: Vec<JoinHandle<()>>,
}

impl Lab {
    /// Starts to record all Flux objects and all events, beginning with what is there.
    pub fn record(&self) -> Recording {
        let tape = Arc::new(Mutex::new(Tape::default()));
        let kinds = FLUX_KINDS.iter().copied().chain([("v1", "Event")]);
        let watches = kinds.map(|(api_version, kind)| {
            let watch = watch(self.kubernetes.clone(), api_version, kind, Arc::clone(&tape), self.started);
            self.runtime.spawn(watch)
        });
        let watches = watches.collect();
        Recording { tape, watches }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        for watch in &self.watches {
            watch.abort();
        }
    }
}

impl Recording {
    fn tape(&self) -> MutexGuard<'_, Tape> {
        self.tape.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything, in the order in which it was seen.
    pub fn changes(&self) -> Vec<Change> {
        self.tape().changes.clone()
    }

    pub fn changes_of(&self, object: &Object) -> Vec<Change> {
        self.tape().changes.iter().filter(|change| change.object == *object).cloned().collect()
    }

    /// When a condition first had this status.
    pub fn first(&self, object: &Object, kind: &str, status: &str) -> Option<Duration> {
        let held = |change: &&Change| {
            change.object == *object && change.condition(kind).is_some_and(|found| found.status == status)
        };
        self.tape().changes.iter().find(held).map(|change| change.at)
    }

    pub fn first_ready(&self, object: &Object) -> Option<Duration> {
        self.first(object, "Ready", "True")
    }

    /// Every turn of the `Ready` condition, without repetitions.
    pub fn ready_history(&self, object: &Object) -> Vec<(Duration, Condition)> {
        let mut history: Vec<(Duration, Condition)> = Vec::new();
        for change in self.changes_of(object) {
            let Some(ready) = change.condition("Ready") else { continue };
            let same = |last: &Condition| {
                (&last.status, &last.reason, &last.message) == (&ready.status, &ready.reason, &ready.message)
            };
            if !history.last().is_some_and(|(_, last)| same(last)) {
                history.push((change.at, ready.clone()));
            }
        }
        history
    }

    /// Every time `Ready` turned false for a reason of its own. Flux says "in progress" between two attempts, so two
    /// attempts that fail alike are two.
    pub fn failures(&self, object: &Object) -> Vec<Failure> {
        let waits =
            |ready: &Condition| WAITING.contains(&ready.reason.as_str()) || ready.message.starts_with(NO_ARTIFACT_YET);
        let failed = |ready: &Condition| ready.status == "False" && !waits(ready);
        let history = self.ready_history(object).into_iter().filter(|(_, ready)| failed(ready));
        history.map(|(at, ready)| Failure { at, reason: ready.reason, message: ready.message }).collect()
    }

    /// Every event, each time it was counted anew.
    pub fn events(&self) -> Vec<(Duration, KubeEvent)> {
        self.tape().events.clone()
    }

    pub fn events_of(&self, object: &Object) -> Vec<(Duration, KubeEvent)> {
        let about = |event: &KubeEvent| {
            (&event.object.kind, &event.object.namespace, &event.object.name)
                == (&object.kind, &object.namespace, &object.name)
        };
        self.events().into_iter().filter(|(_, event)| about(event)).collect()
    }
}

async fn watch(
    kubernetes: Kubernetes,
    api_version: &'static str,
    kind: &'static str,
    tape: Arc<Mutex<Tape>>,
    start: Instant,
) {
    let api = loop {
        match kubernetes.everywhere(api_version, kind).await {
            Ok(api) => break api,
            Err(_not_yet) => tokio::time::sleep(RETRY).await,
        }
    };
    let mut seen = watcher(api, watcher::Config::default()).default_backoff().boxed();
    while let Some(seen) = seen.next().await {
        let (object, deleted) = match seen {
            Ok(Seen::Apply(object) | Seen::InitApply(object)) => (object, false),
            Ok(Seen::Delete(object)) => (object, true),
            // The watcher lists and watches anew by itself.
            Ok(Seen::Init | Seen::InitDone) | Err(_) => continue,
        };
        let value = typed(&object, api_version, kind);
        let mut tape = tape.lock().unwrap_or_else(PoisonError::into_inner);
        if kind == "Event" {
            tape.note_event(&value, start.elapsed());
        } else {
            tape.note(&value, deleted, start.elapsed());
        }
    }
}

impl Tape {
    fn note_event(&mut self, value: &Value, at: Duration) {
        let uid = value["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        let event = KubeEvent::of(value);
        if self.last_count.insert(uid, event.count) != Some(event.count) {
            self.events.push((at, event));
        }
    }

    fn note(&mut self, value: &Value, deleted: bool, at: Duration) {
        let Some(object) = Object::of(value) else { return };
        let state = (value["status"].clone(), value["metadata"]["generation"].as_i64());
        let known = if deleted { self.last.remove(&object) } else { self.last.insert(object.clone(), state.clone()) };
        if !deleted && known.as_ref() == Some(&state) {
            return;
        }
        let (status, generation) = state;
        self.changes.push(Change { at, object, generation, status, conditions: conditions(value), deleted });
    }
}
