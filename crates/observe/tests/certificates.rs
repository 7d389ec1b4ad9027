//! Certificates that one side does not take from the other, told as what they are.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use coldstart_observe::{Fault, Limits, ServerCertificate, Session, Target};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

type Issuer = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Issuer {
    let mut parameters = CertificateParams::new(Vec::new()).unwrap();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap()
}

struct Leaf {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

fn leaf(by: &Issuer, name: &str, last_year: Option<i32>) -> Leaf {
    let key = KeyPair::generate().unwrap();
    let mut parameters = CertificateParams::new(vec![name.to_owned()]).unwrap();
    if let Some(year) = last_year {
        parameters.not_before = rcgen::date_time_ymd(2020, 1, 1);
        parameters.not_after = rcgen::date_time_ymd(year, 1, 1);
    }
    let certificate = parameters.signed_by(&key, by).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    Leaf { chain: vec![certificate.der().clone()], key }
}

/// A server that answers everything with a version, to those whom it lets in.
fn serve(leaf: Leaf, clients: Option<&Issuer>) -> SocketAddr {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions().unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority.der().clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
            builder.with_client_cert_verifier(verifier)
        }
    };
    let config = Arc::new(builder.with_single_cert(leaf.chain, leaf.key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut tls = StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream);
            let mut buffer = [0_u8; 4096];
            if tls.read(&mut buffer).is_ok() {
                let body = r#"{"gitVersion": "v1.35.0"}"#;
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
                let _ = tls.write_all(format!("{head}{body}").as_bytes());
                let _ = tls.flush();
            }
        }
    });
    address
}

fn fault(address: SocketAddr, trusted: &Issuer, user: &Value) -> Option<Fault> {
    let cluster =
        json!({"server": format!("https://{address}"), "certificate-authority-data": STANDARD.encode(trusted.pem())});
    let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "x",
        "clusters": [{"name": "x", "cluster": cluster}], "users": [{"name": "x", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}]});
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("config");
    std::fs::write(&path, config.to_string()).unwrap();
    let target = Target { kubeconfigs: vec![path], must_be_there: true, context: None };
    let limits = Limits { answer: Duration::from_secs(5), attempts: 1, ..Limits::default() };
    let mut session = Session::open(&target, None, limits).unwrap();
    session.look();
    session.contact().fault
}

#[test]
fn a_server_of_another_authority_is_another_cluster() {
    let (ours, theirs) = (authority(), authority());
    let address = serve(leaf(&theirs, "127.0.0.1", None), None);
    let told = fault(address, &ours, &json!({"token": "x"}));
    assert_eq!(told, Some(Fault::ServerCertificate(ServerCertificate::UnknownAuthority)));
    assert!(told.unwrap().is_access());
    assert_eq!(fault(address, &theirs, &json!({"token": "x"})), None);
}

#[test]
fn an_expired_server_certificate_and_one_for_another_name_are_told_apart() {
    let ours = authority();
    let expired = serve(leaf(&ours, "127.0.0.1", Some(2021)), None);
    let told = fault(expired, &ours, &json!({"token": "x"}));
    assert_eq!(told, Some(Fault::ServerCertificate(ServerCertificate::Expired)));
    let other = serve(leaf(&ours, "api.example.com", None), None);
    let told = fault(other, &ours, &json!({"token": "x"}));
    assert_eq!(told, Some(Fault::ServerCertificate(ServerCertificate::OtherName)));
}

#[test]
fn a_client_certificate_that_is_not_taken_is_about_access() {
    let (ours, theirs) = (authority(), authority());
    let address = serve(leaf(&ours, "127.0.0.1", None), Some(&ours));
    let key = KeyPair::generate().unwrap();
    let stranger = CertificateParams::new(vec!["stranger".to_owned()]).unwrap().signed_by(&key, &theirs).unwrap();
    let user = json!({"client-certificate-data": STANDARD.encode(stranger.pem()),
        "client-key-data": STANDARD.encode(key.serialize_pem())});
    let told = fault(address, &ours, &user);
    assert!(matches!(told, Some(Fault::ClientCertificate { .. })), "{told:?}");
}

#[test]
fn what_speaks_no_tls_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let told = fault(address, &authority(), &json!({"token": "x"}));
    assert!(matches!(told, Some(Fault::Tls { .. })), "{told:?}");
}
