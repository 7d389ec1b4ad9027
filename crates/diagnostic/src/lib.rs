//! What everything that reports speaks: a [`Finding`] says what is wrong, where, how much it matters and what to do; a
//! [`Report`] is many of them, with what was left out. What makes a finding the same tomorrow, and how many are told as one.
//!
//! This crate knows what can be said. It knows no rule, no graph and no file format, does no IO, and builds no sentences:
//! what is stated, what it costs and what to do are data, and how they are worded and printed is another's.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod advice;
mod baseline;
mod boot;
mod cause;
mod cost;
mod entry;
mod finding;
mod fingerprint;
mod fix;
mod fold;
mod headline;
mod label;
mod layer;
pub mod next;
mod note;
mod repair;
mod report;
mod rule;
pub mod seal;
mod severity;
mod site;
mod statement;
mod subject;
mod symptom;
mod waiting;

pub use advice::{
    Advice, Awaited, GateAdvice, Judging, Moved, NewDependency, OrderAdvice, OtherGate, PlainAdvice, Written,
};
pub use baseline::{Baseline, BaselineError, only_new};
pub use boot::{BootAdvice, BootCost, BootFault};
pub use cause::{Cause, causes};
pub use cost::{Cost, NeverCost, RaceCost};
pub use entry::{Entry, Item, List, Place, Shape};
pub use finding::{Alike, Also, Evidence, EvidenceRole, Finding, Level, Location, Who};
pub use fingerprint::Fingerprint;
pub use fix::{Applicability, Edit, Edits, EditsError, Fix, Goal};
pub use headline::{Headline, Outlook};
pub use label::{Deed, Hop, Label, Remark};
pub use layer::{LayerAdvice, LayerCost};
pub use next::Next;
pub use note::{Maker, Note};
pub use repair::{Action, Changed, Handover, Left, Repair, Repairs, Told, Unedited, Unsplit, WhyLeft};
pub use report::{BaselineUse, ClusterSummary, LeftOut, Report, SinceUse};
pub use rule::{Explains, Folding, Quiet, Rule, Together};
pub use seal::SealFault;
pub use severity::Severity;
pub use site::Site;
pub use statement::{Absence, CommentFault, GateFault, InstallFault, Lack, OrderFault, Statement, Vital};
pub use subject::Subject;
pub use symptom::{Missed, Symptom};
pub use waiting::{WaitAdvice, WaitCost};
