//! YAML in which every node knows where it came from.
//!
//! A [`Node`] carries the file and the byte range it was read from, and keeps them when it is moved into another tree:
//! that is how a value that a kustomize patch put into an object can still point at the line a person would edit.
//! Containers are shared and copied on write, so cloning a tree is cheap and changing it copies only the path to the
//! change. Comments stay in the text, a [`source::Source`]: whoever wants them reads lines.
//!
//! This crate knows YAML. It does not know Kubernetes, kustomize, or where files are kept.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod budget;
mod lenient;
mod node;
mod parse;

pub use budget::{Budget, Cost, Shared, Spent};
pub use ecow::{EcoString, EcoVec};
pub use node::{Entry, Map, Node, Scalar, ScalarKind, Value};
pub use parse::{DEPTH_MAX, Document, Limits, Problem, parse, parse_leaving_out, parse_value};
