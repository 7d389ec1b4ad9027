//! Selectors: objects picked by patterns on their group, version, kind, name and namespace, and by labels or annotations.
//!
//! Knows what a selector means. Does not know where it stands or what is done with the picked objects.

use ecow::EcoString;
use regex::Regex;
use thiserror::Error;
use yaml::{Cost, Map, Node};

use crate::expression::{self, ExpressionError};
use crate::id::Gvk;
use crate::resource::Resource;

/// Why a selector can't be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelectorError {
    #[error("`{0}` is not a regular expression")]
    Pattern(String),
    /// No error of the selector, but a limit.
    #[error("`{0}` is too large a regular expression")]
    TooLarge(String),
    #[error("`{0}` is not a label selector")]
    Labels(String),
}

/// A whole-text pattern. Nearly all are names, which need no regular expression.
#[derive(Debug)]
pub(crate) enum Pattern {
    Any,
    /// A text in which `.` stands for any one character, as it does in a regular expression.
    Text(EcoString),
    Regex(Box<Regex>),
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Result<Self, SelectorError> {
        if text.is_empty() {
            return Ok(Self::Any);
        }
        if is_name(text) {
            return Ok(Self::Text(text.into()));
        }
        let regex = expression::compile(&format!("^(?:{text})$")).map_err(|error| match error {
            ExpressionError::Invalid => SelectorError::Pattern(text.to_owned()),
            ExpressionError::TooLarge => SelectorError::TooLarge(text.to_owned()),
        })?;
        Ok(Self::Regex(Box::new(regex)))
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Text(pattern) => {
                pattern.as_str() == text
                    || (pattern.contains('.')
                        && pattern.chars().count() == text.chars().count()
                        && pattern.chars().zip(text.chars()).all(|(want, have)| want == '.' || want == have))
            }
            Self::Regex(regex) => regex.is_match(text),
        }
    }

    fn is_any(&self) -> bool {
        matches!(self, Self::Any)
    }
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:".contains(c))
}

#[derive(Debug)]
pub(crate) struct Selector {
    group: Pattern,
    version: Pattern,
    kind: Pattern,
    name: Pattern,
    namespace: Pattern,
    labels: Requirements,
    annotations: Requirements,
}

impl Selector {
    pub(crate) fn read(node: &Node) -> Result<Self, SelectorError> {
        let text = |key: &str| node.text_at(&[key]).unwrap_or_default();
        Ok(Self {
            group: Pattern::new(text("group"))?,
            version: Pattern::new(text("version"))?,
            kind: Pattern::new(text("kind"))?,
            name: Pattern::new(text("name"))?,
            namespace: Pattern::new(text("namespace"))?,
            labels: Requirements::parse(text("labelSelector"))?,
            annotations: Requirements::parse(text("annotationSelector"))?,
        })
    }

    /// As the target of a patch: by the name it has or the one it was read with.
    pub(crate) fn selects(&self, resource: &Resource) -> bool {
        if !self.gvk(&resource.gvk) {
            return false;
        }
        let original = resource.original();
        (self.name.matches(&original.name) || self.name.matches(&resource.name))
            && (self.namespace.is_any()
                || self.namespace.matches(&original.namespace)
                || self.namespace.matches(&resource.effective_namespace()))
            && self.has_meta(resource)
    }

    /// As the target of a replacement: by any id it has or had, each taken as a whole.
    pub(crate) fn selects_any_id(&self, resource: &Resource) -> bool {
        let gvk = |kind: &EcoString| {
            self.group.matches(&resource.gvk.group)
                && self.version.matches(&resource.gvk.version)
                && self.kind.matches(kind)
        };
        let id = |kind, name: &EcoString, namespace: &EcoString| {
            gvk(kind) && self.name.matches(name) && self.namespace.matches(namespace)
        };
        id(&resource.gvk.kind, &resource.name, &resource.namespace)
            || resource.previous.iter().any(|previous| id(&previous.kind, &previous.name, &previous.namespace))
    }

    pub(crate) fn has_meta(&self, resource: &Resource) -> bool {
        self.labels.hold(resource.metadata_map("labels")) && self.annotations.hold(resource.metadata_map("annotations"))
    }

