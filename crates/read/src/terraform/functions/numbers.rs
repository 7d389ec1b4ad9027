//! Functions on numbers and on conversions.

use super::{Arguments, Outcome, Stop, text_of};
use crate::terraform::value::Value;

pub(super) fn call(name: &str, given: &Arguments<'_>) -> Option<Outcome> {
    Some(match name {
        "abs" => given.number(0).map(|number| Value::number(number.abs())),
        "ceil" => given.number(0).map(|number| Value::number(number.ceil())),
        "floor" => given.number(0).map(|number| Value::number(number.floor())),
        "max" => fold(given, f64::max),
        "min" => fold(given, f64::min),
        "pow" => given.number(0).and_then(|base| Ok(Value::number(base.powf(given.number(1)?)))),
        "signum" => given.number(0).map(|number| Value::number(if number == 0.0 { 0.0 } else { number.signum() })),
        "parseint" => parse_int(given),
        "tonumber" => convert(given, |value| value.to_number().map(Value::number)),
        "tobool" => convert(given, |value| value.to_bool().map(Value::Bool)),
        "tostring" => to_string(given),
        // What is secret is still what it is.
        "sensitive" | "nonsensitive" => given.get(0).cloned(),
        "issensitive" => Err(Stop::Unknown),
        _ => return None,
    })
}

fn fold(given: &Arguments<'_>, pick: impl Fn(f64, f64) -> f64) -> Outcome {
    let mut best = given.number(0)?;
    for index in 1..given.count() {
        best = pick(best, given.number(index)?);
    }
    Ok(Value::number(best))
}

#[expect(clippy::cast_precision_loss, reason = "Terraform's are longer; what does not fit is not asked for")]
fn parse_int(given: &Arguments<'_>) -> Outcome {
    let base = u32::try_from(given.integer(1)?).ok().filter(|base| (2..=36).contains(base)).ok_or(Stop::Wrong)?;
    i64::from_str_radix(&given.text(0)?, base).map(|number| Value::number(number as f64)).map_err(|_| Stop::Wrong)
}

fn convert(given: &Arguments<'_>, into: impl Fn(&Value) -> Option<Value>) -> Outcome {
    match given.get(0)? {
        Value::Null => Ok(Value::Null),
        value => into(value).ok_or(Stop::Wrong),
    }
}

fn to_string(given: &Arguments<'_>) -> Outcome {
    match given.get(0)? {
        Value::Null => Ok(Value::Null),
        // It is a text already, and stays one of which parts are known.
        value @ Value::Encoded(_) => Ok(value.clone()),
        value => text_of(value).map(Value::Text),
    }
}
