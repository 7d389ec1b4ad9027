//! The text of a script as Terraform puts it together, with the place of each part of it.

use std::ops::Range;

use hcl_edit::Span as _;
use hcl_edit::expr::{Expression, FuncCall, TraversalOperator};
use hcl_edit::template::{Element, Template};
use kustomize::Files as _;
use repository::path;
use source::{FileId, Span};

use super::origins::{Origins, whole};
use crate::terraform::instance::{Each, Instance};
use crate::terraform::open_text::{GAP, open_text};
use crate::terraform::value::Value;

/// Names that stand for texts, files in files.
const DEPTH_MAX: usize = 12;
/// Of one script.
const TEXT_BYTES_MAX: usize = 256 * 1024;

/// A text, with [`crate::terraform::GAP`] for each part that is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptText {
    pub text: String,
    origins: Origins,
    /// Files of the repository that it is made of, beside the one that it is written in.
    pub files: Vec<String>,
}

impl ScriptText {
    /// Where a range of the text is written: in the Terraform file, or in the file that it is taken from.
    pub fn span(&self, range: Range<usize>) -> Option<Span> {
        self.origins.span(range)
    }

    /// How much of it is not known.
    pub fn gaps(&self) -> usize {
        self.text.matches(GAP).count()
    }
}

/// What names stand for where a text is written.
#[derive(Clone, Copy)]
struct Scope<'s, 'w> {
    instance: &'s Instance<'w>,
    each: &'s Each,
    /// What a template file is given.
    given: Option<&'s Value>,
    file: FileId,
    /// Where everything is that has no place of its own.
    header: Span,
    /// Literals are not what is written.
    is_cut: bool,
}

/// The text that an expression of a block is worth.
pub(super) fn script_text(instance: &Instance<'_>, each: &Each, expression: &Expression, header: Span) -> ScriptText {
    let mut writer = Writer { made: ScriptText::default() };
    writer.expression(expression, Scope { instance, each, given: None, file: header.file, header, is_cut: false }, 0);
    writer.made
}

/// Several texts, each a line.
pub(super) fn lines(instance: &Instance<'_>, each: &Each, expression: &Expression, header: Span) -> ScriptText {
    let mut writer = Writer { made: ScriptText::default() };
    writer.joined("\n", expression, Scope { instance, each, given: None, file: header.file, header, is_cut: false }, 0);
    writer.made
}

struct Writer {
    made: ScriptText,
}

impl Writer {
    fn push(&mut self, text: &str, at: Span, is_exact: bool) {
        if !text.is_empty() && self.made.text.len() + text.len() <= TEXT_BYTES_MAX {
            self.made.origins.push(self.made.text.len(), at, is_exact);
            self.made.text.push_str(text);
        }
    }

    fn gap(&mut self, at: Span) {
        self.push(GAP.encode_utf8(&mut [0; 4]), at, false);
    }

    fn expression(&mut self, expression: &Expression, scope: Scope<'_, '_>, depth: usize) {
        let at = scope.at(expression.span());
        if depth > DEPTH_MAX {
            self.gap(at);
            return;
        }
        match expression {
            Expression::String(text) => self.literal(text.value(), inside_quotes(text.span()), scope, true),
            Expression::StringTemplate(template) => self.template(template, scope, true, depth),
            Expression::HeredocTemplate(heredoc) => {
                // The parser takes indentation off also where a line has none.
                let is_cut = heredoc.indent().is_some() && has_line_without_indent(&heredoc.template, scope);
                self.template(&heredoc.template, Scope { is_cut, ..scope }, false, depth);
            }
            Expression::Parenthesis(inner) => self.expression(inner.inner(), scope, depth + 1),
            Expression::FuncCall(call) => self.call(call, scope, at, depth),
            Expression::Conditional(conditional) => match scope.value(&conditional.cond_expr).to_bool() {
                Some(true) => self.expression(&conditional.true_expr, scope, depth + 1),
                Some(false) => self.expression(&conditional.false_expr, scope, depth + 1),
                None => self.gap(at),
            },
            _ => self.named(expression, scope, at, depth),
        }
    }

