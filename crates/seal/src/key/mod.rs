//! Sealing keys: a certificate to seal with, a private key to open with.

mod adopt;
mod certificate;
mod error;
mod fingerprint;
mod generate;
mod pair;
mod pem;

pub use adopt::{AdoptError, Adopted, Adoption, Source, from_sources, from_text};
pub use certificate::Certificate;
pub use error::{CertificateFault, GenerationFault, KeyError};
pub use fingerprint::Fingerprint;
pub(crate) use generate::rsa_private_key;
pub use generate::{GenerateOptions, generate, with_new_certificate};
pub use pair::KeyPair;
pub(crate) use pair::rsa_public_key_pem;
pub(crate) use pem::{encode as pem_encode, private_key as private_key_of_pem};
