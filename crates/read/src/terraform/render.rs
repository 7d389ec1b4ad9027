//! Templates into text.

use hcl_edit::template::{Directive, Element, ForDirective, IfDirective, Strip, Template};

use super::evaluate::{Bound, Evaluation, pairs};
use super::functions::Stop;
use super::value::Value;

type Frame<'b> = Option<&'b Bound<'b>>;

/// A text that is being put together.
pub(crate) struct Rendering<'e> {
    evaluation: Evaluation<'e>,
    text: String,
    /// A marker wants the blanks gone that follow.
    strips_next: bool,
}

impl<'e> Rendering<'e> {
    pub(crate) fn new(evaluation: Evaluation<'e>) -> Self {
        Self { evaluation, text: String::new(), strips_next: false }
    }

    pub(crate) fn value(self) -> Value {
        Value::text(self.text)
    }

    pub(crate) fn template(&mut self, template: &Template, frame: Frame<'_>) -> Result<(), Stop> {
        for element in template {
            match element {
                Element::Literal(literal) => self.literal(literal)?,
                Element::Interpolation(interpolation) => {
                    self.before(interpolation.strip);
                    let value = self.evaluation.outcome(&interpolation.expr, frame)?;
                    let text = value.to_text().ok_or(if value.is_whole() { Stop::Wrong } else { Stop::Unknown })?;
                    self.push(&text)?;
                    self.after(interpolation.strip);
                }
                Element::Directive(directive) => match directive.as_ref() {
                    Directive::If(directive) => self.if_directive(directive, frame)?,
                    Directive::For(directive) => self.for_directive(directive, frame)?,
                },
            }
        }
        Ok(())
    }

    fn literal(&mut self, text: &str) -> Result<(), Stop> {
        let text = if self.strips_next { without_first_blanks(text) } else { text };
        if !text.is_empty() {
            self.strips_next = false;
        }
        self.push(text)
    }

    fn push(&mut self, text: &str) -> Result<(), Stop> {
        if !self.evaluation.budget.spend(1 + text.len() / 64) {
            return Err(Stop::Unknown);
        }
        self.text.push_str(text);
        Ok(())
    }

    fn before(&mut self, strip: Strip) {
        if strip.strip_start() {
            self.text.truncate(without_last_blanks(&self.text).len());
        }
        self.strips_next = false;
    }

    fn after(&mut self, strip: Strip) {
        self.strips_next = strip.strip_end();
    }

    fn if_directive(&mut self, directive: &IfDirective, frame: Frame<'_>) -> Result<(), Stop> {
        let condition = self.evaluation.outcome(&directive.if_expr.cond_expr, frame)?;
        let is_true = match condition {
            Value::Unknown => return Err(Stop::Unknown),
            other => other.to_bool().ok_or(Stop::Wrong)?,
        };
        self.before(directive.if_expr.strip);
        self.after(directive.if_expr.strip);
        if is_true {
            self.template(&directive.if_expr.template, frame)?;
        }
        if let Some(other) = &directive.else_expr {
            if is_true {
                self.before(other.strip);
            } else {
                self.after(other.strip);
                self.template(&other.template, frame)?;
            }
        }
        self.before(directive.endif_expr.strip);
        self.after(directive.endif_expr.strip);
        Ok(())
    }

    fn for_directive(&mut self, directive: &ForDirective, frame: Frame<'_>) -> Result<(), Stop> {
        let intro = &directive.for_expr;
        self.before(intro.strip);
        for (key, value) in pairs(&self.evaluation.outcome(&intro.collection_expr, frame)?)? {
            let around = intro.key_var.as_ref().map(|name| Bound { name: name.as_str(), value: &key, outer: frame });
            let bound = Bound { name: intro.value_var.as_str(), value: &value, outer: around.as_ref().or(frame) };
            self.after(intro.strip);
            self.template(&intro.template, Some(&bound))?;
            self.before(directive.endfor_expr.strip);
        }
        self.after(directive.endfor_expr.strip);
        Ok(())
    }
}

/// A marker eats blanks of its line and the end of it, not what the next line is indented by.
fn without_first_blanks(text: &str) -> &str {
    let line = text.find('\n').map_or(text.len(), |end| end + 1);
    if text[..line].trim().is_empty() { &text[line..] } else { text.trim_start() }
}

/// The blanks before a marker; at the start of a line, the end of the one above.
fn without_last_blanks(text: &str) -> &str {
    match text.strip_suffix('\n') {
        Some(above) => above.trim_end_matches([' ', '\t', '\r']),
        None => text.trim_end_matches([' ', '\t']),
    }
}
