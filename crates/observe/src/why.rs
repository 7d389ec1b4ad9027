//! Faults of requests, as facts tell them.

use health::facts::Why;

use crate::fault::Fault;

pub(crate) fn why(fault: &Fault) -> Why {
    let other = |message: &str| Why::Answered { status: 0, message: message.into() };
    match fault {
        Fault::Refused => Why::Refused,
        Fault::Silent { after } => Why::Hanging { seconds: after.as_secs() },
        Fault::Dropped { after } => Why::Dropped { seconds: after.as_secs() },
        Fault::NoRoute => Why::Dropped { seconds: 0 },
        Fault::NoSuchHost { .. } => Why::NoSuchHost,
        Fault::Cut { .. } | Fault::Stalled { .. } => Why::Broken,
        Fault::ServerCertificate(_) => Why::Untrusted,
        Fault::ClientCertificate { .. } | Fault::Unauthorized => Why::Unauthorized,
        Fault::Forbidden(right) => Why::Forbidden {
            verb: right.verb.into(),
            group: right.group.as_str().into(),
            resource: right.resource.as_str().into(),
            namespace: right.namespace.as_deref().map(Into::into),
        },
        Fault::NotFound => Why::Answered { status: 404, message: "".into() },
        Fault::Expired => Why::Expired,
        Fault::TooMany { .. } => Why::Throttled,
        Fault::Answered { code, reason, .. } => Why::Answered { status: *code, message: reason.as_str().into() },
        Fault::NotKubernetes { code } => Why::Answered { status: *code, message: "".into() },
        Fault::TooLarge { bytes } => Why::Unreadable { message: bytes.to_string().into() },
        Fault::Unreadable { said } => Why::Unreadable { message: said.as_str().into() },
        Fault::Tls { said } | Fault::Credentials { said } | Fault::Other { said } => other(said),
    }
}
