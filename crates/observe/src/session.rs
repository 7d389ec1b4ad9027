//! One cluster, looked at: first all at once, then as it changes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::Moment;
use crate::access::{Access, AccessError, Target};
use crate::backoff::Backoff;
use crate::discovery::{Served, discover};
use crate::fault::{Fault, Right};
use crate::item::Item;
use crate::kind::{Kind, Looked};
use crate::limits::{BODY_BYTES_MAX, Limits};
use crate::resource::Wanted;
use crate::store::Store;
use crate::wire::Wire;

/// How often the API server is asked whether it is there, while changes are followed.
const CONTACT_EVERY: Duration = Duration::from_secs(5);
const JSON: &str = "application/json";

/// What all kinds share.
pub(crate) struct Shared {
    pub(crate) wire: Wire,
    pub(crate) namespace: Option<String>,
    pub(crate) changed: Notify,
    pub(crate) rediscovered: Notify,
    pub(crate) turns: Semaphore,
    served: Mutex<Option<Served>>,
    contact: Mutex<Contact>,
    seeds: AtomicU64,
}

/// What the API server says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contact {
    /// When it was asked last.
    pub asked: Option<Moment>,
    /// When it answered last.
    pub answered: Option<Moment>,
    /// Why it did not, if the last time it did not.
    pub fault: Option<Fault>,
    /// Its version, as it writes it: `v1.35.0`.
    pub version: Option<String>,
    /// The checks of its own readiness that fail; nothing where it did not say.
    pub failing: Option<Vec<String>>,
    /// How long it took to answer.
    pub took: Duration,
    /// Why it could not be asked which kinds it serves.
    pub discovery: Option<Fault>,
}

/// The objects of a kind, as the session knows them.
#[derive(Debug)]
pub struct Handle<T> {
    store: Arc<Mutex<Store<T>>>,
}

impl<T> Handle<T> {
    pub fn store(&self) -> MutexGuard<'_, Store<T>> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A cluster, and what is looked at in it. Time passes for it only within its functions.
pub struct Session {
    runtime: Runtime,
    shared: Arc<Shared>,
    kinds: Vec<Arc<dyn Kind>>,
    /// What runs while changes are followed.
    tasks: Option<JoinSet<()>>,
    /// The way that led here.
    pub context: Option<String>,
    pub url: String,
    /// The last moment of the client certificate, where there is one.
    pub expires: Option<Moment>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Session").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Session {
    /// Finds the way to a cluster. Nothing is asked of it yet. With a namespace, of kinds in namespaces only what is in it.
    pub fn open(target: &Target, namespace: Option<String>, limits: Limits) -> Result<Self, AccessError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|source| AccessError::Runtime { source })?;
        let (wire, context, url, expires) = runtime.block_on(async {
            let access = Access::find(target, &limits).await?;
            let (context, url, expires) = (access.context.clone(), access.url.clone(), access.expires);
            Ok::<_, AccessError>((Wire::new(access, limits)?, context, url, expires))
        })?;
        let shared = Shared {
            wire,
            namespace,
            changed: Notify::new(),
            rediscovered: Notify::new(),
            turns: Semaphore::new(limits.at_once),
            served: Mutex::default(),
            contact: Mutex::default(),
            seeds: AtomicU64::new(Moment::now().unix_milliseconds().unsigned_abs()),
        };
        Ok(Self { runtime, shared: Arc::new(shared), kinds: Vec::new(), tasks: None, context, url, expires })
    }

    /// Looks at a kind, too, from the next look on.
    pub fn want<T: Item>(&mut self, wanted: Wanted) -> Handle<T> {
        let store: Arc<Mutex<Store<T>>> = Arc::default();
        self.kinds.push(Arc::new(Looked { wanted, store: store.clone() }));
        Handle { store }
    }

    /// Asks the API server for itself, which kinds it serves, and for all that is wanted, once. What went wrong is in the contact
    /// and in the stores.
    pub fn look(&mut self) {
        let (shared, kinds) = (&self.shared, &self.kinds);
        self.runtime.block_on(async {
            shared.meet().await;
            if shared.contact().fault.is_some() || !shared.rediscover(kinds).await {
                return;
            }
            let mut looks = JoinSet::new();
            for kind in kinds {
                let (kind, shared) = (kind.clone(), shared.clone());
                looks.spawn(async move {
                    let _turn = shared.turns.acquire().await;
                    kind.look(shared.clone()).await;
                });
            }
            while looks.join_next().await.is_some() {}
        });
    }

    /// Follows changes until there is one, or for so long. Whether there was one.
    pub fn follow(&mut self, patience: Duration) -> bool {
        let (shared, kinds) = (&self.shared, &self.kinds);
        let tasks = &mut self.tasks;
        self.runtime.block_on(async {
            let tasks = tasks.get_or_insert_with(JoinSet::new);
            if tasks.is_empty() {
                for kind in kinds {
                    tasks.spawn(kind.clone().follow(shared.clone()));
                }
                tasks.spawn(keep_contact(shared.clone(), kinds.clone()));
            }
            timeout(patience, shared.changed.notified()).await.is_ok()
        })
    }

    pub fn contact(&self) -> Contact {
        self.shared.contact().clone()
    }

    /// Which kinds are served, as of the last look; nothing, where that was never told.
    pub fn served(&self) -> Option<Served> {
        self.shared.served().clone()
    }

    /// How far the API server's clock is ahead of this machine's, in milliseconds.
    pub fn skew_milliseconds(&self) -> Option<i64> {
        self.shared.wire.skew()
    }

    pub fn bytes_read(&self) -> u64 {
        self.shared.wire.bytes_read()
    }
}

