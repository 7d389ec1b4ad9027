//! The credentials of secret stores: Secrets that must be there before External Secrets can fetch any other.

use std::cell::LazyCell;
use std::collections::BTreeSet;

use diagnostic::seal::{Credential, CredentialFault, SealFault};
use diagnostic::{Next, next};
use read::bootstrap::Bootstrap;
use read::{Applied, Repository};
use source::Span;
use yaml::Node;

use super::report::{Report, Spot};

/// A Secret that something makes.
struct Made<'a> {
    namespace: &'a str,
    name: &'a str,
    /// Nothing where only the cluster can tell.
    keys: Option<BTreeSet<&'a str>>,
    /// The store that it is fetched from: kind and name.
    from: Option<(&'a str, &'a str)>,
}

impl<'a> Made<'a> {
    fn of(applied: &'a Applied) -> Option<Self> {
        let node = &applied.node;
        let own = node.text_at(&["metadata", "name"])?;
        let namespace: &str = &applied.namespace;
        let keys = |paths: &[&[&str]]| Some(paths.iter().flat_map(|path| keys(node, path)).collect());
        let made = |keys| Some(Self { namespace, name: own, keys, from: None });
        match node.text_at(&["kind"])? {
            "Secret" => made(keys(&[&["data"], &["stringData"]])),
            "SealedSecret" => {
                // The old form is one text that holds all of them.
                let is_old = node.at(&["spec", "data"]).is_some();
                let all = keys(&[&["spec", "encryptedData"], &["spec", "template", "data"]]);
                made(all.filter(|_| !is_old))
            }
            "ExternalSecret" => {
                let name = node.text_at(&["spec", "target", "name"]).unwrap_or(own);
                let store = |field| node.text_at(&["spec", "secretStoreRef", field]);
                let from = store("name").map(|name| (store("kind").unwrap_or("SecretStore"), name));
                Some(Self { namespace, name, keys: None, from })
            }
            _ => None,
        }
    }

    fn is_from(&self, store: &Applied) -> bool {
        let node = &store.node;
        let is_near = node.text_at(&["kind"]) == Some("ClusterSecretStore") || self.namespace == &*store.namespace;
        is_near && self.from == node.text_at(&["kind"]).zip(node.text_at(&["metadata", "name"]))
    }
}

fn keys<'a>(node: &'a Node, path: &[&str]) -> impl Iterator<Item = &'a str> {
    node.at(path).into_iter().flat_map(Node::entries).map(|entry| &*entry.key)
}

/// A Secret that a store names, and the key in it.
struct Wanted {
    name: String,
    namespace: Option<String>,
    key: Option<String>,
    at: Span,
}

pub(crate) fn check(repository: &Repository, applied: &[Applied], report: &mut Report) {
    let made: Vec<Made<'_>> = applied.iter().filter_map(Made::of).collect();
    let bootstrap = LazyCell::new(|| Bootstrap::of(repository));
    let is_store = |one: &&Applied| matches!(one.node.text_at(&["kind"]), Some("SecretStore" | "ClusterSecretStore"));
    for store in applied.iter().filter(is_store) {
        let mut wanted = Vec::new();
        references(&store.node, &mut wanted);
        for one in wanted {
            let namespace = one.namespace.as_deref().unwrap_or(&store.namespace);
            // The key in it is not looked for: a bootstrap may fill it from elsewhere.
            if !bootstrap.makes_secret(namespace, &one.name) {
                judge(&one, store, &made, (repository, report));
            }
        }
    }
}

fn judge(wanted: &Wanted, store: &Applied, made: &[Made<'_>], (repository, report): (&Repository, &mut Report)) {
    let namespace = wanted.namespace.as_deref().unwrap_or(&store.namespace);
    let own = store.node.text_at(&["metadata", "name"]).unwrap_or_default();
    let is_it = |one: &&Made<'_>| one.namespace == namespace && one.name == wanted.name;
    let (circular, others): (Vec<_>, Vec<_>) = made.iter().filter(is_it).partition(|one| one.is_from(store));
    let credential = |fault| {
        let (store, secret) = (own.to_owned(), format!("{namespace}/{}", wanted.name));
        SealFault::Credential(Credential { store, secret, fault })
    };
    let spot = Spot::at(repository, wanted.at);
    if others.is_empty() && circular.is_empty() {
        report.note(spot, credential(CredentialFault::NotMade), None);
    } else if others.is_empty() {
        report.error(spot, credential(CredentialFault::Circular), Some(Next::Seal(next::Seal::Secret)));
    } else if let Some(key) = wanted.key.as_deref() {
        let lacks = |one: &&Made<'_>| one.keys.as_ref().is_some_and(|keys| !keys.contains(key));
        if others.iter().all(lacks) {
            let next = Next::Edit(next::Edit::KeyOfSecret { key: key.to_owned() });
            report.error(spot, credential(CredentialFault::LacksKey { key: key.to_owned() }), Some(next));
        }
    }
}

/// Every `…SecretRef` or `secretRef` with a name.
fn references(node: &Node, found: &mut Vec<Wanted>) {
    for entry in node.entries() {
        let is_reference = entry.key.to_ascii_lowercase().ends_with("secretref");
        match entry.value.get("name").filter(|_| is_reference) {
            Some(name) => {
                let field = |field| entry.value.text_at(&[field]).map(str::to_owned);
                let (namespace, key, at) = (field("namespace"), field("key"), name.span);
                found.extend(name.text().map(|text| Wanted { name: text.to_owned(), namespace, key, at }));
            }
            None => references(&entry.value, found),
        }
    }
    for item in node.as_seq().unwrap_or_default() {
        references(item, found);
    }
}
