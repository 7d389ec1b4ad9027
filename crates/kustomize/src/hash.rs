//! The suffix that generated objects get: a hash of their content, spelled so that it can't form words.
//!
//! The hash is over JSON exactly as Go writes it, so that names equal those of the real tool.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};
use yaml::{Node, ScalarKind, Value};

/// The suffix for a ConfigMap or Secret.
pub(crate) fn suffix(object: &Node) -> String {
    let text = |path: &[&str]| object.text_at(path).unwrap_or_default();
    let kind = text(&["kind"]);
    let mut json = String::from("{");
    let mut field = |key: &str, write: &dyn Fn(&mut String)| {
        if json.len() > 1 {
            json.push(',');
        }
        write_string(&mut json, key);
        json.push(':');
        write(&mut json);
    };
    let data = |key: &'static str| {
        move |out: &mut String| match object.get(key) {
            Some(map) if map.as_map().is_some() => write_value(out, map),
            // A value that is no mapping decodes to Go's nil map.
            Some(other) if other.as_seq().is_some() => out.push_str("null"),
            other => write_string(out, other.and_then(Node::text).unwrap_or_default()),
        }
    };
    let has = |key: &str| object.get(key).is_some_and(|node| node.as_map().is_some());
    // Keys in Go's order, which is the alphabet's.
    if kind == "ConfigMap" && has("binaryData") {
        field("binaryData", &data("binaryData"));
    }
    field("data", &data("data"));
    field("kind", &|out| write_string(out, kind));
    // Meant to be the object's name, but kustomize looks for a field called `metadata/name`.
    field("name", &|out| write_string(out, ""));
    if kind == "Secret" {
        if has("stringData") {
            field("stringData", &data("stringData"));
        }
        field("type", &|out| write_string(out, text(&["type"])));
    }
    json.push('}');
    spell(&Sha256::digest(json.as_bytes()))
}

/// About as much text as the suffix is the hash of.
pub(crate) fn bytes(object: &Node) -> usize {
    let fields = ["data", "binaryData", "stringData"].into_iter().filter_map(|key| object.get(key));
    let entries = fields.flat_map(Node::entries);
    entries.map(|entry| entry.key.len() + entry.value.as_scalar().map_or(0, |scalar| scalar.text.len())).sum()
}

/// Ten hexadecimal digits with the vowels and their likes exchanged.
fn spell(digest: &[u8]) -> String {
    let digits = digest.iter().take(5).flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(b"gh2k456789mbcdtf"[usize::from(digit)])).collect()
}

pub(crate) fn write_value(out: &mut String, node: &Node) {
    match &node.value {
        Value::Scalar(scalar) => match scalar.kind {
            ScalarKind::Null => out.push_str("null"),
            ScalarKind::Bool => out.push_str(&scalar.text.to_ascii_lowercase()),
            ScalarKind::Int => out.push_str(&scalar.text),
            ScalarKind::Float => match scalar.text.parse::<f64>() {
                Ok(number) => {
                    let _ = write!(out, "{number}");
                }
                Err(_) => out.push_str("null"),
            },
            ScalarKind::Str => write_string(out, &scalar.text),
        },
        Value::Seq(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Map(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by(|one, other| one.key.cmp(&other.key));
            out.push('{');
            for (at, entry) in entries.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_string(out, &entry.key);
                out.push(':');
                write_value(out, &entry.value);
            }
            out.push('}');
        }
    }
}

/// With the escapes that Go adds for HTML's sake.
fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}
