//! Hosts that can't be read, because a Secret holds them encrypted or a store fills them in, under a key that tells what answers
//! there: `INIT_POSTGRES_HOST` means the only PostgreSQL of a cluster that has one.

use model::Purpose;
use yaml::{Entry, Node, Value};

use crate::content::collector::{Collector, Needing, Talk};

/// Words of keys, and what they say is spoken there.
const SPOKEN: [(&str, &str); 9] = [
    ("postgres", "postgresql"),
    ("pghost", "postgresql"),
    ("pg_host", "postgresql"),
    ("mysql", "mysql"),
    ("mariadb", "mysql"),
    ("redis", "redis"),
    ("valkey", "redis"),
    ("dragonfly", "redis"),
    ("mongo", "mongodb"),
];
/// Endings of keys that hold an address.
const ADDRESSES: [&str; 8] = ["host", "hostname", "server", "addr", "address", "url", "uri", "dsn"];

pub(crate) fn resolve(collector: &mut Collector, talks: &[Talk]) {
    let is_secret = |talk: &&Talk| matches!(talk.object.kind.as_str(), "Secret" | "ExternalSecret");
    for talk in talks.iter().filter(is_secret) {
        let mut hidden = Vec::new();
        below(&talk.node, &mut hidden);
        for (entry, speaks) in hidden {
            let Some(service) = collector.only_database(speaks).cloned() else { continue };
            let needing =
                Needing { of: talk.of, object: &talk.object, phase: talk.phase, soft: false, optional: false };
            collector.need(&needing, service, entry.key_span, Purpose::HiddenHost(entry.key.as_str().into()));
        }
    }
}

fn below<'n>(node: &'n Node, found: &mut Vec<(&'n Entry, &'static str)>) {
    match &node.value {
        Value::Map(map) => {
            for entry in map.iter().filter(|entry| entry.key != "sops" && entry.key != "metadata") {
                match entry.value.text().filter(|text| is_hidden(text)).and_then(|_| spoken(&entry.key)) {
                    Some(speaks) => found.push((entry, speaks)),
                    None => below(&entry.value, found),
                }
            }
        }
        Value::Seq(items) => items.iter().for_each(|item| below(item, found)),
        Value::Scalar(_) => {}
    }
}

/// Encrypted by SOPS, or nothing but a template that a store fills.
fn is_hidden(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("ENC[") || (text.starts_with("{{") && text.ends_with("}}") && text.matches("{{").count() == 1)
}

/// What the key of an address says is spoken there.
fn spoken(key: &str) -> Option<&'static str> {
    let key = key.to_ascii_lowercase();
    let is_address = ADDRESSES.iter().any(|ending| key.ends_with(ending));
    SPOKEN.iter().find(|(word, _)| is_address && key.contains(word)).map(|(_, speaks)| *speaks)
}

#[cfg(test)]
mod tests {
    use super::{is_hidden, spoken};

    #[test]
    fn a_key_tells_what_answers_at_a_hidden_address() {
        assert_eq!(spoken("INIT_POSTGRES_HOST"), Some("postgresql"));
        assert_eq!(spoken("redisUrl"), Some("redis"));
        assert_eq!(spoken("POSTGRES_PASSWORD"), None);
        assert_eq!(spoken("DATABASE_URL"), None);
        assert!(is_hidden("ENC[AES256_GCM,data:abc,type:str]"));
        assert!(is_hidden("{{ .POSTGRES_HOST }}"));
        assert!(!is_hidden("{{ .user }}@pg-rw.database.svc"));
    }
}
