//! Pairs that exist already: in PEM files, in what `kubectl get secret` prints, in Terraform's output or state.
//!
//! All of these hold PEM texts somewhere, plain or in base64. So every text is looked at, and what belongs together is
//! known by its fingerprint.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use source::FileId;
use yaml::{Limits, Node, Value};
use zeroize::Zeroizing;

use super::generate::{GenerateOptions, sign};
use super::{Certificate, CertificateFault, Fingerprint, KeyError, KeyPair, pair, pem};
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
    /// Whether it stands in a Secret, and so is meant to be a key.
    pub is_in_secret: bool,
    pub pair: KeyPair,
}

/// A text that may hold keys.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The file it is from, for people.
    pub name: &'a str,
    pub text: &'a str,
}

/// What is wrong, and in which text.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {}{error}", if place.is_empty() { String::new() } else { format!("{place}: ") })]
pub struct AdoptError {
    pub name: String,
    /// As in [`Adopted::place`].
    pub place: String,
    pub error: KeyError,
}

/// What was found in several texts.
#[derive(Debug)]
pub struct Adoption {
    pub pairs: Vec<Adopted>,
    /// What belongs to no pair and may well be for something else: certificates without a key, keys in a Terraform file.
    pub left: Vec<AdoptError>,
}

/// Every pair that a text holds.
pub fn from_text(text: &str) -> Result<Vec<Adopted>, KeyError> {
    let found = from_sources(&[Source { name: "", text }], None);
    found.map(|found| found.pairs).map_err(|error| error.error)
}

/// Every pair that texts hold, each text read on its own; a key and its certificate may be in different ones. A private
/// key without a certificate gets a new one as the options say, and is an error where there are none. So is everything
/// that is broken: a key that is left out in silence is missed only when it is needed.
pub fn from_sources(sources: &[Source<'_>], new: Option<&GenerateOptions>) -> Result<Adoption, AdoptError> {
    let mut found = Found::default();
    for source in sources {
        let before = found.len();
        found.read(source)?;
        if found.len() == before {
            return Err(source.wrong(&Standing::default(), KeyError::NoPrivateKey));
        }
    }
    found.pairs(new)
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({})", self.name)
    }
}

impl Source<'_> {
    fn wrong(&self, place: &Standing, error: KeyError) -> AdoptError {
        AdoptError { name: self.name.to_owned(), place: place.to_string(), error }
    }

    fn block<T>(&self, place: &Standing, what: T) -> Block<T> {
        Block { name: self.name.to_owned(), place: place.clone(), what }
    }

    /// PEM begins its lines with its marks; YAML and JSON have them further right.
    fn is_pem(&self) -> bool {
        self.text.lines().any(|line| line.starts_with(BEGIN))
    }
}

/// Something in PEM, and where it was.
struct Block<T> {
    name: String,
    place: Standing,
    what: T,
}

impl<T> Block<T> {
    fn wrong(&self, error: KeyError) -> AdoptError {
        AdoptError { name: self.name.clone(), place: self.place.to_string(), error }
    }
}

struct PrivateKey {
    pkcs8: SecretBytes,
    fingerprint: Fingerprint,
    /// Whether it stands where keys of other things stand, too.
    may_be_another: bool,
}

#[derive(Default)]
struct Found {
    keys: Vec<Block<PrivateKey>>,
    certificates: Vec<Block<Certificate>>,
    left: Vec<AdoptError>,
}

impl Found {
    fn len(&self) -> usize {
        self.keys.len() + self.certificates.len() + self.left.len()
    }

    fn read(&mut self, source: &Source<'_>) -> Result<(), AdoptError> {
        if source.is_pem() {
            if source.text.contains(BEGIN_BASE64) {
                return Err(source.wrong(&Standing::default(), KeyError::Mixed));
            }
            return self.pem(source, &Standing::default(), source.text, false);
        }
        for document in yaml::parse(FileId::GENERATED, source.text, Limits::default()) {
            if !document.problems.is_empty() {
                return Err(source.wrong(&Standing::default(), KeyError::Unreadable));
            }
            if let Some(root) = &document.root {
                self.walk(source, root, &Standing::default(), true)?;
            }
        }
        Ok(())
    }

