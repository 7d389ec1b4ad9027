//! The objects of one kind as they are known now: swapped when a list is whole, changed by a watch, and never emptied because
//! nothing could be seen.

use crate::Moment;
use crate::fault::Fault;
use crate::item::{Item, Objects};
use crate::list::Listed;
use crate::resource::Resource;
use crate::watch::Change;

/// Troubles that are remembered of one kind.
const TROUBLES_MAX: usize = 16;

/// How much the objects of a kind are worth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Nobody asked yet.
    #[default]
    NotAsked,
    /// The API server does not serve the kind, but for these versions, which are not understood.
    NotServed { other_versions: Vec<String> },
    /// The API server behind an APIService should serve the kind, and does not answer.
    Stale { group: String, version: String },
    /// All there are, as of [`Store::confirmed`].
    Whole,
    /// They can't be seen now. What is kept was so at [`Store::confirmed`]; nothing, where it was never seen.
    Lost(Fault),
}

/// Something that went wrong and may be over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub at: Moment,
    pub fault: Fault,
}

/// The objects of one kind.
#[derive(Debug)]
pub struct Store<T> {
    pub objects: Objects<T>,
    pub standing: Standing,
    /// The last moment at which the API server said that this is all.
    pub confirmed: Option<Moment>,
    /// As it was asked for.
    pub resource: Option<Resource>,
    /// Objects that could not be read.
    pub unread: usize,
    /// What went wrong lately, also if it was recovered from.
    pub troubles: Vec<Trouble>,
    /// Where a watch goes on.
    pub(crate) version: Option<String>,
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        Self {
            objects: Objects::new(),
            standing: Standing::NotAsked,
            confirmed: None,
            resource: None,
            unread: 0,
            troubles: Vec::new(),
            version: None,
        }
    }
}

impl<T: Item> Store<T> {
    /// A whole list takes the place of everything before.
    pub(crate) fn swap(&mut self, listed: Listed<T>, resource: &Resource) {
        if listed.restarts > 0 {
            self.note(Fault::Expired);
        }
        self.objects = listed.objects;
        self.unread = listed.unread;
        self.version = Some(listed.version);
        self.resource = Some(resource.clone());
        self.confirm();
    }

    /// Whether the objects are others than before.
    pub(crate) fn hear(&mut self, change: Change<T>) -> bool {
        let was_whole = self.standing == Standing::Whole;
        self.confirm();
        match change {
            Change::Put(seen) => drop(self.objects.insert(crate::item::Key::of(&seen.item), seen)),
            Change::Gone(key) => drop(self.objects.remove(&key)),
            Change::Unread => self.unread += 1,
            Change::Alive => return !was_whole,
        }
        true
    }

    /// They can't be seen any more.
    pub(crate) fn lose(&mut self, fault: Fault) {
        self.note(fault.clone());
        self.standing = Standing::Lost(fault);
    }

    /// The kind is not served: there are none, or nobody says.
    pub(crate) fn unserved(&mut self, standing: Standing) -> bool {
        let changed = self.standing != standing;
        self.objects.clear();
        (self.version, self.resource) = (None, None);
        self.confirmed = Some(Moment::now());
        self.standing = standing;
        changed
    }

    pub(crate) fn note(&mut self, fault: Fault) {
        if self.troubles.len() >= TROUBLES_MAX {
            self.troubles.remove(0);
        }
        self.troubles.push(Trouble { at: Moment::now(), fault });
    }

    fn confirm(&mut self) {
        self.confirmed = Some(Moment::now());
        self.standing = Standing::Whole;
    }
}
