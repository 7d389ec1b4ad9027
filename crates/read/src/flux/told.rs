//! Clusters that a text of the repository tells of: `flux bootstrap … --path=DIRECTORY` in a script or in a text for people, Terraform
//! that bootstraps Flux, and overlays that lie beside a cluster, build on the same base, and are named in a script. And those whose
//! `gotk-sync.yaml` is an empty file, which `flux bootstrap` is to fill.

use std::collections::BTreeSet;

use kustomize::{Files as _, PathKind};

use crate::flux::entry::{SYNC_FILE, Written, is_templated};
use crate::flux::roots::names;
use crate::flux::{Common, Entry};
use crate::naming::{is_archived, is_document, is_for_show, is_for_tests, is_template};
use crate::scripts::is_script;
use crate::texts;
use ::repository::path;

/// What begins a command that bootstraps Flux.
const COMMAND: &str = "flux bootstrap";
/// Of one such command.
const COMMAND_BYTES_MAX: usize = 1200;

/// Directories that texts tell of.
pub(super) struct Told {
    /// Those that Terraform bootstraps Flux with.
    pub(super) by_terraform: BTreeSet<String>,
    /// Those that a person or a script seems to.
    pub(super) by_others: BTreeSet<String>,
}

impl Told {
    pub(super) fn read(common: &Common<'_>, entries: &[Entry]) -> Self {
        let is_here = |directory: &&String| common.repository.kind(directory) == PathKind::Directory;
        let by_terraform: BTreeSet<String> = common.provided().clusters.iter().filter(is_here).cloned().collect();
        let mut by_others = commanded(common, !by_terraform.is_empty());
        by_others.extend(beside(common, entries).into_iter().map(str::to_owned));
        by_others.extend(yet_to_be_bootstrapped(common).map(str::to_owned));
        Self { by_terraform, by_others }
    }

    pub(super) fn holds(&self, directory: &str) -> bool {
        self.by_terraform.contains(directory) || self.by_others.contains(directory)
    }
}

/// Those that a command bootstraps Flux with. Where Terraform does it, what a document says is of another time.
fn commanded(common: &Common<'_>, by_terraform: bool) -> BTreeSet<String> {
    let is_left_out = |path: &str| is_for_tests(path::parent(path)) || (by_terraform && is_document(path));
    let texts = texts::all(common.repository).filter(|(path, _)| !is_left_out(path)).map(|(_, text)| text);
    let places =
        texts.chain(common.overlays.texts()).flat_map(paths_in).map(|written| common.repository.place(written));
    places.filter(|place| !place.is_empty() && common.repository.kind(place) == PathKind::Directory).collect()
}

/// Whether a text, or the file itself, says to apply a file.
pub(super) fn is_to_be_applied(common: &Common<'_>, file: &str) -> bool {
    let own = common.repository.id(file).and_then(|id| common.repository.source(id)).map(source::Source::text);
    let (home, name) = file.rsplit_once('/').unwrap_or(("", file));
    let said = format!("{}/{name}", home.rsplit('/').next().unwrap_or(home));
    let is_it = |line: &str| line.contains("apply -f") && line.contains(&said);
    let mut texts = texts::all(common.repository).map(|(_, text)| text).chain(own);
    texts.any(|text| text.contains(&said) && text.lines().any(is_it))
}

/// What `--path` says in the commands of a text.
fn paths_in(text: &str) -> Vec<&str> {
    let commands = text.match_indices(COMMAND).map(|(at, _)| {
        let ends = text[at..].char_indices().map(|(start, it)| start + it.len_utf8());
        let end = ends.take_while(|end| *end <= COMMAND_BYTES_MAX).last();
        let command = &text[at..at + end.unwrap_or_default()];
        let next = command.get(COMMAND.len()..).and_then(|rest| rest.find(COMMAND)).map(|next| next + COMMAND.len());
        &command[..next.unwrap_or(command.len())]
    });
    commands.filter_map(path_in).collect()
}

fn path_in(command: &str) -> Option<&str> {
    // A blank line ends it.
    let command = command.split("\n\n").next()?;
    let (_, rest) = command.split_once("--path")?;
    let rest = rest.strip_prefix(['=', ' '])?.trim_start_matches(['"', '\'', ' ']);
    let end = rest.find(|it: char| it.is_whitespace() || "\"'`)\\;,".contains(it)).unwrap_or(rest.len());
    let path = rest[..end].trim_end_matches('.');
    (!path.is_empty() && !is_templated(path) && !path.contains(['$', '<', '{'])).then_some(path)
}

/// Directories with a `gotk-sync.yaml` that holds nothing, and with Kustomizations of what is here: who wants to patch Flux from the start begins
/// with such files.
fn yet_to_be_bootstrapped<'a>(common: &'a Common<'_>) -> impl Iterator<Item = &'a str> {
    let says_nothing = |line: &str| matches!(line.trim(), "" | "---") || line.trim_start().starts_with('#');
    let text = |file: &str| Some(common.repository.source(common.repository.id(file)?)?.text());
    let is_empty = move |file: &str| text(file).is_some_and(|text| text.lines().all(says_nothing));
    let is_meant = |directory: &str| {
        let is_other =
            is_for_tests(directory) || is_archived(directory) || is_for_show(directory) || is_template(directory);
        let is_here = |covers: &str| common.repository.kind(covers) == PathKind::Directory;
        let leads_here =
            |it: &Written<'_>| path::is_below(it.directory, directory) && it.covers.as_deref().is_some_and(is_here);
        !is_other && common.written.iter().any(leads_here)
    };
    let files = common.repository.paths().filter(|file| file.rsplit('/').next() == Some(SYNC_FILE));
    let files = files.filter(move |file| is_empty(file));
    files
        .map(|file| path::parent(path::parent(file)))
        .filter(move |directory| !directory.is_empty() && is_meant(directory))
}

/// Overlays beside a cluster that take in the same directories as the cluster, and that a script names.
fn beside<'a>(common: &Common<'a>, entries: &[Entry]) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    for entry in entries {
        let home = path::parent(&entry.directory);
        let is_beside = |other: &&str| !home.is_empty() && path::parent(other) == home && *other != entry.directory;
        found.extend(common.overlays.on_same_base(&entry.directory).into_iter().filter(is_beside));
    }
    if found.is_empty() {
        return found;
    }
    let is_meant = |path: &&str| is_script(path) && !path.starts_with('.') && !is_for_tests(path);
    let scripts = common.repository.paths().filter(is_meant).filter_map(|path| common.repository.id(path));
    let texts: Vec<&str> = scripts.filter_map(|id| Some(common.repository.source(id)?.text())).collect();
    found.retain(|directory| texts.iter().any(|text| names(text, directory)));
    found
}

#[cfg(test)]
mod tests {
    use super::paths_in;

    #[test]
    fn the_path_of_a_command_is_found() {
        let text = "Run:\n\n```\nflux bootstrap github \\\n  --owner=me \\\n  --path=./clusters/prod\n```\n\n\
                    or `flux bootstrap git --path clusters/dev`. Then flux bootstrap github --path=clusters/$NAME\n\n--path=other\n";
        assert_eq!(paths_in(text), ["./clusters/prod", "clusters/dev"]);
        assert_eq!(paths_in("flux bootstrap git --path=clusters/dev"), ["clusters/dev"], "no line ends it");
        assert!(paths_in("flux bootstrap github\n\n--path=clusters/dev").is_empty());
        assert!(paths_in("flux bootstrap --path=clusters/<env>").is_empty());
    }
}
