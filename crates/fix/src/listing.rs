//! Files that a kustomization lists: one more that is there, or a new one.

use diagnostic::{Unedited, WhyLeft};
use read::Repository;
use source::{FileId, Span};

use crate::files::Files;
use crate::text::item::NewItem;
use crate::text::{Items, Step, lines};

/// The names that kustomize knows.
const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
/// Objects that Flux leaves alone when they go from its build.
const KEPT: &str = "kustomize.toolkit.fluxcd.io/prune: disabled";

/// The kustomization of a directory.
pub(crate) fn kustomization_in(repository: &Repository, directory: &str) -> Option<String> {
    let at = |name: &&str| if directory.is_empty() { (*name).to_owned() } else { format!("{directory}/{name}") };
    NAMES.iter().map(at).find(|path| repository.id(path).is_some())
}

/// Lists a file in the `resources` of a kustomization, as its other entries are written. Both paths are seen from the root.
pub(crate) fn list(files: &mut Files<'_>, by: &str, file: &str) -> Result<(), WhyLeft> {
    let id = files.repository.id(by).ok_or(WhyLeft::NoEdit)?;
    let directory = by.rsplit_once('/').map_or("", |(directory, _)| directory);
    let below = if directory.is_empty() { Some(file) } else { file.strip_prefix(directory) };
    let below = below.ok_or(WhyLeft::NoEdit)?.trim_start_matches('/');
    let at = Span::new(id, 0, 0);
    add(files, id, below).map_err(|how| WhyLeft::Unedited { at, how })
}

fn add(files: &mut Files<'_>, id: FileId, file: &str) -> Result<(), Unedited> {
    let house = files.house;
    let text = files.open(Span::new(id, 0, 0))?;
    let root = text.roots().next().ok_or(Unedited::Unexpected)?.clone();
    let entry = root.as_map().and_then(|map| map.entry("resources")).ok_or(Unedited::Unexpected)?;
    let known: Vec<&str> =
        entry.value.as_seq().ok_or(Unedited::Unexpected)?.iter().filter_map(|it| it.text()).collect();
    let plain = |path: &str| path.trim_start_matches("./").to_owned();
    if known.iter().any(|path| plain(path) == file) {
        return Ok(());
    }
    let is_dotted = known.first().is_some_and(|path| path.starts_with("./"));
    let item = NewItem::Text(if is_dotted { format!("./{file}") } else { file.to_owned() });
    let indents = house.indents(&root, text.text());
    let edit = text.new_item(Items { key: Some(entry.key_span), list: &entry.value }, &item, indents)?;
    text.apply(entry.key_span, vec![edit], &[Step::Key("resources".to_owned())])
}

/// Puts a Namespace into a directory that a Kustomization applies. It outlives the file: others may be in it.
pub(crate) fn bring_namespace(files: &mut Files<'_>, directory: &str, namespace: &str) -> Result<(), WhyLeft> {
    let directory = repository::path::within(directory);
    let kustomization = kustomization_in(files.repository, &directory);
    let beside = kustomization.as_ref().and_then(|path| files.repository.source(files.repository.id(path)?));
    let beside = beside.map(source::Source::text).unwrap_or_default();
    let (ending, head) = (lines::ending(beside), if beside.starts_with("---") { "---\n" } else { "" });
    let text =
        format!("{head}apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {namespace}\n  annotations:\n    {KEPT}\n");
    let text = text.replace('\n', ending);
    let names = ["namespace.yaml".to_owned(), format!("namespace-{namespace}.yaml")];
    let path = |name: &String| if directory.is_empty() { name.clone() } else { format!("{directory}/{name}") };
    let made = names.iter().map(path).find(|path| files.create(path, text.clone()));
    let made = made.ok_or(WhyLeft::NoEdit)?;
    kustomization.map_or(Ok(()), |by| list(files, &by, &made))
}
