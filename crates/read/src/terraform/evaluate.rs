//! Expressions of HCL into values: what needs no provider. Bounded in steps and depth; never fails but by not knowing.

use std::cell::Cell;
use std::collections::BTreeMap;

use hcl_edit::expr::{
    BinaryOp, BinaryOperator, Conditional, Expression, ForExpr, FuncCall, Object, ObjectKey, TraversalOperator,
    UnaryOperator,
};
use hcl_edit::template::Template;
use hcl_edit::{Decorated, Ident};
use yaml::EcoString;

use super::functions::{self, Outcome, Stop};
use super::render::Rendering;
use super::value::{Value, whole};

/// Of one repository: some seconds at the very worst.
const STEPS_MAX: usize = 4_000_000;
/// Expressions in expressions, through whatever they refer to.
const DEPTH_MAX: usize = 160;

/// What may still be spent.
#[derive(Debug)]
pub(crate) struct Budget {
    steps: Cell<usize>,
    depth: Cell<usize>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { steps: Cell::new(STEPS_MAX), depth: Cell::new(0) }
    }
}

impl Budget {
    /// Takes so many steps, if they are left.
    pub(crate) fn spend(&self, steps: usize) -> bool {
        let left = self.steps.get().checked_sub(steps);
        self.steps.set(left.unwrap_or(0));
        left.is_some()
    }

    fn enter(&self) -> Option<Entered<'_>> {
        if self.depth.get() >= DEPTH_MAX || !self.spend(1) {
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        Some(Entered(self))
    }
}

struct Entered<'b>(&'b Budget);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.depth.set(self.0.depth.get().saturating_sub(1));
    }
}

/// What names stand for where an expression is.
pub(crate) trait Names {
    /// The value of a name and of so many of the attributes that follow it (`var.x`: one). Nothing if there is no such name.
    fn named(&self, name: &str, attributes: &[&str]) -> Option<(Value, usize)>;

    /// The text of a file, by a path as Terraform takes it.
    fn file(&self, path: &str) -> Option<&str>;
}

/// A name that a `for` binds, and those around it.
#[derive(Clone, Copy)]
pub(crate) struct Bound<'b> {
    pub(crate) name: &'b str,
    pub(crate) value: &'b Value,
    pub(crate) outer: Option<&'b Bound<'b>>,
}

type Frame<'b> = Option<&'b Bound<'b>>;

#[derive(Clone, Copy)]
pub(crate) struct Evaluation<'e> {
    pub(crate) names: &'e dyn Names,
    pub(crate) budget: &'e Budget,
}

