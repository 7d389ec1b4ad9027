use diagnostic::Next;
use diagnostic::next::{Again, Key, Program, Seal};
use time::OffsetDateTime;

use crate::date;
use source::clean;

/// What is wrong with a key or a certificate. Never holds any part of one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("there is no certificate in it (`-----BEGIN CERTIFICATE-----`)")]
    NoCertificate,
    #[error("there is no private key in it (`-----BEGIN PRIVATE KEY-----` or `-----BEGIN RSA PRIVATE KEY-----`)")]
    NoPrivateKey,
    #[error("the private key is encrypted with a passphrase, which the controller can't read either")]
    EncryptedPrivateKey,
    #[error("the certificate can't be read: {0}")]
    BadCertificate(CertificateFault),
    #[error("the private key can't be read: it is damaged, or smaller than 2048 or larger than 8192 bits")]
    BadPrivateKey,
    #[error("it is a key for {it}, and SealedSecrets know only RSA", it = clean(.0))]
    NotRsa(String),
    #[error("it can't be read as YAML or JSON; put several JSON documents into several files")]
    Unreadable,
    #[error("it holds PEM and something else: put each into its own file")]
    Mixed,
    #[error("a key or certificate in it is not base64, or cut off")]
    BadBase64,
    #[error("it holds more keys than any cluster should have")]
    TooMany,
    #[error("the certificate belongs to another private key ({certificate}, not {private_key})", certificate = clean(.certificate), private_key = clean(.private_key))]
    Mismatch { certificate: String, private_key: String },
    #[error("the certificate {id} expired on {}: kubeseal refuses it too", date(*.at), id = clean(.id))]
    Expired { id: String, at: OffsetDateTime },
    #[error("the certificate {id} is good only from {} on: is this machine's clock right?", date(*.at), id = clean(.id))]
    NotYetValid { id: String, at: OffsetDateTime },
    #[error("a key can have 2048, 3072, 4096 or 8192 bits, not {0}")]
    BadSize(u32),
    #[error("a certificate can be good for 1 to {most} days, not {days}", most = super::generate::DAYS_MAX)]
    BadLifetime { days: u32 },
    #[error("no key could be made: {0}")]
    Generate(GenerationFault),
}

/// What is wrong with a certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateFault {
    #[error("it is damaged or cut off")]
    CutOff,
    #[error("its key is smaller than 2048 or larger than 8192 bits")]
    KeySize,
    /// The parser's own words.
    #[error("{said}", said = clean(.said))]
    Parser { said: String },
}

/// Why no key could be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GenerationFault {
    #[error("the cryptographic library refuses")]
    Refused,
    #[error("no random numbers")]
    NoRandomness,
    /// The words of the library that makes certificates.
    #[error("{said}", said = clean(.said))]
    Library { said: String },
}

impl KeyError {
    /// What to type next, where that does not depend on where the key is from.
    pub fn certain_next(&self) -> Option<Next> {
        match self {
            Self::EncryptedPrivateKey => Some(Next::Program(Program::OpensslDecrypt)),
            Self::Expired { .. } => Some(Next::Seal(Seal::Rotate)),
            _ => None,
        }
    }

    /// What to type next, where a key is made or adopted.
    pub fn next(&self) -> Next {
        match self {
            Self::NoCertificate => Next::Key(Key::CertificateToo),
            Self::NoPrivateKey => Next::Key(Key::PrivateKeyFile),
            Self::EncryptedPrivateKey => Next::Program(Program::OpensslDecrypt),
            Self::BadCertificate(_) | Self::BadPrivateKey | Self::BadBase64 => Next::Program(Program::OpensslCheck),
            Self::NotRsa(_) => Next::Key(Key::ControllersPair),
            Self::Unreadable => Next::Key(Key::WholeText),
            Self::Mixed => Next::Key(Key::OwnFiles),
            Self::TooMany => Next::Key(Key::OneClusters),
            Self::Mismatch { .. } => Next::Key(Key::CertificateOfKey),
            Self::Expired { .. } => Next::Seal(Seal::Rotate),
            Self::NotYetValid { .. } => Next::Program(Program::Date),
            Self::BadSize(_) => Next::Again(Again::WithUsualBits),
            Self::BadLifetime { .. } => Next::Again(Again::WithUsualDays),
            Self::Generate(_) => Next::Again(Again::Same),
        }
    }
}
