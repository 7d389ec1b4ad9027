//! Small clusters as facts: one fault each with its root, and what only looks like one.

mod cluster;
mod faults;
mod in_the_lab;
mod look_alikes;
