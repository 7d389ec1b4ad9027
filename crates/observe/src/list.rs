//! A whole list, page by page. What is handed back is whole, or it is nothing.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::Moment;
use crate::fault::{Fault, Right};
use crate::item::{Item, Key, Objects, Seen};
use crate::limits::PAGE_BYTES_MAX;
use crate::resource::{Form, Resource, Wanted, escaped};
use crate::wire::Wire;

/// What is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) wanted: Wanted,
    pub(crate) resource: Resource,
    /// Of this namespace only.
    pub(crate) namespace: Option<String>,
}

impl Ask {
    pub(crate) fn right(&self, verb: &'static str) -> Right {
        Right {
            verb,
            group: self.resource.group.clone(),
            resource: self.resource.plural.clone(),
            namespace: self.namespace.clone().filter(|_| self.resource.namespaced),
        }
    }

    pub(crate) fn path(&self) -> String {
        self.resource.path(self.namespace.as_deref())
    }

    pub(crate) fn selector(&self) -> String {
        self.wanted.field_selector.map(|fields| format!("&fieldSelector={}", escaped(fields))).unwrap_or_default()
    }

    fn accept(&self) -> &'static str {
        match self.wanted.form {
            Form::Whole => "application/json",
            Form::Metadata => "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
        }
    }
}

/// A whole list.
pub(crate) struct Listed<T> {
    pub(crate) objects: Objects<T>,
    /// Where a watch goes on.
    pub(crate) version: String,
    /// Objects that could not be read.
    pub(crate) unread: usize,
    /// How often it began anew.
    pub(crate) restarts: u32,
}

/// Lists everything that is asked for.
pub(crate) async fn list<T: Item>(wire: &Wire, ask: &Ask) -> Result<Listed<T>, Fault> {
    let (mut restarts, mut size) = (0, wire.limits.page);
    loop {
        match once(wire, ask, size).await {
            Err(Fault::Expired) if restarts < wire.limits.restarts => restarts += 1,
            Err(Fault::TooLarge { .. }) if size > 1 => size = (size / 10).max(1),
            Err(fault) => return Err(fault),
            Ok(mut listed) => {
                listed.restarts = restarts;
                return Ok(listed);
            }
        }
    }
}

async fn once<T: Item>(wire: &Wire, ask: &Ask, size: u32) -> Result<Listed<T>, Fault> {
    let mut all = Listed { objects: Objects::new(), version: String::new(), unread: 0, restarts: 0 };
    let mut token = String::new();
    loop {
        let mut path = format!("{}?limit={size}{}", ask.path(), ask.selector());
        if !token.is_empty() {
            path = format!("{path}&continue={}", escaped(&token));
        }
        let body = wire.whole(&path, ask.accept(), PAGE_BYTES_MAX, || ask.right("list")).await?;
        let page: Page<'_> = serde_json::from_slice(&body).map_err(|error| crate::unreadable(&error))?;
        take(&mut all, &ask.resource, &page);
        all.version = page.metadata.resource_version;
        token = page.metadata.token;
        if token.is_empty() {
            return Ok(all);
        }
    }
}

fn take<T: Item>(all: &mut Listed<T>, resource: &Resource, page: &Page<'_>) {
    let at = Moment::now();
    for json in page.items.iter().flatten() {
        match T::read(resource, json.get()) {
            Ok(item) => drop(all.objects.insert(Key::of(&item), Seen { at, item })),
            Err(_) => all.unread += 1,
        }
    }
}

#[derive(Deserialize)]
struct Page<'a> {
    metadata: PageMetadata,
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageMetadata {
    #[serde(default)]
    resource_version: String,
    #[serde(default, rename = "continue")]
    token: String,
}