    /// Terraform keeps all kinds of keys in one file; what stands in a Secret is meant.
    fn walk(&mut self, source: &Source<'_>, node: &Node, place: &Standing, is_loose: bool) -> Result<(), AdoptError> {
        let object = Standing::of(node);
        let is_loose = is_loose && object.is_none();
        let place = object.as_ref().unwrap_or(place);
        let keys = self.keys.len();
        match &node.value {
            Value::Scalar(scalar) => self.text(source, place, &scalar.text, is_loose)?,
            Value::Seq(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.walk(source, item, &place.below(Step::Index(index)), is_loose)?;
                }
            }
            Value::Map(map) => {
                for entry in map {
                    let below = place.below(Step::Key(entry.key.to_string()));
                    self.walk(source, &entry.value, &below, is_loose)?;
                }
            }
        }
        if is_key_secret(node) && self.keys.len() == keys {
            return Err(source.wrong(place, KeyError::NoPrivateKey));
        }
        Ok(())
    }

    fn text(&mut self, source: &Source<'_>, place: &Standing, text: &str, is_loose: bool) -> Result<(), AdoptError> {
        if text.trim_start().starts_with(BEGIN) {
            return self.pem(source, place, text, is_loose);
        }
        if !text.trim_start().starts_with(BEGIN_BASE64) {
            return Ok(());
        }
        let joined = Zeroizing::new(text.split_whitespace().collect::<String>());
        let decoded = STANDARD.decode(joined.as_bytes()).map(Zeroizing::new).ok();
        match decoded.as_ref().and_then(|bytes| std::str::from_utf8(bytes).ok()) {
            Some(text) => self.pem(source, place, text, is_loose),
            None => self.trouble(source.wrong(place, KeyError::BadBase64), is_loose),
        }
    }

    /// A text of PEM blocks: keys and certificates, in any order.
    fn pem(&mut self, source: &Source<'_>, place: &Standing, text: &str, is_loose: bool) -> Result<(), AdoptError> {
        let starts = text.match_indices(BEGIN).map(|(at, _)| at).collect::<Vec<_>>();
        for (index, start) in starts.iter().enumerate() {
            let end = starts.get(index + 1).copied().unwrap_or(text.len());
            if self.len() >= FOUND_MAX {
                return Err(source.wrong(place, KeyError::TooMany));
            }
            let block = &text[*start..end];
            let taken = if block.starts_with("-----BEGIN CERTIFICATE-----") {
                certificate(block).map(|what| self.certificates.push(source.block(place, what)))
            } else if block.contains("PRIVATE KEY-----") {
                private_key(block, is_loose).map(|what| self.keys.push(source.block(place, what)))
            } else {
                continue;
            };
            if let Err(error) = taken {
                self.trouble(source.wrong(place, error), is_loose)?;
            }
        }
        Ok(())
    }

    fn trouble(&mut self, error: AdoptError, is_loose: bool) -> Result<(), AdoptError> {
        if !is_loose {
            return Err(error);
        }
        self.left.push(error);
        Ok(())
    }

    fn pairs(mut self, new: Option<&GenerateOptions>) -> Result<Adoption, AdoptError> {
        let mut pairs: Vec<Adopted> = Vec::new();
        let only = self.only_mismatch();
        for key in self.keys {
            let fingerprint = key.what.fingerprint;
            if pairs.iter().any(|known| known.pair.fingerprint() == fingerprint) {
                continue;
            }
            let own = self.certificates.iter().position(|one| one.what.fingerprint() == fingerprint);
            let (place, pair) = match (own, new) {
                (Some(index), _) => {
                    let certificate = self.certificates.remove(index);
                    self.certificates.retain(|one| one.what.fingerprint() != fingerprint);
                    (certificate.place, KeyPair::new(key.what.pkcs8.clone(), certificate.what))
                }
                (None, Some(options)) => (key.place.clone(), sign(key.what.pkcs8.clone(), options)),
                (None, None) => {
                    let error = key.wrong(only.clone().unwrap_or(KeyError::NoCertificate));
                    if !key.what.may_be_another {
                        return Err(error);
                    }
                    self.left.push(error);
                    continue;
                }
            };
            match pair {
                Ok(pair) => pairs.push(place.adopted(pair)),
                Err(error) => {
                    return Err(AdoptError { name: key.name.clone(), place: place.to_string(), error });
                }
            }
        }
        let alone = self.certificates.iter().map(|one| one.wrong(KeyError::NoPrivateKey));
        self.left.extend(alone);
        if pairs.is_empty() {
            return Err(self.left.swap_remove(0));
        }
        Ok(Adoption { pairs, left: self.left })
    }

    /// Of one key and one certificate that do not belong together, just that is told.
    fn only_mismatch(&self) -> Option<KeyError> {
        let ([key], [certificate]) = (self.keys.as_slice(), self.certificates.as_slice()) else { return None };
        let (certificate, private_key) = (certificate.what.fingerprint(), key.what.fingerprint);
        Some(KeyError::Mismatch { certificate: certificate.id(), private_key: private_key.id() })
    }
}

