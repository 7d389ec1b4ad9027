use std::collections::BTreeMap;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use diagnostic::Next;
use diagnostic::next::{Again, Edit, Value};
use yaml::Node;

use super::API_VERSION;
use super::render::{put, quoted};
use crate::envelope::SealError;
use crate::key::Certificate;
use crate::scope::{CLUSTER_WIDE, NAMESPACE_WIDE, Scope};
use crate::{Envelope, SecretBytes};
use source::clean;

/// What kubectl leaves behind: it holds the plain values.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// What the API server takes: all values of a Secret together.
pub const SECRET_BYTES_MAX: usize = 1024 * 1024;
const KEY_CHARACTERS_MAX: usize = 253;
const NAME_CHARACTERS_MAX: usize = 253;
const NAMESPACE_CHARACTERS_MAX: usize = 63;

/// What is wrong with a Secret. Keys are named, values never.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    #[error("it is not a Secret: kind {it}", it = clean(.0))]
    Kind(String),
    #[error("it has no name")]
    NoName,
    #[error("it has no namespace, and scope {0} needs one")]
    NoNamespace(Scope),
    #[error("its `{0}` is not a mapping of keys to text")]
    BadData(&'static str),
    #[error("the value of `{it}` in `data` is not base64; put plain text into `stringData`", it = clean(.0))]
    NotBase64(String),
    // Not repeated: people put values where keys belong.
    #[error("one of its keys is not valid in a Secret: use only letters, digits, `-`, `_` and `.`")]
    BadKey,
    #[error(
        "`{it}` is not a valid Secret name: use lowercase letters, digits, `-` and `.`, with a letter or digit at both ends", it = clean(.0))]
    BadName(String),
    #[error(
        "`{it}` is not a valid namespace name: use lowercase letters, digits and `-`, with a letter or digit at both ends", it = clean(.0))]
    BadNamespace(String),
    #[error("there is nothing in it to seal")]
    Empty,
    #[error("its values have {0} bytes together, and the API server accepts no Secret larger than {SECRET_BYTES_MAX}")]
    TooLarge(usize),
    #[error("the value of `{key}` can't be sealed: {source}", key = clean(.key))]
    Seal { key: String, source: SealError },
}

impl SecretError {
    /// What to type next.
    pub fn next(&self) -> Next {
        match self {
            Self::Kind(_) => Next::Value(Value::SecretsAloneOrHelp),
            Self::NoName => Next::Again(Again::WithName),
            Self::NoNamespace(_) | Self::BadNamespace(_) => Next::Again(Again::WithNamespace),
            Self::BadName(_) => Next::Again(Again::WithOtherName),
            Self::BadData(_) => Next::Edit(Edit::ValuesAsText),
            Self::NotBase64(_) => Next::Edit(Edit::MoveToStringData),
            Self::BadKey => Next::Again(Again::WithOtherKey),
            Self::Empty => Next::Value(Value::WithOption),
            Self::TooLarge(_) => Next::Edit(Edit::DivideSecret),
            Self::Seal { .. } => Next::Again(Again::WithOtherCertificate),
        }
    }
}

/// A Secret in the clear, about to be sealed.
#[derive(Clone, Debug, Default)]
pub struct SecretManifest {
    pub name: String,
    pub namespace: Option<String>,
    /// `Opaque` where nothing is said.
    pub kind: Option<String>,
    pub immutable: Option<bool>,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    pub data: BTreeMap<String, SecretBytes>,
}

impl SecretManifest {
    /// Reads a manifest of a Secret.
    pub fn of(node: &Node) -> Result<Self, SecretError> {
        let kind = node.get("kind").and_then(Node::text).unwrap_or("none");
        if kind != "Secret" || node.get("apiVersion").and_then(Node::text) != Some("v1") {
            return Err(SecretError::Kind(kind.to_owned()));
        }
        let texts = |path: &[&str]| -> BTreeMap<String, String> {
            let entries = node.at(path).map(Node::entries).unwrap_or_default();
            entries.iter().filter_map(|entry| Some((entry.key.to_string(), entry.value.text()?.to_owned()))).collect()
        };
        let mut secret = Self {
            name: node.text_at(&["metadata", "name"]).unwrap_or_default().to_owned(),
            namespace: node.text_at(&["metadata", "namespace"]).map(str::to_owned),
            kind: node.get("type").and_then(Node::text).map(str::to_owned),
            immutable: node.get("immutable").and_then(Node::as_bool),
            labels: texts(&["metadata", "labels"]),
            annotations: texts(&["metadata", "annotations"]),
            data: BTreeMap::new(),
        };
        secret.annotations.remove(LAST_APPLIED);
        secret.read_data(node)?;
        Ok(secret)
    }

    fn read_data(&mut self, node: &Node) -> Result<(), SecretError> {
        for (field, is_base64) in [("data", true), ("stringData", false)] {
            let Some(data) = node.get(field).filter(|data| !data.is_null()) else { continue };
            let map = data.as_map().ok_or(SecretError::BadData(field))?;
            for entry in map {
                let key = entry.key.to_string();
                Self::check_key(&key)?;
                // A plain `key:` is an empty value to the API server.
                let text =
                    if entry.value.is_null() { "" } else { entry.value.as_str().ok_or(SecretError::BadData(field))? };
                let value = if is_base64 {
                    let joined: String = text.chars().filter(|c| !c.is_whitespace()).collect();
                    SecretBytes::new(STANDARD.decode(joined).map_err(|_| SecretError::NotBase64(key.clone()))?)
                } else {
                    SecretBytes::from(text)
                };
                self.put(&key, value)?;
            }
        }
        Ok(())
    }

