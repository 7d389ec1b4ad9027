//! What a block is given, one scalar at a time.

use ecow::EcoString;
use hcl_edit::expr::Expression;
use hcl_edit::structure::Body;
use source::Span;

use crate::terraform::instance::{Each, Instance};
use crate::terraform::module::key_text;
use crate::terraform::open_text::{GAP, open_text};
use crate::terraform::value::Value;

/// Arguments of one block.
const ARGUMENTS_MAX: usize = 256;
const DEPTH_MAX: usize = 8;
/// Of the text of one argument.
const TEXT_BYTES_MAX: usize = 1024;
/// What is about a block and not of it.
const META: [&str; 6] = ["count", "depends_on", "for_each", "provider", "providers", "lifecycle"];
const META_BLOCKS: [&str; 3] = ["connection", "lifecycle", "provisioner"];

/// How an argument is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    Literal,
    /// A text with expressions in it.
    Template,
    Heredoc,
    /// `jsonencode`, `yamlencode`.
    Encoded,
    Expression,
}

/// One scalar that a block is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The way to it through blocks and objects: `metadata`, `name`. Items of lists have their number in it.
    pub path: Vec<EcoString>,
    pub form: Form,
    /// It is a text with expressions in it.
    pub has_values: bool,
    /// Its text, with [`crate::terraform::GAP`] for what is not known. Nothing where that is all of it, or it is long.
    pub text: Option<EcoString>,
    pub at: Span,
}

impl Argument {
    /// The text, if all of it is known.
    pub fn known(&self) -> Option<&str> {
        self.text.as_deref().filter(|text| !text.contains(GAP))
    }
}

/// Arguments as they are gathered, and how many of all expressions were understood.
pub(super) struct Gatherer<'g, 'w> {
    pub(super) instance: &'g Instance<'w>,
    pub(super) each: &'g Each,
    pub(super) header: Span,
    pub(super) found: Vec<Argument>,
    pub(super) understood: (usize, usize),
}

impl Gatherer<'_, '_> {
    pub(super) fn body(&mut self, body: &Body, path: &mut Vec<EcoString>) {
        for attribute in body.attributes() {
            if !path.is_empty() || !META.contains(&attribute.key.as_str()) {
                path.push(attribute.key.as_str().into());
                self.expression(&attribute.value, path);
                path.pop();
            }
        }
        for block in body.blocks().filter(|block| !META_BLOCKS.contains(&block.ident.as_str())) {
            if path.len() < DEPTH_MAX {
                path.push(block.ident.as_str().into());
                self.body(&block.body, path);
                path.pop();
            }
        }
    }

    fn expression(&mut self, expression: &Expression, path: &mut Vec<EcoString>) {
        if path.len() < DEPTH_MAX {
            match expression {
                Expression::Object(object) => {
                    for (key, value) in object {
                        let key = key_text(key).map_or_else(|| EcoString::from(GAP.to_string()), EcoString::from);
                        path.push(key);
                        self.expression(value.expr(), path);
                        path.pop();
                    }
                    return;
                }
                Expression::Array(items) => {
                    for (index, item) in items.iter().enumerate() {
                        path.push(index.to_string().into());
                        self.expression(item, path);
                        path.pop();
                    }
                    return;
                }
                _ => {}
            }
        }
        let value = self.instance.value(expression, self.each);
        self.understood.1 += 1;
        self.understood.0 += usize::from(value.is_whole());
        self.value(expression, &value, path);
    }

    fn value(&mut self, expression: &Expression, value: &Value, path: &mut Vec<EcoString>) {
        if self.found.len() >= ARGUMENTS_MAX {
            return;
        }
        match value {
            Value::Map(map) if path.len() < DEPTH_MAX => {
                for (key, inner) in &map.entries {
                    path.push(key.clone());
                    self.value(expression, inner, path);
                    path.pop();
                }
            }
            Value::Null => {}
            _ => {
                let text = value.to_text().map(|text| text.to_string());
                let text = text.unwrap_or_else(|| open_text(self.instance, expression, self.each));
                let is_told = text.len() <= TEXT_BYTES_MAX && text.chars().any(|c| c != GAP);
                let text = Some(EcoString::from(text)).filter(|_| is_told || value.as_text() == Some(""));
                let at = self.instance.at(self.header, hcl_edit::Span::span(expression));
                self.found.push(Argument {
                    path: path.clone(),
                    form: form(expression),
                    has_values: has_values(expression),
                    text,
                    at,
                });
            }
        }
    }
}

pub(super) fn form(expression: &Expression) -> Form {
    match expression {
        Expression::Parenthesis(inner) => form(inner.inner()),
        Expression::HeredocTemplate(_) => Form::Heredoc,
        Expression::StringTemplate(_) => Form::Template,
        Expression::Null(_) | Expression::Bool(_) | Expression::Number(_) | Expression::String(_) => Form::Literal,
        Expression::FuncCall(call) => match call.name.name.as_str() {
            "jsonencode" | "yamlencode" => Form::Encoded,
            "base64encode" | "sensitive" | "nonsensitive" | "trimspace" | "chomp" => {
                call.args.get(0).map_or(Form::Expression, form)
            }
            _ => Form::Expression,
        },
        _ => Form::Expression,
    }
}

/// Whether a text has other values put into it.
fn has_values(expression: &Expression) -> bool {
    use hcl_edit::template::Element;
    let template: &hcl_edit::template::Template = match expression {
        Expression::HeredocTemplate(heredoc) => &heredoc.template,
        Expression::StringTemplate(template) => template,
        Expression::Parenthesis(inner) => return has_values(inner.inner()),
        Expression::FuncCall(call) => return call.args.get(0).is_some_and(has_values),
        _ => return false,
    };
    template.iter().any(|element| !matches!(element, Element::Literal(_)))
}
