//! Terraform and OpenTofu: what a directory is for, the machines that it makes, and what it brings to a cluster, as far as that needs no
//! provider.
//!
//! Knows HCL, modules of this repository, variables, locals, `for_each`, `count` and functions on constants. Does not know
//! what a provider answers: that is unknown, never guessed.

pub mod chain;
pub(crate) mod doubles;
mod evaluate;
pub(crate) mod faults;
mod functions;
mod instance;
mod json;
pub mod layers;
mod module;
mod nodes;
mod open_text;
mod provided;
mod purpose;
mod render;
mod repeated;
mod runs;
mod terragrunt;
mod types;
mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ::repository::parallel;
use hcl_edit::structure::{Block, Body};
use kustomize::Files as _;
use repository::path;
use source::{FileId, Span};

use crate::machines::{MachineGroup, is_aside};
use crate::repository::Repository;
use evaluate::Budget;
pub(crate) use functions::encoding::documents;
use instance::Instance;
use instance::World;
pub(crate) use module::Module;
pub use open_text::GAP;
pub(crate) use provided::{Provided, ProvidedChart, ProvidedObject, provided};
pub use purpose::Purpose;
pub(crate) use purpose::is_machine;
use purpose::{Made, states_read};
pub use runs::Run;
pub(crate) use value::Value;

/// A directory that `terraform apply` is run in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    pub path: String,
    pub purpose: Purpose,
    /// Whom it speaks to, by the names of providers, sorted.
    pub providers: Vec<String>,
    /// The directories whose state it reads.
    pub reads: Vec<String>,
}

/// The chains of all roots of a repository, in the order of their directories.
pub fn chains(repository: &Repository) -> Vec<chain::Chain> {
    World::of(repository).map(|world| chains_of(&world)).unwrap_or_default()
}

pub(crate) fn chains_of(world: &World<'_>) -> Vec<chain::Chain> {
    let by_flux = applied_by_flux(world.repository);
    let chain = |directory| {
        let mut chain = chain::chain(world, directory)?;
        chain.is_applied_by_flux = by_flux.contains(directory);
        Some(chain)
    };
    let mut directories = roots(world);
    // A module that is published is run by others, as its top directory says.
    if directories.is_empty() {
        directories.extend(world.modules.keys().map(String::as_str).filter(|directory| directory.is_empty()));
    }
    directories.into_iter().filter_map(chain).collect()
}

impl<'r> World<'r> {
    /// All Terraform of a repository, if there is any.
    pub(crate) fn of(repository: &'r Repository) -> Option<Self> {
        let modules = repository.terraform();
        (!modules.is_empty()).then(|| Self { repository, modules, budget: Budget::default() })
    }
}

/// What a template of Coder reads about the workspace that it is applied for.
const CODER_WORKSPACE: &str = "coder_workspace";
/// The group of tofu-controller's objects.
const TOFU_CONTROLLER: &str = "infra.contrib.fluxcd.io/";

pub(crate) fn find(repository: &Repository) -> (Vec<Directory>, Vec<MachineGroup>) {
    let world = World { repository, modules: repository.terraform(), budget: Budget::default() };
    let roots: Vec<Rc<Instance<'_>>> =
        roots(&world).into_iter().filter_map(|directory| Instance::root(&world, directory)).collect();
    let reads: BTreeMap<&str, Vec<String>> =
        roots.iter().map(|root| (root.module.directory.as_str(), states_read(root))).collect();
    let is_read = |directory: &str| reads.values().flatten().any(|read| read == directory);
    let by_flux = applied_by_flux(repository);
    let (mut directories, mut groups) = (Vec::new(), Vec::new());
    for root in &roots {
        let path = root.module.directory.clone();
        groups.extend(nodes::find(root));
        let (purpose, providers) = what_for(root, is_read(&path));
        let purpose = if by_flux.contains(&path) { Purpose::Flux } else { purpose };
        let reads = reads.get(path.as_str()).cloned().unwrap_or_default();
        directories.push(Directory { path, purpose, providers, reads });
    }
    build_on_machines(&mut directories);
    // What others build on is in use; what nothing refers to may be a leftover.
    groups.sort_by_key(|group| !is_read(&group.from));
    directories.retain(|directory| !directory.path.is_empty());
    (directories, groups)
}

/// What reads the state of those that make the machines comes after them, whatever it does there.
fn build_on_machines(directories: &mut [Directory]) {
    let machines = directories.iter().filter(|one| one.purpose == Purpose::Machines).map(|one| one.path.clone());
    let machines: BTreeSet<String> = machines.collect();
    for one in directories.iter_mut().filter(|one| one.purpose == Purpose::Other) {
        if one.reads.iter().any(|read| machines.contains(read)) {
            one.purpose = Purpose::Cluster;
        }
    }
}

