//! `coldstart.yaml`: what files can't tell. A user's own additions to the catalogue, how strict `check` is to be, where
//! sealing keys are kept, and what a cold start must know.
//!
//! Knows which keys there are and what shape they have. Does not know the rules: their names and severities are kept as
//! they are written, with their places. `docs/schema/coldstart.schema.json` says the same to editors.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod additions;
mod failure;
mod read;
mod said;
mod up;

pub use additions::Additions;
pub use failure::{Problem, SettingsError};
pub use read::read;
pub use said::{
    CheckSettings, ControllerSettings, GENERATED_KINDS, GeneratedSecret, GeneratedValue, SealSettings, Settings, Word,
};
pub use up::{Configuration, UpSettings};

/// The name of the file, at the root of the repository.
pub const SETTINGS_FILE: &str = "coldstart.yaml";
