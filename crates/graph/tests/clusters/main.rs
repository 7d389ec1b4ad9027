//! Clusters written down in a dozen lines, and what the graph says about them. No file is read.

mod consequences;
mod deadlocks;
mod growth;
mod links;
mod losses;
mod properties;
mod random;
mod schedule;
mod sketch;
mod trials;
mod verdicts;
