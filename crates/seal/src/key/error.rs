use time::OffsetDateTime;

use crate::date;

/// What is wrong with a key or a certificate. Never holds any part of one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("there is no certificate in it (`-----BEGIN CERTIFICATE-----`)")]
    NoCertificate,
    #[error("there is no private key in it (`-----BEGIN PRIVATE KEY-----` or `-----BEGIN RSA PRIVATE KEY-----`)")]
    NoPrivateKey,
    #[error(
        "the private key is locked with a passphrase, and the controller could not read it either\n  next: openssl pkey -in KEY -out PLAIN, adopt that, and remove it"
    )]
    EncryptedPrivateKey,
    #[error("the certificate can't be read: {0}")]
    BadCertificate(String),
    #[error("the private key can't be read: it is damaged, or smaller than 2048 or larger than 8192 bits")]
    BadPrivateKey,
    #[error("it is a key for {0}, and SealedSecrets know only RSA")]
    NotRsa(String),
    #[error("it can't be read as YAML or JSON; several JSON texts go into several files")]
    Unreadable,
    #[error("it is PEM, and something else as well: each goes into a file of its own")]
    Mixed,
    #[error("a key or certificate in it is no base64 text, or cut off")]
    BadBase64,
    #[error("there are more keys in it than any cluster ever had")]
    TooMany,
    #[error("the certificate belongs to another private key ({certificate}, not {private_key})")]
    Mismatch { certificate: String, private_key: String },
    #[error("the certificate {id} expired on {}: kubeseal refuses it too\n  next: coldstart seal rotate", date(*.at))]
    Expired { id: String, at: OffsetDateTime },
    #[error("the certificate {id} is good only from {} on: is this machine's clock right?", date(*.at))]
    NotYetValid { id: String, at: OffsetDateTime },
    #[error("a key can have 2048, 3072, 4096 or 8192 bits, not {0}")]
    BadSize(u32),
    #[error("a certificate can be good for 1 to {most} days, not {days}", most = super::generate::DAYS_MAX)]
    BadLifetime { days: u32 },
    #[error("no key could be made: {0}")]
    Generate(String),
}
