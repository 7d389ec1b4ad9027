//! Host names of Services in any text, and the components that run them.

use std::collections::BTreeMap;

use ecow::EcoString;
use memchr::{memchr, memmem};
use model::{Capability, CapabilityKind, ComponentId, ObjectRef, Phase, Purpose};
use source::Span;
use yaml::{Entry, Node, Value};

use crate::content::collector::{Collector, Needing, Talk};
use crate::content::merging::{chart_address, chart_sources};
use ::repository::parallel;

/// Longer texts are data, not configuration: dashboards, scripts, certificates.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// Notes that hosts are to be looked for below a node.
pub(crate) fn collect(collector: &mut Collector, of: ComponentId, own: &ObjectRef, node: &Node, phase: Phase) {
    collector.talks.push(Talk { of, object: own.clone(), node: node.clone(), phase });
}

/// A host that a text names. Without a namespace it is a bare name.
struct Host {
    name: EcoString,
    namespace: EcoString,
    at: Span,
}

/// Every host that an object names. What its annotations name is for those who read them; those of an Ingress are settings.
fn in_talk(talk: &Talk) -> Vec<Host> {
    let mut found = Vec::new();
    match &talk.node.value {
        Value::Map(map) if talk.object.kind != "Ingress" => {
            let entries = map.iter().filter(|entry| entry.key != "metadata" && entry.key != "sops");
            entries.for_each(|entry| below_entry(entry, &mut found));
        }
        _ => below(&talk.node, &mut found),
    }
    found
}

/// Every host below a node.
fn below(node: &Node, found: &mut Vec<Host>) {
    match &node.value {
        Value::Map(map) => {
            map.iter().for_each(|entry| below_entry(entry, found));
        }
        Value::Seq(items) => {
            for item in items {
                below(item, found);
            }
        }
        Value::Scalar(scalar) => {
            let hosts = in_text(&scalar.text).into_iter().chain(in_addresses(&scalar.text));
            found.extend(hosts.map(|(name, namespace)| Host { name, namespace, at: node.span }));
        }
    }
}

fn below_entry(entry: &Entry, found: &mut Vec<Host>) {
    if let Some(name) = bare(&entry.key, &entry.value) {
        found.push(Host { name, namespace: EcoString::new(), at: entry.value.span });
    }
    below(&entry.value, found);
}

/// `name` and `namespace` of every host `name.namespace.svc` or `sub.name.namespace.svc` in a text, and of a text that is
/// nothing but `name.namespace`, with or without a port.
fn in_text(text: &str) -> Vec<(EcoString, EcoString)> {
    let mut found = Vec::new();
    if text.len() > TEXT_BYTES_MAX || memchr(b'.', text.as_bytes()).is_none() {
        return found;
    }
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.' || byte == b'_';
    for at in memmem::find_iter(text.as_bytes(), ".svc") {
        let follows = text.as_bytes().get(at + 4).copied();
        if follows.is_some_and(|byte| is_host(byte) && byte != b'.') {
            continue;
        }
        let start = text[..at].bytes().rposition(|byte| !is_host(byte)).map_or(0, |before| before + 1);
        let mut labels = text[start..at].rsplit('.');
        if let (Some(namespace), Some(name)) = (labels.next(), labels.next())
            && !name.is_empty()
            && !namespace.is_empty()
        {
            found.push((name.into(), namespace.into()));
        }
    }
    if found.is_empty() && text.len() < 254 {
        let host = text.split_once("://").map_or(text, |(_, rest)| rest);
        let host = host.split(['/', ':']).next().unwrap_or_default();
        if let Some((name, namespace)) = host.split_once('.').filter(|(_, namespace)| !namespace.contains('.'))
            && !name.is_empty()
            && host.bytes().all(|byte| is_host(byte) && byte != b'_')
            && namespace.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        {
            found.push((name.into(), namespace.into()));
        }
    }
    found
}

/// A Service of one's own namespace, by its bare name where a key says that it is a host: `DB_HOST: postgres-rw`.
fn bare(key: &str, value: &Node) -> Option<EcoString> {
    let ends = |word: &str| {
        key.len().checked_sub(word.len()).and_then(|at| key.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(word))
    };
    let says_host = ["host", "hostname", "server", "addr", "address"].iter().any(|word| ends(word));
    value.text().filter(|text| says_host && is_label(text)).map(EcoString::from)
}

