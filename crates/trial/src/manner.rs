//! The same objects as other people write them: other line ends, lists, quotes, comments and anchors.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::dice::Dice;

/// A way to write a file.
#[derive(Clone, Copy, Debug)]
enum Manner {
    Plain,
    /// Lines end as on Windows.
    Windows,
    /// A comment above the fields that decide the order, and one behind a value.
    Commented,
    /// The dashes of lists stand below their key.
    Flat,
    /// `dependsOn` in one line.
    Flow,
    Quoted,
    /// The name is an anchor that a label uses.
    Anchored,
    /// The last line has no end.
    Open,
}

const ALL: [Manner; 8] = [
    Manner::Plain,
    Manner::Windows,
    Manner::Commented,
    Manner::Flat,
    Manner::Flow,
    Manner::Quoted,
    Manner::Anchored,
    Manner::Open,
];

/// Flux' Kustomizations and lists of files, each in a manner of its own.
pub(crate) fn of_many(dice: &mut Dice, files: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let is_varied = |path: &str| path.ends_with("/ks.yaml") || path.ends_with("/app/kustomization.yaml");
    files
        .into_iter()
        .map(|(path, text)| {
            let text = if is_varied(&path) { written(*dice.one_of(&ALL), &text) } else { text };
            (path, text)
        })
        .collect()
}

fn written(manner: Manner, text: &str) -> String {
    match manner {
        Manner::Plain => text.to_owned(),
        Manner::Windows => text.replace('\n', "\r\n"),
        Manner::Commented => text
            .replace("spec:\n", "spec:\n  # The order matters.\n")
            .replace("  prune: true\n", "  prune: true # what is not here goes\n\n")
            .replace("resources:\n", "resources:\n  # sorted\n"),
        Manner::Flat => text.replace("\n    - ", "\n  - ").replace("\n      namespace: ", "\n    namespace: "),
        Manner::Flow => in_one_line(text),
        Manner::Quoted => text.replace("    - name: ", "    - name: &").lines().map(quoted).collect(),
        Manner::Anchored => {
            let labels = "spec:\n  commonMetadata:\n    labels:\n      app: *name\n";
            text.replacen("  name: ", "  name: &name ", 1).replacen("spec:\n", labels, 1)
        }
        Manner::Open => text.trim_end().to_owned(),
    }
}

/// The name of a dependency in quotes, where the line before marked it.
fn quoted(line: &str) -> String {
    match line.split_once(": &") {
        Some((key, name)) => format!("{key}: \"{name}\"\n"),
        None => format!("{line}\n"),
    }
}

/// `dependsOn: [{name: a, namespace: b}]`.
fn in_one_line(text: &str) -> String {
    let mut out = String::new();
    let mut items: Vec<String> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("    - name: ") {
            items.push(format!("{{name: {name}"));
        } else if let (Some(namespace), Some(last)) = (line.strip_prefix("      namespace: "), items.last_mut()) {
            let _ = write!(last, ", namespace: {namespace}}}");
        } else {
            if !items.is_empty() {
                out.truncate(out.trim_end().len());
                let _ = writeln!(out, " [{}]", items.join(", "));
                items.clear();
            }
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}
