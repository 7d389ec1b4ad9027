//! One kind, looked at: a list, and then a watch that goes on from it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::sleep;

use crate::backoff::Backoff;
use crate::discovery::Served;
use crate::fault::Fault;
use crate::item::Item;
use crate::list::{Ask, list};
use crate::resource::Wanted;
use crate::session::Shared;
use crate::store::{Standing, Store};
use crate::watch::watch;

/// A watch that ends sooner than this was no watch: something on the way cuts it off.
const SHORT: Duration = Duration::from_millis(500);

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A kind whose objects' type does not matter.
pub(crate) trait Kind: Send + Sync {
    fn wanted(&self) -> &Wanted;
    /// Lists once, with as many attempts as there are.
    fn look(self: Arc<Self>, shared: Arc<Shared>) -> Work;
    /// Lists and watches until dropped.
    fn follow(self: Arc<Self>, shared: Arc<Shared>) -> Work;
}

/// A kind, and what is known of its objects.
pub(crate) struct Looked<T> {
    pub(crate) wanted: Wanted,
    pub(crate) store: Arc<Mutex<Store<T>>>,
}

impl<T> Looked<T> {
    pub(crate) fn store(&self) -> MutexGuard<'_, Store<T>> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Item> Kind for Looked<T> {
    fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    fn look(self: Arc<Self>, shared: Arc<Shared>) -> Work {
        Box::pin(async move {
            let Some(ask) = self.ask(&shared) else { return };
            let mut backoff = shared.backoff();
            for attempt in 1..=shared.wire.limits.attempts {
                match list::<T>(&shared.wire, &ask).await {
                    Ok(listed) => return self.store().swap(listed, &ask.resource),
                    Err(fault) => {
                        let (retry_after, is_final) = (fault.retry_after(), fault.is_final());
                        self.lost(fault);
                        if is_final || attempt == shared.wire.limits.attempts {
                            return;
                        }
                        sleep(backoff.pause(retry_after)).await;
                    }
                }
            }
        })
    }

    fn follow(self: Arc<Self>, shared: Arc<Shared>) -> Work {
        Box::pin(async move {
            let mut backoff = shared.backoff();
            loop {
                let Some(ask) = self.ask(&shared) else {
                    shared.rediscovered.notified().await;
                    continue;
                };
                let started = tokio::time::Instant::now();
                let Err(fault) = self.step(&shared, &ask, &mut backoff).await else {
                    if started.elapsed() < SHORT {
                        sleep(backoff.pause(None)).await;
                    }
                    continue;
                };
                let retry_after = fault.retry_after();
                if fault == Fault::Expired {
                    // What is kept stays until the new list is whole.
                    let mut store = self.store();
                    store.version = None;
                    store.note(fault);
                    continue;
                }
                let ends = matches!(fault, Fault::Forbidden(_));
                self.lost(fault);
                shared.changed.notify_one();
                if ends {
                    return;
                }
                sleep(backoff.pause(retry_after)).await;
            }
        })
    }
}

impl<T: Item> Looked<T> {
    /// A list where there is none yet, else one watch.
    async fn step(&self, shared: &Shared, ask: &Ask, backoff: &mut Backoff) -> Result<(), Fault> {
        let known = self.store().version.clone();
        let mut version = if let Some(version) = known { version } else { self.whole(shared, ask).await? };
        backoff.reset();
        let hear = |change| {
            if self.store().hear(change) && !self.wanted.quiet {
                shared.changed.notify_one();
            }
        };
        let ended = watch::<T>(&shared.wire, ask, &mut version, &hear).await;
        let mut store = self.store();
        if store.version.is_some() {
            store.version = Some(version);
        }
        ended
    }

    /// A new list in the place of what was known. Where a watch goes on.
    async fn whole(&self, shared: &Shared, ask: &Ask) -> Result<String, Fault> {
        // In turn, or the pages of all kinds would be in memory together.
        let turn = shared.turns.acquire().await;
        let listed = list::<T>(&shared.wire, ask).await?;
        drop(turn);
        let version = listed.version.clone();
        self.store().swap(listed, &ask.resource);
        shared.changed.notify_one();
        Ok(version)
    }

    /// What to ask for; nothing where it is not served, which is noted.
    fn ask(&self, shared: &Shared) -> Option<Ask> {
        let served = shared.served();
        let served = served.as_ref()?;
        if let Some(resource) = served.find(&self.wanted) {
            let (wanted, resource) = (self.wanted.clone(), resource.clone());
            return Some(Ask { wanted, resource, namespace: shared.namespace.clone() });
        }
        if self.store().unserved(unserved(served, &self.wanted)) {
            shared.changed.notify_one();
        }
        None
    }

    fn lost(&self, fault: Fault) {
        let mut store = self.store();
        // It was served a moment ago; whether it still is, the next discovery says.
        if fault == Fault::NotFound {
            store.version = None;
        }
        store.lose(fault);
    }
}

fn unserved(served: &Served, wanted: &Wanted) -> Standing {
    if let Some((group, version)) = served.stale.iter().find(|(group, _)| group == wanted.group) {
        return Standing::Stale { group: group.clone(), version: version.clone() };
    }
    Standing::NotServed { other_versions: served.only_other_versions(wanted) }
}
