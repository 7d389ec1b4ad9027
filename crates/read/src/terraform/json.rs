//! Terraform's JSON syntax (`.tf.json`, `.tfvars.json`) as the blocks that HCL would be.
//!
//! JSON does not tell blocks from objects: what is a block is known for the names that matter here. What was made out of JSON
//! knows the place of its header only.

use hcl_edit::Ident;
use hcl_edit::expr::{Array, Expression, Object, ObjectKey, ObjectValue};
use hcl_edit::structure::{Attribute, Block, Body};
use hcl_edit::template::{StringTemplate, Template};
use source::{FileId, Span};
use yaml::{Limits, Node, ScalarKind, Value};

/// Objects that are blocks wherever they are.
const BLOCKS: [&str; 8] =
    ["backend", "cloud", "connection", "lifecycle", "metadata", "provisioner", "required_providers", "spec"];
/// Those of them that have a label.
const LABELLED: [&str; 2] = ["backend", "provisioner"];
/// Texts in these are references, not texts.
const REFERENCES: [&str; 4] = ["depends_on", "provider", "ignore_changes", "replace_triggered_by"];

/// The blocks of a `.tf.json` file, each with the place of its name.
pub(crate) fn blocks(file: FileId, text: &str) -> Vec<(Span, Block)> {
    let documents = yaml::parse(file, text, Limits::default());
    let mut found = Vec::new();
    let Some(root) = documents.first().and_then(|document| document.root.as_ref()) else { return found };
    let Value::Map(entries) = &root.value else { return found };
    for entry in entries {
        let labels = match entry.key.as_str() {
            "resource" | "data" | "ephemeral" => 2,
            "variable" | "output" | "module" | "provider" => 1,
            "locals" | "terraform" => 0,
            _ => continue,
        };
        labelled(&entry.key, &entry.value, entry.key_span, &mut Vec::new(), labels, &mut found);
    }
    found
}

/// The attributes of a `.tfvars.json` file.
pub(crate) fn values(file: FileId, text: &str) -> Option<Body> {
    let documents = yaml::parse(file, text, Limits::default());
    let Value::Map(entries) = &documents.first()?.root.as_ref()?.value else { return None };
    let mut body = Body::new();
    for entry in entries {
        if let Some(key) = ident(&entry.key) {
            body.push(Attribute::new(key, constant(&entry.value)));
        }
    }
    Some(body)
}

fn labelled(kind: &str, node: &Node, at: Span, labels: &mut Vec<String>, left: usize, found: &mut Vec<(Span, Block)>) {
    if let Value::Seq(items) = &node.value {
        for item in items {
            labelled(kind, item, at, labels, left, found);
        }
        return;
    }
    let Value::Map(entries) = &node.value else { return };
    if left > 0 {
        for entry in entries {
            labels.push(entry.key.to_string());
            labelled(kind, &entry.value, entry.key_span, labels, left - 1, found);
            labels.pop();
        }
        return;
    }
    let Some(kind) = ident(kind) else { return };
    let mut block = Block::builder(kind);
    for label in labels.iter() {
        block = block.label(label.as_str());
    }
    let mut block = block.build();
    block.body = body(node);
    found.push((at, block));
}

fn body(node: &Node) -> Body {
    let mut body = Body::new();
    let Value::Map(entries) = &node.value else { return body };
    for entry in entries {
        let key = entry.key.as_str();
        let Some(name) = ident(key) else { continue };
        if BLOCKS.contains(&key) && entry.value.text().is_none() {
            let mut inner = Vec::new();
            labelled(
                key,
                &entry.value,
                entry.key_span,
                &mut Vec::new(),
                usize::from(LABELLED.contains(&key)),
                &mut inner,
            );
            for (_, block) in inner {
                body.push(block);
            }
        } else if REFERENCES.contains(&key) {
            body.push(Attribute::new(name, references(&entry.value)));
        } else {
            body.push(Attribute::new(name, expression(&entry.value)));
        }
    }
    body
}

fn ident(text: &str) -> Option<Ident> {
    Ident::try_new(text).ok()
}

/// A text of a `depends_on` list is the expression that it holds.
fn references(node: &Node) -> Expression {
    match &node.value {
        Value::Seq(items) => Expression::Array(items.iter().map(references).collect::<Array>()),
        _ => node.text().and_then(|text| text.parse().ok()).unwrap_or_else(|| expression(node)),
    }
}

/// A text is a template.
fn expression(node: &Node) -> Expression {
    made(node, &|text| match text.parse::<Template>() {
        Ok(template) if text.contains("${") || text.contains("%{") => {
            Expression::StringTemplate(template.into_iter().collect::<StringTemplate>())
        }
        _ => Expression::from(text),
    })
}

fn constant(node: &Node) -> Expression {
    made(node, &|text| Expression::from(text))
}

fn made(node: &Node, text: &dyn Fn(&str) -> Expression) -> Expression {
    match &node.value {
        Value::Map(entries) => {
            let item = |entry: &yaml::Entry| {
                (ObjectKey::Expression(text(&entry.key)), ObjectValue::new(made(&entry.value, text)))
            };
            Expression::Object(entries.iter().map(item).collect::<Object>())
        }
        Value::Seq(items) => Expression::Array(items.iter().map(|item| made(item, text)).collect::<Array>()),
        Value::Scalar(scalar) => match scalar.kind {
            ScalarKind::Null => Expression::null(),
            ScalarKind::Bool => Expression::from(node.as_bool() == Some(true)),
            ScalarKind::Int | ScalarKind::Float => {
                scalar.text.parse::<Expression>().unwrap_or_else(|_| Expression::from(scalar.text.as_str()))
            }
            ScalarKind::Str => text(&scalar.text),
        },
    }
}
