//! Keys, certificates and the one token of a lab. They live as long as its directory.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose, SanType};
use sha2::{Digest as _, Sha256};

use crate::LabError;

/// The first address of the service range: what `kubernetes.default` resolves to.
const KUBERNETES_SERVICE: Ipv4Addr = Ipv4Addr::new(10, 96, 0, 1);

#[derive(Debug)]
pub(crate) struct Pki {
    pub(crate) ca: PathBuf,
    pub(crate) ca_der: Vec<u8>,
    pub(crate) server_certificate: PathBuf,
    pub(crate) server_key: PathBuf,
    pub(crate) service_account_public: PathBuf,
    pub(crate) service_account_key: PathBuf,
    pub(crate) tokens: PathBuf,
    pub(crate) token: String,
}

impl Pki {
    pub(crate) fn make(directory: &Path) -> Result<Self, LabError> {
        let mut ca = CertificateParams::default();
        ca.distinguished_name.push(DnType::CommonName, "lab");
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let ca = CertifiedIssuer::self_signed(ca, KeyPair::generate()?)?;

        let server_key = KeyPair::generate()?;
        let mut server = CertificateParams::new(vec![
            "localhost".to_owned(),
            "kubernetes".to_owned(),
            "kubernetes.default".to_owned(),
            "kubernetes.default.svc".to_owned(),
        ])?;
        server.distinguished_name.push(DnType::CommonName, "kube-apiserver");
        for address in [Ipv4Addr::LOCALHOST, KUBERNETES_SERVICE] {
            server.subject_alt_names.push(SanType::IpAddress(IpAddr::V4(address)));
        }
        let server = server.signed_by(&server_key, &ca)?;

        // ES256: a P-256 key is made in a moment, an RSA key is not.
        let service_account = KeyPair::generate()?;
        let token = random_token()?;
        let file = |name: &str, content: &str| write_private(&directory.join(name), content);
        let io = LabError::io("write keys");
        let write = || -> io::Result<Self> {
            // What a pod finds below /var/run/secrets, for a process that thinks it runs in one.
            std::fs::create_dir_all(directory.join("serviceaccount"))?;
            file("serviceaccount/token", &token)?;
            file("serviceaccount/ca.crt", &ca.pem())?;
            Ok(Self {
                ca: file("ca.crt", &ca.pem())?,
                ca_der: ca.der().to_vec(),
                server_certificate: file("apiserver.crt", &server.pem())?,
                server_key: file("apiserver.key", &server_key.serialize_pem())?,
                service_account_public: file("sa.pub", &service_account.public_key_pem())?,
                service_account_key: file("sa.key", &service_account.serialize_pem())?,
                tokens: file("tokens.csv", &format!("{token},lab,lab,\"system:masters\"\n"))?,
                token,
            })
        };
        write().map_err(io)
    }
}

/// A key pair that nobody keeps is 256 bits of good randomness without a crate of its own.
fn random_token() -> Result<String, rcgen::Error> {
    let mut token = String::new();
    for byte in Sha256::digest(KeyPair::generate()?.serialize_der()) {
        let _never_fails = write!(token, "{byte:02x}");
    }
    Ok(token)
}

/// Writes a file that only its owner can read, and says where it is.
pub(crate) fn write_private(path: &Path, content: &str) -> io::Result<PathBuf> {
    let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(content.as_bytes())?;
    Ok(path.to_owned())
}
