//! All objects of a kind, as far as they were seen.

use serde::{Deserialize, Serialize};

use super::{Time, Why};

/// The objects of one kind, in the order of their namespaces and names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed<T> {
    /// When it was seen last: the list, or the last word of its watch.
    pub seen: Option<Time>,
    /// Why the list is not whole; none where it is.
    pub gap: Option<Why>,
    pub objects: Vec<T>,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { seen: None, gap: Some(Why::NotAsked), objects: Vec::new() }
    }
}

impl<T> Listed<T> {
    /// All there are.
    pub fn whole(seen: Time, objects: Vec<T>) -> Self {
        Self { seen: Some(seen), gap: None, objects }
    }

    /// None was seen, and why.
    pub fn missing(seen: Option<Time>, why: Why) -> Self {
        Self { seen, gap: Some(why), objects: Vec::new() }
    }

    /// Whether what is not in the list does not exist: the list is whole, or its kind is not served at all.
    pub fn is_whole(&self) -> bool {
        self.gap.as_ref().is_none_or(Why::is_absence)
    }

    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.objects.iter()
    }

    pub fn len(&self) -> usize {
        self.objects.len()
    }

    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }
}

impl<'a, T> IntoIterator for &'a Listed<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
