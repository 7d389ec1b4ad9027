//! Sealing keys that outlive clusters, and SealedSecrets without a cluster.
//!
//! Wire-compatible with kubeseal and the sealed-secrets controller: what is sealed here they open, what they seal opens
//! here, in every scope. One cryptographic library, aws-lc-rs. Buffers with secrets in them are wiped, and nothing of
//! them is in any error or `Debug`.
//!
//! ```
//! use coldstart_seal::key::{GenerateOptions, generate};
//! use coldstart_seal::{Envelope, Scope};
//! use time::OffsetDateTime;
//!
//! let pair = generate(&GenerateOptions { bits: 2048, ..GenerateOptions::at(OffsetDateTime::now_utc()) })?;
//! let label = Scope::Strict.label("flux-system", "github-token");
//! let text = pair.certificate().seal(&label, b"hunter2")?.to_base64();
//!
//! let opened = pair.open(&Envelope::from_base64(&text)?, &label).ok_or("does not open")?;
//! assert_eq!(opened.expose(), b"hunter2");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate knows keys, where they are kept, and SealedSecrets. It does not know the cluster, nor how a repository is
//! put together.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod age_program;
pub mod deploy;
mod env_file;
mod envelope;
pub mod generated;
pub mod key;
pub mod manifest;
mod openssh;
pub mod renewal;
mod ring;
pub mod rules;
mod scope;
mod secret_bytes;
pub mod sops;
pub mod store;
pub mod verify;

pub use env_file::{EnvError, EnvFault, env_values};
pub use envelope::{Envelope, OpenError, SealError, VALUE_BYTES_MAX};
pub use ring::{FormatFault, Held, RING_BYTES_MAX, Ring, RingError};
pub use scope::{CLUSTER_WIDE, NAMESPACE_WIDE, NoScope, Scope};
pub use secret_bytes::{SecretBytes, SecretText};

use time::OffsetDateTime;

/// A day, as people write it.
pub fn date(at: OffsetDateTime) -> String {
    format!("{:04}-{:02}-{:02}", at.year(), u8::from(at.month()), at.day())
}

/// The SHA-256 of bytes that are no secret, in hexadecimal.
pub fn digest_hex(bytes: &[u8]) -> String {
    hex(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0x0f)]).collect()
}

/// Random bytes for names and canaries.
pub fn random(bytes: &mut [u8]) -> Result<(), SealError> {
    aws_lc_rs::rand::fill(bytes).map_err(|_| SealError::NoRandomness)
}
