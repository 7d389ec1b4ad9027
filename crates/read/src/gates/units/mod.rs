//! The texts of scripts, recipes and tasks that are part of a bootstrap, with what runs each.

mod just;
mod make;
mod task;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ecow::EcoString;
use kustomize::Files as _;
use model::{Awaited, Defect, Ends, GIVEN_NAMESPACES, GateDefect, ObjectRef, StepFault, Wait, Which};
use repository::path;
use source::Span;

use super::library::sourced_words;
use super::{Container, Gate, GateFault, Judged, Parsed, ShellText, judge};
use crate::naming::exists;
use crate::repository::Repository;
use crate::scripts::{Recipes, Script, Scripts, Tool};
use crate::terraform::chain::{Provisioner, ProvisionerKind};

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
        let mut own = Vec::new();
        for mut judged in judged(scripts, script) {
            own.append(&mut judged.faults);
            own.extend(in_missing_namespaces(scripts.repository(), &judged));
            own.extend(skipped_files(scripts.repository(), script, &judged));
        }
        faults.extend(own.into_iter().map(|fault| StepFault {
            at: fault.at,
            step: step.clone(),
            defect: Defect::Gate(rerun(scripts, script, fault.at, fault.defect)),
            shown: fault.shown,
        }));
    }
    faults.sort();
    faults.dedup();
    faults
}

/// What a script waits for in a namespace that nothing else of the repository mentions. The first wait tells: where it ends, the others
/// are not run.
fn in_missing_namespaces(repository: &Repository, judged: &Judged) -> Vec<GateFault> {
    let mut found: BTreeMap<&str, GateFault> = BTreeMap::new();
    for gate in &judged.gates {
        let is_deletion = gate.wait.on.as_ref().is_some_and(|on| on.condition == "delete");
        // What a loop tries and nothing ends is told for that.
        if is_deletion || gate.wait.ends == Ends::Never || !is_missing(repository, &gate.namespace) {
            continue;
        }
        if let Some(first) = found.get_mut(gate.namespace.as_str()) {
            first.shown.push(gate.at);
        } else {
            let defect = GateDefect::MissingNamespace { wait: in_namespace(gate) };
            found.insert(&gate.namespace, GateFault { defect, at: gate.at, shown: Vec::new() });
        }
    }
    found.into_values().collect()
}

/// A wait that says the namespace that it looks at.
fn in_namespace(gate: &Gate) -> Wait {
    let unsaid = || Awaited {
        kind: EcoString::new(),
        namespace: gate.namespace.clone(),
        condition: EcoString::new(),
        which: Which::Named(Vec::new()),
    };
    Wait { on: Some(gate.wait.on.clone().unwrap_or_else(unsaid)), ..gate.wait.clone() }
}

/// Files that a loop leaves out with a message, because they are not there, while others of its list are.
fn skipped_files(repository: &Repository, script: &Script, judged: &Judged) -> Vec<GateFault> {
    let is_there = |written: &str| place_of(repository, &script.path, written).is_some();
    let mut found = Vec::new();
    for skip in &judged.skips {
        let (there, missing): (Vec<_>, Vec<_>) = skip.files.iter().partition(|(written, _)| is_there(written));
        for (written, at) in missing {
            // What has another beginning may lie elsewhere.
            let base = |written: &str| written.rfind(['}', ')']).map(|end| written[..=end].to_owned());
            let file = written.rfind(['}', ')']).map_or(written.as_str(), |end| &written[end + 1..]);
            let is_known = !file.is_empty() && !file.contains(['$', '*', crate::scripts::UNKNOWN]);
            let is_of_list = || there.iter().any(|(other, _)| base(other) == base(written));
            if is_known && is_of_list() && is_asked_for(repository, file) {
                let file = file.trim_start_matches('/').into();
                found.push(GateFault { defect: GateDefect::SkipsFile { file }, at: *at, shown: vec![skip.at] });
            }
        }
    }
    found
}

/// Whether an object of the repository speaks of another by the name of a file.
fn is_asked_for(repository: &Repository, file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let wanted = format!("name: {}", name.split('.').next().unwrap_or(name));
    let is_manifest = |path: &&str| [".yaml", ".yml"].iter().any(|ending| path.ends_with(ending));
    let mut sources = repository.paths().filter(is_manifest).filter_map(|path| repository.source(repository.id(path)?));
    sources.any(|source| source.text().lines().any(|line| line.trim_start_matches([' ', '-']).trim_end() == wanted))
}

/// A start of a cluster that is repeated, with what ends a second run before it: machines that have their configuration take none
/// without a certificate.
fn rerun(scripts: &Scripts<'_>, script: &Script, at: Span, defect: GateDefect) -> GateDefect {
    let GateDefect::Rerun { wait, .. } = defect else { return defect };
    let end = usize::try_from(at.start).unwrap_or_default();
    let text = scripts.text(script).unwrap_or_default();
    let recipes = Recipes::read(scripts.repository(), &script.path);
    let part =
        recipes.and_then(|recipes| recipes.all.into_iter().map(|one| one.range).find(|range| range.contains(&end)));
    let before = text.get(part.map_or(0, |range| range.start)..end).unwrap_or_default();
    let calls = |word: &str| {
        let word = word.trim_matches(['"', '\'', '}']);
        let is_script = word.rsplit_once('.').is_some_and(|(_, ending)| ending == "sh");
        let place = is_script.then(|| word.rsplit('/').next().unwrap_or(word));
        let mut paths = place
            .into_iter()
            .flat_map(|name| scripts.repository().paths().filter(move |path| path.rsplit('/').next() == Some(name)));
        paths.any(|path| {
            let source = scripts.repository().id(path).and_then(|id| scripts.repository().source(id));
            source.is_some_and(|source| source.text().contains("--insecure"))
        })
    };
    let stops = |line: &str| {
        let line = line.trim_start_matches(['-', ' ', '\t']);
        let is_caught = line.starts_with('#') || line.contains("||");
        !is_caught && (line.contains("apply") && line.contains("--insecure") || line.split_whitespace().any(calls))
    };
    GateDefect::Rerun { wait, stops_earlier: before.lines().any(stops) }
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
