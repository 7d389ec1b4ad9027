//! Why there is no status: no way to the cluster, or a recording that is none.

use std::path::PathBuf;

use diagnostic::Next;
use diagnostic::next::{Again, Kubectl};
use observe::{AccessError, Fault, ServerCertificate};
use source::{clean, shown};

#[derive(Debug, thiserror::Error)]
pub(crate) enum StatusFailure {
    #[error("{}", access(.0))]
    Access(AccessError),
    /// The API server answers, and does not accept the credentials.
    #[error("{}", refused(.fault, .url, .context.as_deref()))]
    Refused { fault: Box<Fault>, url: String, context: Option<String> },
    #[error("{} is not a recording of `coldstart status --record`: {why}", shown(.path), why = clean(.why))]
    NotARecording { path: PathBuf, why: String },
    #[error("{} was recorded by another version of coldstart: its form is {found}, this one reads {wanted}", shown(.path))]
    OtherVersion { path: PathBuf, found: u32, wanted: u32 },
    #[error("nothing that fails is called `{name}`{}", meant(.nearest.as_deref()), name = clean(.name))]
    UnknownObject { name: String, nearest: Option<String> },
    #[error("several objects that fail are called `{name}`\n  there is: {}", clean(&.names.join(", ")), name = clean(.name))]
    SeveralObjects { name: String, names: Vec<String> },
}

impl StatusFailure {
    pub(crate) fn next(&self) -> Option<Next> {
        Some(match self {
            Self::Access(
                AccessError::UnknownContext { .. }
                | AccessError::NoContext { .. }
                | AccessError::NoKubeconfig { .. }
                | AccessError::NotRead { .. },
            ) => Next::Kubectl(Kubectl::Kubeconfig),
            Self::Access(_) | Self::Refused { .. } => Next::Kubectl(Kubectl::ClusterInfoOrContext),
            Self::NotARecording { .. } => Next::Again(Again::WithFileThatExists),
            Self::OtherVersion { .. } | Self::UnknownObject { .. } | Self::SeveralObjects { .. } => return None,
        })
    }
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!(": did you mean `{}`?", clean(nearest))).unwrap_or_default()
}

fn access(error: &AccessError) -> String {
    let there_is = |known: &[String]| {
        if known.is_empty() { String::new() } else { format!("\n  there is: {}", clean(&known.join(", "))) }
    };
    match error {
        AccessError::NoKubeconfig { looked } => {
            let looked: Vec<String> = looked.iter().map(|path| shown(path)).collect();
            format!("no kubeconfig found, and this is not a pod of a cluster\n  looked for: {}", looked.join(", "))
        }
        AccessError::UnknownContext { name, nearest, known } => {
            let meant = meant(nearest.as_deref());
            format!("the kubeconfig has no context called `{}`{meant}{}", clean(name), there_is(known))
        }
        AccessError::NoContext { known } => {
            format!("the kubeconfig has no current context: use --context{}", there_is(known))
        }
        AccessError::Expired { at } => format!(
            "the client certificate of the kubeconfig expired at {}\n  the API server was not asked: this says nothing about the cluster",
            health::Time::from_millis(at.unix_milliseconds())
        ),
        other => clean(&other.to_string()).into_owned(),
    }
}

/// An answer that is about who asks.
fn refused(fault: &Fault, url: &str, context: Option<&str>) -> String {
    let context = context.map(|name| format!(" of context `{}`", clean(name))).unwrap_or_default();
    let url = clean(url);
    let why = match fault {
        Fault::Unauthorized => format!("the API server at {url} does not accept the credentials{context} (401)"),
        Fault::ClientCertificate { said } => {
            format!("the API server at {url} does not accept the client certificate{context}: {}", clean(said))
        }
        Fault::ServerCertificate(ServerCertificate::UnknownAuthority) => format!(
            "the certificate of {url} is not signed by the authority{context}: it is another cluster, or one that was created again"
        ),
        Fault::ServerCertificate(ServerCertificate::Expired) => format!("the certificate of {url} has expired"),
        Fault::ServerCertificate(ServerCertificate::NotYetValid) => {
            format!("the certificate of {url} is not valid yet: compare the clocks")
        }
        Fault::ServerCertificate(ServerCertificate::OtherName) => {
            format!("the certificate of {url} is for other names")
        }
        Fault::ServerCertificate(ServerCertificate::Other { said }) => {
            format!("the certificate of {url} is not accepted: {}", clean(said))
        }
        Fault::Credentials { said } => format!("the credentials{context} can't be had: {}", clean(said)),
        Fault::NoSuchHost { host } => {
            format!("there is no host called `{}`, which is the server{context}", clean(host))
        }
        Fault::NotKubernetes { code } => {
            format!("what answers at {url} is not a Kubernetes API server (HTTP {code})")
        }
        _ => format!("{url} can't be used"),
    };
    format!("{why}\n  this is about access: nothing was seen of the cluster")
}
