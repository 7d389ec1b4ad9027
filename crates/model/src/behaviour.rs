//! How a component behaves, in words that belong to no tool. Its reader sets it, and the graph asks nothing else; which
//! tool it is ([`crate::Role`]) only decides what is written in an edit and how it is called.

/// How a component behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    pub applies: Applies,
    pub done: Done,
    pub order: Order,
    /// Its controller may be told to look again when a Secret or ConfigMap that it is built with changes
    /// ([`crate::Facts::watches_settings`]).
    pub may_watch_settings: bool,
}

/// How its objects reach the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applies {
    /// Namespaces, CRDs and classes first, then the rest. One object that is rejected holds up all of its stage.
    InStages,
    /// All of them, in the order in which they are given.
    AtOnce,
    /// As one release under a name of its own: installed as a whole, and what becomes of its objects is seen in its own status.
    AsRelease,
}

/// What has happened when it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// What its gate says.
    AsGated,
    /// Its workloads are healthy. A custom resource only has to be stored.
    WorkloadsHealthy,
    /// What it starts is healthy: the next step needs it, whether the tool waits for that or not.
    Healthy,
    /// The API server accepted its objects.
    Accepted,
}

/// How it comes after what it is tied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It starts by itself, and asks from time to time whether that is done.
    Asks,
    /// It is started when that has ended.
    Follows,
}

impl Behaviour {
    /// A controller applies its objects in stages, again and again.
    pub const RECONCILED_IN_STAGES: Self =
        Self { applies: Applies::InStages, done: Done::AsGated, order: Order::Asks, may_watch_settings: true };
    /// A controller applies its objects at once, again and again.
    pub const RECONCILED_AT_ONCE: Self =
        Self { applies: Applies::AtOnce, done: Done::AsGated, order: Order::Asks, may_watch_settings: false };
    /// A controller installs it as a release.
    pub const RECONCILED_RELEASE: Self = Self {
        applies: Applies::AsRelease,
        done: Done::WorkloadsHealthy,
        order: Order::Asks,
        may_watch_settings: false,
    };
    /// A person or a script installs it, once.
    pub const INSTALLED_ONCE: Self =
        Self { applies: Applies::AtOnce, done: Done::Healthy, order: Order::Follows, may_watch_settings: false };
    /// A person or a script applies it as it is, once.
    pub const APPLIED_ONCE: Self =
        Self { applies: Applies::AtOnce, done: Done::Accepted, order: Order::Follows, may_watch_settings: false };

    pub fn is_release(self) -> bool {
        self.applies == Applies::AsRelease
    }

    pub fn is_staged(self) -> bool {
        self.applies == Applies::InStages
    }
}
