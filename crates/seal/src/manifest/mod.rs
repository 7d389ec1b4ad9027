//! Secrets and SealedSecrets as files: read with their places, written so that a diff shows what changed and nothing
//! else.

mod edit;
mod json;
mod place;
mod render;
mod sealed;
mod secret;
mod set;

pub use edit::{Change, EditError, edit};
pub use json::{Inexact, inexact, to_json};
pub use place::{ObjectPlace, sealed_secrets};
pub use render::{is_plain, quoted};
pub use sealed::{Item, SealedSecret, ShapeFault, Trouble};
pub use secret::{SECRET_BYTES_MAX, SecretError, SecretManifest};
pub use set::set;

/// The API group of SealedSecrets.
pub const GROUP: &str = "bitnami.com";
/// What `apiVersion` says.
pub const API_VERSION: &str = "bitnami.com/v1alpha1";
