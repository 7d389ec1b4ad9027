//! Functions on lists and maps.

use std::collections::BTreeMap;

use yaml::EcoString;

use super::{Arguments, Outcome, Stop, text_of, wholes};
use crate::terraform::value::{ITEMS_MAX, Value};

pub(super) fn call(name: &str, given: &Arguments<'_>) -> Option<Outcome> {
    Some(match name {
        "alltrue" => truths(given).map(|truths| Value::Bool(truths.iter().all(|one| *one))),
        "anytrue" => truths(given).map(|truths| Value::Bool(truths.iter().any(|one| *one))),
        "chunklist" => chunks(given),
        "coalesce" => coalesce(given, |value| !matches!(value, Value::Null) && value.as_text() != Some("")),
        "coalescelist" => coalesce(given, |value| value.as_list().is_some_and(|items| !items.is_empty())),
        "compact" => compact(given),
        "concat" => concat(given),
        "contains" => contains(given),
        "element" => element(given),
        "flatten" => flatten(given),
        "index" => index(given),
        "keys" => given.map(0).map(|map| Value::list(map.keys().cloned().map(Value::Text).collect())),
        "values" => given.map(0).map(|map| Value::list(map.values().cloned().collect())),
        "length" => length(given),
        "list" => Ok(Value::list(given.from(0).to_vec())),
        "lookup" => lookup(given),
        "map" => pairs(given),
        "matchkeys" => match_keys(given),
        "merge" => merge(given),
        "one" => one(given),
        "range" => range(given),
        "reverse" => given.list(0).map(|items| Value::list(items.iter().rev().cloned().collect())),
        "slice" => slice(given),
        "sort" => sort(given),
        "sum" => sum(given),
        "tolist" => given.list(0).map(|items| Value::list(items.to_vec())),
        "tomap" => given.get(0).and_then(|value| value.as_map().map(|_| value.clone()).ok_or(Stop::Wrong)),
        "zipmap" => zip(given),
        _ => return None,
    })
}

fn truths(given: &Arguments<'_>) -> Result<Vec<bool>, Stop> {
    wholes(given.list(0)?)?.iter().map(|item| item.to_bool().ok_or(Stop::Wrong)).collect()
}

fn chunks(given: &Arguments<'_>) -> Outcome {
    let (items, size) = (given.list(0)?, given.size(1)?);
    let chunks = items.chunks(if size == 0 { items.len().max(1) } else { size });
    Ok(Value::list(chunks.map(|chunk| Value::list(chunk.to_vec())).collect()))
}

fn coalesce(given: &Arguments<'_>, is_there: impl Fn(&Value) -> bool) -> Outcome {
    for index in 0..given.count() {
        let value = given.get(index)?;
        if is_there(value) {
            return Ok(value.clone());
        }
    }
    Err(Stop::Wrong)
}

fn compact(given: &Arguments<'_>) -> Outcome {
    let items = wholes(given.list(0)?)?;
    let is_there = |item: &&Value| !matches!(item, Value::Null) && item.as_text() != Some("");
    Ok(Value::list(items.iter().filter(is_there).cloned().collect()))
}

fn concat(given: &Arguments<'_>) -> Outcome {
    let mut all = Vec::new();
    for index in 0..given.count() {
        all.extend_from_slice(given.list(index)?);
        if all.len() > ITEMS_MAX {
            return Err(Stop::Unknown);
        }
    }
    Ok(Value::list(all))
}

fn contains(given: &Arguments<'_>) -> Outcome {
    let (items, wanted) = (given.list(0)?, given.get(1)?);
    if items.iter().any(|item| alike(item, wanted)) {
        return Ok(Value::Bool(true));
    }
    wholes(items).map(|_| Value::Bool(false))
}

/// Equal once both are what the other is: a list has one type.
fn alike(a: &Value, b: &Value) -> bool {
    a == b || a.to_text().is_some_and(|text| b.to_text() == Some(text))
}

fn element(given: &Arguments<'_>) -> Outcome {
    let (items, index) = (given.list(0)?, given.integer(1)?);
    let count = i64::try_from(items.len()).ok().filter(|count| *count > 0).ok_or(Stop::Wrong)?;
    let index = usize::try_from(index.rem_euclid(count)).map_err(|_| Stop::Wrong)?;
    items.get(index).cloned().ok_or(Stop::Wrong)
}

fn flatten(given: &Arguments<'_>) -> Outcome {
    fn add(items: &[Value], into: &mut Vec<Value>) -> Result<(), Stop> {
        for item in items {
            match item {
                // How many it is, is not known.
                Value::Unknown => return Err(Stop::Unknown),
                Value::List(list) => add(&list.items, into)?,
                other => into.push(other.clone()),
            }
            if into.len() > ITEMS_MAX {
                return Err(Stop::Unknown);
            }
        }
        Ok(())
    }
    let mut flat = Vec::new();
    add(given.list(0)?, &mut flat)?;
    Ok(Value::list(flat))
}

