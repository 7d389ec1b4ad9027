use std::fmt;

use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rsa::{OaepPrivateDecryptingKey, PrivateDecryptingKey};
use x509_parser::prelude::{FromDer as _, SubjectPublicKeyInfo};
use x509_parser::public_key::PublicKey;

use super::{Certificate, Fingerprint, KeyError, pem};
use crate::envelope::{Envelope, OpenError};
use crate::{SecretBytes, SecretText};

/// A private key with its certificate.
pub struct KeyPair {
    private_key: OaepPrivateDecryptingKey,
    pkcs8: SecretBytes,
    certificate: Certificate,
}

impl KeyPair {
    /// Both from PEM. They must belong to each other.
    pub fn from_pem(private_key: &str, certificate: &str) -> Result<Self, KeyError> {
        Self::new(pem::private_key(private_key)?, Certificate::from_pem(certificate)?)
    }

    /// The private key in PKCS#8.
    pub fn new(pkcs8: SecretBytes, certificate: Certificate) -> Result<Self, KeyError> {
        let private_key = PrivateDecryptingKey::from_pkcs8(pkcs8.expose()).map_err(|_| rejected(pkcs8.expose()))?;
        let own = public_fingerprint(&private_key)?;
        if own != certificate.fingerprint() {
            let certificate = certificate.fingerprint().id();
            return Err(KeyError::Mismatch { certificate, private_key: own.id() });
        }
        let private_key = OaepPrivateDecryptingKey::new(private_key).map_err(|_| KeyError::BadPrivateKey)?;
        Ok(Self { private_key, pkcs8, certificate })
    }

    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    pub fn fingerprint(&self) -> Fingerprint {
        self.certificate.fingerprint()
    }

    /// The short name of the key.
    pub fn id(&self) -> String {
        self.fingerprint().id()
    }

    pub fn open(&self, sealed: &Envelope, label: &[u8]) -> Option<SecretBytes> {
        self.try_open(sealed, label).ok()
    }

    /// As [`KeyPair::open`], and says why not.
    pub fn try_open(&self, sealed: &Envelope, label: &[u8]) -> Result<SecretBytes, OpenError> {
        sealed.open(&self.private_key, label)
    }

    /// The private key as the controller reads it: PKCS#8 in PEM.
    pub fn private_key_pem(&self) -> SecretText {
        pem::encode_private_key(&self.pkcs8)
    }

    /// The pair seals and opens: said of a key that was just made or brought back.
    pub fn works(&self) -> bool {
        let (label, value) = (b"coldstart/proof".as_slice(), b"proof".as_slice());
        let sealed = self.certificate.seal(label, value);
        sealed.is_ok_and(|sealed| {
            self.open(&sealed, label).is_some_and(|opened| opened.expose() == value)
                && self.open(&sealed, b"another/label").is_none()
        })
    }
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyPair({:?})", self.certificate)
    }
}

pub(super) fn pkcs8_of(pair: &aws_lc_rs::rsa::KeyPair) -> Result<SecretBytes, KeyError> {
    let der = pair.as_der().map_err(|_| KeyError::BadPrivateKey)?;
    Ok(SecretBytes::copy_of(der.as_ref()))
}

/// The public half of a private RSA key in PEM, as PEM.
pub(crate) fn rsa_public_key_pem(private_key: &str) -> Result<String, KeyError> {
    public_key_pem(&pem::private_key(private_key)?)
}

/// The public half of a private RSA key in PKCS#8, as PEM: a SubjectPublicKeyInfo.
pub(super) fn public_key_pem(pkcs8: &SecretBytes) -> Result<String, KeyError> {
    let key = PrivateDecryptingKey::from_pkcs8(pkcs8.expose()).map_err(|_| rejected(pkcs8.expose()))?;
    let der = key.public_key().as_der().map_err(|_| KeyError::BadPrivateKey)?;
    Ok(pem::encode_public_key(der.as_ref()))
}

/// Of a private key in PKCS#8.
pub(super) fn fingerprint_of(pkcs8: &SecretBytes) -> Result<Fingerprint, KeyError> {
    let key = PrivateDecryptingKey::from_pkcs8(pkcs8.expose()).map_err(|_| rejected(pkcs8.expose()))?;
    public_fingerprint(&key)
}

fn public_fingerprint(key: &PrivateDecryptingKey) -> Result<Fingerprint, KeyError> {
    let der = key.public_key().as_der().map_err(|_| KeyError::BadPrivateKey)?;
    let (_, info) = SubjectPublicKeyInfo::from_der(der.as_ref()).map_err(|_| KeyError::BadPrivateKey)?;
    match info.parsed() {
        Ok(PublicKey::RSA(key)) => Ok(Fingerprint::of_rsa(key.exponent, key.modulus)),
        _ => Err(KeyError::BadPrivateKey),
    }
}

/// Why a PKCS#8 key was not taken: mostly because it is for something else than RSA.
fn rejected(pkcs8: &[u8]) -> KeyError {
    /// Object identifiers as they stand in DER.
    const ALGORITHMS: [(&[u8], &str); 3] = [
        (&[0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01], "elliptic curves"),
        (&[0x06, 0x03, 0x2b, 0x65, 0x70], "Ed25519"),
        (&[0x06, 0x03, 0x2b, 0x65, 0x6e], "X25519"),
    ];
    let head = &pkcs8[..pkcs8.len().min(32)];
    let found = ALGORITHMS.iter().find(|(oid, _)| head.windows(oid.len()).any(|window| window == *oid));
    found.map_or(KeyError::BadPrivateKey, |(_, name)| KeyError::NotRsa((*name).to_owned()))
}
