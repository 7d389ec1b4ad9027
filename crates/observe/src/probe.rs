//! Why an endpoint says nothing: it does not take connections, takes them and is silent, or no packet comes back.

#![expect(clippy::disallowed_methods, reason = "the client of clusters: it asks a port whether it is there")]

use std::io::ErrorKind;
use std::time::Instant;

use kube::Config;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use crate::fault::Fault;
use crate::limits::Limits;

/// What connections are made to: the API server, or the proxy before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    host: String,
    port: u16,
}

impl Endpoint {
    pub(crate) fn of(config: &Config) -> Self {
        let url = config.proxy_url.as_ref().unwrap_or(&config.cluster_url);
        let host = url.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let by_scheme = match url.scheme_str() {
            Some("http") => 80,
            Some("socks5") => 1080,
            _ => 443,
        };
        Self { host, port: url.port_u16().unwrap_or(by_scheme) }
    }

    /// Asked where a request failed and nothing said why: a name that leads nowhere is told so.
    pub(crate) async fn why_other(&self, fault: Fault, limits: &Limits) -> Fault {
        let found = timeout(limits.connect, lookup_host((self.host.as_str(), self.port))).await;
        if matches!(found, Ok(Err(_))) { Fault::NoSuchHost { host: self.host.clone() } } else { fault }
    }

    /// Asked where a request got no answer in time.
    pub(crate) async fn why_silent(&self, limits: &Limits) -> Fault {
        let started = Instant::now();
        let connected = timeout(limits.connect, TcpStream::connect((self.host.as_str(), self.port))).await;
        match connected {
            Ok(Ok(_)) => Fault::Silent { after: limits.answer },
            Err(_) => Fault::Dropped { after: started.elapsed() },
            Ok(Err(error)) => of_io(error.kind()).unwrap_or(Fault::Silent { after: limits.answer }),
        }
    }
}

/// What an error of a connection means.
pub(crate) fn of_io(kind: ErrorKind) -> Option<Fault> {
    match kind {
        ErrorKind::ConnectionRefused => Some(Fault::Refused),
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => Some(Fault::NoRoute),
        ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::UnexpectedEof
        | ErrorKind::BrokenPipe => Some(Fault::Cut { bytes: 0 }),
        _ => None,
    }
}
