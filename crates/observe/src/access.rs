//! The way to a cluster: people's kubeconfig, its contexts and credentials, or the pod that this runs in.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use repository::file::{self, Links};
use x509_parser::pem::parse_x509_pem;

use crate::Moment;
use crate::limits::Limits;

/// A certificate is far smaller.
const CERTIFICATE_BYTES_MAX: u64 = 1024 * 1024;

/// Which cluster, as kubectl is told it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// What is there of these is one kubeconfig, as kubectl merges the files of `KUBECONFIG`.
    pub kubeconfigs: Vec<PathBuf>,
    /// They were named for this run, and must be there.
    pub must_be_there: bool,
    /// Instead of the current one.
    pub context: Option<String>,
}

/// Why there is no way to a cluster.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    #[error("no kubeconfig, and this is not a pod of a cluster")]
    NoKubeconfig { looked: Vec<PathBuf> },
    #[error("cannot read the kubeconfig {}: {source}", source::shown(.path))]
    NotRead { path: PathBuf, source: io::Error },
    #[error("the kubeconfig {} is not understood: {said}", source::shown(.path))]
    NotUnderstood { path: PathBuf, said: String },
    #[error("the kubeconfig has no context called `{name}`")]
    UnknownContext { name: String, nearest: Option<String>, known: Vec<String> },
    #[error("the kubeconfig has no current context")]
    NoContext { known: Vec<String> },
    #[error("the context `{context}` names a cluster that the kubeconfig does not have")]
    NoCluster { context: String },
    #[error("the credentials of the kubeconfig can't be used: {said}")]
    Credentials { said: String },
    #[error("the client certificate of the kubeconfig has expired")]
    Expired { at: Moment },
    #[error("cannot start what waits for the network: {source}")]
    Runtime { source: io::Error },
    #[error("the proxy of the kubeconfig can't be used: {said}")]
    Proxy { said: String },
}

/// The way to a cluster, before anything is asked.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) config: Config,
    /// The context, where a kubeconfig said it.
    pub context: Option<String>,
    pub url: String,
    /// The last moment of the client certificate, where there is one.
    pub expires: Option<Moment>,
}

impl Access {
    /// Reads what leads to a cluster. Nothing is asked of the network; what the kubeconfig says to run for credentials is
    /// run later, at the first request.
    pub(crate) async fn find(target: &Target, limits: &Limits) -> Result<Self, AccessError> {
        // One provider of TLS in the whole program; told before the first connection.
        let _told_already = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let Some(kubeconfig) = merged(target)? else {
            return match Config::incluster() {
                Ok(config) if target.context.is_none() => Self::of(config, None, limits),
                _ => Err(AccessError::NoKubeconfig { looked: target.kubeconfigs.clone() }),
            };
        };
        let known: Vec<String> = kubeconfig.contexts.iter().map(|one| one.name.clone()).collect();
        let wanted = target.context.clone().or_else(|| kubeconfig.current_context.clone());
        let Some(context) = wanted.filter(|name| !name.is_empty()) else {
            return Err(AccessError::NoContext { known });
        };
        if !known.contains(&context) {
            let nearest = nearest(&context, &known);
            return Err(AccessError::UnknownContext { name: context, nearest, known });
        }
        let options = KubeConfigOptions { context: Some(context.clone()), ..KubeConfigOptions::default() };
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
        let config = config.map_err(|error| refused(error, &context))?;
        Self::of(config, Some(context), limits)
    }

    fn of(mut config: Config, context: Option<String>, limits: &Limits) -> Result<Self, AccessError> {
        config.connect_timeout = Some(limits.connect);
        // Our own, which tell what they waited for.
        config.read_timeout = None;
        config.default_retry = false;
        let expires = certificate(&config).and_then(|pem| end_of(&pem));
        if let Some(at) = expires.filter(|at| *at < Moment::now()) {
            return Err(AccessError::Expired { at });
        }
        let url = config.cluster_url.to_string();
        Ok(Self { config, context, url, expires })
    }
}

/// The context that may have been meant.
fn nearest(name: &str, known: &[String]) -> Option<String> {
    const CLOSE: f64 = 0.7;
    let close = known.iter().map(|known| (strsim::jaro_winkler(name, known), known));
    let best = close.filter(|(how, _)| *how >= CLOSE).max_by(|one, other| one.0.total_cmp(&other.0));
    best.map(|(_, known)| known.clone())
}

/// The files that are there as one kubeconfig; none where no file is there, or nothing in them.
fn merged(target: &Target) -> Result<Option<Kubeconfig>, AccessError> {
    let mut merged: Option<Kubeconfig> = None;
    for path in &target.kubeconfigs {
        let one = match Kubeconfig::read_from(path) {
            Ok(one) => one,
            Err(KubeconfigError::ReadConfig(error, _))
                if error.kind() == io::ErrorKind::NotFound && !target.must_be_there =>
            {
                continue;
            }
            Err(KubeconfigError::ReadConfig(source, path)) => return Err(AccessError::NotRead { path, source }),
            Err(error) => return Err(AccessError::NotUnderstood { path: path.clone(), said: crate::said(&error) }),
        };
        merged = Some(match merged {
            None => one,
            Some(before) => before
                .merge(one)
                .map_err(|error| AccessError::NotUnderstood { path: path.clone(), said: crate::said(&error) })?,
        });
    }
    Ok(merged.filter(|all| !all.contexts.is_empty() || !all.clusters.is_empty()))
}

fn refused(error: KubeconfigError, context: &str) -> AccessError {
    match error {
        KubeconfigError::LoadClusterOfContext(_) | KubeconfigError::MissingClusterUrl => {
            AccessError::NoCluster { context: context.to_owned() }
        }
        error @ (KubeconfigError::ParseProxyUrl(_) | KubeconfigError::ParseNoProxy(_)) => {
            AccessError::Proxy { said: crate::said(&error) }
        }
        other => AccessError::Credentials { said: crate::said(&other) },
    }
}

/// The client certificate as PEM.
fn certificate(config: &Config) -> Option<Vec<u8>> {
    let user = &config.auth_info;
    if let Some(data) = &user.client_certificate_data {
        return STANDARD.decode(data.trim()).ok();
    }
    let path = user.client_certificate.as_ref()?;
    file::read(Path::new(path), Links::Followed, CERTIFICATE_BYTES_MAX).ok()
}

/// The last moment of a certificate.
fn end_of(pem: &[u8]) -> Option<Moment> {
    let (_, pem) = parse_x509_pem(pem).ok()?;
    let certificate = pem.parse_x509().ok()?;
    Some(Moment::of_unix_milliseconds(certificate.validity().not_after.timestamp().saturating_mul(1000)))
}
