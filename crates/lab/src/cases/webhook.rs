//! The admission webhooks of all operators in small: one TLS server. A path names the Deployment it speaks for
//! (`/NAMESPACE/NAME`); while that is not available the answer is 503, and the API server's fail-closed rule does the rest,
//! as with a Service that has no endpoints.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::serve::Listener;
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, KeyPair, SanType};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::CaseError;
use crate::Lab;

/// The workloads, as `namespace/name`, that are available now.
pub(super) type Available = Arc<Mutex<BTreeSet<String>>>;

/// Where the webhooks are served.
#[derive(Debug)]
pub(super) struct Webhooks {
    pub(super) url: String,
    /// The certificate, as `caBundle` wants it.
    pub(super) ca_bundle: String,
}

impl Webhooks {
    /// Serves as long as the lab lives.
    pub(super) fn start(lab: &Lab, available: Available) -> Result<Self, CaseError> {
        let failed = |error: &dyn std::fmt::Display| CaseError::step("start the webhook server", error.to_string());
        let key = KeyPair::generate().map_err(|error| failed(&error))?;
        let mut params = CertificateParams::new(Vec::new()).map_err(|error| failed(&error))?;
        params.subject_alt_names.push(SanType::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        let certificate = params.self_signed(&key).map_err(|error| failed(&error))?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], private))
            .map_err(|error| failed(&error))?;
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| failed(&error))?;
        listener.set_nonblocking(true).map_err(|error| failed(&error))?;
        let port = listener.local_addr().map_err(|error| failed(&error))?.port();
        let routes = Router::new().route("/{namespace}/{name}", post(review)).with_state(available);
        let _inside = lab.runtime.enter();
        let listener = TcpListener::from_std(listener).map_err(|error| failed(&error))?;
        let tls = Tls { listener, acceptor: TlsAcceptor::from(Arc::new(config)) };
        lab.runtime.spawn(async move { axum::serve(tls, routes).await });
        Ok(Self { url: format!("https://127.0.0.1:{port}"), ca_bundle: STANDARD.encode(certificate.pem()) })
    }
}

async fn review(
    State(available): State<Available>,
    Path((namespace, name)): Path<(String, String)>,
    Json(review): Json<Value>,
) -> Response {
    let serves = available.lock().unwrap_or_else(PoisonError::into_inner).contains(&format!("{namespace}/{name}"));
    if !serves {
        return (StatusCode::SERVICE_UNAVAILABLE, format!("no endpoints available for {namespace}/{name}"))
            .into_response();
    }
    Json(json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": review["request"]["uid"], "allowed": true},
    }))
    .into_response()
}

struct Tls {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl Listener for Tls {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        loop {
            let (stream, address) = Listener::accept(&mut self.listener).await;
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}
