//! Where the simulated world meets what was planned and what was found.
//!
//! [`Simulated`] is `simulate`'s world behind the seam that `run` has for worlds; [`Boots`] finds the finding that had said
//! what a boot then showed. The one place that knows both sides: `run` does not know which world it drives, `check` does not
//! know that anything is booted, and `simulate` knows neither plan nor finding.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod boots;
mod simulated;

pub use boots::{Boots, Explained};
pub use simulated::Simulated;
