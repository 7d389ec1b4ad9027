//! Hosts that an Ingress or a route answers at, in the addresses that other programs are told to talk to.

use std::collections::{BTreeMap, BTreeSet};

use ecow::EcoString;
use memchr::memmem;
use model::{Capability, CapabilityKind, ComponentId, Phase, Purpose};
use source::Span;
use yaml::{Node, Value};

use crate::content::collector::{Collector, Needing, Talk};
use crate::flux::{Built, HelmRelease};
use crate::object::Object;
use ::repository::parallel;

/// What names more of the others than this shows or watches them: a start page, a status page.
const TALKED_TO_MAX: usize = 3;
/// Longer texts are data.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// A host in an address, and where it stands.
type Named = (EcoString, Span);

/// The Service behind each host.
struct Routes(BTreeMap<EcoString, Capability>);

pub(crate) fn resolve(collector: &mut Collector, talks: &[Talk]) {
    let routes = Routes::of(collector);
    if routes.0.is_empty() {
        return;
    }
    let found: Vec<Vec<Named>> = parallel::map(talks, |talk| routes.named(talk));
    let mut meant: BTreeMap<ComponentId, BTreeSet<&Capability>> = BTreeMap::new();
    for (talk, hosts) in talks.iter().zip(&found) {
        let others = hosts.iter().map(|(host, _)| &routes.0[host]);
        let others = others.filter(|service| !collector.is_offered_by(service, talk.of));
        meant.entry(talk.of).or_default().extend(others);
    }
    for (talk, hosts) in talks.iter().zip(&found).filter(|(talk, _)| meant[&talk.of].len() <= TALKED_TO_MAX) {
        for (host, at) in hosts.iter().filter(|(host, _)| meant[&talk.of].contains(&routes.0[host])) {
            // Whether a program asks at once or when it is used is nowhere written.
            let needing =
                Needing { of: talk.of, object: &talk.object, phase: Phase::Run, soft: false, optional: false };
            collector.need(&needing, routes.0[host].clone(), *at, Purpose::AnswersAt(host.clone()));
        }
    }
}

impl Routes {
    /// The hosts of routes in manifests, and in the values of releases.
    fn of(collector: &Collector) -> Self {
        let mut routes = BTreeMap::new();
        let built = collector.assembled.objects.iter().flat_map(of_object);
        let released = collector.assembled.releases.iter().flat_map(|(_, release)| of_release(release));
        for (host, service) in built.chain(released) {
            if host.contains('.') && !host.starts_with('*') && collector.is_offered(&service) {
                routes.entry(host).or_insert(service);
            }
        }
        Self(routes)
    }

    /// The hosts of routes in the addresses of a text.
    fn named(&self, talk: &Talk) -> Vec<Named> {
        let mut found = Vec::new();
        if !talk.object.kind.ends_with("Route") && talk.object.kind != "Ingress" {
            self.below(&talk.node, &mut found);
        }
        found
    }

    fn below(&self, node: &Node, found: &mut Vec<Named>) {
        match &node.value {
            Value::Map(map) => {
                let entries = map.iter().filter(|entry| entry.key != "annotations" && entry.key != "sops");
                entries.for_each(|entry| self.below(&entry.value, found));
            }
            Value::Seq(items) => items.iter().for_each(|item| self.below(item, found)),
            Value::Scalar(scalar) if scalar.text.len() <= TEXT_BYTES_MAX => {
                let hosts = in_addresses(&scalar.text).filter(|host| self.0.contains_key(*host));
                found.extend(hosts.map(|host| (host.into(), node.span)));
            }
            Value::Scalar(_) => {}
        }
    }
}

/// `auth.example.com` of `https://auth.example.com:8443/token`, for every address in a text.
fn in_addresses(text: &str) -> impl Iterator<Item = &str> {
    memmem::find_iter(text.as_bytes(), "://").map(|at| {
        let rest = &text[at + 3..];
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '?' | ',' | ')' | '<'));
        let authority = &rest[..end.unwrap_or(rest.len())];
        let host = authority.rsplit('@').next().unwrap_or_default();
        match host.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => host,
        }
    })
}

