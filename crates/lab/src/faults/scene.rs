//! A cluster, what was changed of it, and the way back.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::build;
use crate::{Lab, LabError, Object, Process, Until};

pub(super) const SOON: Duration = Duration::from_secs(90);

/// How something is put right again.
enum Undo {
    Delete(Object),
    Put(Value),
    Patch(Object, Value),
    Status(Object, Value),
    Start(Process),
    Git,
    Charts,
    Tree(BTreeMap<String, String>),
    Reconcile(Object),
}

/// A cluster of a lab with names that mean nothing, others for every seed.
pub struct Scene<'a> {
    pub lab: &'a Lab,
    seed: u64,
    undo: RefCell<Vec<Undo>>,
    tree: RefCell<BTreeMap<String, String>>,
}

impl std::fmt::Debug for Scene<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scene").field("seed", &self.seed).finish_non_exhaustive()
    }
}

impl<'a> Scene<'a> {
    pub(super) fn new(lab: &'a Lab, seed: u64) -> Self {
        Self { lab, seed, undo: RefCell::default(), tree: RefCell::default() }
    }

    /// The name of what plays a part: the same for the same seed, and another for each part.
    pub fn name(&self, part: &str) -> String {
        const WORDS: [&str; 11] =
            ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "kelp", "larch"];
        const PRIME: u64 = 0x0100_0000_01b3;
        let start = (self.seed ^ 0xcbf2_9ce4_8422_2325).wrapping_mul(PRIME);
        let hash = part.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
        let word = WORDS[usize::try_from(hash >> 8).unwrap_or_default() % WORDS.len()];
        format!("{word}-{:05x}", (hash >> 24) & 0xf_ffff)
    }

    /// The namespace of applications.
    pub(super) fn home(&self) -> String {
        self.name("home")
    }

    fn later(&self, undo: Undo) {
        self.undo.borrow_mut().push(undo);
    }

    /// Applies an object that is not part of the healthy cluster.
    pub(super) fn add(&self, value: &Value) -> Result<Object, LabError> {
        let object = self.lab.apply_value(value)?;
        self.later(Undo::Delete(object.clone()));
        if let Some(status) = value.get("status") {
            self.lab.patch_status(&object, status)?;
        }
        Ok(object)
    }

    /// Adds an object that something will change or delete by itself.
    pub(super) fn put(&self, value: &Value) -> Result<Object, LabError> {
        let object = self.lab.apply_value(value)?;
        if let Some(status) = value.get("status") {
            self.lab.patch_status(&object, status)?;
        }
        Ok(object)
    }

    /// A merge patch, and the one that takes it back.
    pub(super) fn patch(&self, object: &Object, patch: &Value, back: Value) -> Result<(), LabError> {
        self.lab.patch(object, patch)?;
        self.later(Undo::Patch(object.clone(), back));
        Ok(())
    }

    /// The same of a status, with its conditions as they were afterwards.
    pub(super) fn status(&self, object: &Object, status: &Value) -> Result<(), LabError> {
        let before = self.lab.get(object)?.unwrap_or_default();
        self.lab.patch_status(object, status)?;
        self.later(Undo::Status(object.clone(), before["status"].clone()));
        Ok(())
    }

    /// The same, where the way back is known.
    pub(super) fn status_with(&self, object: &Object, status: &Value, back: Value) -> Result<(), LabError> {
        self.lab.patch_status(object, status)?;
        self.later(Undo::Status(object.clone(), back));
        Ok(())
    }

    /// Replaces the one condition of an object.
    pub(super) fn says(
        &self,
        object: &Object,
        kind: &str,
        status: &str,
        reason: &str,
        text: &str,
    ) -> Result<(), LabError> {
        self.status(object, &json!({"conditions": [build::condition(kind, status, reason, text)]}))
    }

    /// Deletes an object of the healthy cluster.
    pub(super) fn remove(&self, object: &Object) -> Result<(), LabError> {
        let Some(mut before) = self.lab.get(object)? else { return Ok(()) };
        before["apiVersion"] = object.api_version.as_str().into();
        before["kind"] = object.kind.as_str().into();
        if let Some(meta) = before["metadata"].as_object_mut() {
            for of_the_server in ["managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"] {
                meta.remove(of_the_server);
            }
        }
        self.lab.delete(object)?;
        self.lab.wait_for(object, &Until::gone(), SOON)?;
        self.later(Undo::Put(before));
        Ok(())
    }

    /// Kills a process of the lab.
    pub(super) fn stop(&self, process: Process) -> Result<(), LabError> {
        self.lab.kill(process)?;
        self.later(Undo::Start(process));
        Ok(())
    }

    pub(super) fn cut_off_git(&self) {
        self.lab.git().cut_off();
        self.later(Undo::Git);
    }

    pub(super) fn cut_off_charts(&self) {
        self.lab.charts().cut_off();
        self.later(Undo::Charts);
    }

    /// Has a controller of Flux look at an object again, once all is back as it was.
    pub(super) fn look_again_after(&self, object: Object) {
        self.later(Undo::Reconcile(object));
    }

    /// Changes files of the repository, and has Flux fetch them.
    pub(super) fn push(&self, files: &[(&str, String)]) -> Result<(), LabError> {
        let before = self.tree.borrow().clone();
        let mut tree = before.clone();
        tree.extend(files.iter().map(|(path, text)| ((*path).to_owned(), text.clone())));
        self.set_tree(tree)?;
        self.later(Undo::Tree(before));
        Ok(())
    }

    /// The files of the repository.
    pub(super) fn set_tree(&self, tree: BTreeMap<String, String>) -> Result<(), LabError> {
        let io = |error| LabError::io("write the repository")(error);
        let directory = tempfile::tempdir().map_err(io)?;
        for (path, text) in &tree {
            let path = directory.path().join(path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(io)?;
            }
            fs::write(path, text).map_err(io)?;
        }
        let revision = self.lab.git().push(directory.path())?;
        *self.tree.borrow_mut() = tree;
        let source = build::source();
        if self.lab.get(&source)?.is_some() {
            self.lab.reconcile(&source)?;
            let fetched = Until::new(format!("at {revision}"), move |object| {
                let told = object.and_then(|object| object.pointer("/status/artifact/revision")).cloned();
                let is_there = told.as_ref().and_then(Value::as_str).is_some_and(|told| told.contains(&revision));
                if is_there { Ok(()) } else { Err(format!("at {told:?}")) }
            });
            self.lab.wait_for(&source, &fetched, SOON)?;
        }
        Ok(())
    }

    /// Puts everything right again, the last change first. What can't be put right is told; the rest is tried anyway.
    pub fn restore(&self) -> Result<(), LabError> {
        let mut first = Ok(());
        loop {
            let Some(undo) = self.undo.borrow_mut().pop() else { return first };
            let done = self.undo(undo);
            if first.is_ok() {
                first = done;
            }
        }
    }

    fn undo(&self, undo: Undo) -> Result<(), LabError> {
        match undo {
            Undo::Delete(object) => {
                self.lab.delete(&object)?;
                self.lab.wait_for(&object, &Until::gone(), SOON)?;
            }
            Undo::Put(value) => drop(self.put(&value)?),
            Undo::Patch(object, patch) => self.lab.patch(&object, &patch)?,
            Undo::Status(object, status) => self.lab.patch_status(&object, &status)?,
            Undo::Start(process) => self.lab.start_process(process)?,
            Undo::Git => {
                self.lab.git().restore();
                self.lab.reconcile(&build::source())?;
            }
            Undo::Charts => self.lab.charts().restore(),
            Undo::Tree(tree) => self.set_tree(tree)?,
            Undo::Reconcile(object) => self.lab.reconcile(&object)?,
        }
        Ok(())
    }
}
