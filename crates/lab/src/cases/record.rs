//! Everything that Flux said during a run: each change of status and each event, with the time it was seen.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use kube::runtime::watcher::{self, Event as Change};
use serde_json::Value;

use crate::api::plain;
use crate::object::{HELM, KUSTOMIZE, SOURCE, condition};
use crate::{KubeEvent, Lab, Object};

const WATCHED: [(&str, &str); 6] = [
    (KUSTOMIZE, "Kustomization"),
    (HELM, "HelmRelease"),
    (SOURCE, "GitRepository"),
    (SOURCE, "OCIRepository"),
    (SOURCE, "HelmRepository"),
    (SOURCE, "HelmChart"),
];

/// Reasons of `Ready=False` that are a wait for somebody else, not a failed attempt.
const WAITS: [&str; 7] = [
    "DependencyNotReady",
    "ArtifactFailed",
    "SourceNotReady",
    "HelmChartNotReady",
    "NoSourceArtifact",
    "Progressing",
    "ProgressingWithRetry",
];
const AGAIN_AFTER: Duration = Duration::from_millis(200);

/// The status of an object at one moment, as far as a run is judged by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    pub(super) ready: String,
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) stalled: bool,
    /// The status is about the current specification.
    pub(super) current: bool,
    pub(super) revision: String,
}

impl State {
    fn of(object: &Value) -> Self {
        let ready = condition(object, "Ready");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            ready: ready.as_ref().map_or_else(|| "None".to_owned(), |ready| ready.status.clone()),
            reason: ready.as_ref().map(|ready| ready.reason.clone()).unwrap_or_default(),
            message: ready.map(|ready| ready.message).unwrap_or_default(),
            stalled: condition(object, "Stalled").is_some_and(|stalled| stalled.status == "True"),
            current: object["metadata"]["generation"] == object["status"]["observedGeneration"],
            revision: text(&object["status"]["lastAppliedRevision"]),
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        self.ready == "True" && self.current
    }

    pub(super) fn has_failed(&self) -> bool {
        self.ready == "False" && !WAITS.contains(&self.reason.as_str())
    }

    /// Reason and message, to look for words in.
    pub(super) fn said(&self) -> String {
        format!("{}: {}", self.reason, self.message)
    }
}

#[derive(Debug, Clone)]
pub(super) enum What {
    State(State),
    Event {
        warning: bool,
        reason: String,
        message: String,
    },
    Gone,
    /// Something the runner did or saw itself.
    Note(String),
}

#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) at: Duration,
    pub(super) object: String,
    pub(super) what: What,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, object, what } = self;
        write!(f, "{:7.2} s  {object}  ", at.as_secs_f64())?;
        match what {
            What::State(state) => {
                let stalled = if state.stalled { " Stalled" } else { "" };
                write!(f, "Ready={}{stalled} {}", state.ready, first_line(&state.said()))
            }
            What::Event { warning, reason, message } => {
                let kind = if *warning { "Warning" } else { "Normal" };
                write!(f, "{kind} {reason}: {}", first_line(message))
            }
            What::Gone => f.write_str("is gone"),
            What::Note(note) => f.write_str(note),
        }
    }
}

fn first_line(text: &str) -> String {
    const MOST_CHARACTERS: usize = 400;
    text.replace('\n', " ").chars().take(MOST_CHARACTERS).collect()
}

/// The growing list of what was seen.
#[derive(Debug, Clone)]
pub(super) struct Record {
    since: Instant,
    entries: Arc<Mutex<Vec<Entry>>>,
}

impl Record {
    /// Watches from now on, until the lab ends.
    pub(super) fn start(lab: &Lab) -> Self {
        let record = Self { since: Instant::now(), entries: Arc::default() };
        for (api_version, kind) in WATCHED {
            lab.runtime.spawn(watch(lab.kubernetes.clone(), api_version, kind, record.clone()));
        }
        lab.runtime.spawn(watch(lab.kubernetes.clone(), "v1", "Event", record.clone()));
        record
    }

    pub(super) fn now(&self) -> Duration {
        self.since.elapsed()
    }

