//! The kubeconfig that everybody in the lab uses.

use std::io;

use serde_json::json;

use crate::flags::LabPlace;
use crate::pki::write_private;

pub(crate) fn write(place: &LabPlace) -> io::Result<()> {
    // JSON is YAML, and needs no quoting rules.
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "lab",
        "clusters": [{"name": "lab", "cluster": {
            "server": format!("https://127.0.0.1:{}", place.ports.api),
            "certificate-authority": place.pki.ca,
        }}],
        "users": [{"name": "lab", "user": {"token": place.pki.token}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
    });
    write_private(&place.kubeconfig(), &format!("{config:#}\n")).map(drop)
}
