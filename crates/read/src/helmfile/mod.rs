//! Helmfiles: their releases, which of them are chosen, switched off, ordered, and what their hooks apply.
//!
//! Reads helmfiles as the YAML they are, without running their templates or asking for charts: what a template decides
//! is unknown, and both sides of a condition count. Knows from scripts only how they call helmfile.

mod absent;
mod choice;
mod condition;
mod hooks;
mod leftover;
mod release;
mod script_calls;
mod selector;
mod templates;
mod undefined_needs;
mod unread;

use kustomize::Files as _;
use model::{BlindSpot, BootstrapStep, ObjectRef};
use source::Span;
use yaml::{EcoString, Node};

use crate::content::merge;
use crate::naming::{is_archived, says_bootstrap};
use crate::repository::Repository;
use crate::scripts::{MissingFile, Scripts};
use crate::templated_yaml;

use choice::Calls;
pub(crate) use leftover::remove as remove_leftovers;
use release::Found;
pub(crate) use release::last_part;

/// One helmfile, in the order they run.
#[derive(Clone, Debug)]
pub struct Helmfile {
    pub path: String,
    /// Helmfiles run in the order of these: file names inside of a directory, or the order another helmfile lists.
    pub order_key: String,
    pub releases: Vec<Release>,
}

/// A chart that a helmfile installs, or only templates for its CRDs.
#[derive(Clone, Debug)]
pub struct Release {
    pub name: EcoString,
    /// Empty when it is not given or not known.
    pub namespace: EcoString,
    /// The chart as it is written; `None` when a template decides and the repository does not tell.
    pub chart: Option<EcoString>,
    /// The last part of the chart's address; the release's name where the chart is unknown.
    pub chart_name: EcoString,
    pub version: Option<EcoString>,
    /// Where the helmfile itself writes the version.
    pub version_at: Option<Span>,
    pub needs: Vec<(String, Span)>,
    /// What its `needs` mean and the helmfile does not have.
    pub undefined_needs: Vec<(ObjectRef, Span)>,
    pub wait: Option<bool>,
    /// How long helm waits, where that is written.
    pub timeout_seconds: Option<u64>,
    /// Relative to the repository's root where they lie in it.
    pub values_files: Vec<String>,
    pub inline_values: Vec<Node>,
    /// Files and directories that its hooks apply with kubectl.
    pub applies: Vec<Hooked>,
    /// Files that it names and that are not there: values, commands of its hooks, and what these apply.
    pub absent: Vec<MissingFile>,
    /// The release's name in the helmfile.
    pub span: Span,
    /// Its chart is rendered and only the CRDs are applied.
    pub only_crds: bool,
    /// A script installs it with helm: what else that script waits for is not known.
    pub by_script: bool,
    /// Terraform installs it.
    pub by_terraform: bool,
}

/// Something that a hook applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hooked {
    /// Relative to the repository's root.
    pub path: String,
    /// After the release, not before it.
    pub is_after: bool,
}

/// A release, by its place in a list of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReleaseIndex(pub usize);

/// Which of the releases one of them means by a name in its `needs`: the nearest, where several helmfiles have one of that name.
pub fn needed<'r>(
    releases: impl Iterator<Item = &'r Release> + Clone,
    of: &Release,
    name: &str,
) -> Option<ReleaseIndex> {
    let is_it = |other: &Release| {
        let full = || format!("{}/{}", other.namespace, other.name);
        !other.only_crds && other.span != of.span && (*name == *other.name || name.ends_with(&full()))
    };
    let all = releases.enumerate().filter(|(_, other)| is_it(other));
    let near = all.clone().find(|(_, other)| other.span.file == of.span.file);
    near.or_else(|| all.clone().next()).map(|(at, _)| ReleaseIndex(at))
}

impl Release {
    /// One that a command of a script installs, of which no more is known than its name.
    pub(crate) fn by_script(name: &str, span: Span) -> Self {
        Self {
            name: name.into(),
            namespace: EcoString::new(),
            chart: None,
            chart_name: name.into(),
            version: None,
            version_at: None,
            needs: Vec::new(),
            undefined_needs: Vec::new(),
            wait: None,
            timeout_seconds: None,
            values_files: Vec::new(),
            inline_values: Vec::new(),
            applies: Vec::new(),
            absent: Vec::new(),
            span,
            only_crds: false,
            by_script: true,
            by_terraform: false,
        }
    }

    /// One that Terraform installs. What else its run waits for is known from the steps of the boot.
    pub(crate) fn by_terraform(name: &str, span: Span) -> Self {
        Self { by_terraform: true, ..Self::by_script(name, span) }
    }

    /// What it is among the steps of a bootstrap: a pass that applies only CRDs is not the release itself.
    pub fn step(&self) -> BootstrapStep {
        match (self.only_crds, self.by_terraform) {
            (true, _) => BootstrapStep::Crds,
            (false, true) => BootstrapStep::TerraformRelease,
            (false, false) => BootstrapStep::Release,
        }
    }

    /// What stands for it in a cluster.
    pub fn object(&self) -> ObjectRef {
        self.step().object(self.namespace.clone(), self.name.clone())
    }

    /// What it is called among the steps of a bootstrap.
    pub fn step_name(&self) -> String {
        self.step().step_name(&self.object())
    }

