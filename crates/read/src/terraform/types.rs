//! What a variable's `type` makes of a value: defaults of optional attributes, sets in their order.

use hcl_edit::expr::{Expression, FuncCall, Object, ObjectKey};

use super::evaluate::{Budget, Evaluation, Nowhere};
use super::functions::sets::set;
use super::value::Value;

/// Types in types.
const DEPTH_MAX: usize = 24;

pub(crate) fn converted(value: Value, kind: &Expression, budget: &Budget) -> Value {
    into(value, kind, budget, 0)
}

fn into(value: Value, kind: &Expression, budget: &Budget, depth: usize) -> Value {
    if depth > DEPTH_MAX || !budget.spend(1) {
        return Value::Unknown;
    }
    let inner = |call: &FuncCall| call.args.get(0).cloned();
    match kind {
        Expression::FuncCall(call) => match (call.name.name.as_str(), inner(call)) {
            ("object", Some(Expression::Object(fields))) => object(&value, &fields, budget, depth),
            ("list" | "map", Some(kind)) => each(&value, &kind, budget, depth),
            ("set", Some(kind)) => match each(&value, &kind, budget, depth) {
                Value::List(items) if items.items.iter().all(Value::is_whole) => set(&items.items),
                // In what order is not known.
                Value::List(_) => Value::Unknown,
                other => other,
            },
            ("optional", Some(kind)) => into(value, &kind, budget, depth + 1),
            _ => value,
        },
        Expression::Variable(name) if name.as_str() == "string" => value.to_text().map_or(value, Value::Text),
        Expression::Variable(name) if name.as_str() == "number" => value.to_number().map_or(value, Value::number),
        _ => value,
    }
}

fn each(value: &Value, kind: &Expression, budget: &Budget, depth: usize) -> Value {
    let convert = |value: &Value| into(value.clone(), kind, budget, depth + 1);
    match value {
        Value::List(list) => Value::list(list.items.iter().map(convert).collect()),
        Value::Map(map) if !map.is_open => {
            Value::map(map.entries.iter().map(|(key, value)| (key.clone(), convert(value))).collect())
        }
        other => other.clone(),
    }
}

/// Attributes that the type does not name are dropped; optional ones that are missing get their default, or null.
fn object(value: &Value, fields: &Object, budget: &Budget, depth: usize) -> Value {
    let Value::Map(map) = value else { return value.clone() };
    let mut entries = std::collections::BTreeMap::new();
    for (key, kind) in fields {
        let name = match key {
            ObjectKey::Ident(ident) => ident.as_str(),
            ObjectKey::Expression(Expression::Variable(name)) => name.as_str(),
            ObjectKey::Expression(other) => other.as_str().unwrap_or_default(),
        };
        let converted = match map.entries.get(name) {
            Some(Value::Null) | None if !map.is_open => missing(kind.expr(), budget),
            Some(value) => into(value.clone(), kind.expr(), budget, depth + 1),
            None => Value::Unknown,
        };
        entries.insert(name.into(), converted);
    }
    Value::map(entries)
}

fn missing(kind: &Expression, budget: &Budget) -> Value {
    let default = match kind {
        Expression::FuncCall(call) if call.name.name.as_str() == "optional" => call.args.get(1),
        _ => None,
    };
    default.map_or(Value::Null, |default| Evaluation { names: &Nowhere, budget }.value(default))
}
