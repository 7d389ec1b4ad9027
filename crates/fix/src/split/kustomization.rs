//! The kustomization of a new directory, written as the one that listed the files before.

use diagnostic::Unedited;
use yaml::Node;

use crate::house::House;
use crate::text::{Text, lines};

/// What it has in common with the other: the rest is about objects that stay.
const KEPT: [&str; 8] =
    ["apiVersion", "kind", "namespace", "labels", "commonLabels", "commonAnnotations", "namePrefix", "nameSuffix"];
/// A comment that is for the program with which it is edited.
const FOR_EDITORS: &str = "# yaml-language-server";

/// Its text. `namespace` is what the objects got from further above.
pub(super) fn kustomization(
    like: &Text,
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
    let above = text[..first.key_span.start as usize].lines();
    let mut out: Vec<String> =
        above.filter(|line| *line == "---" || line.starts_with(FOR_EDITORS)).map(str::to_owned).collect();
    let own_namespace = root.text_at(&["namespace"]);
    for entry in root.entries() {
        match entry.key.as_str() {
            "resources" => {
                let known = entry.value.as_seq().and_then(<[Node]>::first).and_then(Node::text);
                let dot = if known.is_some_and(|path| path.starts_with("./")) { "./" } else { "" };
                let indent = house.indents(root, text).list;
                out.extend(
                    namespace.filter(|_| own_namespace.is_none()).map(|namespace| format!("namespace: {namespace}")),
                );
                out.push("resources:".to_owned());
                out.extend(files.iter().map(|file| format!("{:indent$}- {dot}{file}", "")));
            }
            "namespace" if namespace != own_namespace => out.extend(namespace.map(|it| format!("namespace: {it}"))),
            key if KEPT.contains(&key) => {
                let start = entry.key_span.start as usize;
                let whole = text.get(start..like.end_of(entry)).ok_or(Unedited::Unexpected)?;
                out.extend(whole.lines().map(str::to_owned));
            }
            _ => {}
        }
    }
    let ending = lines::ending(text);
    Ok(out.join(ending) + ending)
}