    /// Its values, merged in their order, where all of them are written out: nothing for one that a template makes.
    pub(crate) fn visible_values(&self, repository: &Repository) -> Option<Node> {
        let mut merged: Option<Node> = None;
        let mut add = |over: &Node| merged = Some(merged.as_ref().map_or_else(|| over.clone(), |it| merge(it, over)));
        for file in &self.values_files {
            let text = repository.source(repository.id(file)?)?.text();
            if templated_yaml::is_template(text) || file.ends_with(".gotmpl") {
                return None;
            }
            let root = repository.documents(file)?.1.first()?.root.as_ref()?;
            add(root);
        }
        for values in &self.inline_values {
            // A condition around them can't be seen from inside.
            let text = repository.source(values.span.file)?.text();
            if templated_yaml::is_template(text) {
                return None;
            }
            add(values);
        }
        merged
    }
}

/// All helmfiles of a repository, in the order they run.
pub fn read(repository: &Repository) -> Vec<Helmfile> {
    helmfiles(repository, &Scripts::read(repository)).0
}

/// All helmfiles, and what of them could not be read.
pub(crate) fn helmfiles(repository: &Repository, scripts: &Scripts) -> (Vec<Helmfile>, Vec<BlindSpot>) {
    let candidates = candidates(repository).into_iter().filter_map(|file| {
        let root = root_of(repository, &file).filter(|root| is_helmfile(&file, root))?;
        Some((file, root))
    });
    let roots: Vec<(String, Node)> = candidates.collect();
    let mut unread = unread::find(repository, &roots);
    let calls = Calls::new(script_calls::calls(scripts), roots.iter().map(|(file, root)| (file.as_str(), root)));
    let mut helmfiles = Vec::new();
    let mut listed = Vec::new();
    for (file, root) in roots {
        let children = choice::children(&file, &root).into_iter().enumerate();
        listed.extend(children.map(|(index, (child, _))| (child, format!("{file}/{index:04}"))));
        let found = release::releases(scripts, &calls, &file, &root);
        unread.extend(found.iter().filter(|found| !found.is_off).flat_map(|found| found.unseen.iter().cloned()));
        let order_key = order_key(&file, &found);
        helmfiles.push(Helmfile { order_key, releases: calls.installed(&file, found), path: file });
    }
    for helmfile in &mut helmfiles {
        if let Some((_, key)) = listed.iter().find(|(child, _)| *child == helmfile.path) {
            helmfile.order_key.clone_from(key);
        }
    }
    helmfiles.sort_by(|a, b| a.order_key.cmp(&b.order_key));
    (helmfiles, unread)
}

/// By name inside of a directory, but the file that is only there for CRDs before the others.
fn order_key(file: &str, found: &[Found]) -> String {
    let (directory, name) = file.rsplit_once('/').unwrap_or(("", file));
    let rank = usize::from(!found.iter().all(|found| found.release.only_crds));
    format!("{directory}/{rank}/{name}")
}

fn candidates(repository: &Repository) -> Vec<String> {
    let is_readable = |path: &&str| {
        let ends = [".yaml", ".yml", ".yaml.gotmpl", ".yml.gotmpl"].iter().any(|ending| path.ends_with(ending));
        ends && looks_like_place(path) && !is_archived(path)
    };
    repository.paths().filter(is_readable).map(str::to_owned).collect()
}

/// Files that are named as helmfiles are, or lie where bootstraps are kept.
fn looks_like_place(path: &str) -> bool {
    path.contains("helmfile") || says_bootstrap(path)
}

/// What a file that may be a helmfile says.
fn root_of(repository: &Repository, file: &str) -> Option<Node> {
    let text = repository.source(repository.id(file)?)?.text();
    let speaks = ["releases:", "helmfiles:", "templates:"].iter().any(|key| text.contains(key));
    if speaks { merged(repository, file) } else { None }
}

/// The mappings of a file as one, its templates neutralised.
fn merged(repository: &Repository, file: &str) -> Option<Node> {
    let id = repository.id(file)?;
    let text = repository.source(id)?.text();
    // `---` separates parts that helmfile merges; later ones win.
    let mut documents = templated_yaml::parse(id, text).into_iter().filter(|document| document.as_map().is_some());
    let mut root = documents.next()?;
    for document in documents {
        let Some(map) = root.as_map_mut() else { break };
        for entry in document.entries() {
            map.insert(entry.key.clone(), entry.key_span, entry.value.clone());
        }
    }
    Some(root)
}

fn is_helmfile(file: &str, root: &Node) -> bool {
    if root.get("apiVersion").is_some() {
        return false;
    }
    let releases = root.items_at("releases");
    let has_marks = ["helmDefaults", "bases", "defaultInherit", "repositories", "environments", "templates"]
        .iter()
        .any(|key| root.get(key).is_some());
    let has_charts = releases.iter().any(|release| release.get("chart").is_some() || release.get("inherit").is_some());
    let has_children = is_named_helmfile(file) && !root.items_at("helmfiles").is_empty();
    has_children || (releases.iter().any(|release| release.get("name").is_some()) && (has_charts || has_marks))
}

fn is_named_helmfile(file: &str) -> bool {
    file.split('/').any(|part| part.contains("helmfile"))
}
