use std::fmt;

use aws_lc_rs::rsa::{OaepPublicEncryptingKey, PublicEncryptingKey};
use time::OffsetDateTime;
use x509_parser::prelude::{FromDer as _, X509Certificate};
use x509_parser::public_key::PublicKey;

use super::{CertificateFault, Fingerprint, KeyError, pem};
use crate::date;
use crate::envelope::{Envelope, SealError};

/// What values are sealed with. Public: it may lie in the repository.
pub struct Certificate {
    der: Vec<u8>,
    public_key: OaepPublicEncryptingKey,
    fingerprint: Fingerprint,
    not_before: OffsetDateTime,
    not_after: OffsetDateTime,
}

impl Certificate {
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        Self::from_der(pem::certificate(text)?)
    }

    pub fn from_der(der: Vec<u8>) -> Result<Self, KeyError> {
        let bad =
            |error: &dyn fmt::Display| KeyError::BadCertificate(CertificateFault::Parser { said: error.to_string() });
        let (_, parsed) = X509Certificate::from_der(&der).map_err(|error| bad(&error))?;
        let info = parsed.public_key();
        let fingerprint = match info.parsed().map_err(|error| bad(&error))? {
            PublicKey::RSA(key) => Fingerprint::of_rsa(key.exponent, key.modulus),
            PublicKey::EC(_) => return Err(KeyError::NotRsa("elliptic curves".to_owned())),
            _ => return Err(KeyError::NotRsa(format!("algorithm {}", info.algorithm.algorithm))),
        };
        let public_key = PublicEncryptingKey::from_der(info.raw).and_then(|key| {
            OaepPublicEncryptingKey::new(key)
                .map_err(|_| aws_lc_rs::error::KeyRejected::from(aws_lc_rs::error::Unspecified))
        });
        let public_key = public_key.map_err(|_| KeyError::BadCertificate(CertificateFault::KeySize))?;
        let (not_before, not_after) =
            (parsed.validity().not_before.to_datetime(), parsed.validity().not_after.to_datetime());
        Ok(Self { der, public_key, fingerprint, not_before, not_after })
    }

    /// Whether it may be sealed with at this time.
    pub fn check_validity(&self, now: OffsetDateTime) -> Result<(), KeyError> {
        let id = || self.fingerprint.id();
        if now > self.not_after {
            return Err(KeyError::Expired { id: id(), at: self.not_after });
        }
        if now < self.not_before {
            return Err(KeyError::NotYetValid { id: id(), at: self.not_before });
        }
        Ok(())
    }

    /// Seals a value. Does not look at the clock: see [`Certificate::check_validity`].
    pub fn seal(&self, label: &[u8], value: &[u8]) -> Result<Envelope, SealError> {
        Envelope::seal(&self.public_key, label, value)
    }

    pub fn to_pem(&self) -> String {
        pem::encode_certificate(&self.der)
    }

    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    pub fn bits(&self) -> usize {
        self.public_key.key_size_bits()
    }

    pub fn not_before(&self) -> OffsetDateTime {
        self.not_before
    }

    pub fn not_after(&self) -> OffsetDateTime {
        self.not_after
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certificate({}, {} to {})", self.fingerprint, date(self.not_before), date(self.not_after))
    }
}

impl PartialEq for Certificate {
    fn eq(&self, other: &Self) -> bool {
        self.der == other.der
    }
}