    pub(super) fn note(&self, object: &str, note: impl Into<String>) {
        self.push(object.to_owned(), What::Note(note.into()));
    }

    fn push(&self, object: String, what: What) {
        let at = self.now();
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).push(Entry { at, object, what });
    }

    pub(super) fn entries(&self) -> Vec<Entry> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The states of one object, in order.
    pub(super) fn states(&self, object: &str) -> Vec<(Duration, State)> {
        let all = self.entries();
        let of_it = all.into_iter().filter(|entry| entry.object == object);
        of_it
            .filter_map(|entry| if let What::State(state) = entry.what { Some((entry.at, state)) } else { None })
            .collect()
    }

    /// The failed attempts of one object: when each began (as far as its status showed that), when it was over, and
    /// what it said.
    pub(super) fn failures(&self, object: &str) -> Vec<Failure> {
        let mut all: Vec<Failure> = Vec::new();
        let (mut began, mut before) = (None, None::<State>);
        for (at, state) in self.states(object) {
            let goes_on = before.as_ref().is_some_and(State::has_failed);
            if state.has_failed() && goes_on && before.as_ref().is_some_and(|before| before.said() == state.said()) {
                before = Some(state);
                continue;
            }
            if state.has_failed() {
                all.push(Failure { began: began.take().unwrap_or(at), at, said: state.said() });
            } else if state.reason == "Progressing" && began.is_none() {
                began = Some(at);
            } else if !state.reason.starts_with("Progressing") {
                began = None;
            }
            before = Some(state);
        }
        all
    }

    /// Everything that Flux calls a failure, of any object.
    pub(super) fn all_failures(&self) -> Vec<Entry> {
        let failed = |entry: &Entry| match &entry.what {
            What::State(state) => state.has_failed(),
            What::Event { warning, .. } => *warning,
            What::Gone | What::Note(_) => false,
        };
        self.entries().into_iter().filter(failed).collect()
    }
}

#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) began: Duration,
    pub(super) at: Duration,
    pub(super) said: String,
}

async fn watch(kubernetes: crate::api::Kubernetes, api_version: &'static str, kind: &'static str, record: Record) {
    let mut last: BTreeMap<Object, State> = BTreeMap::new();
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    loop {
        let Ok(api) = kubernetes.everywhere(api_version, kind).await else {
            tokio::time::sleep(AGAIN_AFTER).await;
            continue;
        };
        let mut changes = watcher::watcher(api, watcher::Config::default()).boxed();
        while let Some(change) = changes.next().await {
            match change {
                Ok(Change::Apply(object) | Change::InitApply(object)) if kind == "Event" => {
                    event(&plain(&object), &mut counts, &record);
                }
                Ok(Change::Apply(object) | Change::InitApply(object)) => {
                    let mut value = plain(&object);
                    value["apiVersion"] = api_version.into();
                    value["kind"] = kind.into();
                    let Some(name) = Object::of(&value) else { continue };
                    let state = State::of(&value);
                    if last.get(&name) != Some(&state) {
                        record.push(name.to_string(), What::State(state.clone()));
                        last.insert(name, state);
                    }
                }
                Ok(Change::Delete(object)) if kind != "Event" => {
                    let mut value = plain(&object);
                    value["apiVersion"] = api_version.into();
                    value["kind"] = kind.into();
                    if let Some(name) = Object::of(&value) {
                        last.remove(&name);
                        record.push(name.to_string(), What::Gone);
                    }
                }
                Ok(_) => {}
                Err(_) => tokio::time::sleep(AGAIN_AFTER).await,
            }
        }
    }
}

fn event(value: &Value, counts: &mut BTreeMap<String, i64>, record: &Record) {
    let name = value["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let event = KubeEvent::of(value);
    if !event.object.api_version.contains("toolkit.fluxcd.io") {
        return;
    }
    if counts.get(&name).is_some_and(|count| *count >= event.count) {
        return;
    }
    counts.insert(name, event.count);
    let what = What::Event { warning: event.is_warning(), reason: event.reason, message: event.message };
    record.push(event.object.to_string(), what);
}
