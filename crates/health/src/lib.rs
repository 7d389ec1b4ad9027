//! What the facts of a live cluster mean.
//!
//! [`facts`] are light types of our own: what was seen, when, and why something was not. This crate does no IO and asks no
//! clock: the time is an argument. It knows neither how facts are fetched nor how a status is worded.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod facts;

pub use facts::{Facts, Time};
