//! The texts of scripts, recipes and tasks that are part of a bootstrap, with what runs each.

mod just;
mod make;
mod task;

use std::collections::BTreeSet;
use std::ops::Range;

use kustomize::Files as _;
use model::{Defect, GIVEN_NAMESPACES, GateDefect, ObjectRef, StepFault};
use repository::path;

use super::library::sourced_words;
use super::{Container, GateFault, Judged, Parsed, ShellText, judge};
use crate::naming::exists;
use crate::repository::Repository;
use crate::scripts::{Recipes, Script, Scripts, Tool};
use crate::terraform::chain::{Chain, Provisioner, ProvisionerKind};

/// How many texts may source each other.
const SOURCED_MAX: usize = 16;

/// A text and what runs it.
pub(super) struct Unit {
    pub(super) text: ShellText,
    pub(super) container: Container,
}

/// What the scripts of a bootstrap get wrong, sorted by place.
pub(crate) fn faults(scripts: &Scripts<'_>) -> Vec<StepFault> {
    let mut faults: Vec<StepFault> = Vec::new();
    for script in scripts.found() {
        let step = ObjectRef::new("Script", "", script.path.as_str());
        for judged in judged(scripts, script) {
            let missing = in_missing_namespaces(scripts.repository(), &judged);
            faults.extend(judged.faults.into_iter().chain(missing).map(|fault| StepFault {
                at: fault.at,
                step: step.clone(),
                defect: Defect::Gate(fault.defect),
                shown: fault.shown,
            }));
        }
    }
    faults.sort();
    faults.dedup();
    faults
}

/// What a script waits for in a namespace that nothing else of the repository mentions.
fn in_missing_namespaces(repository: &Repository, judged: &Judged) -> Vec<GateFault> {
    let missing = |gate: &&super::Gate| {
        let on = gate.wait.on.as_ref();
        on.is_some_and(|on| on.condition != "delete" && is_missing(repository, &on.namespace))
    };
    let fault = |gate: &super::Gate| GateFault {
        defect: GateDefect::MissingNamespace { wait: gate.wait.clone() },
        at: gate.at,
        shown: Vec::new(),
    };
    judged.gates.iter().filter(missing).map(fault).collect()
}

/// Whether a namespace is named nowhere but where something is waited for or looked at.
fn is_missing(repository: &Repository, namespace: &str) -> bool {
    if namespace.is_empty()
        || namespace.contains('*')
        || GIVEN_NAMESPACES.contains(&namespace)
        || namespace == "flux-system"
    {
        return false;
    }
    let is_looking = |line: &str| {
        line.contains("kubectl")
            && ["wait", "rollout", "get", "logs", "describe"].iter().any(|word| line.contains(word))
    };
    let is_word = |line: &str, at: usize| {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        !line[..at].ends_with(is_part) && !line[at + namespace.len()..].starts_with(is_part)
    };
    let names = |text: &str| {
        let mut lines = text.lines().filter(|line| line.contains(namespace) && !is_looking(line));
        lines.any(|line| line.match_indices(namespace).any(|(at, _)| is_word(line, at)))
    };
    // Prose may tell of a mistake.
    let is_prose = |path: &str| [".md", ".txt", ".adoc"].iter().any(|ending| path.ends_with(ending));
    let paths = repository.paths().filter(|path| !is_prose(path));
    let mut texts = paths.filter_map(|path| repository.source(repository.id(path)?));
    // A directory of that name makes it likely, too.
    let in_path = |path: &str| path.split('/').any(|part| part == namespace);
    !repository.paths().any(in_path) && !texts.any(|source| names(source.text()))
}

/// What the provisioners of Terraform get wrong, sorted by place.
pub(crate) fn provisioner_faults(repository: &Repository, chains: &[Chain]) -> Vec<StepFault> {
    let mut faults: Vec<StepFault> = Vec::new();
    for chain in chains {
        for (_, block) in chain.iter() {
            let step = ObjectRef::new("Terraform", chain.root.as_str(), block.address.as_str());
            for provisioner in block.provisioners.iter().filter(|provisioner| !provisioner.on_destroy) {
                faults.extend(of_provisioner(repository, provisioner).faults.into_iter().map(|fault| StepFault {
                    at: fault.at,
                    step: step.clone(),
                    defect: Defect::Gate(fault.defect),
                    shown: fault.shown,
                }));
            }
        }
    }
    faults.sort();
    faults.dedup_by(|one, other| one.at == other.at && one.defect == other.defect);
    faults
}