impl Evaluation<'_> {
    /// What an expression is worth: unknown also where Terraform would refuse it.
    pub(crate) fn value(&self, expression: &Expression) -> Value {
        self.outcome(expression, None).unwrap_or(Value::Unknown)
    }

    pub(crate) fn outcome(&self, expression: &Expression, frame: Frame<'_>) -> Outcome {
        let Some(_entered) = self.budget.enter() else { return Ok(Value::Unknown) };
        let outcome = match expression {
            Expression::Null(_) => Ok(Value::Null),
            Expression::Bool(value) => Ok(Value::Bool(*value.value())),
            Expression::Number(number) => Ok(number.value().as_f64().map_or(Value::Unknown, Value::number)),
            Expression::String(text) => Ok(Value::text(text.value())),
            Expression::Array(items) => {
                let items = items.iter().map(|item| self.outcome(item, frame)).collect::<Result<Vec<_>, _>>();
                items.map(Value::list)
            }
            Expression::Object(object) => self.object(object, frame),
            Expression::StringTemplate(template) => self.template(template, frame),
            Expression::HeredocTemplate(heredoc) => self.template(&heredoc.template, frame),
            Expression::Parenthesis(inner) => self.outcome(inner.inner(), frame),
            Expression::Variable(name) => self.traversal(name.as_str(), &[], frame),
            Expression::Conditional(conditional) => self.conditional(conditional, frame),
            Expression::FuncCall(call) => self.call(call, frame),
            Expression::Traversal(traversal) => match &traversal.expr {
                Expression::Variable(name) => self.traversal(name.as_str(), &traversal.operators, frame),
                other => self.outcome(other, frame).and_then(|value| self.apply(value, &traversal.operators, frame)),
            },
            Expression::UnaryOp(operation) => {
                self.outcome(&operation.expr, frame).and_then(|value| unary(*operation.operator.value(), &value))
            }
            Expression::BinaryOp(operation) => self.binary(operation, frame),
            Expression::ForExpr(for_expr) => self.for_expr(for_expr, frame),
        };
        match outcome {
            Err(Stop::Unknown) => Ok(Value::Unknown),
            other => other,
        }
    }

    fn object(&self, object: &Object, frame: Frame<'_>) -> Outcome {
        let mut entries = BTreeMap::new();
        for (key, value) in object {
            let key = match key {
                ObjectKey::Ident(ident) => EcoString::from(ident.as_str()),
                ObjectKey::Expression(Expression::Variable(name)) => EcoString::from(name.as_str()),
                ObjectKey::Expression(key) => match self.outcome(key, frame)?.to_text() {
                    Some(key) => key,
                    None => return Err(Stop::Unknown),
                },
            };
            entries.insert(key, self.outcome(value.expr(), frame)?);
        }
        Ok(Value::map(entries))
    }

    /// A template of nothing but one interpolation is what that is worth, whatever its kind.
    pub(crate) fn template(&self, template: &Template, frame: Frame<'_>) -> Outcome {
        if let Some(only) = template.as_single_element().and_then(|element| element.as_interpolation()) {
            return self.outcome(&only.expr, frame);
        }
        let mut rendering = Rendering::new(*self);
        rendering.template(template, frame)?;
        Ok(rendering.value())
    }

    fn conditional(&self, conditional: &Conditional, frame: Frame<'_>) -> Outcome {
        match self.outcome(&conditional.cond_expr, frame)? {
            Value::Unknown => Err(Stop::Unknown),
            condition => match condition.to_bool() {
                Some(true) => self.outcome(&conditional.true_expr, frame),
                Some(false) => self.outcome(&conditional.false_expr, frame),
                None => Err(Stop::Wrong),
            },
        }
    }

    fn call(&self, call: &FuncCall, frame: Frame<'_>) -> Outcome {
        let is_core = call.name.namespace.iter().all(|part| part.as_str() == "core");
        let name = call.name.name.as_str();
        match name {
            // What a provider brings is its own.
            _ if !is_core => Err(Stop::Unknown),
            "try" => self.tried(call, frame),
            "can" => match call.args.get(0).map(|only| self.outcome(only, frame)) {
                Some(Ok(Value::Unknown)) => Err(Stop::Unknown),
                Some(outcome) => Ok(Value::Bool(outcome.is_ok())),
                None => Err(Stop::Wrong),
            },
            _ => {
                let values = self.arguments(call, frame)?;
                if !self.budget.spend(values.iter().map(Value::size).sum()) {
                    return Err(Stop::Unknown);
                }
                self.called(name, &values)
            }
        }
    }

    fn tried(&self, call: &FuncCall, frame: Frame<'_>) -> Outcome {
        let mut last = Err(Stop::Wrong);
        for argument in &call.args {
            last = self.outcome(argument, frame);
            if last.is_ok() {
                break;
            }
        }
        last
    }

    fn arguments(&self, call: &FuncCall, frame: Frame<'_>) -> Result<Vec<Value>, Stop> {
        let mut values = call.args.iter().map(|one| self.outcome(one, frame)).collect::<Result<Vec<_>, _>>()?;
        if call.args.expand_final() {
            match values.pop() {
                Some(Value::List(last)) => values.extend_from_slice(&last.items),
                Some(Value::Unknown) => return Err(Stop::Unknown),
                _ => return Err(Stop::Wrong),
            }
        }
        Ok(values)
    }

    /// Files, and what else is asked of the world around; all other functions depend on nothing but their arguments.
    fn called(&self, name: &str, values: &[Value]) -> Outcome {
        let arguments = functions::Arguments(values);
        match name {
            "file" => self.names.file(&arguments.text(0)?).map(Value::text).ok_or(Stop::Unknown),
            "fileexists" => match self.names.file(&arguments.text(0)?) {
                Some(_) => Ok(Value::Bool(true)),
                // What Git ignores is not seen here.
                None => Err(Stop::Unknown),
            },
            "templatefile" => {
                let text = self.names.file(&arguments.text(0)?).ok_or(Stop::Unknown)?;
                let given = arguments.get(1)?;
                if !self.budget.spend(text.len() / 16) {
                    return Err(Stop::Unknown);
                }
                let template: Template = text.parse().map_err(|_| Stop::Unknown)?;
                let inside = Evaluation { names: &Given { given, files: self.names }, budget: self.budget };
                inside.template(&template, None)
            }
            "pathexpand" => match arguments.text(0)? {
                path if path.starts_with('~') => Err(Stop::Unknown),
                path => Ok(Value::Text(path)),
            },
            _ => functions::call(name, values),
        }
    }

    fn traversal(&self, name: &str, operators: &[Decorated<TraversalOperator>], frame: Frame<'_>) -> Outcome {
        let mut bound = frame;
        while let Some(one) = bound {
            if one.name == name {
                return self.apply(one.value.clone(), operators, frame);
            }
            bound = one.outer;
        }
        let attribute = |operator: &'_ Decorated<TraversalOperator>| match operator.value() {
            TraversalOperator::GetAttr(ident) => Some(ident.as_str().to_owned()),
            _ => None,
        };
        let attributes: Vec<String> = operators.iter().map_while(attribute).take(3).collect();
        let attributes: Vec<&str> = attributes.iter().map(String::as_str).collect();
        match self.names.named(name, &attributes) {
            Some((value, taken)) => self.apply(value, operators.get(taken..).unwrap_or_default(), frame),
            None => Err(Stop::Unknown),
        }
    }

    fn apply(&self, mut value: Value, operators: &[Decorated<TraversalOperator>], frame: Frame<'_>) -> Outcome {
        for (at, operator) in operators.iter().enumerate() {
            if value.is_unknown() {
                return Err(Stop::Unknown);
            }
            value = match operator.value() {
                TraversalOperator::GetAttr(name) => attribute(&value, name)?,
                TraversalOperator::Index(key) => item(&value, &self.outcome(key, frame)?)?,
                TraversalOperator::LegacyIndex(index) => usize::try_from(*index.value())
                    .ok()
                    .and_then(|index| value.as_list()?.get(index).cloned())
                    .ok_or(Stop::Wrong)?,
                TraversalOperator::FullSplat(_) | TraversalOperator::AttrSplat(_) => {
                    return self.splat(&value, &operators[at + 1..], frame);
                }
            };
        }
        Ok(value)
    }

    /// What follows a splat is asked of every item.
    fn splat(&self, value: &Value, rest: &[Decorated<TraversalOperator>], frame: Frame<'_>) -> Outcome {
        let single = std::slice::from_ref(value);
        let items = match value {
            Value::Null => &[],
            other => other.as_list().unwrap_or(single),
        };
        let asked = |item: &Value| {
            let Some(_entered) = self.budget.enter() else { return Ok(Value::Unknown) };
            match self.apply(item.clone(), rest, frame) {
                Err(Stop::Unknown) => Ok(Value::Unknown),
                other => other,
            }
        };
        Ok(Value::list(items.iter().map(asked).collect::<Result<Vec<_>, _>>()?))
    }

    fn binary(&self, operation: &BinaryOp, frame: Frame<'_>) -> Outcome {
        let left = self.outcome(&operation.lhs_expr, frame)?;
        let right = self.outcome(&operation.rhs_expr, frame)?;
        match operation.operator.value() {
            BinaryOperator::And => logic(&left, &right, false),
            BinaryOperator::Or => logic(&left, &right, true),
            BinaryOperator::Eq => self.equal(&left, &right).map(Value::Bool),
            BinaryOperator::NotEq => self.equal(&left, &right).map(|equal| Value::Bool(!equal)),
            _ if left.is_unknown() || right.is_unknown() => Err(Stop::Unknown),
            operator => {
                let (a, b) = (left.to_number().ok_or(Stop::Wrong)?, right.to_number().ok_or(Stop::Wrong)?);
                arithmetic(*operator, a, b)
            }
        }
    }

    fn equal(&self, left: &Value, right: &Value) -> Result<bool, Stop> {
        if !self.budget.spend(left.size() + right.size()) {
            return Err(Stop::Unknown);
        }
        match (left, right) {
            (Value::Unknown, _) | (_, Value::Unknown) => Err(Stop::Unknown),
            (Value::Null, other) | (other, Value::Null) => Ok(matches!(other, Value::Null)),
            _ if left.is_whole() && right.is_whole() => Ok(left == right),
            _ => Err(Stop::Unknown),
        }
    }

    fn for_expr(&self, expression: &ForExpr, frame: Frame<'_>) -> Outcome {
        let pairs = pairs(&self.outcome(&expression.intro.collection_expr, frame)?)?;
        let (mut items, mut groups) = (Vec::new(), BTreeMap::<EcoString, Vec<Value>>::new());
        for (key, value) in &pairs {
            let around =
                expression.intro.key_var.as_ref().map(|name| Bound { name: name.as_str(), value: key, outer: frame });
            let bound = Bound { name: expression.intro.value_var.as_str(), value, outer: around.as_ref().or(frame) };
            let inside = Some(&bound);
            if let Some(condition) = &expression.cond
                && !self.outcome(&condition.expr, inside)?.to_bool().ok_or(Stop::Unknown)?
            {
                continue;
            }
            let made = self.outcome(&expression.value_expr, inside)?;
            match &expression.key_expr {
                Some(key) => {
                    let key = self.outcome(key, inside)?.to_text().ok_or(Stop::Unknown)?;
                    groups.entry(key).or_default().push(made);
                }
                None => items.push(made),
            }
        }
        if expression.key_expr.is_none() {
            return Ok(Value::list(items));
        }
        let entry = |(key, mut values): (EcoString, Vec<Value>)| match values.pop() {
            Some(only) if !expression.grouping && values.is_empty() => Ok((key, only)),
            Some(last) if expression.grouping => {
                values.push(last);
                Ok((key, Value::list(values)))
            }
            // Two of one key.
            _ => Err(Stop::Wrong),
        };
        groups.into_iter().map(entry).collect::<Result<BTreeMap<_, _>, _>>().map(Value::map)
    }
}

