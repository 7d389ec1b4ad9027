//! Small clusters as facts: one fault each with its root, and what only looks like one.

mod cluster;
mod faults;
mod look_alikes;