/// Asks whether the API server is there, and now and then what it serves.
async fn keep_contact(shared: Arc<Shared>, kinds: Vec<Arc<dyn Kind>>) {
    let mut since = Duration::ZERO;
    loop {
        sleep(CONTACT_EVERY.min(shared.wire.limits.rediscover)).await;
        since += CONTACT_EVERY;
        let before = shared.contact().clone();
        shared.meet().await;
        let after = shared.contact().clone();
        let is_back = before.fault.is_some() && after.fault.is_none();
        if after.fault.is_none() && (is_back || since >= shared.wire.limits.rediscover) {
            since = Duration::ZERO;
            shared.rediscover(&kinds).await;
        }
        if (before.fault, before.failing) != (after.fault, after.failing) {
            shared.changed.notify_one();
        }
    }
}

impl Shared {
    pub(crate) fn served(&self) -> MutexGuard<'_, Option<Served>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn contact(&self) -> MutexGuard<'_, Contact> {
        self.contact.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn backoff(&self) -> Backoff {
        let seed = self.seeds.fetch_add(1, Ordering::Relaxed);
        Backoff::new(self.wire.limits.pause, self.wire.limits.pause_max, seed)
    }

    /// Asks the API server for its version and its readiness.
    async fn meet(&self) {
        let mut asked = Moment::now();
        let mut version = self.version().await;
        let mut backoff = self.backoff();
        for _ in 1..self.wire.limits.attempts {
            // A busy API server is there all the same.
            let Err(fault @ (Fault::TooMany { .. } | Fault::Answered { .. } | Fault::Cut { .. })) = &version else {
                break;
            };
            sleep(backoff.pause(fault.retry_after())).await;
            asked = Moment::now();
            version = self.version().await;
        }
        let took = asked.age(Moment::now());
        let failing = if version.is_ok() { self.failing().await } else { None };
        let mut contact = self.contact();
        contact.asked = Some(asked);
        contact.took = took;
        match version {
            Err(fault) => contact.fault = Some(fault),
            Ok(version) => {
                contact.version = Some(version).filter(|version| !version.is_empty());
                (contact.fault, contact.answered, contact.failing) = (None, Some(Moment::now()), failing);
            }
        }
    }

    async fn version(&self) -> Result<String, Fault> {
        let answer = self.wire.whole("/version", JSON, BODY_BYTES_MAX, || path_right("/version")).await;
        match answer {
            Ok(body) => {
                let version: Version = serde_json::from_slice(&body).map_err(|_| Fault::NotKubernetes { code: 200 })?;
                Ok(version.git_version)
            }
            // It may answer that to everybody but us.
            Err(Fault::Forbidden(_)) => Ok(String::new()),
            Err(fault) => Err(fault),
        }
    }

    /// The checks of `/readyz` that fail. Lines of it begin with `[+]` or `[-]` and the name of a check.
    async fn failing(&self) -> Option<Vec<String>> {
        let right = || path_right("/readyz");
        let text = self.wire.readiness("/readyz?verbose", right).await.ok()?;
        let failing = text.lines().filter_map(|line| line.strip_prefix("[-]")?.split(' ').next());
        Some(failing.map(str::to_owned).collect())
    }

    /// Whether it is known what is served.
    async fn rediscover(&self, kinds: &[Arc<dyn Kind>]) -> bool {
        let wanted: Vec<Wanted> = kinds.iter().map(|kind| kind.wanted().clone()).collect();
        let mut backoff = self.backoff();
        for _ in 0..self.wire.limits.attempts {
            match discover(&self.wire, &wanted).await {
                Ok(served) => {
                    *self.served() = Some(served);
                    self.contact().discovery = None;
                    self.rediscovered.notify_waiters();
                    return true;
                }
                Err(fault) => {
                    let (retry_after, is_final) = (fault.retry_after(), fault.is_final());
                    self.contact().discovery = Some(fault);
                    if is_final {
                        return false;
                    }
                    sleep(backoff.pause(retry_after)).await;
                }
            }
        }
        false
    }
}

fn path_right(path: &str) -> Right {
    Right { verb: "get", group: String::new(), resource: path.to_owned(), namespace: None }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    git_version: String,
}