/// Hosts without a domain in the addresses of a text: `postgres://user@postgres-rw:5432/db`.
fn in_addresses(text: &str) -> Vec<(EcoString, EcoString)> {
    let mut found = Vec::new();
    if text.len() > TEXT_BYTES_MAX || memchr(b':', text.as_bytes()).is_none() {
        return found;
    }
    for at in memmem::find_iter(text.as_bytes(), "://") {
        let after = &text[at + 3..];
        let authority = after.split(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '?')).next();
        let host = authority.unwrap_or_default().rsplit('@').next().unwrap_or_default();
        let host = host.split(':').next().unwrap_or_default();
        if is_label(host) {
            found.push((host.into(), EcoString::new()));
        }
    }
    found
}

/// One label of a host name, and more than a number.
fn is_label(text: &str) -> bool {
    text.len() < 64
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && text.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// What the Services of releases may be called, by namespace: their own name and that of their chart, with the release.
type Releases = BTreeMap<EcoString, BTreeMap<EcoString, EcoString>>;

/// Turns the hosts into needs, now that every Service is known. A host that nobody is known to run is no need: it may be
/// a Service that some chart makes under a name of its own.
pub(crate) fn resolve(collector: &mut Collector, talks: &[Talk]) {
    let mut releases = Releases::new();
    let mut homes: BTreeMap<ComponentId, EcoString> = BTreeMap::new();
    let sources = chart_sources(&collector.assembled.objects);
    for (id, release) in collector.assembled.releases.iter().filter(|(_, release)| !release.is_remote) {
        let names = releases.entry(release.target_namespace.clone()).or_default();
        names.insert(release.release_name.clone(), release.release_name.clone());
        // Charts that were not read name their Services after themselves, too.
        let chart = catalogue::chart_name(&chart_address(release, &sources)).into();
        names.entry(chart).or_insert_with(|| release.release_name.clone());
        homes.insert(*id, release.target_namespace.clone());
    }
    let found = parallel::map(talks, in_talk);
    for (talk, hosts) in talks.iter().zip(found) {
        // A bare name is looked up where the pods are.
        let home = homes.get(&talk.of).unwrap_or(&talk.object.namespace);
        for mut host in hosts {
            if host.namespace.is_empty() {
                host.namespace.clone_from(home);
            }
            if let Some(service) = service(collector, &host, releases.get(&host.namespace)) {
                let needing =
                    Needing { of: talk.of, object: &talk.object, phase: talk.phase, soft: false, optional: false };
                collector.need(&needing, service, host.at, Purpose::TalkTo);
            }
        }
    }
}

/// The Service that a host means: one of its name, or one that its release is known to run.
fn service(collector: &Collector, host: &Host, names: Option<&BTreeMap<EcoString, EcoString>>) -> Option<Capability> {
    let service = |name: EcoString| Capability::new(CapabilityKind::Service, host.namespace.clone(), name);
    let exact = service(host.name.clone());
    if collector.is_offered(&exact) {
        return Some(exact);
    }
    let of_host = names.into_iter().flatten().filter(|(name, _)| starts_as(&host.name, name));
    of_host
        .max_by_key(|(name, _)| name.len())
        .map(|(_, release)| service(release.clone()))
        .filter(|it| collector.is_offered(it))
}

/// Whether a host is called like this, or begins so.
fn starts_as(host: &str, name: &str) -> bool {
    host.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::{in_addresses, in_text};

    #[test]
    fn addresses_may_name_a_host_without_its_domain() {
        let cases = [
            ("postgres://user:word@pg-rw:5432/db?sslmode=disable", &["pg-rw"] as &[_]),
            ("url = \"http://loki-gateway/push\" and https://mimir", &["loki-gateway", "mimir"]),
            ("http://grafana.observability", &[]),
            ("https://10.0.0.1:6443", &[]),
            ("oci://8080", &[]),
            ("://", &[]),
        ];
        for (text, expected) in cases {
            let found = in_addresses(text);
            let found: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn hosts_are_found_in_addresses_and_templates() {
        let cases = [
            ("postgres-rw.database.svc.cluster.local", &[("postgres-rw", "database")] as &[_]),
            ("http://{{ .user }}@redis.cache.svc:6379/0,b.c.svc", &[("redis", "cache"), ("b", "c")]),
            ("0.broker.kafka.svc.cluster.local", &[("broker", "kafka")]),
            ("postgres.database:5432", &[("postgres", "database")]),
            ("http://grafana.observability", &[("grafana", "observability")]),
            ("example.com", &[("example", "com")]),
            ("a.svcs", &[("a", "svcs")]),
            ("plain text. More", &[]),
            ("1.2.3.4", &[]),
        ];
        for (text, expected) in cases {
            let found = in_text(text);
            let found: Vec<(&str, &str)> =
                found.iter().map(|(name, namespace)| (name.as_str(), namespace.as_str())).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
