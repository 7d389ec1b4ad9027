//! What an error of the HTTP client is about, found by its types; the text of errors is never read, only passed on.

use std::error::Error;
use std::io;

use kube::client::AuthError;
use rustls::{AlertDescription, CertificateError};

use crate::access::AccessError;
use crate::fault::{Fault, ServerCertificate};
use crate::probe;

/// Why a client could not be made.
pub(crate) fn unusable(error: &kube::Error) -> AccessError {
    let said = crate::said(error);
    match error {
        kube::Error::ProxyProtocolUnsupported { .. } | kube::Error::ProxyProtocolDisabled { .. } => {
            AccessError::Proxy { said }
        }
        _ => AccessError::Credentials { said },
    }
}

/// Why a request got no answer.
pub(crate) fn fault(error: &kube::Error) -> Fault {
    let links = chain(error);
    if let Some(found) = links.iter().find_map(|link| link.downcast_ref::<rustls::Error>().map(of_tls)) {
        return found;
    }
    if links.iter().any(|link| link.is::<AuthError>()) || matches!(error, kube::Error::Auth(_)) {
        return Fault::Credentials { said: crate::said(error) };
    }
    let kinds = links.iter().filter_map(|link| link.downcast_ref::<io::Error>()).map(io::Error::kind);
    for kind in kinds {
        if kind == io::ErrorKind::TimedOut {
            return Fault::Silent { after: std::time::Duration::ZERO };
        }
        if let Some(fault) = probe::of_io(kind) {
            return fault;
        }
    }
    if links.iter().filter_map(|link| link.downcast_ref::<hyper::Error>()).any(is_cut) {
        return Fault::Cut { bytes: 0 };
    }
    Fault::Other { said: crate::said(error) }
}

fn is_cut(error: &hyper::Error) -> bool {
    error.is_incomplete_message() || error.is_closed() || error.is_canceled()
}

fn of_tls(error: &rustls::Error) -> Fault {
    let said = || error.to_string();
    match error {
        rustls::Error::InvalidCertificate(why) => Fault::ServerCertificate(of_certificate(why)),
        rustls::Error::AlertReceived(alert) if is_about_client(*alert) => Fault::ClientCertificate { said: said() },
        _ => Fault::Tls { said: said() },
    }
}

fn of_certificate(why: &CertificateError) -> ServerCertificate {
    match why {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => ServerCertificate::UnknownAuthority,
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => ServerCertificate::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => ServerCertificate::NotYetValid,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            ServerCertificate::OtherName
        }
        other => ServerCertificate::Other { said: other.to_string() },
    }
}

/// What a server says of the certificate that it was shown.
fn is_about_client(alert: AlertDescription) -> bool {
    use AlertDescription as Alert;
    matches!(
        alert,
        Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::AccessDenied
            | Alert::CertificateRequired
            // A signature that does not fit: of an authority with the same name and another key.
            | Alert::DecryptError
    )
}

/// An error and everything behind it, also what is wrapped where `source` does not lead.
fn chain<'e>(error: &'e (dyn Error + 'static)) -> Vec<&'e (dyn Error + 'static)> {
    const LINKS_MAX: usize = 32;
    let mut links: Vec<&'e (dyn Error + 'static)> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next.filter(|_| links.len() < LINKS_MAX) {
        links.push(error);
        let within = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = within.map(|within| within as &(dyn Error + 'static)).or_else(|| error.source());
    }
    links
}
