//! New keys.

use aws_lc_rs::rsa::KeySize;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, KeyUsagePurpose, PKCS_RSA_SHA256, SerialNumber};
use rustls::pki_types::PrivatePkcs8KeyDer;
use time::{Duration, OffsetDateTime};

use super::{Certificate, GenerationFault, KeyError, KeyPair, pair, pem};
use crate::{SecretBytes, SecretText};

/// A hundred years.
pub(super) const DAYS_MAX: u32 = 36_525;

/// What a new key is to be like. The defaults are the controller's own.
#[derive(Clone, Copy, Debug)]
pub struct GenerateOptions {
    /// 2048, 3072, 4096 or 8192.
    pub bits: u32,
    /// How long the certificate may be sealed with. Opening never ends.
    pub days: u32,
    pub now: OffsetDateTime,
}

impl GenerateOptions {
    /// 4096 bits, ten years.
    pub fn at(now: OffsetDateTime) -> Self {
        Self { bits: 4096, days: 3650, now }
    }
}

/// Makes a pair. 4096 bits take a second or so.
pub fn generate(options: &GenerateOptions) -> Result<KeyPair, KeyError> {
    sign(private_key(options.bits)?, options)
}

/// Both halves of a key that seals nothing, in PEM: PKCS#8 and `PUBLIC KEY`.
pub(crate) fn rsa_private_key(bits: u32) -> Result<(SecretText, String), KeyError> {
    let pkcs8 = private_key(bits)?;
    let public = pair::public_key_pem(&pkcs8)?;
    Ok((pem::encode_private_key(&pkcs8), public))
}

fn private_key(bits: u32) -> Result<SecretBytes, KeyError> {
    let size = match bits {
        2048 => KeySize::Rsa2048,
        3072 => KeySize::Rsa3072,
        4096 => KeySize::Rsa4096,
        8192 => KeySize::Rsa8192,
        other => return Err(KeyError::BadSize(other)),
    };
    let made = aws_lc_rs::rsa::KeyPair::generate(size);
    pair::pkcs8_of(&made.map_err(|_| KeyError::Generate(GenerationFault::Refused))?)
}

/// A private key, in PEM, that lost its certificate or whose certificate is about to expire.
pub fn with_new_certificate(private_key: &str, options: &GenerateOptions) -> Result<KeyPair, KeyError> {
    sign(pem::private_key(private_key)?, options)
}

pub(super) fn sign(pkcs8: SecretBytes, options: &GenerateOptions) -> Result<KeyPair, KeyError> {
    if !(1..=DAYS_MAX).contains(&options.days) {
        return Err(KeyError::BadLifetime { days: options.days });
    }
    let failed = |error: rcgen::Error| KeyError::Generate(GenerationFault::Library { said: error.to_string() });
    let der = PrivatePkcs8KeyDer::from(pkcs8.expose());
    let key = rcgen::KeyPair::from_pkcs8_der_and_sign_algo(&der, &PKCS_RSA_SHA256);
    let key = key.map_err(|_| KeyError::BadPrivateKey)?;
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name.push(DnType::CommonName, "sealed-secrets");
    // Whole seconds, as a certificate holds them.
    let from = options.now.replace_nanosecond(0).unwrap_or(options.now);
    parameters.not_before = from;
    parameters.not_after = from + Duration::days(i64::from(options.days));
    // As upstream makes them.
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters.key_usages = vec![KeyUsagePurpose::EncipherOnly];
    parameters.serial_number = Some(SerialNumber::from(serial()?.to_vec()));
    let certificate = parameters.self_signed(&key).map_err(failed)?;
    KeyPair::new(pkcs8, Certificate::from_der(certificate.der().to_vec())?)
}

fn serial() -> Result<[u8; 16], KeyError> {
    let mut bytes = [0; 16];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| KeyError::Generate(GenerationFault::NoRandomness))?;
    bytes[0] &= 0x7f;
    Ok(bytes)
}
