//! What the facts of a live cluster mean.
//!
//! [`facts`] are light types of our own: what was seen, when, and why something was not. [`assess()`] makes a [`Status`] of
//! them: a proof or a reason for every layer, and one root for every independent fault, with what it blocks. This crate does no
//! IO and asks no clock: the time is an argument. It knows neither how facts are fetched nor how a status is worded.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod assess;
pub mod cause;
mod detect;
pub mod facts;
mod known;
pub mod kstatus;
mod message;
mod remedy;
mod resolve;
pub mod status;
mod symptom;
mod trace;
mod view;

pub use assess::assess;
pub use cause::Cause;
pub use facts::{Facts, Time};
pub use status::{Expected, Status};
pub use trace::{Hop, trace};