/// Keys and values of what a `for` goes over.
#[expect(clippy::cast_precision_loss, reason = "lists are short")]
pub(crate) fn pairs(value: &Value) -> Result<Vec<(Value, Value)>, Stop> {
    match value {
        Value::Unknown => Err(Stop::Unknown),
        Value::List(list) => {
            let pair = |(index, value): (usize, &Value)| (Value::number(index as f64), value.clone());
            Ok(list.items.iter().enumerate().map(pair).collect())
        }
        Value::Map(map) if map.is_open => Err(Stop::Unknown),
        Value::Map(map) => {
            Ok(map.entries.iter().map(|(key, value)| (Value::Text(key.clone()), value.clone())).collect())
        }
        _ => Err(Stop::Wrong),
    }
}

fn attribute(value: &Value, name: &Ident) -> Outcome {
    match value {
        Value::Map(map) => match map.entries.get(name.as_str()) {
            Some(value) => Ok(value.clone()),
            None if map.is_open => Err(Stop::Unknown),
            None => Err(Stop::Wrong),
        },
        _ => Err(Stop::Wrong),
    }
}

fn item(value: &Value, key: &Value) -> Outcome {
    match (value, key) {
        (_, Value::Unknown) => Err(Stop::Unknown),
        (Value::List(list), key) => {
            let index = key.to_number().and_then(whole).and_then(|index| usize::try_from(index).ok());
            index.and_then(|index| list.items.get(index).cloned()).ok_or(Stop::Wrong)
        }
        (Value::Map(map), key) => {
            let key = key.to_text().ok_or(Stop::Wrong)?;
            let missing = if map.is_open { Stop::Unknown } else { Stop::Wrong };
            map.entries.get(&key).cloned().ok_or(missing)
        }
        _ => Err(Stop::Wrong),
    }
}

