//! Functions on sets: lists in order, each value once.

use std::collections::BTreeMap;

use yaml::EcoString;

use super::{Arguments, Outcome, Stop, wholes};
use crate::terraform::value::{ITEMS_MAX, Value};

pub(super) fn call(name: &str, given: &Arguments<'_>) -> Option<Outcome> {
    Some(match name {
        "toset" => given.list(0).and_then(wholes).map(set),
        "setunion" => union(given),
        "setintersection" => between(given, |rest, one| rest.iter().all(|other| other.contains(one))),
        "setsubtract" => between(given, |rest, one| !rest.iter().any(|other| other.contains(one))),
        "setproduct" => product(given),
        "distinct" => given.list(0).and_then(wholes).map(|items| Value::list(distinct(items))),
        "transpose" => transpose(given),
        _ => return None,
    })
}

/// Sorted as Terraform goes over a set: numbers by size, texts by their bytes.
pub(crate) fn set(items: &[Value]) -> Value {
    let mut items = distinct(items);
    items.sort_by(|a, b| match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.total_cmp(b),
        _ => a.to_text().cmp(&b.to_text()),
    });
    Value::list(items)
}

fn distinct(items: &[Value]) -> Vec<Value> {
    let mut known = std::collections::BTreeSet::new();
    items.iter().filter(|item| known.insert(item.to_json().to_string())).cloned().collect()
}

fn union(given: &Arguments<'_>) -> Outcome {
    let mut all = Vec::new();
    for index in 0..given.count() {
        all.extend_from_slice(wholes(given.list(index)?)?);
    }
    Ok(set(&all))
}

fn between(given: &Arguments<'_>, keep: impl Fn(&[&[Value]], &Value) -> bool) -> Outcome {
    let first = wholes(given.list(0)?)?;
    let rest = (1..given.count()).map(|index| wholes(given.list(index)?)).collect::<Result<Vec<_>, _>>()?;
    if rest.iter().map(|other| other.len()).sum::<usize>().saturating_mul(first.len()) > ITEMS_MAX * 64 {
        return Err(Stop::Unknown);
    }
    Ok(set(&first.iter().filter(|one| keep(&rest, one)).cloned().collect::<Vec<_>>()))
}

fn product(given: &Arguments<'_>) -> Outcome {
    let lists = (0..given.count()).map(|index| given.list(index)).collect::<Result<Vec<_>, _>>()?;
    let size = lists.iter().try_fold(1_usize, |size, list| size.checked_mul(list.len()));
    if size.is_none_or(|size| size > ITEMS_MAX) || lists.len() > 16 {
        return Err(Stop::Unknown);
    }
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for list in lists {
        let longer = |row: &Vec<Value>| {
            let row = row.clone();
            list.iter().map(move |item| row.iter().cloned().chain([item.clone()]).collect())
        };
        rows = rows.iter().flat_map(longer).collect();
    }
    Ok(Value::list(rows.into_iter().map(Value::list).collect()))
}

fn transpose(given: &Arguments<'_>) -> Outcome {
    let mut turned: BTreeMap<EcoString, Vec<Value>> = BTreeMap::new();
    for (key, values) in given.map(0)? {
        for value in values.as_list().ok_or(Stop::Unknown)? {
            turned.entry(super::text_of(value)?).or_default().push(Value::Text(key.clone()));
        }
    }
    Ok(Value::map(turned.into_iter().map(|(key, values)| (key, Value::list(values))).collect()))
}
