//! Which releases of a helmfile are installed: those that the selectors of its calls mean.
//!
//! Knows the calls of scripts and the helmfiles that list others. A helmfile that no script calls is run by hand, as a whole.
//! A selector that can't be known means everything.

use std::collections::{BTreeMap, BTreeSet};

use yaml::Node;

use super::release::Found;
use super::script_calls::{Call, Called, HelmfileCall};
use super::selector::Selector;
use super::{Release, needed};
use crate::templated_yaml;
use ::repository::path;

/// What helmfile runs where no file is named.
const DEFAULT_NAMES: [&str; 2] = ["helmfile.yaml", "helmfile.yaml.gotmpl"];

/// A call of one of so many releases by its name is a repair: a cluster is not brought up that way.
const MENDED_OF_MIN: usize = 3;

/// What one call installs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    All,
    Only { selectors: Vec<Selector>, with_needs: bool },
}

impl Choice {
    /// Of selectors as they are written; everything for none.
    pub(super) fn of<'text>(selectors: impl Iterator<Item = Option<&'text str>>, with_needs: bool) -> Self {
        let selectors: Option<Vec<Selector>> = selectors.map(|text| Selector::parse(text?)).collect();
        match selectors {
            Some(selectors) if !selectors.is_empty() => Self::Only { selectors, with_needs },
            _ => Self::All,
        }
    }

    fn is_by_name(&self) -> bool {
        matches!(self, Self::Only { selectors, .. } if selectors.iter().all(Selector::is_name))
    }

    /// The indices of the releases that it means.
    fn taken(&self, found: &[Found]) -> BTreeSet<usize> {
        let Self::Only { selectors, with_needs } = self else { return (0..found.len()).collect() };
        let is_meant = |found: &Found| selectors.iter().any(|selector| selector.may_match(&found.labels));
        let mut taken: BTreeSet<usize> = (0..found.len()).filter(|index| is_meant(&found[*index])).collect();
        let mut open: Vec<usize> = taken.iter().copied().filter(|_| *with_needs).collect();
        while let Some(index) = open.pop() {
            let release = &found[index].release;
            let all = || found.iter().map(|other| &other.release);
            let needs = release.needs.iter().filter_map(|(name, _)| needed(all(), release, name).map(|it| it.0));
            open.extend(needs.filter(|need| taken.insert(*need)));
        }
        taken
    }
}

/// All that is chosen of a helmfile.
#[derive(Clone, Debug, Default)]
struct Ways {
    /// By scripts, not by hand.
    is_called: bool,
    choices: Vec<Choice>,
}

impl Ways {
    fn add(&mut self, is_called: bool, choice: Choice) {
        if is_called && !self.is_called {
            self.choices.clear();
            self.is_called = true;
        }
        if is_called == self.is_called && !self.choices.contains(&choice) {
            self.choices.push(choice);
        }
    }
}

/// An entry of `helmfiles`.
#[derive(Clone, Debug)]
struct Listed {
    by: String,
    /// Its own selectors; without any those that the helmfile itself is called with.
    choice: Option<Choice>,
}

/// How the helmfiles of a repository are called.
pub(super) struct Calls {
    by_scripts: Vec<Call>,
    listed: BTreeMap<String, Vec<Listed>>,
    /// The one that is meant by calls that name none.
    default: Option<String>,
}

