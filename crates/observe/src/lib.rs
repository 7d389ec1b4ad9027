//! A live cluster as facts: what each object says, and when it was seen.
//!
//! One paged list and one watch for every kind, shared by all who ask. Objects are read straight into the light types of those
//! who want them ([`Item`]) and are swapped only when a list is whole. What could not be seen is told as a [`Fault`], with the
//! right that is missing or how far an answer came; objects that were seen before stay, with their age.
//!
//! This crate knows kubeconfigs, HTTP and how an API server lists and watches. It does not know what any fact means, and it
//! only reads: there is no request in it that changes something.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod access;
mod backoff;
mod blame;
mod cluster;
mod date;
mod discovery;
mod fault;
mod item;
mod kind;
mod limits;
mod list;
mod moment;
mod probe;
mod resource;
mod rights;
mod session;
mod store;
mod watch;
mod why;
mod wire;

pub use access::{AccessError, Target};
pub use cluster::{Cluster, wanted};
pub use discovery::Served;
pub use fault::{Fault, Right, ServerCertificate};
pub use item::{Item, Key, Objects, Seen};
pub use limits::Limits;
pub use moment::Moment;
pub use resource::{Form, Resource, Wanted};
pub use rights::{ROLE, cluster_role};
pub use session::{Contact, Handle, Session};
pub use store::{Standing, Store, Trouble};

/// An error and what is behind it, for people.
fn said(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn unreadable(error: &serde_json::Error) -> Fault {
    Fault::Unreadable { said: error.to_string() }
}
