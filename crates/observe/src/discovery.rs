//! Which kinds an API server serves, and which of its aggregated APIs are dead.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::fault::{Fault, Right};
use crate::limits::BODY_BYTES_MAX;
use crate::resource::{Resource, Wanted};
use crate::wire::Wire;

const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                      application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
const AGGREGATED: &str = "APIGroupDiscoveryList";
const JSON: &str = "application/json";

/// What is served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// By group and plural, the API server's preferred version first.
    resources: BTreeMap<(String, String), Vec<Resource>>,
    /// Groups and versions that an aggregated API server should serve and does not.
    pub stale: BTreeSet<(String, String)>,
}

impl Served {
    /// What to ask for, in the first version that both sides understand.
    pub fn find(&self, wanted: &Wanted) -> Option<&Resource> {
        let all = self.resources.get(&(wanted.group.to_owned(), wanted.plural.to_owned()))?;
        if wanted.versions.is_empty() {
            return all.first();
        }
        wanted.versions.iter().find_map(|version| all.iter().find(|one| one.version == *version))
    }

    /// It is served, in versions that are not understood.
    pub fn only_other_versions(&self, wanted: &Wanted) -> Vec<String> {
        let all = self.resources.get(&(wanted.group.to_owned(), wanted.plural.to_owned()));
        if self.find(wanted).is_some() {
            return Vec::new();
        }
        all.into_iter().flatten().map(|one| one.version.clone()).collect()
    }
}

/// Two requests; an API server before 1.26 is asked once more for every group that something is wanted of.
pub(crate) async fn discover(wire: &Wire, wanted: &[Wanted]) -> Result<Served, Fault> {
    let mut served = Served::default();
    for path in ["/api", "/apis"] {
        let body = wire.whole(path, ACCEPT, BODY_BYTES_MAX, || right(path)).await?;
        let list: List = serde_json::from_slice(&body).map_err(|error| crate::unreadable(&error))?;
        if list.kind == AGGREGATED {
            list.items.into_iter().for_each(|group| served.take(group));
        } else if path == "/api" {
            plain(wire, &mut served, "", list.versions).await?;
        } else {
            let groups = list.groups.into_iter().filter(|group| wanted.iter().any(|one| one.group == group.name));
            for group in groups {
                let versions = group.versions.into_iter().map(|version| version.version).collect();
                plain(wire, &mut served, &group.name, versions).await?;
            }
        }
    }
    Ok(served)
}

fn right(path: &str) -> Right {
    Right { verb: "get", group: String::new(), resource: path.to_owned(), namespace: None }
}

/// The kinds of a group, as they were told before 1.26.
async fn plain(wire: &Wire, served: &mut Served, group: &str, versions: Vec<String>) -> Result<(), Fault> {
    for version in versions {
        let path = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
        let body = match wire.whole(&path, JSON, BODY_BYTES_MAX, || right(&path)).await {
            Ok(body) => body,
            // Whoever aggregates it does not answer.
            Err(Fault::Answered { .. }) => {
                served.stale.insert((group.to_owned(), version));
                continue;
            }
            Err(fault) => return Err(fault),
        };
        let list: Plain = serde_json::from_slice(&body).map_err(|error| crate::unreadable(&error))?;
        for one in list.resources.into_iter().filter(|one| !one.name.contains('/')) {
            served.add(group, &version, one.name, one.kind, one.namespaced);
        }
    }
    Ok(())
}

impl Served {
    fn take(&mut self, group: Group) {
        let name = group.metadata.name;
        for version in group.versions {
            if version.freshness == "Stale" {
                self.stale.insert((name.clone(), version.name.clone()));
            }
            for one in version.resources {
                let kind = one.response_kind.unwrap_or_default().kind;
                self.add(&name, &version.name, one.resource, kind, one.scope == "Namespaced");
            }
        }
    }

    fn add(&mut self, group: &str, version: &str, plural: String, kind: String, namespaced: bool) {
        let (group, version) = (group.to_owned(), version.to_owned());
        let resource = Resource { group: group.clone(), version, plural: plural.clone(), kind, namespaced };
        self.resources.entry((group, plural)).or_default().push(resource);
    }
}

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    items: Vec<Group>,
    /// Of `APIVersions`.
    #[serde(default)]
    versions: Vec<String>,
    /// Of `APIGroupList`.
    #[serde(default)]
    groups: Vec<PlainGroup>,
}

#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    metadata: Name,
    #[serde(default)]
    versions: Vec<Version>,
}

#[derive(Default, Deserialize)]
struct Name {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct Version {
    #[serde(rename = "version")]
    name: String,
    #[serde(default)]
    freshness: String,
    #[serde(default)]
    resources: Vec<One>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct One {
    resource: String,
    response_kind: Option<Kind>,
    #[serde(default)]
    scope: String,
}

#[derive(Default, Deserialize)]
struct Kind {
    #[serde(default)]
    kind: String,
}

#[derive(Deserialize)]
struct PlainGroup {
    name: String,
    #[serde(default)]
    versions: Vec<PlainVersion>,
}

#[derive(Deserialize)]
struct PlainVersion {
    version: String,
}

#[derive(Deserialize)]
struct Plain {
    #[serde(default)]
    resources: Vec<PlainOne>,
}

#[derive(Deserialize)]
struct PlainOne {
    name: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    namespaced: bool,
}