fn unary(operator: UnaryOperator, value: &Value) -> Outcome {
    if value.is_unknown() {
        return Err(Stop::Unknown);
    }
    match operator {
        UnaryOperator::Neg => value.to_number().map(|number| Value::number(-number)).ok_or(Stop::Wrong),
        UnaryOperator::Not => value.to_bool().map(|truth| Value::Bool(!truth)).ok_or(Stop::Wrong),
    }
}

/// One side may settle it, whatever the other is.
fn logic(left: &Value, right: &Value, settles: bool) -> Outcome {
    let (left, right) = (left.to_bool(), right.to_bool());
    if left == Some(settles) || right == Some(settles) {
        return Ok(Value::Bool(settles));
    }
    if left.is_some() && right.is_some() { Ok(Value::Bool(!settles)) } else { Err(Stop::Unknown) }
}

fn arithmetic(operator: BinaryOperator, a: f64, b: f64) -> Outcome {
    Ok(match operator {
        BinaryOperator::Plus => Value::number(a + b),
        BinaryOperator::Minus => Value::number(a - b),
        BinaryOperator::Mul => Value::number(a * b),
        BinaryOperator::Div | BinaryOperator::Mod if b == 0.0 => return Err(Stop::Wrong),
        BinaryOperator::Div => Value::number(a / b),
        BinaryOperator::Mod => Value::number(a % b),
        BinaryOperator::Less => Value::Bool(a < b),
        BinaryOperator::LessEq => Value::Bool(a <= b),
        BinaryOperator::Greater => Value::Bool(a > b),
        BinaryOperator::GreaterEq => Value::Bool(a >= b),
        _ => return Err(Stop::Unknown),
    })
}

