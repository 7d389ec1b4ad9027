//! The lab: a real control plane on loopback, for tests. It knows how its programs are built and where they are kept; it
//! does not know coldstart, and nothing that ships depends on it.

pub mod build;
