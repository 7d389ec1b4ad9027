use source::Span;
use yaml::Node;

use super::GROUP;
use crate::envelope::{Envelope, OpenError};
use crate::key::KeyPair;
use crate::ring::Ring;
use crate::scope::Scope;

/// One sealed value of a SealedSecret.
#[derive(Clone, Debug)]
pub struct Item {
    /// The key in `spec.encryptedData`; nothing for the whole Secret in the old field `spec.data`.
    pub key: Option<String>,
    pub text: String,
    pub span: Span,
}

/// A SealedSecret as a file has it.
#[derive(Clone, Debug)]
pub struct SealedSecret {
    pub name: String,
    /// As the object says; something else may put it elsewhere.
    pub namespace: Option<String>,
    /// As its own metadata says, which is what opening goes by.
    pub scope: Scope,
    /// As the annotations of its template say: what the controller goes by when it seals anew (`kubeseal --re-encrypt`).
    pub template_scope: Scope,
    pub items: Vec<Item>,
    /// Namespace and name in its template: kubeseal writes there what it sealed for. The controller takes labels,
    /// annotations and type of the Secret from the template, but namespace and name from the SealedSecret itself.
    pub template: (Option<String>, Option<String>),
    /// What is wrong with its shape. The controller takes a malformed `encryptedData` for an empty one and says
    /// nothing.
    pub trouble: Vec<Trouble>,
    pub span: Span,
}

/// What is wrong with a SealedSecret's shape, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub what: ShapeFault,
    pub span: Span,
}

/// What is wrong with a SealedSecret's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeFault {
    #[error("it has no name")]
    NoName,
    #[error("`spec.data` is not text")]
    DataNotText,
    #[error("it has no `spec.encryptedData`")]
    NoData,
    #[error("`spec.encryptedData` is not a mapping")]
    DataNotMapping,
    #[error("it has both `spec.encryptedData` and the old `spec.data`, which the controller refuses")]
    BothForms,
    #[error("a value of `encryptedData` is not text")]
    ValueNotText,
}

impl SealedSecret {
    /// Reads an object; nothing for objects of another kind.
    pub fn of(node: &Node) -> Option<Self> {
        let group = node.get("apiVersion")?.text()?.split('/').next()?;
        if group != GROUP || node.get("kind")?.text()? != "SealedSecret" {
            return None;
        }
        let scope = |path: &[&str]| {
            let annotations = node.at(path);
            Scope::of_annotations(|key| annotations.and_then(|map| map.get(key)).and_then(Node::text))
        };
        let template = |field: &str| node.text_at(&["spec", "template", "metadata", field]).map(str::to_owned);
        let mut sealed = Self {
            name: node.text_at(&["metadata", "name"]).unwrap_or_default().to_owned(),
            namespace: node.text_at(&["metadata", "namespace"]).map(str::to_owned),
            scope: scope(&["metadata", "annotations"]),
            template_scope: scope(&["spec", "template", "metadata", "annotations"]),
            items: Vec::new(),
            template: (template("namespace"), template("name")),
            trouble: Vec::new(),
            span: node.at(&["metadata", "name"]).map_or(node.span, |name| name.span),
        };
        if sealed.name.is_empty() {
            sealed.trouble.push(Trouble { what: ShapeFault::NoName, span: node.span });
        }
        sealed.read_items(node);
        Some(sealed)
    }

    fn read_items(&mut self, node: &Node) {
        let spec = node.get("spec");
        if let Some(data) = spec.and_then(|spec| spec.get("data")).filter(|data| !data.is_null()) {
            match data.text() {
                Some(text) => self.items.push(Item { key: None, text: text.to_owned(), span: data.span }),
                None => self.trouble.push(Trouble { what: ShapeFault::DataNotText, span: data.span }),
            }
        }
        let Some(data) = spec.and_then(|spec| spec.get("encryptedData")).filter(|data| !data.is_null()) else {
            if self.items.is_empty() {
                self.trouble.push(Trouble { what: ShapeFault::NoData, span: self.span });
            }
            return;
        };
        let Some(map) = data.as_map() else {
            self.trouble.push(Trouble { what: ShapeFault::DataNotMapping, span: data.span });
            return;
        };
        if !self.items.is_empty() && !map.is_empty() {
            self.trouble.push(Trouble { what: ShapeFault::BothForms, span: data.span });
        }
        for entry in map {
            match entry.value.as_str() {
                Some(text) => {
                    let key = Some(entry.key.to_string());
                    self.items.push(Item { key, text: text.to_owned(), span: entry.value.span });
                }
                None => {
                    self.trouble.push(Trouble { what: ShapeFault::ValueNotText, span: entry.value.span });
                }
            }
        }
    }

    /// Bytes of its values, those whose keys `counts` says, as far as they can be told without a key.
    pub fn value_bytes(&self, counts: impl Fn(&str) -> bool) -> usize {
        let counted = self.items.iter().filter(|item| item.key.as_deref().is_some_and(&counts));
        counted.filter_map(|item| Envelope::from_base64(&item.text).ok()).map(|sealed| sealed.value_bytes()).sum()
    }

    /// The label its values are bound to when it lands in `namespace`.
    pub fn label(&self, namespace: &str) -> Vec<u8> {
        self.scope.label(namespace, &self.name)
    }
}

impl Item {
    /// The key of the ring that opens it.
    pub fn opened_by<'ring>(&self, ring: &'ring Ring, label: &[u8]) -> Result<&'ring KeyPair, OpenError> {
        ring.open(&Envelope::from_base64(&self.text)?, label).map(|(pair, _)| pair)
    }

    /// The same value sealed with the newest key; nothing if that one opens it already.
    pub fn resealed(&self, ring: &Ring, label: &[u8]) -> Result<Option<String>, OpenError> {
        let newest = ring.newest().ok_or(OpenError::NoKey)?;
        let (pair, value) = ring.open(&Envelope::from_base64(&self.text)?, label)?;
        if pair.fingerprint() == newest.fingerprint() {
            return Ok(None);
        }
        // What was once sealed fits.
        let sealed = newest.certificate().seal(label, value.expose()).map_err(|_| OpenError::TooLarge)?;
        Ok(Some(sealed.to_base64()))
    }
}
