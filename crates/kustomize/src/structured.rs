//! Replacements that reach into a text which itself holds JSON or YAML, such as a key of a ConfigMap.
//!
//! JSON is written anew, as the real tool does. In YAML the new value is put in the place of the old one and everything
//! around it stays, which is what the real tool's own writing comes to for texts in its style. What would need YAML to be
//! written anew (a field that is created, a value that is no plain one) is not done.

use std::fmt::Write as _;

use source::{FileId, Span};
use yaml::{Cost, Node, ScalarKind, Value};

use crate::fieldpath::{FieldPath, Missing, PathError};
use crate::hash::write_value;

/// Text is parsed, and written anew, in more time than it is read in.
const PARSED_TIMES: usize = 16;
/// However short it is.
const PARSED_NODES: usize = 32;

type Set<'a> = dyn FnMut(&mut Node, bool) -> Result<(), PathError> + 'a;

/// Replaces inside of the text that the first parts of the path lead to. `false` when there is no such text, or nothing
/// at the rest of the path in it.
pub(crate) fn replace(
    object: &mut Node,
    path: &FieldPath,
    missing: Missing,
    span: Span,
    set: &mut Set<'_>,
) -> Result<bool, PathError> {
    for length in 1..path.len() {
        let (outer, inner) = path.split_at(length);
        let Some(text) = outer.get(object).and_then(Node::as_str) else { continue };
        let replaced = match text.trim_start().chars().next() {
            Some('{' | '[') => in_json(text, &inner, missing, span, set),
            Some(_) => in_yaml(text, &inner, missing, span, set)?,
            None => None,
        };
        let Some(replaced) = replaced else { return Ok(false) };
        let replaced = Node::string(replaced, span);
        let put = &mut |field: &mut Node, _| {
            *field = replaced.clone();
            Ok(())
        };
        return Ok(outer.visit(object, Missing::Skip, span, put).is_ok());
    }
    Ok(false)
}

/// What it costs to parse the text that [`replace`] replaces in, and to write it anew.
pub(crate) fn cost(object: &Node, path: &FieldPath) -> Cost {
    let texts = (1..path.len()).filter_map(|length| path.split_at(length).0.get(object).and_then(Node::as_str));
    texts.take(1).fold(Cost::seen(path.len()), |cost, text| {
        cost.and(Cost::read(PARSED_TIMES * text.len())).and(Cost::made(PARSED_NODES, text.len()))
    })
}

fn in_json(text: &str, inner: &FieldPath, missing: Missing, span: Span, set: &mut Set<'_>) -> Option<String> {
    let mut value = yaml::parse_value(FileId::GENERATED, text)?;
    inner.visit(&mut value, missing, span, set).ok().filter(|count| *count > 0)?;
    let mut json = String::new();
    if text.contains('\n') && text.contains("  ") {
        write_pretty(&mut json, &value, 0);
    } else {
        write_value(&mut json, &value);
    }
    Some(json)
}

fn in_yaml(
    text: &str,
    inner: &FieldPath,
    missing: Missing,
    span: Span,
    set: &mut Set<'_>,
) -> Result<Option<String>, PathError> {
    // Any file's id but the one that says a value has no place.
    let Some(mut value) = yaml::parse_value(FileId(0), text) else { return Ok(None) };
    let mut edits: Vec<(Span, String)> = Vec::new();
    let mut rewrite = false;
    let visited = inner.visit(&mut value, missing, span, &mut |field, made| {
        let old = field.clone();
        set(field, made)?;
        match (&old.value, &field.value) {
            (Value::Scalar(_), Value::Scalar(new)) if !made => {
                let quote = text.get(old.span.start as usize..).and_then(|rest| rest.chars().next());
                edits.push((old.span, written(&new.text, new.kind, quote)));
            }
            _ => rewrite = true,
        }
        Ok(())
    });
    if !matches!(visited, Ok(count) if count > 0) {
        return Ok(None);
    }
    if rewrite {
        return Err(PathError::Rewrite);
    }
    edits.sort_by_key(|(span, _)| span.start);
    let mut result = text.to_owned();
    for (span, new) in edits.iter().rev() {
        let range = span.start as usize..span.end as usize;
        if result.get(range.clone()).is_none() {
            return Err(PathError::Rewrite);
        }
        result.replace_range(range, new);
    }
    Ok(Some(result.trim().to_owned()))
}

/// A value in the quotes of the one it replaces, or in some if it needs them.
fn written(text: &str, kind: ScalarKind, quote: Option<char>) -> String {
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./ ".contains(c))
        && text.trim() == text
        && !text.starts_with('-')
        && (kind != ScalarKind::Str || ScalarKind::of_plain(text) == ScalarKind::Str);
    match quote {
        Some('\'') => format!("'{}'", text.replace('\'', "''")),
        Some('"') => quoted(text),
        _ if plain => text.to_owned(),
        _ => quoted(text),
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    write_value(&mut out, &Node::string(text, Span::GENERATED));
    out
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
