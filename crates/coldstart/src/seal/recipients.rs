//! Who can open an age store. `seal.recipients` of `coldstart.yaml` may be a stranger's line: whoever it names has every private
//! key once the store is written, so nobody is let in without being named to its owner first.

use std::fmt::Write as _;

use ::seal::Ring;
use ::seal::store::{Recipients, Store};
use diagnostic::seal::{KeysFault, SealFault};
use diagnostic::{Next, next};
use source::clean;

use super::Home;
use super::failure::{KeysFailure, SealFailure};
use super::report::{Report, Spot};
use super::store;

/// Stores that are about to be written, and what they held.
pub(crate) struct Change {
    /// The description of a store, and whom it lets in.
    new: Vec<(String, String)>,
    removed: Vec<String>,
}

impl Change {
    /// `accepted` and `removed` are what the command line says.
    pub(crate) fn of(
        stores: &[(&dyn Store, &Ring)],
        (accepted, yes): (&[String], bool),
        removed: &[String],
    ) -> Result<Self, SealFailure> {
        let mut new = Vec::new();
        let mut all = Recipients::default();
        for (store, ring) in stores {
            let there = store.recipients(ring)?;
            new.extend(there.newcomers().into_iter().map(|one| (store.describe(), one.to_owned())));
            all.own.extend(there.own);
            all.named.extend(there.named);
            all.recorded.extend(there.recorded);
        }
        if let Some((store, recipient)) = new.iter().find(|(_, one)| yes && !accepted.contains(one)) {
            let (store, recipient) = (store.clone(), recipient.clone());
            return Err(KeysFailure::NewRecipient { store, recipient }.into());
        }
        for recipient in removed {
            removable(recipient, &all)?;
        }
        Ok(Self { new, removed: removed.to_vec() })
    }

    /// And without these, whether or not a store still has them.
    pub(crate) fn removing(mut self, removed: &[String]) -> Self {
        self.removed = removed.to_vec();
        self
    }

    pub(crate) fn describe(&self) -> String {
        let mut plan = String::new();
        for (store, recipient) in &self.new {
            let _ = writeln!(
                plan,
                "let the new recipient {} open {store} from now on, with every key in it",
                clean(recipient)
            );
        }
        for recipient in &self.removed {
            let _ = writeln!(
                plan,
                "remove the recipient {}: it can't open the new key; what it could open before, it may know",
                clean(recipient)
            );
        }
        plan
    }

    /// The ring without those that are removed.
    pub(crate) fn apply(&self, ring: &mut Ring) {
        ring.recipients.retain(|one| !self.removed.contains(one));
    }
}

fn removable(recipient: &str, all: &Recipients) -> Result<(), SealFailure> {
    let is_in = |known: &[String]| known.iter().any(|one| one == recipient);
    let recipient = recipient.to_owned();
    Err(if is_in(&all.named) {
        KeysFailure::RecipientIsNamed { recipient }
    } else if is_in(&all.own) {
        KeysFailure::RecipientIsYou { recipient }
    } else if !is_in(&all.recorded) {
        KeysFailure::NoRecipient { recipient }
    } else {
        return Ok(());
    }
    .into())
}

/// Recipients that the settings and the stores do not agree on.
pub(crate) fn check(home: &Home<'_>, own: (&dyn Store, &Ring), report: &mut Report) -> Result<(), SealFailure> {
    let second = store::second_at_hand(home).and_then(|second| Some((second.read().ok()?.ring, second)));
    let second = second.as_ref().map(|(ring, store)| (store.as_ref(), ring));
    for (store, ring) in [own].into_iter().chain(second) {
        let there = store.recipients(ring)?;
        for recipient in there.newcomers() {
            let (spot, recipient) = (Spot::Store(store.describe()), recipient.to_owned());
            let next = Next::Edit(next::Edit::RecipientUnlessKnown);
            report.error(spot, SealFault::Keys(KeysFault::NewRecipient { recipient }), Some(next));
        }
        for recipient in there.unnamed() {
            let (spot, recipient) = (Spot::Store(store.describe()), recipient.to_owned());
            let next = Next::Seal(next::Seal::RemoveRecipient { recipient: recipient.clone() });
            report.note(spot, SealFault::Keys(KeysFault::UnnamedRecipient { recipient }), Some(next));
        }
    }
    Ok(())
}