#[expect(clippy::cast_precision_loss, reason = "lists are short")]
fn count(count: usize) -> Value {
    Value::number(count as f64)
}

fn index(given: &Arguments<'_>) -> Outcome {
    let (items, wanted) = (wholes(given.list(0)?)?, given.get(1)?);
    items.iter().position(|item| alike(item, wanted)).map(count).ok_or(Stop::Wrong)
}

fn length(given: &Arguments<'_>) -> Outcome {
    match given.get(0)? {
        Value::List(list) => Ok(count(list.items.len())),
        Value::Map(_) => given.map(0).map(|map| count(map.len())),
        _ => given.text(0).map(|text| count(text.chars().count())),
    }
}

fn lookup(given: &Arguments<'_>) -> Outcome {
    let (map, key) = (given.get(0)?, given.text(1)?);
    let entries = map.as_map().ok_or(Stop::Wrong)?;
    match entries.get(&key) {
        Some(value) => Ok(value.clone()),
        None if matches!(map, Value::Map(map) if map.is_open) => Err(Stop::Unknown),
        None => given.optional(2).cloned().ok_or(Stop::Wrong),
    }
}

fn pairs(given: &Arguments<'_>) -> Outcome {
    let pair = |pair: &[Value]| Ok((text_of(&pair[0])?, pair[1].clone()));
    let entries = given.from(0).chunks_exact(2).map(pair).collect::<Result<BTreeMap<_, _>, Stop>>();
    entries.map(Value::map)
}

fn match_keys(given: &Arguments<'_>) -> Outcome {
    let (values, keys, wanted) = (given.list(0)?, wholes(given.list(1)?)?, wholes(given.list(2)?)?);
    let is_wanted = |(_, key): &(&Value, &Value)| wanted.iter().any(|one| alike(one, key));
    Ok(Value::list(values.iter().zip(keys).filter(is_wanted).map(|(value, _)| value.clone()).collect()))
}

fn merge(given: &Arguments<'_>) -> Outcome {
    let mut entries: BTreeMap<EcoString, Value> = BTreeMap::new();
    let mut is_open = false;
    for value in given.from(0) {
        match value {
            Value::Null => {}
            Value::Map(map) => {
                is_open |= map.is_open;
                entries.extend(map.entries.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            Value::Unknown => {
                // It may hold any of the keys so far.
                is_open = true;
                for value in entries.values_mut() {
                    *value = Value::Unknown;
                }
            }
            _ => return Err(Stop::Wrong),
        }
        if entries.len() > ITEMS_MAX {
            return Err(Stop::Unknown);
        }
    }
    Ok(if is_open { Value::open_map(entries) } else { Value::map(entries) })
}

fn one(given: &Arguments<'_>) -> Outcome {
    match given.list(0)? {
        [] => Ok(Value::Null),
        [one] => Ok(one.clone()),
        _ => Err(Stop::Wrong),
    }
}

/// Terraform gives at most 1,024.
fn range(given: &Arguments<'_>) -> Outcome {
    const RANGE_MAX: usize = 1024;
    let (start, limit) = match given.count() {
        1 => (0.0, given.number(0)?),
        _ => (given.number(0)?, given.number(1)?),
    };
    let step = match given.count() {
        3 => given.number(2)?,
        _ if limit < start => -1.0,
        _ => 1.0,
    };
    if step == 0.0 || (step < 0.0) != (limit < start) && limit.total_cmp(&start).is_ne() {
        return Err(Stop::Wrong);
    }
    let mut items = Vec::new();
    let mut next = start;
    while (step > 0.0 && next < limit) || (step < 0.0 && next > limit) {
        if items.len() == RANGE_MAX {
            return Err(Stop::Wrong);
        }
        items.push(Value::number(next));
        next += step;
    }
    Ok(Value::list(items))
}

fn slice(given: &Arguments<'_>) -> Outcome {
    given.list(0)?.get(given.size(1)?..given.size(2)?).map(|items| Value::list(items.to_vec())).ok_or(Stop::Wrong)
}

fn sort(given: &Arguments<'_>) -> Outcome {
    let mut texts = wholes(given.list(0)?)?.iter().map(text_of).collect::<Result<Vec<_>, _>>()?;
    texts.sort();
    Ok(Value::list(texts.into_iter().map(Value::Text).collect()))
}

fn sum(given: &Arguments<'_>) -> Outcome {
    let numbers = wholes(given.list(0)?)?.iter().map(|item| item.to_number().ok_or(Stop::Wrong));
    numbers.sum::<Result<f64, _>>().map(Value::number)
}

fn zip(given: &Arguments<'_>) -> Outcome {
    let (keys, values) = (given.list(0)?, given.list(1)?);
    if keys.len() != values.len() {
        return Err(Stop::Wrong);
    }
    let entries = keys.iter().zip(values).map(|(key, value)| Ok((text_of(key)?, value.clone())));
    entries.collect::<Result<BTreeMap<_, _>, Stop>>().map(Value::map)
}