    pub fn put(&mut self, key: &str, value: SecretBytes) -> Result<(), SecretError> {
        Self::check_key(key)?;
        self.data.insert(key.to_owned(), value);
        Ok(())
    }

    /// Whether the API server takes such a key.
    pub fn check_key(key: &str) -> Result<(), SecretError> {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        // The API server refuses these two by name, and all that begin like the second.
        let is_path = key == "." || key.starts_with("..");
        if key.is_empty() || key.len() > KEY_CHARACTERS_MAX || is_path || !key.chars().all(is_fine) {
            return Err(SecretError::BadKey);
        }
        Ok(())
    }

    /// Whether the API server takes its name and namespace.
    fn check_names(&self) -> Result<(), SecretError> {
        let is_subdomain = self.name.len() <= NAME_CHARACTERS_MAX && self.name.split('.').all(is_label);
        if !is_subdomain {
            return Err(SecretError::BadName(self.name.clone()));
        }
        match self.namespace.as_ref().filter(|name| name.len() > NAMESPACE_CHARACTERS_MAX || !is_label(name)) {
            Some(name) => Err(SecretError::BadNamespace(name.clone())),
            None => Ok(()),
        }
    }

    /// Whether the API server takes its values, beside so many bytes of others in the same Secret.
    pub fn check_size(&self, others: usize) -> Result<(), SecretError> {
        let bytes = others + self.data.values().map(|value| value.expose().len()).sum::<usize>();
        if bytes > SECRET_BYTES_MAX { Err(SecretError::TooLarge(bytes)) } else { Ok(()) }
    }

    /// The scope that its annotations ask for, as kubeseal reads them.
    pub fn scope(&self) -> Scope {
        Scope::of_annotations(|key| self.annotations.get(key).map(String::as_str))
    }

    /// The scope, if its annotations speak of one at all.
    pub fn said_scope(&self) -> Option<Scope> {
        let is_said = [CLUSTER_WIDE, NAMESPACE_WIDE].iter().any(|key| self.annotations.contains_key(*key));
        is_said.then(|| self.scope())
    }

    /// Its values, sealed one by one.
    pub fn seal(&self, certificate: &Certificate, scope: Scope) -> Result<BTreeMap<String, String>, SecretError> {
        if self.name.is_empty() {
            return Err(SecretError::NoName);
        }
        self.check_names()?;
        if self.data.is_empty() {
            return Err(SecretError::Empty);
        }
        self.check_size(0)?;
        let namespace = match (&self.namespace, scope) {
            (Some(namespace), _) => namespace.as_str(),
            (None, Scope::ClusterWide) => "",
            (None, _) => return Err(SecretError::NoNamespace(scope)),
        };
        let label = scope.label(namespace, &self.name);
        let seal = |(key, value): (&String, &SecretBytes)| {
            let sealed = certificate.seal(&label, value.expose());
            let sealed = sealed.map_err(|source| SecretError::Seal { key: key.clone(), source })?;
            Ok((key.clone(), Envelope::to_base64(&sealed)))
        };
        self.data.iter().map(seal).collect()
    }

    /// The SealedSecret in YAML, as kubeseal would lay it out.
    pub fn to_sealed_yaml(&self, certificate: &Certificate, scope: Scope) -> Result<String, SecretError> {
        let items = self.seal(certificate, scope)?;
        let mut annotations = self.annotations.clone();
        annotations.remove(CLUSTER_WIDE);
        annotations.remove(NAMESPACE_WIDE);
        let own: BTreeMap<String, String> =
            scope.annotation().map(|key| (key.to_owned(), "true".to_owned())).into_iter().collect();
        // The controller's own re-encryption reads the scope from the template.
        annotations.extend(own.clone());
        let mut out = format!("---\napiVersion: {API_VERSION}\nkind: SealedSecret\nmetadata:\n");
        self.put_metadata(&mut out, "  ", &own, &BTreeMap::new());
        out.push_str("spec:\n  encryptedData:\n");
        for (key, value) in &items {
            put(&mut out, "    ", key, value);
        }
        out.push_str("  template:\n    metadata:\n");
        self.put_metadata(&mut out, "      ", &annotations, &self.labels);
        if let Some(immutable) = self.immutable {
            let _ = writeln!(out, "    immutable: {immutable}");
        }
        if let Some(kind) = &self.kind {
            let _ = writeln!(out, "    type: {}", quoted(kind));
        }
        Ok(out)
    }

    fn put_metadata(
        &self,
        out: &mut String,
        indent: &str,
        annotations: &BTreeMap<String, String>,
        labels: &BTreeMap<String, String>,
    ) {
        for (name, map) in [("annotations", annotations), ("labels", labels)] {
            if !map.is_empty() {
                let _ = writeln!(out, "{indent}{name}:");
            }
            for (key, value) in map {
                put(out, &format!("{indent}  "), key, value);
            }
        }
        put(out, indent, "name", &self.name);
        if let Some(namespace) = &self.namespace {
            put(out, indent, "namespace", namespace);
        }
    }
}

/// A label of a DNS name, as RFC 1123 has them.
fn is_label(text: &str) -> bool {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.starts_with(is_end) && text.ends_with(is_end) && text.chars().all(|c| is_end(c) || c == '-')
}
