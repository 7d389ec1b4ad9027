//! HashiCorp Vault and OpenBao: a key-value engine of version 2. It counts versions itself and refuses a write that
//! names the wrong one, so two writers can't lose each other's keys.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::json;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use zeroize::Zeroizing;

use super::vault_answer::{FIELD, VaultAnswer, VaultRefusal};
use super::{Kept, Revision, Store, StoreError, StoreFault, VaultFault};
use crate::SecretBytes;
use crate::ring::{RING_BYTES_MAX, Ring};

const TIMEOUT_SECONDS: u64 = 20;

/// Where the server is and who asks.
#[derive(Clone)]
pub struct VaultAddress {
    /// `https://vault.example:8200`.
    pub url: String,
    pub token: SecretBytes,
    /// A namespace of the enterprise edition or of OpenBao.
    pub namespace: Option<String>,
    /// A certificate authority in PEM, where the system's do not do.
    pub authority: Option<String>,
}

impl fmt::Debug for VaultAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VaultAddress({})", self.url)
    }
}

#[derive(Debug)]
pub struct Vault {
    address: VaultAddress,
    /// The engine's mount and the path below it.
    mount: String,
    path: String,
}

impl Vault {
    /// `place` is `MOUNT/PATH`, as in `vault kv get -mount=MOUNT PATH`.
    pub fn new(address: VaultAddress, place: &str) -> Option<Self> {
        let (mount, path) = place.trim_matches('/').split_once('/')?;
        let is_plain = |text: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
            !text.is_empty() && text.chars().all(plain) && !text.contains("..")
        };
        (is_plain(mount) && is_plain(path)).then(|| Self { address, mount: mount.to_owned(), path: path.to_owned() })
    }

    fn url(&self) -> String {
        format!("{}/v1/{}/data/{}", self.address.url.trim_end_matches('/'), self.mount, self.path)
    }

    fn unreadable(&self, why: VaultFault) -> StoreError {
        StoreError::Unreadable { store: self.describe(), why: Box::new(why.into()) }
    }

    fn unwritable(&self, why: impl Into<StoreFault>) -> StoreError {
        StoreError::Unwritable { store: self.describe(), why: Box::new(why.into()) }
    }

    fn agent(&self) -> Result<Agent, VaultFault> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let roots = match &self.address.authority {
            None => RootCerts::PlatformVerifier,
            Some(pem) => {
                let der = CertificateDer::from_pem_slice(pem.as_bytes());
                let der = der.map_err(|_| VaultFault::BadAuthority)?;
                RootCerts::new_with_certs(&[Certificate::from_der(der.as_ref()).to_owned()])
            }
        };
        let tls = TlsConfig::builder().root_certs(roots).unversioned_rustls_crypto_provider(provider).build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .timeout_global(Some(Duration::from_secs(TIMEOUT_SECONDS)))
            // Errors carry bodies that say why; redirects would carry the token elsewhere.
            .http_status_as_error(false)
            .max_redirects(0);
        Ok(config.build().into())
    }

    fn headers<B>(&self, mut request: ureq::RequestBuilder<B>) -> Result<ureq::RequestBuilder<B>, VaultFault> {
        let token = self.address.token.expose_text().ok_or(VaultFault::BadToken)?.trim();
        request = request.header("X-Vault-Token", token).header("X-Vault-Request", "true");
        if let Some(namespace) = &self.address.namespace {
            request = request.header("X-Vault-Namespace", namespace);
        }
        Ok(request)
    }

    fn ask(&self) -> Result<VaultAnswer, VaultFault> {
        let request = self.headers(self.agent()?.get(self.url()))?;
        answer(request.call())
    }

    fn tell(&self, body: &SecretBytes) -> Result<VaultAnswer, VaultFault> {
        let request = self.headers(self.agent()?.post(self.url()))?.header("Content-Type", "application/json");
        answer(request.send(body.expose()))
    }
}

fn answer(response: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<VaultAnswer, VaultFault> {
    let mut response = response?;
    let status = response.status().as_u16();
    let read = response.body_mut().with_config().limit(2 * RING_BYTES_MAX as u64).read_to_vec();
    let bytes = Zeroizing::new(read?);
    Ok(VaultAnswer::new(status, &bytes))
}

impl Store for Vault {
    fn describe(&self) -> String {
        format!("the Vault path {}/{} at {}", self.mount, self.path, self.address.url)
    }

    fn identity(&self) -> String {
        format!("vault:{}", self.url())
    }

    /// That it answers. Whether this token may write is told by the server only when it does.
    fn probe(&self) -> Result<(), StoreError> {
        self.read().map(drop)
    }

    fn read(&self) -> Result<Kept, StoreError> {
        let answer = self.ask().map_err(|why| self.unreadable(why))?;
        answer.kept().map_err(|refusal| match refusal {
            VaultRefusal::Damaged(source) => StoreError::Damaged { store: self.describe(), source },
            VaultRefusal::Deleted { version } => {
                let (mount, path) = (self.mount.clone(), self.path.clone());
                self.unreadable(VaultFault::Deleted { mount, path, version })
            }
            other => self.unreadable(other.into()),
        })
    }

    fn write(&self, ring: &Ring, revision: &Revision) -> Result<(), StoreError> {
        let Revision::Version(version) = revision else {
            return Err(StoreError::Changed { store: self.describe() });
        };
        let json = ring.to_json().map_err(|error| self.unwritable(error))?;
        let text = json.expose_text().unwrap_or_default();
        let body = json!({"options": {"cas": version}, "data": {FIELD: text}});
        let mut bytes = Vec::with_capacity(2 * text.len() + 1024);
        serde_json::to_writer(&mut bytes, &body).map_err(|error| self.unwritable(VaultFault::Json(error)))?;
        let answer = self.tell(&SecretBytes::new(bytes)).map_err(|why| self.unwritable(why))?;
        if answer.is_written() {
            Ok(())
        } else if answer.is_outrun() {
            Err(StoreError::Changed { store: self.describe() })
        } else {
            Err(self.unwritable(VaultFault::Refused(answer.refusal())))
        }
    }
}