fn certificate(block: &str) -> Result<Certificate, KeyError> {
    Certificate::from_pem(block).map_err(|error| match error {
        KeyError::NoCertificate => KeyError::BadCertificate(CertificateFault::CutOff),
        other => other,
    })
}

fn private_key(block: &str, may_be_another: bool) -> Result<PrivateKey, KeyError> {
    let is_known = ["-----BEGIN PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----"];
    let is_known = is_known.iter().any(|begin| block.starts_with(begin));
    let pkcs8 = pem::private_key(block).map_err(|error| match error {
        KeyError::NoPrivateKey if is_known => KeyError::BadPrivateKey,
        other => other,
    })?;
    let fingerprint = pair::fingerprint_of(&pkcs8)?;
    Ok(PrivateKey { pkcs8, fingerprint, may_be_another })
}

/// A Secret that is to have a private key.
fn is_key_secret(node: &Node) -> bool {
    let has_key = |field: &str| node.at(&[field, "tls.key"]).is_some();
    node.get("kind").and_then(Node::text) == Some("Secret") && (has_key("data") || has_key("stringData"))
}

/// Where a text stands: in an object of Kubernetes, and the way to it; without an object, the way alone.
#[derive(Clone, Default)]
struct Standing {
    object: Option<Object>,
    way: Vec<Step>,
}

#[derive(Clone)]
struct Object {
    kind: String,
    namespace: Option<String>,
    name: String,
}

#[derive(Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

impl Standing {
    fn of(node: &Node) -> Option<Self> {
        let (kind, name) = (node.get("kind")?.text()?.to_owned(), node.text_at(&["metadata", "name"])?.to_owned());
        let namespace = node.text_at(&["metadata", "namespace"]).map(str::to_owned);
        Some(Self { object: Some(Object { kind, namespace, name }), way: Vec::new() })
    }

    fn below(&self, step: Step) -> Self {
        let mut below = self.clone();
        below.way.push(step);
        below
    }

    fn adopted(&self, pair: KeyPair) -> Adopted {
        let is_in_secret = self.object.as_ref().is_some_and(|object| object.kind == "Secret");
        Adopted { place: self.to_string(), is_in_secret, pair }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut is_first = true;
        if let Some(Object { kind, namespace, name }) = &self.object {
            match namespace {
                Some(namespace) => write!(f, "{kind} {namespace}/{name}")?,
                None => write!(f, "{kind} {name}")?,
            }
            is_first = false;
        }
        for (index, step) in self.way.iter().enumerate() {
            match step {
                // Of a value of a Secret, the Secret is enough.
                Step::Key(key) if self.is_value_of(key, index) => break,
                Step::Key(key) if is_first => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
            is_first = false;
        }
        Ok(())
    }
}

impl Standing {
    /// Whether a step leads to the values of an object, and on to one of them.
    fn is_value_of(&self, key: &str, index: usize) -> bool {
        let is_followed = matches!(self.way.get(index + 1), Some(Step::Key(_)));
        self.object.is_some() && is_followed && matches!(key, "data" | "stringData")
    }
}
