//! What a machine configuration says of its machine: the fields of `v1alpha1` and the documents that replace them.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::machines::with_port;
use crate::templated_yaml;
use crate::terraform::{self, Value};

/// Documents whose name is an address that the control planes share.
const SHARED: [&str; 2] = ["Layer2VIPConfig", "HCloudVIPConfig"];

/// What some of its documents say of a machine. Texts that a template decides are not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) is_control_plane: Option<bool>,
    pub(crate) hostname: Option<String>,
    pub(crate) address: Option<String>,
    /// The address that the control planes share, as `host:port`.
    pub(crate) vip: Option<String>,
    /// Where machines and people find the API server, as `host:port`.
    pub(crate) endpoint: Option<String>,
    /// Talos installs no pod network: `cni: none`.
    pub(crate) lacks_network: bool,
}

impl Facts {
    pub(crate) fn of(documents: &[Value]) -> Self {
        let mut facts = Self::default();
        // What comes later wins, as patches do.
        for document in documents {
            let found = Self::of_one(document);
            facts.is_control_plane = found.is_control_plane.or(facts.is_control_plane);
            facts.hostname = found.hostname.or(facts.hostname);
            facts.address = found.address.or(facts.address);
            facts.vip = found.vip.or(facts.vip);
            facts.endpoint = found.endpoint.or(facts.endpoint);
            facts.lacks_network |= found.lacks_network;
        }
        facts
    }

    fn of_one(document: &Value) -> Self {
        let kind = document.get("kind").and_then(Value::as_text).unwrap_or_default();
        let text = |path: &[&str]| document.at(path).and_then(plain);
        let interfaces = items(document.at(&["machine", "network", "interfaces"]));
        let shared = (SHARED.contains(&kind)).then(|| text(&["name"])).flatten();
        let hostname = if kind == "HostnameConfig" { text(&["hostname"]) } else { None };
        Self {
            is_control_plane: text(&["machine", "type"]).and_then(|kind| match kind.as_str() {
                "controlplane" | "init" => Some(true),
                "worker" => Some(false),
                _ => None,
            }),
            hostname: hostname.or_else(|| text(&["machine", "network", "hostname"])),
            address: interfaces.iter().chain([document]).find_map(own_address),
            vip: shared.or_else(|| interfaces.iter().find_map(shared_address)).map(|address| with_port(&address)),
            endpoint: text(&["cluster", "controlPlane", "endpoint"]).map(|address| with_port(&address)),
            lacks_network: text(&["cluster", "network", "cni", "name"]).as_deref() == Some("none"),
        }
    }
}

fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_list).unwrap_or_default()
}

/// A text that no template has a part in.
fn plain(value: &Value) -> Option<String> {
    let text = value.as_text().filter(|text| !text.is_empty() && !text.contains(['$', '{']))?;
    (!templated_yaml::is_unknown(text)).then(|| text.to_owned())
}

/// An interface shares an address, or one of its VLANs does.
fn shared_address(interface: &Value) -> Option<String> {
    let own = interface.at(&["vip", "ip"]).and_then(plain);
    own.or_else(|| items(interface.get("vlans")).iter().find_map(|vlan| plain(vlan.at(&["vip", "ip"])?)))
}

/// An address of a network that others can be in, too: not one of a link between two machines.
fn own_address(interface: &Value) -> Option<String> {
    let address = |value: &Value| {
        let text = plain(value.get("address").unwrap_or(value))?;
        let (address, prefix) = text.split_once('/')?;
        let is_wide = prefix.parse::<u8>().is_ok_and(|prefix| prefix <= 30 || (address.contains(':') && prefix <= 64));
        let is_own = match address.parse().ok()? {
            IpAddr::V4(address) => !address.is_link_local(),
            IpAddr::V6(address) => !address.is_unicast_link_local(),
        };
        (is_wide && is_own).then(|| address.to_owned())
    };
    let of = |value: &Value| items(value.get("addresses")).iter().find_map(address);
    of(interface).or_else(|| items(interface.get("vlans")).iter().find_map(of))
}

/// The documents that a text of machine configurations and patches holds, as far as they are known.
pub(crate) fn documents(value: &Value) -> Vec<Value> {
    match value {
        Value::Encoded(held) => held.items.clone(),
        Value::Text(text) => terraform::documents(text),
        Value::List(list) => list.items.iter().flat_map(documents).collect(),
        _ => Vec::new(),
    }
}

/// What the provider makes of a `talos_machine_configuration`: its own part, then every patch.
pub(crate) fn configuration(given: &Value) -> Value {
    let field = |name: &str| given.get(name).cloned().unwrap_or_default();
    let map = |entries: [(&str, Value); 1]| {
        Value::open_map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect::<BTreeMap<_, _>>())
    };
    let machine = map([("type", field("machine_type"))]);
    let cluster = map([("controlPlane", map([("endpoint", field("cluster_endpoint"))]))]);
    let own = Value::open_map([("machine".into(), machine), ("cluster".into(), cluster)].into_iter().collect());
    let patches = given.get("config_patches").map(documents).unwrap_or_default();
    Value::encoded(std::iter::once(own).chain(patches).collect())
}

#[cfg(test)]
mod tests {
    use super::Facts;
    use crate::terraform::documents;

    #[test]
    fn old_fields_and_new_documents_say_the_same() {
        let old = "machine:\n  type: controlplane\n  network:\n    hostname: one\n    interfaces:\n      - {addresses: [169.254.1.1/32, 10.9.9.0/31]}\n      - {addresses: [192.0.2.11/24], vlans: [{vlanId: 2, vip: {ip: 192.0.2.1}}]}\ncluster:\n  controlPlane: {endpoint: 'https://api.lan:6443'}\n  network: {cni: {name: none}}\n";
        let new = "machine: {type: controlplane}\ncluster: {controlPlane: {endpoint: 'https://api.lan'}, network: {cni: {name: none}}}\n---\nkind: HostnameConfig\nhostname: one\n---\nkind: LinkConfig\nname: net0\naddresses: [{address: 192.0.2.11/24}]\n---\nkind: Layer2VIPConfig\nname: 192.0.2.1\nlink: net0\n";
        let wanted = Facts {
            is_control_plane: Some(true),
            hostname: Some("one".to_owned()),
            address: Some("192.0.2.11".to_owned()),
            vip: Some("192.0.2.1:6443".to_owned()),
            endpoint: Some("api.lan:6443".to_owned()),
            lacks_network: true,
        };
        assert_eq!(Facts::of(&documents(old)), wanted);
        assert_eq!(Facts::of(&documents(new)), wanted);
    }

    #[test]
    fn what_a_template_decides_is_not_known() {
        let text = "machine: {type: '{{ role }}', network: {hostname: 'n${X}', interfaces: [{vip: {ip: '${VIP}'}}]}}\n";
        assert_eq!(Facts::of(&documents(text)), Facts::default());
    }
}
