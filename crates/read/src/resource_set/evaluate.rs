//! Templates into text. What can't be worked out leaves [`UNKNOWN`] in the text and a reason: the rest is still rendered,
//! and a branch under an unknown condition is taken as if it were on.

use serde_json::Value;
use yaml::Cost;

use super::error::TemplateError;
use super::functions;
use super::template::{Expression, Part, Pipeline};

/// Stands in the text for what could not be worked out.
pub(super) const UNKNOWN: char = '\u{e000}';
/// What one template may render to.
const OUTPUT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Parts that are rendered, those in a `range` each time.
const STEPS_MAX: usize = 1_000_000;
/// All values that one template works out on its way, added up.
const VALUES_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Reasons that are told of one template.
const REASONS_MAX: usize = 100;
/// Lists in lists in lists.
pub(super) const VALUE_DEPTH_MAX: usize = 400;

/// Text, and why parts of it are unknown.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    pub(super) text: String,
    pub(super) reasons: Vec<TemplateError>,
    /// What it took.
    pub(super) cost: Cost,
}

pub(super) fn render(parts: &[Part], inputs: &Value) -> Rendered {
    let mut evaluator = Evaluator { inputs, variables: Vec::new(), steps: 0, bytes: 0, rendered: Rendered::default() };
    evaluator.parts(parts, &Value::Null);
    let made = Cost::made(1, evaluator.rendered.text.len());
    evaluator.rendered.cost = Cost::seen(evaluator.steps).and(Cost::read(evaluator.bytes)).and(made);
    evaluator.rendered
}

struct Evaluator<'inputs> {
    inputs: &'inputs Value,
    variables: Vec<(String, Value)>,
    steps: usize,
    /// Of values that were worked out.
    bytes: usize,
    rendered: Rendered,
}