/// Judges the script of one provisioner.
pub(crate) fn of_provisioner(repository: &Repository, provisioner: &Provisioner) -> Judged {
    let words: Vec<&str> = provisioner.interpreter.iter().map(String::as_str).collect();
    let shell = if words.is_empty() { Container::SH } else { Container::of_command(&words) };
    let first = provisioner.script.text.lines().next().unwrap_or_default();
    // What is copied to another machine is run by what it names itself.
    let is_copied = provisioner.kind == ProvisionerKind::Remote && first.starts_with("#!");
    let container = if is_copied { Container::of_shebang(first) } else { shell };
    let container = Container { is_ignored: provisioner.ignores_failure, is_unattended: true, ..container };
    let parsed = Parsed::of(ShellText::of_terraform(&provisioner.script, provisioner.at));
    let from = provisioner.directory.as_ref().map(|directory| format!("{directory}/."));
    let sourced = from.map(|from| sourced(repository, &from, &parsed)).unwrap_or_default();
    judge(&parsed, container, &sourced.iter().collect::<Vec<_>>())
}

/// What each text of a script waits for; nothing of a script that is no part of a bootstrap.
pub(crate) fn judged(scripts: &Scripts<'_>, script: &Script) -> Vec<Judged> {
    if !script.is_early() {
        return Vec::new();
    }
    units(scripts, script)
        .into_iter()
        .filter(|unit| !unit.text.is_empty())
        .map(|unit| {
            let parsed = Parsed::of(unit.text);
            let sourced = sourced(scripts.repository(), &script.path, &parsed);
            judge(&parsed, unit.container, &sourced.iter().collect::<Vec<_>>())
        })
        .collect()
}

pub(super) fn units(scripts: &Scripts<'_>, script: &Script) -> Vec<Unit> {
    let repository = scripts.repository();
    let Some(text) = scripts.text(script) else { return Vec::new() };
    let Some(recipes) = Recipes::read(repository, &script.path) else {
        let is_shell = [".sh", ".bash"].iter().any(|ending| script.path.ends_with(ending));
        let container = Container::of_shebang(text);
        let unit = Unit { text: ShellText::plain(script.file(), text, 0), container };
        return if is_shell { vec![unit] } else { Vec::new() };
    };
    let parts: Vec<Range<usize>> = recipes
        .all
        .iter()
        .map(|recipe| recipe.range.clone())
        .filter(|range| script.turn(range.start).is_some())
        .collect();
    match recipes.tool {
        Tool::Just => just::units(script.file(), text, &parts),
        Tool::Make => make::units(script.file(), text, &parts),
        Tool::Task => {
            let root = repository.documents(&script.path).and_then(|(_, documents)| documents.first()?.root.as_ref());
            root.map(|root| task::units(script.file(), text, root, &parts)).unwrap_or_default()
        }
    }
}

/// The texts that one sources, the deepest first.
fn sourced(repository: &Repository, path: &str, parsed: &Parsed) -> Vec<Parsed> {
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    let mut open: Vec<(String, Vec<String>)> = vec![(path.to_owned(), words(parsed))];
    while let Some((from, words)) = open.pop() {
        for place in words.iter().filter_map(|word| place_of(repository, &from, word)) {
            if found.len() >= SOURCED_MAX || !seen.insert(place.clone()) {
                continue;
            }
            let Some(file) = repository.id(&place) else { continue };
            let Some(source) = repository.source(file) else { continue };
            let parsed = Parsed::of(ShellText::plain(file, source.text(), 0));
            open.push((place, self::words(&parsed)));
            found.push(parsed);
        }
    }
    found.reverse();
    found
}

fn words(parsed: &Parsed) -> Vec<String> {
    sourced_words(parsed).into_iter().map(|(word, _)| word).collect()
}

/// The file that a word means: from the script itself, from a directory around it, or from the root.
fn place_of(repository: &Repository, from: &str, word: &str) -> Option<String> {
    // What is expanded is a directory: its last known part is looked for.
    let known = word.rfind(['}', ')']).map_or(word, |at| &word[at + 1..]);
    let known = if known.starts_with('$') { known.split_once('/')?.1 } else { known };
    let known = known.trim_start_matches('/');
    if known.is_empty() || known.contains('$') {
        return None;
    }
    let places = path::ancestors(path::parent(from)).filter_map(|directory| path::join(directory, known));
    places.into_iter().find(|place| exists(repository, place) && repository.id(place).is_some())
}
