//! What a run hands over to others and takes from them: states and files.

use std::collections::BTreeMap;

use hcl_edit::expr::{Expression, FuncCall};
use hcl_edit::structure::Body;
use hcl_edit::visit::{self, Visit};
use repository::path;
use source::Span;

use super::block::{Block, BlockId};
use crate::scripts::pipelines;
use crate::terraform::instance::{Each, Instance};
use crate::terraform::open_text::{GAP, in_repository, open_text};

/// Where a run keeps its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backend {
    /// `local`, `s3`, `gcs`, `cloud`.
    pub kind: String,
    /// What tells one state from another: `path`, `key`, `bucket`, as far as it is known.
    pub settings: BTreeMap<String, String>,
    pub at: Span,
}

/// A `terraform_remote_state`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateRead {
    pub block: BlockId,
    /// Of the backend that it is read from.
    pub kind: String,
    pub settings: BTreeMap<String, String>,
    /// For a local backend, the directory that the file is in.
    pub directory: Option<String>,
    pub at: Span,
}

/// A file that a block writes or reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileUse {
    /// A path of the repository, with gaps for what is not known of it.
    pub path: String,
    pub block: BlockId,
    pub at: Span,
}

/// What tells a state from others of its backend.
const SETTINGS: [&str; 9] =
    ["path", "bucket", "key", "prefix", "container_name", "address", "organization", "workspaces", "secret_suffix"];

pub(super) fn backend(instance: &Instance<'_>) -> Option<Backend> {
    let backend = instance.module.backend.as_ref()?;
    let settings = settings(instance, &backend.body);
    Some(Backend { kind: backend.kind.clone(), settings, at: backend.at })
}

fn settings(instance: &Instance<'_>, body: &Body) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for attribute in body.attributes() {
        add(instance, attribute.key.as_str(), &attribute.value, &mut found);
    }
    for block in body.get_blocks("workspaces") {
        for attribute in block.body.attributes() {
            add(instance, &format!("workspaces.{}", attribute.key.as_str()), &attribute.value, &mut found);
        }
    }
    found
}

fn add(instance: &Instance<'_>, key: &str, value: &Expression, found: &mut BTreeMap<String, String>) {
    let is_one = SETTINGS.contains(&key.split('.').next().unwrap_or(key));
    let value = instance.value(value, &Each::default()).to_text();
    found.extend(value.filter(|_| is_one).map(|value| (key.to_owned(), value.to_string())));
}

/// The state that a `terraform_remote_state` reads.
pub(super) fn state(instance: &Instance<'_>, id: BlockId, block: &Block) -> Option<StateRead> {
    if block.type_name != "terraform_remote_state" {
        return None;
    }
    let kind = block.text(&["backend"])?.to_owned();
    let config = |argument: &super::Argument| match argument.path.as_slice() {
        [first, rest @ ..] if first == "config" && !rest.is_empty() => {
            let key = rest.iter().map(ecow::EcoString::as_str).collect::<Vec<_>>().join(".");
            Some((key, argument.known()?.to_owned()))
        }
        _ => None,
    };
    let settings: BTreeMap<String, String> = block.arguments.iter().filter_map(config).collect();
    let is_identity = |key: &str| SETTINGS.contains(&key.split('.').next().unwrap_or(key));
    let settings: BTreeMap<String, String> = settings.into_iter().filter(|(key, _)| is_identity(key)).collect();
    let local = settings.get("path").filter(|_| kind == "local");
    let file = local.and_then(|written| in_repository(instance.run_in(), written));
    let directory = file.map(|file| path::parent(&file).to_owned());
    Some(StateRead { block: id, kind, settings, directory, at: block.at })
}

/// The files that a block writes: its own, and what its scripts redirect to.
pub(super) fn written(instance: &Instance<'_>, each: &Each, body: &Body, id: BlockId, block: &Block) -> Vec<FileUse> {
    let mut found = Vec::new();
    let own = match block.type_name.as_str() {
        "local_file" | "local_sensitive_file" => "filename",
        // Where `file_path`, `output_path` and the like are, the file is made at plan or of no matter here.
        _ => "",
    };
    if let Some(attribute) = body.get_attribute(own) {
        let place = in_repository(instance.run_in(), &open_text(instance, &attribute.value, each));
        let at = instance.at(block.at, hcl_edit::Span::span(&attribute.value));
        found.extend(place.map(|path| FileUse { path, block: id, at }));
    }
    for provisioner in block.provisioners.iter().filter(|one| !one.on_destroy) {
        let Some(directory) = &provisioner.directory else { continue };
        for (word, range) in redirected(&provisioner.script.text) {
            let place = in_repository(directory, &word).filter(|place| !place.is_empty());
            let at = provisioner.script.span(range).unwrap_or(provisioner.at);
            found.extend(place.map(|path| FileUse { path, block: id, at }));
        }
    }
    found
}

