//! PEM, both ways. Private keys are wiped where they pass.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use zeroize::{Zeroize as _, Zeroizing};

use super::KeyError;
use crate::{SecretBytes, SecretText};

const LINE_CHARACTERS: usize = 64;

/// The first certificate of a text. What comes after it, a chain, says nothing here.
pub(super) fn certificate(text: &str) -> Result<Vec<u8>, KeyError> {
    CertificateDer::from_pem_slice(text.as_bytes()).map(|der| der.to_vec()).map_err(|_| KeyError::NoCertificate)
}

/// The first private key of a text as PKCS#8, whatever it was written as.
pub(crate) fn private_key(text: &str) -> Result<SecretBytes, KeyError> {
    if text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") || text.contains("Proc-Type: 4,ENCRYPTED") {
        return Err(KeyError::EncryptedPrivateKey);
    }
    match PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|_| KeyError::NoPrivateKey)? {
        PrivateKeyDer::Pkcs8(der) => Ok(SecretBytes::new(der.secret_pkcs8_der().to_vec())),
        PrivateKeyDer::Pkcs1(der) => {
            let pair = aws_lc_rs::rsa::KeyPair::from_der(der.secret_pkcs1_der());
            super::pair::pkcs8_of(&pair.map_err(|_| KeyError::BadPrivateKey)?)
        }
        PrivateKeyDer::Sec1(_) => Err(KeyError::NotRsa("elliptic curves".to_owned())),
        _ => Err(KeyError::NoPrivateKey),
    }
}

pub(super) fn encode_certificate(der: &[u8]) -> String {
    let mut text = SecretText::default();
    encode("CERTIFICATE", der, &mut text);
    text.expose().to_owned()
}

pub(crate) fn encode_private_key(pkcs8: &SecretBytes) -> SecretText {
    let mut text = SecretText::default();
    encode("PRIVATE KEY", pkcs8.expose(), &mut text);
    text
}

pub(super) fn encode_public_key(der: &[u8]) -> String {
    let mut text = SecretText::default();
    encode("PUBLIC KEY", der, &mut text);
    text.expose().to_owned()
}

pub(crate) fn encode(label: &str, der: &[u8], into: &mut SecretText) {
    let mut base64 = Zeroizing::new(String::with_capacity(der.len().div_ceil(3) * 4));
    STANDARD.encode_string(der, &mut base64);
    into.push(&format!("-----BEGIN {label}-----\n"));
    let mut rest = base64.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(LINE_CHARACTERS));
        into.push(line);
        into.push("\n");
        rest = after;
    }
    into.push(&format!("-----END {label}-----\n"));
    base64.zeroize();
}
