//! Pairs that exist already: in PEM files, in what `kubectl get secret` prints, in Terraform's output or state.
//!
//! All of these hold PEM texts somewhere, plain or in base64. So every text is looked at, and what belongs together is
//! known by its fingerprint.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use yaml::{FileId, Limits, Node, Value};
use zeroize::Zeroizing;

use super::{Certificate, KeyError, KeyPair, pem};
use crate::SecretBytes;

const BEGIN: &str = "-----BEGIN ";
/// `-----BEGIN` in base64.
const BEGIN_BASE64: &str = "LS0tLS1CRUdJT";
/// More keys than any cluster ever had.
const FOUND_MAX: usize = 4096;

/// A pair and where it was found.
#[derive(Debug)]
pub struct Adopted {
    /// For people: `Secret kube-system/sealed-secrets-keyx2b7`, `outputs.private_key.value`; empty for plain PEM.
    pub place: String,
    pub pair: KeyPair,
}

/// Every pair that a text holds. Several texts (a key file and a certificate file) are one text, one after the other.
pub fn from_text(text: &str) -> Result<Vec<Adopted>, KeyError> {
    let mut found = Found::default();
    if text.trim_start().starts_with(BEGIN) {
        found.pem("", text);
    } else {
        for document in yaml::parse(FileId::GENERATED, text, Limits::default()) {
            if let Some(root) = &document.root {
                found.walk(root, "");
            }
        }
    }
    found.pairs()
}

#[derive(Default)]
struct Found {
    keys: Vec<(String, SecretBytes)>,
    certificates: Vec<(String, Certificate)>,
    /// The first thing that was wrong, told only when nothing was right.
    trouble: Option<KeyError>,
}

impl Found {
    fn walk(&mut self, node: &Node, place: &str) {
        let object;
        let place = match name_of(node) {
            Some(name) => {
                object = name;
                object.as_str()
            }
            None => place,
        };
        match &node.value {
            Value::Scalar(scalar) => self.text(place, &scalar.text),
            Value::Seq(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.walk(item, &format!("{place}[{index}]"));
                }
            }
            Value::Map(map) => {
                for entry in map {
                    let below = if place.is_empty() { entry.key.to_string() } else { format!("{place}.{}", entry.key) };
                    self.walk(&entry.value, &below);
                }
            }
        }
    }

    fn text(&mut self, place: &str, text: &str) {
        if text.trim_start().starts_with(BEGIN) {
            self.pem(place, text);
        } else if text.starts_with(BEGIN_BASE64)
            && let Ok(bytes) = STANDARD.decode(text.trim()).map(Zeroizing::new)
            && let Ok(text) = std::str::from_utf8(&bytes)
        {
            self.pem(place, text);
        }
    }

    /// A text of PEM blocks: keys and certificates, in any order.
    fn pem(&mut self, place: &str, text: &str) {
        let starts = text.match_indices(BEGIN).map(|(at, _)| at).collect::<Vec<_>>();
        for (index, start) in starts.iter().enumerate() {
            let end = starts.get(index + 1).copied().unwrap_or(text.len());
            let block = &text[*start..end];
            if self.keys.len() + self.certificates.len() >= FOUND_MAX {
                return;
            }
            let taken = if block.starts_with("-----BEGIN CERTIFICATE-----") {
                Certificate::from_pem(block).map(|certificate| self.certificates.push((place.to_owned(), certificate)))
            } else if block.contains("PRIVATE KEY-----") {
                pem::private_key(block).map(|key| self.keys.push((place.to_owned(), key)))
            } else {
                continue;
            };
            if let Err(error) = taken {
                self.trouble.get_or_insert(error);
            }
        }
    }

    fn pairs(self) -> Result<Vec<Adopted>, KeyError> {
        let mut pairs: Vec<Adopted> = Vec::new();
        let mut trouble = self.trouble;
        let none = if self.keys.is_empty() { KeyError::NoPrivateKey } else { KeyError::NoCertificate };
        for (place, certificate) in self.certificates {
            if pairs.iter().any(|known| known.pair.fingerprint() == certificate.fingerprint()) {
                continue;
            }
            let pem = certificate.to_pem();
            for (_, key) in &self.keys {
                match Certificate::from_pem(&pem).and_then(|certificate| KeyPair::new(key.clone(), certificate)) {
                    Ok(pair) => {
                        pairs.push(Adopted { place: object_of(&place), pair });
                        break;
                    }
                    Err(error) => _ = trouble.get_or_insert(error),
                }
            }
        }
        if pairs.is_empty() { Err(trouble.unwrap_or(none)) } else { Ok(pairs) }
    }
}

/// What to call a Kubernetes object.
fn name_of(node: &Node) -> Option<String> {
    let (kind, name) = (node.get("kind")?.text()?, node.text_at(&["metadata", "name"])?);
    let namespace = node.text_at(&["metadata", "namespace"]);
    Some(namespace.map_or_else(|| format!("{kind} {name}"), |namespace| format!("{kind} {namespace}/{name}")))
}

/// The object alone, without the way into it.
fn object_of(place: &str) -> String {
    let at = [".data.", ".stringData."].iter().find_map(|part| place.find(part));
    at.filter(|_| place.contains(' ')).map_or(place, |at| &place[..at]).to_owned()
}
