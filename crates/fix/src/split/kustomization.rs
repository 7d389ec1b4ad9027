//! The kustomization of a new directory, written as the one that listed the files before.

use diagnostic::Unedited;
use yaml::Node;

use crate::house::House;
use crate::text::value::{Quotes, text as written_text};
use crate::text::{Text, lines};

/// Fields by which a kustomization changes everything that it lists.
pub(super) const FIELDS: [&str; 5] = ["labels", "commonLabels", "commonAnnotations", "namePrefix", "nameSuffix"];
/// A comment that is for the program with which it is edited.
const FOR_EDITORS: &str = "# yaml-language-server";

/// Its text. `above` are the other kustomizations on the way to the files, whose fields it has as well, and `namespace` what the
/// objects got from any of them.
pub(super) fn kustomization(
    like: &Text,
    above: &[Text],
    house: &House,
    files: &[&str],
    namespace: Option<&str>,
) -> Result<String, Unedited> {
    let root: &Node = like.roots().next().ok_or(Unedited::Unexpected)?;
    let text = like.text();
    let first = root.entries().first().ok_or(Unedited::Unexpected)?;
    if lines::column(text, first.key_span.start as usize) > 0 {
        return Err(Unedited::Unexpected);
    }
    let head = text[..first.key_span.start as usize].lines();
    let mut out: Vec<String> =
        head.filter(|line| *line == "---" || line.starts_with(FOR_EDITORS)).map(str::to_owned).collect();
    let mut fields: Vec<String> = above.iter().flat_map(|above| fields_of(above, &FIELDS)).collect();
    fields
        .extend(namespace.map(|namespace| format!("namespace: {}", written_text(namespace, Quotes::None).flow(false))));
    let mut is_listed = false;
    for entry in root.entries() {
        match entry.key.as_str() {
            "resources" => {
                out.append(&mut fields);
                let known = entry.value.as_seq().and_then(<[Node]>::first).and_then(Node::text);
                let dot = if known.is_some_and(|path| path.starts_with("./")) { "./" } else { "" };
                let indent = house.indents(root, text).list;
                out.push("resources:".to_owned());
                out.extend(files.iter().map(|file| format!("{:indent$}- {dot}{file}", "")));
                is_listed = true;
            }
            "namespace" => out.extend(fields.pop_if(|_| namespace.is_some())),
            key if ["apiVersion", "kind"].contains(&key) => out.extend(fields_of(like, &[key])),
            key if FIELDS.contains(&key) => out.extend(fields_of(like, &[key])),
            _ => {}
        }
    }
    let ending = lines::ending(text);
    if is_listed { Ok(out.join(ending) + ending) } else { Err(Unedited::Unexpected) }
}

/// The lines of some fields, as they are.
fn fields_of(text: &Text, wanted: &[&str]) -> Vec<String> {
    let entries = text.roots().next().map(Node::entries).unwrap_or_default().iter();
    let wanted = entries.filter(|entry| wanted.contains(&entry.key.as_str()));
    let whole = wanted.filter_map(|entry| text.text().get(entry.key_span.start as usize..text.end_of(entry)));
    whole.flat_map(str::lines).map(str::to_owned).collect()
}
