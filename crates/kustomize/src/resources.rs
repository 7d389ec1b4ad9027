//! The objects of a build in their order, with the two look-ups that transformers need: by the current id, and by any
//! name an object has or had.
//!
//! The look-up tables are made when somebody asks and thrown away when names may have changed: a build without patches
//! never pays for them.

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};

use ecow::EcoString;

use crate::id::Id;
use crate::resource::Resource;
use crate::selector::Selector;

#[derive(Debug, Default)]
pub(crate) struct Resources {
    list: Vec<Resource>,
    ids: Option<HashSet<Id>>,
    names: Option<HashMap<EcoString, Vec<usize>>>,
}

impl Resources {
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Resource> {
        self.list.iter()
    }

    pub(crate) fn get(&self, at: usize) -> &Resource {
        &self.list[at]
    }

    /// One object, to change anything but what it is called.
    pub(crate) fn content_mut(&mut self, at: usize) -> &mut Resource {
        &mut self.list[at]
    }

    /// All objects, to change anything.
    pub(crate) fn all_mut(&mut self) -> &mut Vec<Resource> {
        self.forget();
        &mut self.list
    }

    pub(crate) fn into_list(self) -> Vec<Resource> {
        self.list
    }

    pub(crate) fn forget(&mut self) {
        self.ids = None;
        self.names = None;
    }

    /// Adds an object, unless one of its id is there already: then that id is the error.
    pub(crate) fn append(&mut self, resource: Resource) -> Result<(), Box<Id>> {
        let ids = self.ids.get_or_insert_with(|| self.list.iter().map(Resource::id).collect());
        let id = resource.id();
        if ids.contains(&id) {
            return Err(Box::new(id));
        }
        ids.insert(id);
        if let Some(names) = &mut self.names {
            index(names, self.list.len(), &resource);
        }
        self.list.push(resource);
        Ok(())
    }

    /// Takes out the objects whose id one before them has now, and gives them back, last first.
    pub(crate) fn take_duplicates(&mut self) -> Vec<Resource> {
        let mut seen = HashSet::with_capacity(self.list.len());
        if self.list.iter().all(|resource| seen.insert(resource.id())) {
            return Vec::new();
        }
        seen.clear();
        let (kept, mut doubled): (Vec<_>, Vec<_>) =
            self.all_mut().drain(..).partition(|resource| seen.insert(resource.id()));
        self.list = kept;
        doubled.reverse();
        doubled
    }

    /// The objects that have or had this name, in order.
    pub(crate) fn named(&mut self, name: &str) -> &[usize] {
        let names = self.names.get_or_insert_with(|| {
            let mut names = HashMap::with_capacity(self.list.len());
            for (at, resource) in self.list.iter().enumerate() {
                index(&mut names, at, resource);
            }
            names
        });
        names.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The objects that a selector selects as the target of a patch, in order, and how many were looked at.
    pub(crate) fn selected(&mut self, selector: &Selector) -> (Vec<usize>, usize) {
        let named = selector.only_name().map(|name| self.named(name).to_vec());
        let looked_at = named.as_ref().map_or(self.list.len(), Vec::len);
        let is_selected = |at: &usize| selector.selects(&self.list[*at]);
        let selected = match named {
            Some(named) => named.into_iter().filter(is_selected).collect(),
            None => (0..self.list.len()).filter(is_selected).collect(),
        };
        (selected, looked_at)
    }

    /// The objects that have or had this id, in order.
    pub(crate) fn with_id(&mut self, id: &Id) -> Vec<usize> {
        let named = self.named(&id.name).to_vec();
        named.into_iter().filter(|&at| self.list[at].has_id(id)).collect()
    }
}

fn index(names: &mut HashMap<EcoString, Vec<usize>>, at: usize, resource: &Resource) {
    let all = resource.previous.iter().map(|previous| &previous.name).chain([&resource.name]);
    for name in all {
        let places = names.entry(name.clone()).or_default();
        if places.last() != Some(&at) {
            places.push(at);
        }
    }
}
