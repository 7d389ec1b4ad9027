//! The lab: a real control plane on loopback, for tests. It knows how its programs are built and started,
//! what they need of each other, and how to watch them; it does not know coldstart, and nothing that ships depends on it.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use coldstart_lab::{self as lab, Object, Until};
//!
//! let Some(lab) = lab::or_skip("a_deployment_becomes_ready") else { return Ok(()) };
//! lab.add_node("worker-1", &["worker"], &[], &[])?;
//! lab.git().push("repository".as_ref())?;
//! lab.apply(&std::fs::read_to_string("flux.yaml")?)?;
//! lab.wait_for(&Object::kustomization("flux-system", "apps"), &Until::ready(), Duration::from_secs(30))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod build;
pub mod cases;
pub mod faults;

mod api;
mod charts;
mod error;
mod events;
mod failures;
mod flags;
mod git;
mod kubeconfig;
mod lab;
mod logs;
mod nodes;
mod object;
mod objects;
mod options;
mod pki;
mod ports;
mod process;
mod record;
mod seal;
mod server;
mod skip;
mod spawn;
mod stages;
mod start;
mod until;

pub use charts::ChartServer;
pub use error::{LabError, NotInTime};
pub use events::KubeEvent;
pub use git::GitServer;
pub use lab::Lab;
pub use logs::LoggedError;
pub use object::{Condition, Object, condition, conditions};
pub use objects::documents;
pub use options::Options;
pub use process::Process;
pub use record::{Change, Failure, Recording};
pub use skip::{or_skip, or_skip_with};
pub use until::Until;