/// The names that a template file is given.
pub(crate) struct Given<'g> {
    pub(crate) given: &'g Value,
    pub(crate) files: &'g dyn Names,
}

impl Names for Given<'_> {
    fn named(&self, name: &str, _: &[&str]) -> Option<(Value, usize)> {
        self.given.get(name).map(|value| (value.clone(), 0))
    }

    fn file(&self, path: &str) -> Option<&str> {
        self.files.file(path)
    }
}

/// A place where no name is known: values of a `.tfvars` file.
pub(crate) struct Nowhere;

impl Names for Nowhere {
    fn named(&self, _: &str, _: &[&str]) -> Option<(Value, usize)> {
        None
    }

    fn file(&self, _: &str) -> Option<&str> {
        None
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use hcl_edit::expr::Expression;
    use proptest::prelude::*;

    use super::{Budget, Evaluation, Nowhere};
    use crate::terraform::functions::Outcome;

    pub(crate) fn value_of(text: &str) -> Outcome {
        let expression: Expression = text.parse().unwrap_or_else(|failure| panic!("{text}: {failure}"));
        Evaluation { names: &Nowhere, budget: &Budget::default() }.outcome(&expression, None)
    }

    #[test]
    fn what_is_too_long_is_unknown_and_not_endless() {
        let loops = "[for a in range(1000) : [for b in range(1000) : [for c in range(1000) : a]]]";
        assert!(value_of(loops).is_ok_and(|value| !value.is_whole()));
        let doubled = (0..25).fold("\"a\"".to_owned(), |text, _| format!("join(\"\", [for x in [1, 2] : {text}])"));
        assert!(value_of(&doubled).is_ok());
    }

    /// Pieces of HCL, some of them sound, in any order.
    pub(crate) fn expressions() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("var.x".to_owned()),
            Just("null".to_owned()),
            Just("\"10.0.0.0/8\"".to_owned()),
            Just("\"%d-%s\"".to_owned()),
            "-?[0-9]{1,20}(\\.[0-9]{1,3})?",
            "\"[a-z/%.:*+\\-]{0,8}\"",
        ];
        leaf.prop_recursive(6, 64, 4, |inner| {
            let names: Vec<&str> = include_str!("functions/functions.txt")
                .lines()
                .filter_map(|line| line.split_once('(').map(|(name, _)| name))
                .filter(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase()))
                .collect();
            prop_oneof![
                (prop::sample::select(names), prop::collection::vec(inner.clone(), 0..4))
                    .prop_map(|(name, arguments)| format!("{name}({})", arguments.join(", "))),
                prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{{(\"${{{a}}}\") = {b}}}")),
                (inner.clone(), inner.clone(), prop::sample::select(vec!["+", "-", "*", "/", "%", "==", "<", "&&"]))
                    .prop_map(|(a, b, operator)| format!("({a} {operator} {b})")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("[for k, v in {a} : {b} if k != v]")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{{for k, v in {a} : k => {b}...}}")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a})[{b}]")),
                inner.clone().prop_map(|a| format!("({a})[*].x")),
                inner.prop_map(|a| format!("\"x${{{a}}}%{{ for i in {a} }}${{i}}%{{ endfor }}\"")),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn no_expression_makes_it_panic(text in expressions()) {
            if let Ok(expression) = text.parse::<Expression>() {
                let _ = Evaluation { names: &Nowhere, budget: &Budget::default() }.outcome(&expression, None);
            }
        }
    }
}
