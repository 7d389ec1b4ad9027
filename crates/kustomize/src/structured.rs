//! Replacements that reach into a text which itself holds JSON, such as a key of a ConfigMap.
//!
//! Texts of YAML are left alone: writing YAML back as the real tool does would need its own emitter. Replacing in them is
//! an error here, as it was in the real tool until version 5.7.

use std::fmt::Write as _;

use yaml::{FileId, Node, Span, Value};

use crate::fieldpath::{FieldPath, Missing, PathError};
use crate::hash::write_value;

/// Replaces inside of the text that the first parts of the path lead to. `false` when there is no such text.
pub(crate) fn replace(
    object: &mut Node,
    path: &FieldPath,
    missing: Missing,
    span: Span,
    set: &mut dyn FnMut(&mut Node, bool) -> Result<(), PathError>,
) -> bool {
    for length in 1..path.len() {
        let (outer, inner) = path.split_at(length);
        let Some(text) = outer.get(object).and_then(Node::as_str) else { continue };
        let first = text.trim_start().chars().next();
        if !matches!(first, Some('{' | '[')) {
            return false;
        }
        let pretty = text.contains('\n') && text.contains("  ");
        let Some(mut value) = yaml::parse_value(FileId::GENERATED, text) else { return false };
        if !matches!(inner.visit(&mut value, missing, span, set), Ok(count) if count > 0) {
            return false;
        }
        let mut json = String::new();
        if pretty {
            write_pretty(&mut json, &value, 0);
        } else {
            write_value(&mut json, &value);
        }
        let json = Node::string(json, span);
        let put = &mut |field: &mut Node, _| {
            *field = json.clone();
            Ok(())
        };
        return outer.visit(object, Missing::Skip, span, put).is_ok();
    }
    false
}

fn write_pretty(out: &mut String, node: &Node, depth: usize) {
    let line = |out: &mut String, depth: usize| {
        let _ = write!(out, "\n{:width$}", "", width = depth * 2);
    };
    match &node.value {
        Value::Map(map) if !map.is_empty() => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by(|one, other| one.key.cmp(&other.key));
            out.push('{');
            for (at, entry) in entries.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                line(out, depth + 1);
                write_value(out, &Node::string(entry.key.clone(), node.span));
                out.push_str(": ");
                write_pretty(out, &entry.value, depth + 1);
            }
            line(out, depth);
            out.push('}');
        }
        Value::Seq(items) if !items.is_empty() => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                line(out, depth + 1);
                write_pretty(out, item, depth + 1);
            }
            line(out, depth);
            out.push(']');
        }
        _ => write_value(out, node),
    }
}