    /// A local or a variable, which may stand for a text that is written elsewhere.
    fn named(&mut self, expression: &Expression, scope: Scope<'_, '_>, at: Span, depth: usize) {
        match name(expression) {
            Some(("local", name)) if scope.given.is_none() => {
                if let Some(local) = scope.instance.module.locals.get(name) {
                    let each = Each::default();
                    let inside = Scope { file: local.file, each: &each, header: at, is_cut: false, ..scope };
                    return self.expression(&local.value, inside, depth + 1);
                }
            }
            Some(("var", name)) if scope.given.is_none() => {
                if let Some((above, given, each)) = scope.instance.argument(name) {
                    let header = scope.instance.call_header().unwrap_or(at);
                    let inside =
                        Scope { instance: &above, each, given: None, file: header.file, header, is_cut: false };
                    return self.expression(given, inside, depth + 1);
                }
            }
            _ => {}
        }
        self.worth(expression, scope, at);
    }

    fn worth(&mut self, expression: &Expression, scope: Scope<'_, '_>, at: Span) {
        match scope.value(expression).to_text() {
            Some(text) => self.push(&text, at, false),
            None if scope.given.is_none() => {
                self.push(&open_text(scope.instance, expression, scope.each), at, false);
            }
            None => self.gap(at),
        }
    }

    fn template(&mut self, template: &Template, scope: Scope<'_, '_>, is_quoted: bool, depth: usize) {
        for element in template {
            match element {
                Element::Literal(literal) => self.literal(literal, literal.span(), scope, is_quoted),
                Element::Interpolation(inner) => self.expression(&inner.expr, scope, depth + 1),
                Element::Directive(directive) => {
                    let at = scope.at(directive.span());
                    let alone: Template = [element.clone()].into_iter().collect();
                    match scope.template(&alone).to_text() {
                        Some(text) => self.push(&text, at, false),
                        None => self.gap(at),
                    }
                }
            }
        }
    }

    fn literal(&mut self, text: &str, range: Option<Range<usize>>, scope: Scope<'_, '_>, is_quoted: bool) {
        let raw = range.and_then(|range| Some((scope.raw(&range)?, scope.at(Some(range)))));
        let Some((raw, at)) = raw else { return self.push(text, scope.header, false) };
        let whole = scope.is_cut.then(|| raw.replace("$${", "${").replace("%%{", "%{"));
        let text = whole.as_deref().unwrap_or(text);
        if self.made.text.len() + text.len() <= TEXT_BYTES_MAX {
            self.made.origins.align(self.made.text.len(), text, raw, at, is_quoted);
            self.made.text.push_str(text);
        }
    }

    fn call(&mut self, call: &FuncCall, scope: Scope<'_, '_>, at: Span, depth: usize) {
        let argument = |index: usize| call.args.get(index);
        match (call.name.name.as_str(), argument(0), argument(1)) {
            ("trimspace" | "chomp" | "sensitive" | "nonsensitive", Some(inner), _) => {
                self.expression(inner, scope, depth + 1);
            }
            ("join", Some(separator), Some(items)) => match scope.value(separator).to_text() {
                Some(separator) => self.joined(&separator, items, scope, depth + 1),
                None => self.gap(at),
            },
            ("file", Some(from), _) => match self.entered(from, scope) {
                Some((file, text)) => self.push(text, whole(file, text), true),
                None => self.gap(at),
            },
            ("templatefile", Some(from), Some(given)) => {
                let given = scope.value(given);
                let Some((file, text)) = self.entered(from, scope) else { return self.gap(at) };
                match text.parse::<Template>() {
                    Ok(template) => {
                        let inside =
                            Scope { given: Some(&given), file, header: whole(file, text), is_cut: false, ..scope };
                        self.template(&template, inside, false, depth + 1);
                    }
                    Err(_) => self.gap(at),
                }
            }
            _ => {
                let value = scope.value_of_call(call);
                match value.to_text() {
                    Some(text) => self.push(&text, at, false),
                    None => self.gap(at),
                }
            }
        }
    }

