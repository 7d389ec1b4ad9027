//! SOPS files that are lines of `KEY=VALUE`, as the tree that the same file would be in YAML.
//!
//! The metadata stands there flattened: `sops_age__list_0__map_enc` is `enc` of the first of the list `sops.age`.

use std::collections::BTreeMap;

use source::{FileId, Span};
use yaml::{Map, Node};

const PREFIX: &str = "sops_";
const METADATA: &str = "sops";

/// A dotenv file.
pub fn of_env(text: &str) -> Node {
    let (mut root, mut metadata) = (Map::new(), Metadata::default());
    for line in lines(text) {
        match line.key.strip_prefix(PREFIX) {
            Some(key) => metadata.add(key, &line),
            None => root.insert(line.key, line.span, line.node()),
        }
    }
    with_metadata(root, metadata)
}

/// An INI file: sections of such lines.
pub fn of_ini(text: &str) -> Node {
    let (mut root, mut metadata) = (Map::new(), Metadata::default());
    let mut section = String::new();
    for line in lines(text) {
        if let Some(name) = line.section() {
            name.clone_into(&mut section);
        } else if section == METADATA {
            metadata.add(line.key, &line);
        } else if section.is_empty() {
            root.insert(line.key, line.span, line.node());
        } else {
            root.map_mut(&section, line.span).insert(line.key, line.span, line.node());
        }
    }
    with_metadata(root, metadata)
}

fn with_metadata(mut root: Map, metadata: Metadata) -> Node {
    if !metadata.is_empty() {
        root.insert(METADATA, Span::GENERATED, metadata.into_node());
    }
    Node::map(root, Span::GENERATED)
}

struct Line<'text> {
    key: &'text str,
    value: &'text str,
    /// Of the whole line.
    span: Span,
}

impl<'text> Line<'text> {
    fn node(&self) -> Node {
        let value = self.value.trim_matches(['`', '"']);
        Node::string(value.replace("\\n", "\n"), self.span)
    }

    /// The name in `[name]`.
    fn section(&self) -> Option<&'text str> {
        self.key.strip_prefix('[')?.strip_suffix(']').map(str::trim)
    }
}

/// The lines that say something; one without `=` is all key.
fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut behind = 0;
    text.split_inclusive('\n').filter_map(move |whole| {
        let start = behind;
        behind += whole.len();
        let line = whole.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            return None;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let place = |at: usize| source::to_u32(at);
        Some(Line { key: key.trim(), value: value.trim(), span: Span::new(FileId(0), place(start), place(behind)) })
    })
}

/// Flattened metadata on the way to a tree.
#[derive(Default)]
struct Metadata {
    own: Map,
    /// The members of lists, by the list's name and their number.
    lists: BTreeMap<(String, usize), Map>,
}

impl Metadata {
    fn add(&mut self, key: &str, line: &Line<'_>) {
        let in_list = key.split_once("__list_").and_then(|(list, rest)| {
            let (number, field) = rest.split_once("__map_")?;
            Some(((list.to_owned(), number.parse().ok()?), field))
        });
        match in_list {
            Some((place, field)) => self.lists.entry(place).or_default().insert(field, line.span, line.node()),
            None => self.own.insert(key, line.span, line.node()),
        }
    }

    fn is_empty(&self) -> bool {
        self.own.is_empty() && self.lists.is_empty()
    }

    fn into_node(self) -> Node {
        let mut lists: BTreeMap<String, Vec<Node>> = BTreeMap::new();
        for ((list, _), member) in self.lists {
            lists.entry(list).or_default().push(Node::map(member, Span::GENERATED));
        }
        let mut all = self.own;
        for (list, members) in lists {
            all.insert(list, Span::GENERATED, Node::seq(members, Span::GENERATED));
        }
        Node::map(all, Span::GENERATED)
    }
}

#[cfg(test)]
mod tests {
    use super::{of_env, of_ini};
    use crate::sops::SopsFile;

    const AGE: &str = "age__list_0__map_recipient=age1a";
    const ENC: &str = "age__list_0__map_enc=-----BEGIN-----\\nabc\\n";

    #[test]
    fn lines_are_read_with_their_metadata() {
        let env = format!("# ours\nA=ENC[x]\nB=plain\n\nsops_{AGE}\nsops_{ENC}\nsops_mac=ENC[y]\nsops_version=3.9.0\n");
        let ini = format!("[one]\nA = ENC[x]\nB = plain\n\n[sops]\n{AGE}\n{ENC}\nmac = ENC[y]\nversion = 3.9.0\n");
        for (root, plain) in [(of_env(&env), "B"), (of_ini(&ini), "one.B")] {
            let file = SopsFile::of(&root).unwrap();
            assert_eq!(file.age[0].recipient, "age1a");
            assert_eq!(file.age[0].encrypted, "-----BEGIN-----\nabc\n");
            assert_eq!(file.plain.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), [plain]);
        }
    }

    #[test]
    fn lines_that_were_never_encrypted_are_none() {
        assert!(SopsFile::of(&of_env("A=b\n")).is_none());
        assert!(SopsFile::of(&of_ini("[a]\nb = c\n")).is_none());
    }
}
