//! What Git sources follow: a branch, a tag, a commit or a range of versions.
//!
//! Two sources with one address hold the same files only if they follow the same. Several clusters may each define a source of
//! one name, so that those count that lie in the cluster's own directory.

use std::collections::BTreeMap;

use model::ObjectRef;
use yaml::Node;

use crate::flux::entry::is_templated;
use crate::flux::sync;
use crate::object::Object;
use ::repository::path;

/// What Flux follows where a source says nothing.
const BRANCH_DEFAULT: &str = "master";

/// What the definitions of Git sources follow, by kind and name, with the directory of each file.
#[derive(Debug, Default)]
pub(super) struct Revisions<'a>(BTreeMap<(String, String), Vec<(&'a str, Revision)>>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Revision {
    /// A name of Git's (`refs/heads/main`), a commit or a range of versions.
    Known(String),
    /// Only the cluster knows it.
    Unknown,
}

impl<'a> Revisions<'a> {
    /// Takes note of a source, or of a patch of one that says what it follows.
    pub(super) fn add(&mut self, node: &Node, directory: &'a str) {
        let object = Object::new(node);
        let is_whole = node.at(&["spec", "url"]).is_some();
        let says = node.at(&["spec", "ref"]);
        if object.kind() == "GitRepository" && (is_whole || says.is_some()) {
            self.insert(object.name(), directory, of_source(says));
        }
    }

    /// Takes note of the source that a FluxInstance makes.
    pub(super) fn add_synced(&mut self, instance: &Node, sync: &Node, directory: &'a str) {
        if sync::kind_of(sync) == "GitRepository" {
            let name = sync::name_of(sync).or_else(|| sync::home_of(instance)).unwrap_or("flux-system");
            self.insert(name, directory, sync.text_at(&["ref"]).map_or(Revision::Unknown, known));
        }
    }

    fn insert(&mut self, name: &str, directory: &'a str, revision: Revision) {
        self.0.entry(("GitRepository".to_owned(), name.to_owned())).or_default().push((directory, revision));
    }

    /// Whether a source certainly follows something else than the own source of the cluster that begins at a directory.
    pub(super) fn differ(&self, source: &ObjectRef, own: &ObjectRef, cluster: &str) -> bool {
        let (other, own) = (self.near(source, cluster), self.near(own, cluster));
        let is_certain = |all: &[&Revision]| !all.is_empty() && !all.contains(&&Revision::Unknown);
        is_certain(&other) && is_certain(&own) && !other.iter().any(|it| own.contains(it))
    }

    /// The branch that the own source of a cluster follows, where there is just one.
    pub(super) fn branch(&self, own: &ObjectRef, cluster: &str) -> Option<&str> {
        match self.near(own, cluster).as_slice() {
            [Revision::Known(one)] => one.strip_prefix("refs/heads/"),
            _ => None,
        }
    }

    /// What a source follows by the definitions in a directory; by all there are, if there are none.
    fn near(&self, source: &ObjectRef, directory: &str) -> Vec<&Revision> {
        let key = (source.kind.to_string(), source.name.to_string());
        let all = self.0.get(&key).map(Vec::as_slice).unwrap_or_default();
        let inside: Vec<&Revision> =
            all.iter().filter(|(at, _)| path::is_below(at, directory)).map(|(_, revision)| revision).collect();
        if inside.is_empty() { all.iter().map(|(_, revision)| revision).collect() } else { inside }
    }
}

/// What `spec.ref` of a GitRepository says, in the order in which Flux looks at its fields.
fn of_source(says: Option<&Node>) -> Revision {
    let field = |name: &str| says.and_then(|says| says.text_at(&[name])).filter(|text| !text.is_empty());
    let fields =
        [("commit", ""), ("name", ""), ("semver", "semver "), ("tag", "refs/tags/"), ("branch", "refs/heads/")];
    let said = fields.iter().find_map(|(name, begin)| Some(format!("{begin}{}", field(name)?)));
    known(&said.unwrap_or_else(|| format!("refs/heads/{BRANCH_DEFAULT}")))
}

fn known(text: &str) -> Revision {
    if is_templated(text) { Revision::Unknown } else { Revision::Known(text.to_owned()) }
}