impl Calls {
    pub(super) fn new<'root>(
        by_scripts: Vec<Call>,
        roots: impl Iterator<Item = (&'root str, &'root Node)> + Clone,
    ) -> Self {
        let mut listed: BTreeMap<String, Vec<Listed>> = BTreeMap::new();
        for (file, root) in roots.clone() {
            for (path, entry) in children(file, root) {
                listed.entry(path).or_default().push(Listed { by: file.to_owned(), choice: own_choice(entry) });
            }
        }
        let is_default = |file: &str| DEFAULT_NAMES.contains(&file.rsplit('/').next().unwrap_or_default());
        let mut defaults = roots.map(|(file, _)| file).filter(|file| is_default(file) && !listed.contains_key(*file));
        let default = defaults.next().filter(|_| defaults.next().is_none()).map(str::to_owned);
        Self { by_scripts, listed, default }
    }

    /// How scripts call the helmfile at a path by its name, if any does.
    pub(super) fn kind_of(&self, path: &str) -> Option<HelmfileCall> {
        let by_name = |call: &&Call| matches!(&call.called, Called::Paths(paths) if paths.iter().any(|it| it == path));
        let kinds: Vec<HelmfileCall> = self.by_scripts.iter().filter(by_name).map(|call| call.kind).collect();
        kinds.iter().find(|kind| **kind == HelmfileCall::Installs).or(kinds.first()).copied()
    }

    /// Those of the releases at a path that some call installs, or renders where only CRDs are applied.
    pub(super) fn installed(&self, path: &str, found: Vec<Found>) -> Vec<Release> {
        let only_crds = found.iter().any(|found| found.release.only_crds);
        let kind = if only_crds { HelmfileCall::TemplatesCrds } else { HelmfileCall::Installs };
        let choices = self.ways(path, kind, &mut BTreeMap::new()).choices;
        let mut taken: BTreeSet<usize> = choices.iter().flat_map(|choice| choice.taken(&found)).collect();
        if taken.len() == 1 && found.len() >= MENDED_OF_MIN && choices.iter().all(Choice::is_by_name) {
            taken.extend(0..found.len());
        }
        let taken = found.into_iter().enumerate().filter(|(index, found)| taken.contains(index) && !found.is_off);
        taken.map(|(_, found)| found.release).collect()
    }

    /// What is chosen of a helmfile. Where scripts call it, what others may do by hand does not count.
    fn ways<'all>(&'all self, path: &'all str, kind: HelmfileCall, known: &mut BTreeMap<&'all str, Ways>) -> Ways {
        if let Some(ways) = known.get(path) {
            return ways.clone();
        }
        // For helmfiles that list each other in a circle.
        known.insert(path, Ways::default());
        let calls = || self.by_scripts.iter().filter(|call| call.kind == kind);
        let mut ways = Ways::default();
        for call in calls().filter(|call| self.means(call, path)) {
            ways.add(true, call.choice.clone());
        }
        // An entry may name the directory.
        let listed = [path, path::parent(path)].into_iter().filter_map(|it| self.listed.get(it)).flatten();
        for listed in listed {
            let by = self.ways(&listed.by, kind, known);
            let choices = listed.choice.clone().map_or(by.choices, |own| vec![own]);
            for choice in choices {
                ways.add(by.is_called, choice);
            }
        }
        if ways.choices.is_empty() {
            ways.choices.push(Choice::All);
        } else {
            let maybe = calls().filter(|call| self.is_unclear(call)).map(|call| call.choice.clone());
            maybe.for_each(|choice| ways.add(ways.is_called, choice));
        }
        known.insert(path, ways.clone());
        ways
    }

    /// Whether a call gives all releases of a helmfile another namespace.
    pub(super) fn may_rename(&self, path: &str) -> bool {
        self.may_mean(path).any(|call| call.sets_namespace)
    }

    /// Whether a call gives a helmfile other values than its environments do.
    pub(super) fn may_set_values(&self, path: &str) -> bool {
        self.may_mean(path).any(|call| call.sets_values)
    }

    /// The calls that may reach a helmfile. Which of them reach one that another lists is not looked for.
    fn may_mean<'all>(&'all self, path: &'all str) -> impl Iterator<Item = &'all Call> {
        let is_listed = self.listed.contains_key(path) || self.listed.contains_key(path::parent(path));
        self.by_scripts.iter().filter(move |call| is_listed || self.means(call, path) || self.is_unclear(call))
    }

    fn means(&self, call: &Call, path: &str) -> bool {
        match &call.called {
            Called::Paths(paths) => paths.iter().any(|it| it == path || it == path::parent(path)),
            Called::Default => self.default.as_deref() == Some(path),
            Called::Unknown => false,
        }
    }

    /// Whether it is not known which helmfile is called.
    fn is_unclear(&self, call: &Call) -> bool {
        match &call.called {
            Called::Paths(_) => false,
            Called::Default => self.default.is_none(),
            Called::Unknown => true,
        }
    }
}

/// The entries of `helmfiles` with their paths, as far as a path is written out.
pub(super) fn children<'root>(file: &str, root: &'root Node) -> Vec<(String, &'root Node)> {
    let path_of = |entry: &'root Node| {
        let written = entry.text().or_else(|| entry.text_at(&["path"]))?;
        Some((path::join(path::parent(file), written)?, entry))
    };
    root.items_at("helmfiles").iter().filter_map(path_of).collect()
}

fn own_choice(entry: &Node) -> Option<Choice> {
    let selectors = entry.get("selectors")?;
    let is_inherited = entry.get("selectorsInherited").and_then(Node::as_bool);
    if is_inherited == Some(true) {
        return None;
    }
    let written = selectors.as_seq().unwrap_or_default().iter();
    let known = written.map(|selector| selector.text().filter(|text| !templated_yaml::is_unknown(text)));
    Some(Choice::of(known, false))
}