    /// A file of the repository that the text is made of.
    fn entered<'w>(&mut self, from: &Expression, scope: Scope<'_, 'w>) -> Option<(FileId, &'w str)> {
        let written = scope.value(from).to_text()?;
        let place = path::join(scope.instance.run_in(), &written).filter(|_| !written.starts_with('/'))?;
        let repository = scope.instance.world().repository;
        let (file, text) = (repository.id(&place)?, std::str::from_utf8(repository.bytes(&place)?).ok()?);
        if !self.made.files.contains(&place) {
            self.made.files.push(place);
        }
        Some((file, text))
    }

    fn joined(&mut self, separator: &str, items: &Expression, scope: Scope<'_, '_>, depth: usize) {
        let at = scope.at(items.span());
        let Some(listed) = listed(items) else {
            let value = scope.value(items);
            let texts = value.as_list().map(|items| items.iter().map(Value::to_text).collect::<Option<Vec<_>>>());
            return match texts.flatten() {
                Some(texts) => self.push(&texts.join(separator), at, false),
                None => self.gap(at),
            };
        };
        for (index, item) in listed.into_iter().enumerate() {
            if index > 0 {
                self.push(separator, at, false);
            }
            // What a list in a list is made of is not known one by one.
            self.expression(item, scope, depth + 1);
        }
    }
}

impl<'w> Scope<'_, 'w> {
    fn at(&self, range: Option<Range<usize>>) -> Span {
        self.instance.at(Span { file: self.file, ..self.header }, range)
    }

    fn raw(&self, range: &Range<usize>) -> Option<&'w str> {
        let repository = self.instance.world().repository;
        if self.instance.is_json(self.file) { None } else { repository.source(self.file)?.text().get(range.clone()) }
    }

    fn value(&self, expression: &Expression) -> Value {
        match self.given {
            Some(given) => self.instance.value_given(expression, given),
            None => self.instance.value(expression, self.each),
        }
    }

    fn value_of_call(&self, call: &FuncCall) -> Value {
        self.value(&Expression::from(call.clone()))
    }

    fn template(&self, template: &Template) -> Value {
        let elements: hcl_edit::template::StringTemplate = template.iter().cloned().collect();
        self.value(&Expression::from(elements))
    }
}

/// Whether a line of a text that is written indented is not.
fn has_line_without_indent(template: &Template, scope: Scope<'_, '_>) -> bool {
    let literals = template.iter().filter_map(|element| match element {
        Element::Literal(literal) => literal.span(),
        _ => None,
    });
    let is_at_start = |range: &Range<usize>| {
        let before = range.start.checked_sub(1).map(|start| start..range.start);
        before.and_then(|before| scope.raw(&before)) == Some("\n")
    };
    let mut literals = literals.filter_map(|range| Some((scope.raw(&range)?, is_at_start(&range))));
    literals.any(|(raw, is_at_start)| {
        let mut lines = raw.lines().skip(usize::from(!is_at_start));
        lines.any(|line| line.starts_with(|first: char| !first.is_whitespace()))
    })
}

/// The items of a list that is written out, also in parts.
fn listed(expression: &Expression) -> Option<Vec<&Expression>> {
    match expression {
        Expression::Array(items) => Some(items.iter().collect()),
        Expression::Parenthesis(inner) => listed(inner.inner()),
        Expression::FuncCall(call) if matches!(call.name.name.as_str(), "concat" | "flatten" | "compact") => {
            let parts = call.args.iter().map(listed).collect::<Option<Vec<_>>>()?;
            Some(parts.into_iter().flatten().collect())
        }
        _ => None,
    }
}

/// `local.x`, `var.x`.
fn name(expression: &Expression) -> Option<(&str, &str)> {
    let Expression::Traversal(traversal) = expression else { return None };
    let Expression::Variable(root) = &traversal.expr else { return None };
    let [only] = traversal.operators.as_slice() else { return None };
    let TraversalOperator::GetAttr(name) = only.value() else { return None };
    Some((root.as_str(), name.as_str()))
}

fn inside_quotes(range: Option<Range<usize>>) -> Option<Range<usize>> {
    range.filter(|range| range.len() >= 2).map(|range| range.start + 1..range.end - 1)
}
