//! Functions between values and texts that hold them.

use source::FileId;
use yaml::Limits;

use super::{Arguments, Outcome, Stop};
use crate::terraform::value::Value;

pub(super) fn call(name: &str, given: &Arguments<'_>) -> Option<Outcome> {
    Some(match name {
        // Parts may be unknown: what is known of it is worth keeping.
        "jsonencode" | "yamlencode" => match given.optional(0) {
            Some(value) => Ok(Value::encoded(vec![value.clone()])),
            None => Err(Stop::Wrong),
        },
        "jsondecode" => decode(given, |text| Some(Value::of_json(&serde_json::from_str(text).ok()?))),
        "yamldecode" => decode(given, |text| match documents(text).as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        }),
        _ => return None,
    })
}

fn decode(given: &Arguments<'_>, read: impl Fn(&str) -> Option<Value>) -> Outcome {
    match given.get(0)? {
        Value::Encoded(held) => match held.items.as_slice() {
            [one] => Ok(one.clone()),
            _ => Err(Stop::Unknown),
        },
        Value::Text(text) => read(text).ok_or(Stop::Wrong),
        _ => Err(Stop::Wrong),
    }
}

/// The documents that a text of YAML holds.
pub(crate) fn documents(text: &str) -> Vec<Value> {
    let parsed = yaml::parse(FileId::GENERATED, text, Limits::default());
    parsed.iter().filter_map(|document| document.root.as_ref()).map(Value::of_node).collect()
}
