//! Where SealedSecrets stand in a file: in documents of their own, or in lists as `kubectl get -o yaml` prints them.

use yaml::{Document, Node};

use super::sealed::SealedSecret;

/// Lists in lists that are looked into. kubectl makes one.
const DEPTH_MAX: usize = 4;

/// The place of an object in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectPlace {
    /// The document of the file, counted from 0.
    pub document: usize,
    /// In a `kind: List` which of its items, counted from 0; of lists in lists, from the outermost inwards.
    pub items: Vec<usize>,
}

impl ObjectPlace {
    /// The object there.
    pub fn node<'a>(&self, documents: &'a [Document]) -> Option<&'a Node> {
        let root = documents.get(self.document)?.root.as_ref()?;
        self.items.iter().try_fold(root, |node, index| node.items_at("items").get(*index))
    }

    /// The object there, to be changed.
    pub(super) fn node_mut<'a>(&self, roots: &'a mut [Option<Node>]) -> Option<&'a mut Node> {
        let mut node = roots.get_mut(self.document)?.as_mut()?;
        for index in &self.items {
            node = node.get_mut("items")?.as_seq_mut()?.make_mut().get_mut(*index)?;
        }
        Some(node)
    }
}

/// Every SealedSecret of a file, in the order in which they stand there.
pub fn sealed_secrets(documents: &[Document]) -> Vec<(ObjectPlace, SealedSecret)> {
    let mut found = Vec::new();
    for (document, read) in documents.iter().enumerate() {
        if let Some(root) = &read.root {
            look(root, &mut ObjectPlace { document, items: Vec::new() }, &mut found);
        }
    }
    found
}

fn look(node: &Node, place: &mut ObjectPlace, found: &mut Vec<(ObjectPlace, SealedSecret)>) {
    if let Some(sealed) = SealedSecret::of(node) {
        found.push((place.clone(), sealed));
        return;
    }
    let is_list = node.get("kind").and_then(Node::text).is_some_and(|kind| kind.ends_with("List"));
    if !is_list || place.items.len() == DEPTH_MAX {
        return;
    }
    for (index, item) in node.items_at("items").iter().enumerate() {
        place.items.push(index);
        look(item, place, found);
        place.items.pop();
    }
}
