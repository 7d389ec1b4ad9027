//! What is kept of objects. This crate knows only where each is filed; what it holds is up to others.

use std::collections::BTreeMap;

use crate::Moment;
use crate::resource::Resource;

/// Something light that is made from the JSON of an object and kept instead of it.
pub trait Item: Sized + Send + 'static {
    /// Reads an object. Its JSON is not kept: what is not taken here is gone.
    fn read(resource: &Resource, json: &str) -> Result<Self, serde_json::Error>;
    /// Nothing, for an object that is in no namespace.
    fn namespace(&self) -> &str;
    fn name(&self) -> &str;
}

/// Where an object is filed among those of its kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub namespace: String,
    pub name: String,
}

impl Key {
    pub(crate) fn of<T: Item>(item: &T) -> Self {
        Self { namespace: item.namespace().to_owned(), name: item.name().to_owned() }
    }
}

/// An object, and when the API server said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen<T> {
    pub at: Moment,
    pub item: T,
}

/// The objects of a kind.
pub type Objects<T> = BTreeMap<Key, Seen<T>>;
