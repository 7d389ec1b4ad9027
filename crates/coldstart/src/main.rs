//! The command line: thin.
fn main() {}