    /// What it costs to read one.
    pub(crate) fn cost(node: &Node) -> Cost {
        let texts = node.entries().iter().filter_map(|entry| entry.value.text());
        texts.filter(|text| !is_name(text)).fold(Cost::NONE, |cost, text| cost.and(expression::cost(text)))
    }

    /// The one name that all objects it selects have or had, if it names one.
    pub(crate) fn only_name(&self) -> Option<&str> {
        match &self.name {
            Pattern::Text(name) if !name.contains('.') => Some(name),
            _ => None,
        }
    }

    pub(crate) fn asks_for_meta(&self) -> bool {
        !self.labels.0.is_empty() || !self.annotations.0.is_empty()
    }

    pub(crate) fn asks_for_id(&self) -> bool {
        ![&self.group, &self.version, &self.kind, &self.name, &self.namespace].into_iter().all(Pattern::is_any)
    }

    fn gvk(&self, gvk: &Gvk) -> bool {
        self.group.matches(&gvk.group) && self.version.matches(&gvk.version) && self.kind.matches(&gvk.kind)
    }
}

/// The comma-separated conditions of a label selector; all must hold.
#[derive(Debug, Default)]
struct Requirements(Vec<Requirement>);

#[derive(Debug)]
enum Requirement {
    Exists(EcoString),
    Absent(EcoString),
    In(EcoString, Vec<EcoString>),
    NotIn(EcoString, Vec<EcoString>),
    Greater(EcoString, i64),
    Less(EcoString, i64),
}

impl Requirements {
    fn parse(text: &str) -> Result<Self, SelectorError> {
        let bad = || SelectorError::Labels(text.to_owned());
        let parts = split_outside_parentheses(text);
        let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
        Ok(Self(parts.map(|part| Requirement::parse(part).ok_or_else(bad)).collect::<Result<_, _>>()?))
    }

    fn hold(&self, map: Option<&Map>) -> bool {
        self.0.iter().all(|requirement| requirement.holds(map))
    }
}

impl Requirement {
    fn parse(text: &str) -> Option<Self> {
        if let Some(key) = text.strip_prefix('!') {
            return word(key).map(Self::Absent);
        }
        if let Some((key, value)) = text.split_once("!=") {
            return Some(Self::NotIn(word(key)?, vec![value.trim().into()]));
        }
        if let Some((key, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
            return Some(Self::In(word(key)?, vec![value.trim().into()]));
        }
        if let Some((key, value)) = text.split_once('>') {
            return Some(Self::Greater(word(key)?, value.trim().parse().ok()?));
        }
        if let Some((key, value)) = text.split_once('<') {
            return Some(Self::Less(word(key)?, value.trim().parse().ok()?));
        }
        let Some((head, set)) = text.split_once('(') else { return word(text).map(Self::Exists) };
        let values = set.strip_suffix(')')?.split(',').map(|value| value.trim().into()).collect();
        let (key, operator) = head.trim().rsplit_once(char::is_whitespace)?;
        match operator {
            "in" => Some(Self::In(word(key)?, values)),
            "notin" => Some(Self::NotIn(word(key)?, values)),
            _ => None,
        }
    }

    fn holds(&self, map: Option<&Map>) -> bool {
        let value = |key: &EcoString| map.and_then(|map| map.get(key)).map(|node| node.text().unwrap_or_default());
        let number = |key: &EcoString| value(key).and_then(|text| text.parse::<i64>().ok());
        match self {
            Self::Exists(key) => value(key).is_some(),
            Self::Absent(key) => value(key).is_none(),
            Self::In(key, values) => value(key).is_some_and(|have| values.iter().any(|want| want == have)),
            Self::NotIn(key, values) => value(key).is_none_or(|have| values.iter().all(|want| want != have)),
            Self::Greater(key, bound) => number(key).is_some_and(|have| have > *bound),
            Self::Less(key, bound) => number(key).is_some_and(|have| have < *bound),
        }
    }
}

fn word(text: &str) -> Option<EcoString> {
    let text = text.trim();
    (!text.is_empty() && !text.contains(char::is_whitespace)).then(|| text.into())
}

fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0_i32);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}