/// The files that a shell text writes by `>`, `tee` and `talosctl kubeconfig`, as they are written, each with its place.
fn redirected(text: &str) -> Vec<(String, std::ops::Range<usize>)> {
    let mut found = Vec::new();
    let mut offset = 0;
    'lines: for line in text.split_inclusive('\n') {
        for command in pipelines(line, offset).into_iter().flatten() {
            // Where it goes from here is not followed.
            if command.first().is_some_and(|word| word.text == "cd") {
                break 'lines;
            }
            found.extend(targets(&command));
        }
        offset += line.len();
    }
    let is_path = |(word, _): &(String, _)| {
        !word.starts_with(['&', '/', '~', '$', '-']) && !word.contains(['$', '*', '{']) && !word.starts_with(GAP)
    };
    found.retain(is_path);
    found
}

fn targets(command: &[crate::scripts::Word]) -> Vec<(String, std::ops::Range<usize>)> {
    let mut found = Vec::new();
    let mut push = |text: &str, at: usize| {
        if !text.is_empty() {
            found.push((text.to_owned(), at..at + text.len()));
        }
    };
    let is_program = |name: &str| command.first().is_some_and(|word| word.text == name);
    for (index, word) in command.iter().enumerate() {
        let bare = word.text.trim_start_matches(|c: char| c.is_ascii_digit());
        let next = command.get(index + 1);
        match (bare, next) {
            (">" | ">>" | ">|", Some(next)) if !word.text.starts_with('2') => push(&next.text, next.at),
            (bare, _) if bare.starts_with('>') && !word.text.starts_with('2') => {
                let target = bare.trim_start_matches(['>', '|']);
                push(target, word.at + word.text.len() - target.len());
            }
            ("kubeconfig", Some(next)) if is_program("talosctl") && !next.text.starts_with('-') => {
                push(&next.text, next.at);
            }
            _ => {}
        }
    }
    if is_program("tee") {
        command.iter().skip(1).filter(|word| !word.text.starts_with('-')).for_each(|word| push(&word.text, word.at));
    }
    found
}

/// Arguments that are paths of files that others write.
const PATHS: [&str; 5] = ["config_path", "kubeconfig", "kubeconfig_path", "talosconfig", "config_paths"];
const FUNCTIONS: [&str; 6] = ["file", "filebase64", "fileexists", "filesha256", "filemd5", "templatefile"];

/// The files that a block reads: by functions and by arguments that are paths.
pub(super) fn read(instance: &Instance<'_>, each: &Each, body: &Body, id: BlockId, block: &Block) -> Vec<FileUse> {
    let mut calls = Calls::default();
    calls.visit_body(body);
    let mut found = Vec::new();
    let mut push = |written: &str, at: Span| {
        let place = in_repository(instance.run_in(), written).filter(|place| !place.is_empty());
        found.extend(place.map(|path| FileUse { path, block: id, at }));
    };
    for argument in &calls.arguments {
        if let Some(written) = instance.value(argument, each).to_text() {
            push(&written, instance.at(block.at, hcl_edit::Span::span(argument)));
        }
    }
    let is_path = |argument: &&super::Argument| {
        let named = argument.path.iter().rev().find(|part| part.parse::<usize>().is_err());
        named.is_some_and(|name| PATHS.contains(&name.as_str()))
    };
    for argument in block.arguments.iter().filter(is_path) {
        argument.known().into_iter().for_each(|written| push(written, argument.at));
    }
    for provisioner in &block.provisioners {
        let is_path = |name: &str| matches!(name, "KUBECONFIG" | "TALOSCONFIG");
        for (_, written) in provisioner.environment.iter().filter(|(name, _)| is_path(name)) {
            push(written, provisioner.at);
        }
    }
    found
}

/// The first arguments of functions that read files.
#[derive(Default)]
struct Calls {
    arguments: Vec<Expression>,
}

impl Visit for Calls {
    fn visit_func_call(&mut self, node: &FuncCall) {
        if FUNCTIONS.contains(&node.name.name.as_str()) {
            self.arguments.extend(node.args.get(0).cloned());
        }
        visit::visit_func_call(self, node);
    }
}

#[cfg(test)]
mod tests {
    use super::redirected;

    #[test]
    fn files_that_a_shell_writes_are_found() {
        let found = |text: &str| redirected(text).into_iter().map(|(word, _)| word).collect::<Vec<_>>();
        assert_eq!(found("a > out.yaml\nb 2>/dev/null >> more.txt"), ["out.yaml", "more.txt"]);
        assert_eq!(found("talosctl kubeconfig ./kubeconfig -n 1.2.3.4"), ["./kubeconfig"]);
        assert_eq!(found("x | tee -a log.txt"), ["log.txt"]);
        assert_eq!(found("x >&2; y > $HOME/z; cd a && b > c"), Vec::<String>::new());
    }
}
