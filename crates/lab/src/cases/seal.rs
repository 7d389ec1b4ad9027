//! A sealing key of our own, and values sealed with it by the real `kubeseal`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rcgen::{CertificateParams, DnType, KeyPair, PKCS_RSA_SHA256, RsaKeySize};

use super::CaseError;
use crate::build::{self, Tool};

/// A key pair as the controller keeps it, in PEM.
#[derive(Debug, Clone)]
pub(super) struct SealingKey {
    pub(super) certificate: String,
    pub(super) key: String,
}

impl SealingKey {
    pub(super) fn make() -> Result<Self, CaseError> {
        let failed = |error: rcgen::Error| CaseError::step("make a sealing key", error);
        let key = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048).map_err(failed)?;
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "sealing key of a case");
        let certificate = params.self_signed(&key).map_err(failed)?;
        Ok(Self { certificate: certificate.pem(), key: key.serialize_pem() })
    }

    /// Seals each value in the widest scope.
    pub(super) fn seal(
        &self,
        data: &BTreeMap<String, String>,
        directory: &Path,
    ) -> Result<BTreeMap<String, String>, CaseError> {
        let certificate = directory.join("sealing.crt");
        fs::write(&certificate, &self.certificate).map_err(CaseError::io("write", &certificate))?;
        data.iter().map(|(name, value)| Ok((name.clone(), seal(&certificate, value)?))).collect()
    }
}

fn seal(certificate: &Path, value: &str) -> Result<String, CaseError> {
    let failed = |message: String| CaseError::step("seal with kubeseal", message);
    let program = build::binary(Tool::Kubeseal).map_err(|error| failed(error.to_string()))?;
    let mut child = Command::new(program)
        .args(["--raw", "--scope", "cluster-wide", "--from-file", "/dev/stdin", "--cert"])
        .arg(certificate)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(value.as_bytes()).map_err(|error| failed(error.to_string()))?;
    }
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()))
}
