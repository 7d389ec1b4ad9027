//! Files into components, offers, needs and ties. One room per tool; objects are known by apiVersion and kind, never by
//! the name of their file.
//!
//! This crate knows file formats and what they mean. It does not know the graph or the rules.

mod repository;
pub mod substitute;

pub use repository::{FILE_BYTES_MAX, OpenError, Repository, Skipped};