/// Hosts of an Ingress or a route, with the first Service behind it.
fn of_object(built: &Built) -> Vec<(EcoString, Capability)> {
    let object = Object::new(&built.node);
    let spec = object.node.get("spec");
    let rules = spec.map(|spec| spec.items_at("rules")).unwrap_or_default();
    let own = object.reference(&built.namespace);
    let (hosts, backend): (Vec<&str>, _) = match (object.group(), object.kind()) {
        ("networking.k8s.io", "Ingress") => {
            let paths = rules.iter().filter_map(|rule| rule.get("http")).flat_map(|http| http.items_at("paths"));
            let mut names = paths.filter_map(|path| path.at(&["backend", "service", "name"]));
            (rules.iter().filter_map(|rule| rule.text_at(&["host"])).collect(), names.next())
        }
        ("gateway.networking.k8s.io", kind) if kind.ends_with("Route") => {
            let hosts = spec.map(|spec| spec.items_at("hostnames")).unwrap_or_default();
            let mut backends = rules.iter().flat_map(|rule| rule.items_at("backendRefs"));
            (hosts.iter().filter_map(Node::text).collect(), backends.find_map(|backend| backend.get("name")))
        }
        _ => return Vec::new(),
    };
    let Some(backend) = backend.and_then(Node::text) else { return Vec::new() };
    let service = Capability::new(CapabilityKind::Service, own.namespace, backend);
    hosts.into_iter().map(|host| (host.into(), service.clone())).collect()
}

/// Hosts that the values of a release have its chart make a route for.
fn of_release(release: &HelmRelease) -> Vec<(EcoString, Capability)> {
    let service =
        Capability::new(CapabilityKind::Service, release.target_namespace.clone(), release.release_name.clone());
    let mut texts = Vec::new();
    if let Some(values) = &release.values {
        routed(values, &mut texts);
    }
    let host = |text: &str| {
        let name = release.release_name.as_str();
        EcoString::from(text.replace("{{ .Release.Name }}", name).replace("{{.Release.Name}}", name))
    };
    texts.into_iter().map(|text| (host(text), service.clone())).collect()
}

fn routed<'n>(node: &'n Node, found: &mut Vec<&'n str>) {
    for entry in node.entries() {
        if matches!(entry.key.as_str(), "ingress" | "route" | "httpRoute") {
            hosts_below(&entry.value, found);
        } else {
            routed(&entry.value, found);
        }
    }
}

/// `host: a`, `hosts: [a]`, `hosts: [{host: a}]` and `hostnames: [a]`, wherever they stand below a route that is not switched off.
fn hosts_below<'n>(node: &'n Node, found: &mut Vec<&'n str>) {
    if node.get("enabled").and_then(Node::as_bool) == Some(false) {
        return;
    }
    for entry in node.entries() {
        let says_host = matches!(entry.key.as_str(), "host" | "hosts" | "hostname" | "hostnames");
        match &entry.value.value {
            Value::Scalar(scalar) if says_host => found.push(&scalar.text),
            Value::Seq(items) => {
                found.extend(items.iter().filter(|_| says_host).filter_map(Node::text));
                items.iter().for_each(|item| hosts_below(item, found));
            }
            _ => hosts_below(&entry.value, found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::in_addresses;

    #[test]
    fn the_host_of_an_address_has_neither_user_nor_port_nor_path() {
        let text = "https://auth.${DOMAIN}/token and http://user@a.example.com:8080?x, 'wss://b.example.com'";
        let found: Vec<&str> = in_addresses(text).collect();
        assert_eq!(found, ["auth.${DOMAIN}", "a.example.com", "b.example.com"]);
        assert_eq!(in_addresses("no address: //here").count(), 0);
    }
}
