//! How a value was written, as far as the span of it tells.
//!
//! Nodes do not keep their style. It matters in the few places where kustomize makes it matter.

use yaml::{Node, Scalar};

/// Whether a text was written in quotes or as a block: only a plain scalar is as long in its file as its text.
pub(crate) fn is_quoted(node: &Node) -> bool {
    let length = node.span.end.saturating_sub(node.span.start) as usize;
    node.as_str().is_some_and(|text| !node.span.is_generated() && length != text.len())
}

/// A null that was written as nothing at all: `key:`.
pub(crate) fn is_blank(node: &Node) -> bool {
    let blank = |scalar: &Scalar| scalar.text.is_empty() || node.span.end <= node.span.start;
    node.is_null() && node.as_scalar().is_some_and(blank)
}

/// What a reader of YAML 1.1 takes an unquoted word for.
pub(crate) fn old_bool(node: &Node) -> Option<bool> {
    let text = node.as_str().filter(|_| !is_quoted(node))?;
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

/// A flag in a file that is read as YAML 1.1.
pub(crate) fn as_bool(node: &Node) -> Option<bool> {
    node.as_bool().or_else(|| old_bool(node))
}