impl Evaluator<'_> {
    fn parts(&mut self, parts: &[Part], dot: &Value) {
        let scope = self.variables.len();
        for part in parts {
            self.steps += 1;
            if self.steps > STEPS_MAX || self.rendered.text.len() > OUTPUT_BYTES_MAX {
                self.unknown(TemplateError::TooMuchText);
                break;
            }
            self.part(part, dot);
        }
        self.variables.truncate(scope);
    }

    fn part(&mut self, part: &Part, dot: &Value) {
        match part {
            Part::Text(text) => self.rendered.text.push_str(text),
            Part::Print(pipeline) => match self.pipeline(pipeline, dot) {
                Ok(_) if pipeline.variable.is_some() => {}
                Ok(value) => match functions::printed(&value) {
                    Some(text) => self.rendered.text.push_str(&text),
                    None => self.unknown(TemplateError::PrintedStructure),
                },
                Err(reason) => self.unknown(reason),
            },
            Part::Choice { is_with, branches, otherwise } => self.choice(*is_with, branches, otherwise, dot),
            Part::Range { variables, over, body, otherwise } => match self.pipeline(over, dot).and_then(items) {
                Ok(items) if items.is_empty() => self.parts(otherwise, dot),
                Ok(items) => {
                    for (key, item) in items {
                        let scope = self.variables.len();
                        let values = [key, item.clone()];
                        let bound = &values[2 - variables.len().min(2)..];
                        self.variables.extend(variables.iter().cloned().zip(bound.iter().cloned()));
                        self.parts(body, &item);
                        self.variables.truncate(scope);
                    }
                }
                Err(reason) => self.unknown(reason),
            },
        }
    }

    fn choice(&mut self, is_with: bool, branches: &[(Pipeline, Vec<Part>)], otherwise: &[Part], dot: &Value) {
        let scope = self.variables.len();
        for (condition, body) in branches {
            let value = match self.pipeline(condition, dot) {
                Ok(value) => value,
                Err(reason) => {
                    self.unknown(reason);
                    Value::Bool(true)
                }
            };
            if functions::is_true(&value) {
                self.parts(body, if is_with { &value } else { dot });
                self.variables.truncate(scope);
                return;
            }
        }
        self.parts(otherwise, dot);
        self.variables.truncate(scope);
    }

    fn unknown(&mut self, reason: TemplateError) {
        self.rendered.text.push(UNKNOWN);
        if self.rendered.reasons.len() < REASONS_MAX {
            self.rendered.reasons.push(reason);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, dot: &Value) -> Result<Value, TemplateError> {
        let mut result = None;
        for command in &pipeline.commands {
            let value = self.command(command, result, dot)?;
            self.bytes = self.bytes.saturating_add(bytes_of(&value, 0)?);
            if self.bytes > VALUES_BYTES_MAX {
                return Err(TemplateError::TooMuchWork);
            }
            result = Some(value);
        }
        let result = result.unwrap_or(Value::Null);
        if let Some(name) = &pipeline.variable {
            self.variables.push((name.clone(), result.clone()));
        }
        Ok(result)
    }

    fn command(&mut self, command: &[Expression], piped: Option<Value>, dot: &Value) -> Result<Value, TemplateError> {
        match command {
            [Expression::Function(name), arguments @ ..] if name != "inputs" => {
                let mut values = Vec::with_capacity(arguments.len() + 1);
                for argument in arguments {
                    values.push(self.expression(argument, dot)?);
                }
                values.extend(piped);
                functions::call(name, &values)
            }
            [single] if piped.is_none() => self.expression(single, dot),
            _ => Err(TemplateError::CalledValue),
        }
    }

    fn expression(&mut self, expression: &Expression, dot: &Value) -> Result<Value, TemplateError> {
        match expression {
            Expression::Literal(value) => Ok(value.clone()),
            Expression::Dot => Ok(dot.clone()),
            Expression::Variable(name) if name.is_empty() => Ok(Value::Null),
            Expression::Variable(name) => {
                let found = self.variables.iter().rev().find(|(known, _)| known == name);
                found.map(|(_, value)| value.clone()).ok_or_else(|| TemplateError::UnknownVariable(name.clone()))
            }
            Expression::Function(name) if name == "inputs" => Ok(self.inputs.clone()),
            Expression::Function(name) => functions::call(name, &[]),
            Expression::Field(owner, names) => match &**owner {
                Expression::Dot => field(dot, names),
                Expression::Function(name) if name == "inputs" => field(self.inputs, names),
                owner => field(&self.expression(owner, dot)?, names),
            },
            Expression::Nested(pipeline) => self.pipeline(pipeline, dot),
        }
    }
}

/// What names lead to, one in the other.
fn field(owner: &Value, names: &[String]) -> Result<Value, TemplateError> {
    let found = names.iter().try_fold(owner, |at, name| at.get(name).ok_or(name));
    found.cloned().map_err(|name| TemplateError::NoField(name.clone()))
}

/// About how much memory a value takes.
fn bytes_of(value: &Value, depth: usize) -> Result<usize, TemplateError> {
    if depth > VALUE_DEPTH_MAX {
        return Err(TemplateError::ValueTooDeep);
    }
    let own = size_of::<Value>();
    let inner = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => {
            items.iter().try_fold(0, |sum, item| Ok::<_, TemplateError>(sum + bytes_of(item, depth + 1)?))?
        }
        Value::Object(map) => {
            let entry = |(key, item): (&String, &Value)| Ok::<_, TemplateError>(key.len() + bytes_of(item, depth + 1)?);
            map.iter().try_fold(0, |sum, each| Ok::<_, TemplateError>(sum + entry(each)?))?
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    Ok(own + inner)
}

/// What a `range` goes over, with keys: mappings in the order of their keys.
fn items(value: Value) -> Result<Vec<(Value, Value)>, TemplateError> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => Ok(items.into_iter().enumerate().map(|(at, item)| (at.into(), item)).collect()),
        Value::Object(entries) => Ok(entries.into_iter().map(|(key, item)| (key.into(), item)).collect()),
        other => Err(TemplateError::RangeOver(other.to_string())),
    }
}
