//! What of a run of Terraform can't be read.

use source::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WhyBlind {
    /// A module that is not in this repository.
    RemoteModule,
    /// The directory that a module is said to be in has no Terraform files.
    MissingModule,
    /// How many of a module there are is known only when Terraform runs.
    UnknownCount,
    /// Too much of it: modules in modules, dependencies.
    TooMuch,
    /// What a program prints decides.
    Command,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Blind {
    /// The address of the block.
    pub address: String,
    pub why: WhyBlind,
    pub at: Span,
}