/// Every directory with Terraform files. What can't be parsed is left to Terraform, which will say so.
pub(crate) fn modules(repository: &Repository) -> BTreeMap<String, Module> {
    let paths: Vec<(&str, Syntax)> = repository.paths().filter_map(|path| Some((path, Syntax::of(path)?))).collect();
    let parsed = parallel::map(&paths, |(path, syntax)| {
        let file = repository.id(path)?;
        parse(file, std::str::from_utf8(repository.bytes(path)?).ok()?, *syntax)
    });
    let mut modules: BTreeMap<String, Module> = BTreeMap::new();
    for ((path, _), parsed) in paths.into_iter().zip(parsed) {
        let Some(parsed) = parsed else { continue };
        let directory = path::parent(path);
        let module = modules.entry(directory.to_owned()).or_insert_with(|| Module::new(directory));
        match parsed {
            Parsed::Values(body) => module.give(path.rsplit('/').next().unwrap_or(path), body),
            Parsed::Body(file, body) => module.add(file, body),
            Parsed::Blocks(file, blocks) => {
                for (at, block) in blocks {
                    module.add_block(file, at, block);
                }
            }
        }
    }
    modules
}

/// What a file holds.
enum Parsed {
    Values(Body),
    Body(FileId, Body),
    Blocks(FileId, Vec<(Span, Block)>),
}

fn parse(file: FileId, text: &str, syntax: Syntax) -> Option<Parsed> {
    Some(match (syntax.is_json, syntax.gives_values) {
        (false, true) => Parsed::Values(repeated::parse(text)?),
        (false, false) => Parsed::Body(file, repeated::parse(text)?),
        (true, true) => Parsed::Values(json::values(file, text)?),
        (true, false) => Parsed::Blocks(file, json::blocks(file, text)),
    })
}

/// Whether a file of Terraform can be parsed.
pub(crate) fn is_read(file: FileId, text: &str, syntax: Syntax) -> bool {
    match parse(file, text, syntax) {
        // Of JSON that can't be parsed there is no block.
        Some(Parsed::Blocks(_, blocks)) => !blocks.is_empty(),
        other => other.is_some(),
    }
}

/// How a file of Terraform is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Syntax {
    /// It gives values to variables, and has no blocks.
    gives_values: bool,
    is_json: bool,
}

impl Syntax {
    pub(crate) fn of(path: &str) -> Option<Self> {
        let (path, is_json) = path.strip_suffix(".json").map_or((path, false), |path| (path, true));
        match path.rsplit_once('.')?.1 {
            "tf" | "tofu" => Some(Self { gives_values: false, is_json }),
            "tfvars" => Some(Self { gives_values: true, is_json }),
            _ => None,
        }
    }
}

/// The directories that are applied by themselves.
fn roots<'w>(world: &'w World<'_>) -> Vec<&'w str> {
    let called: BTreeSet<String> =
        world.modules.values().flat_map(|module| module.called().map(|(_, directory)| directory)).collect();
    let is_root = |module: &&Module| {
        let is_called = called.contains(&module.directory);
        let does_something = !module.resources.is_empty() || !module.calls.is_empty() || !module.providers.is_empty();
        let says_so = module.backend.is_some() || module.is_given_values();
        let may_be = !module.providers.is_empty() || module.is_complete();
        // Coder makes a workspace of it for each of its users, long after the cluster is up.
        let is_workspace = module.resources.iter().any(|one| one.is_data && one.kind == CODER_WORKSPACE);
        does_something && !is_workspace && !is_aside(&module.directory) && (says_so || !is_called && may_be)
    };
    world.modules.values().filter(is_root).map(|module| module.directory.as_str()).collect()
}

fn what_for(root: &Rc<Instance<'_>>, is_read: bool) -> (Purpose, Vec<String>) {
    let (mut resources, mut data) = (BTreeSet::new(), BTreeSet::new());
    for (is_data, kind) in nodes::kinds(&root.tree()).into_keys() {
        if is_data {
            data.insert(kind)
        } else {
            resources.insert(kind)
        };
    }
    let hands_over_secrets = is_read && root.module.outputs.values().any(|output| output.is_sensitive);
    let configured = &root.module.providers;
    let made = Made { resources: &resources, data: &data, configured, hands_over_secrets };
    (made.purpose(), made.providers())
}

/// The directories that objects of tofu-controller name.
fn applied_by_flux(repository: &Repository) -> BTreeSet<String> {
    let roots = repository.yaml_files().flat_map(|(_, _, documents)| documents).filter_map(|one| one.root.as_ref());
    let objects = roots.filter(|root| {
        root.text_at(&["kind"]) == Some("Terraform")
            && root.text_at(&["apiVersion"]).is_some_and(|version| version.starts_with(TOFU_CONTROLLER))
    });
    objects.filter_map(|object| object.text_at(&["spec", "path"])).map(path::within).collect()
}

#[cfg(test)]
mod tests;
