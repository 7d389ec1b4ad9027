//! The inputs of a ResourceSet: its own, and those of providers whose values stand in the repository.

use model::{Unseen, WhyUnseen};
use serde_json::{Map, Value};
use source::Span;
use yaml::{Budget, Cost, EcoString, Node, ScalarKind, Spent};

/// More permutations than these the operator refuses.
const PERMUTATIONS_MAX: usize = 10_000;

#[derive(Debug)]
pub(super) struct Inputs {
    /// One per time that the templates are rendered.
    pub(super) sets: Vec<Value>,
    /// False when the ResourceSet has no inputs at all: its templates are then rendered once, without any.
    pub(super) are_given: bool,
}

/// The inputs of one provider, under the name they are permuted by.
struct Provided {
    name: String,
    sets: Vec<Map<String, Value>>,
}

pub(super) fn of(
    resource_set: &Node,
    providers: &[Node],
    blind: &mut Vec<(Unseen, WhyUnseen, Span)>,
    budget: &mut Budget,
) -> Result<Inputs, Spent> {
    let Some(spec) = resource_set.get("spec") else { return Ok(Inputs { sets: Vec::new(), are_given: false }) };
    budget.spend(spec.get("inputs").map_or(Cost::NONE, cost))?;
    let own = spec.items_at("inputs").iter().filter_map(object).collect();
    let mut provided = vec![provided(resource_set, own)];
    let references = spec.items_at("inputsFrom");
    let name = |provider: &Node| provider.text_at(&["metadata", "name"]).unwrap_or_default().to_owned();
    let mut chosen = Vec::new();
    for reference in references {
        budget.spend(Cost::seen(PROVIDER_NODES * providers.len()))?;
        chosen.extend(named(reference, resource_set, providers, blind));
    }
    chosen.sort_by_key(|provider| name(provider));
    chosen.dedup_by_key(|provider| name(provider));
    for provider in chosen {
        match provider.text_at(&["spec", "type"]) {
            Some("Static") => {
                budget.spend(provider.at(&["spec", "defaultValues"]).map_or(Cost::NONE, cost))?;
                let values = provider.at(&["spec", "defaultValues"]).and_then(object).unwrap_or_default();
                provided.push(self::provided(provider, vec![values]));
            }
            other => {
                let why = WhyUnseen::InputsFromOutside { provider_type: other.map(EcoString::from) };
                blind.push((Unseen::InputProvider { name: name_of(provider) }, why, provider.span));
            }
        }
    }
    let sets = if spec.text_at(&["inputStrategy", "name"]) == Some("Permute") {
        permuted(&provided, resource_set, blind, budget)?
    } else {
        provided.into_iter().flat_map(|provided| provided.sets).map(Value::Object).collect()
    };
    let are_given = !sets.is_empty() || !references.is_empty();
    let sets = if are_given { sets } else { vec![Value::Null] };
    Ok(Inputs { sets, are_given })
}

/// A provider takes as long to hold against a reference as so many nodes to look at.
const PROVIDER_NODES: usize = 4;

/// What it costs to make inputs of a value.
fn cost(node: &Node) -> Cost {
    match &node.value {
        yaml::Value::Scalar(scalar) => Cost::made(2, scalar.text.len()),
        yaml::Value::Map(map) => map
            .iter()
            .fold(Cost::made(2, 0), |sum, entry| sum.and(Cost::made(0, entry.key.len())).and(cost(&entry.value))),
        yaml::Value::Seq(items) => items.iter().fold(Cost::made(2, 0), |sum, item| sum.and(cost(item))),
    }
}

/// As above, of one that was made.
fn cost_of(value: &Value) -> Cost {
    match value {
        Value::String(text) => Cost::made(2, text.len()),
        Value::Object(map) => {
            map.iter().fold(Cost::made(2, 0), |sum, (key, value)| sum.and(Cost::made(0, key.len())).and(cost_of(value)))
        }
        Value::Array(items) => items.iter().fold(Cost::made(2, 0), |sum, item| sum.and(cost_of(item))),
        Value::Null | Value::Bool(_) | Value::Number(_) => Cost::made(2, 0),
    }
}

/// The providers that an entry of `inputsFrom` means; a name that none has is a blind spot.
fn named<'all>(
    reference: &Node,
    resource_set: &Node,
    providers: &'all [Node],
    blind: &mut Vec<(Unseen, WhyUnseen, Span)>,
) -> Vec<&'all Node> {
    let namespace = |node: &Node| node.text_at(&["metadata", "namespace"]).unwrap_or_default().to_owned();
    let name = |node: &Node| node.text_at(&["metadata", "name"]).unwrap_or_default().to_owned();
    let wanted = reference.text_at(&["name"]);
    let found: Vec<&Node> = providers
        .iter()
        .filter(|provider| namespace(provider) == namespace(resource_set))
        .filter(|provider| match (wanted, reference.get("selector")) {
            (Some(wanted), _) => name(provider) == wanted,
            (None, Some(selector)) => selects(selector, provider),
            (None, None) => false,
        })
        .collect();
    if found.is_empty() {
        let named = wanted.map(|name| Unseen::InputProvider { name: Some(name.into()) });
        let what = named.unwrap_or(Unseen::SelectedInputProviders);
        blind.push((what, WhyUnseen::NoInputProvider, reference.span));
    }
    found
}

fn selects(selector: &Node, provider: &Node) -> bool {
    let label = |key: &str| provider.text_at(&["metadata", "labels", key]);
    let labels = selector.get("matchLabels").map(Node::entries).unwrap_or_default();
    let by_label = labels.iter().all(|entry| label(&entry.key).is_some() && label(&entry.key) == entry.value.text());
    by_label
        && selector.items_at("matchExpressions").iter().all(|expression| {
            let value = label(expression.text_at(&["key"]).unwrap_or_default());
            let listed = expression.items_at("values").iter().any(|item| value.is_some() && item.text() == value);
            match expression.text_at(&["operator"]) {
                Some("In") => listed,
                Some("NotIn") => !listed,
                Some("Exists") => value.is_some(),
                Some("DoesNotExist") => value.is_none(),
                _ => false,
            }
        })
}

fn provided(provider: &Node, mut sets: Vec<Map<String, Value>>) -> Provided {
    let text = |path: &[&str]| Value::from(provider.text_at(path).unwrap_or_default());
    let about: Map<String, Value> = [
        ("apiVersion", text(&["apiVersion"])),
        ("kind", text(&["kind"])),
        ("name", text(&["metadata", "name"])),
        ("namespace", text(&["metadata", "namespace"])),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), value))
    .collect();
    for set in &mut sets {
        set.insert("provider".to_owned(), Value::Object(about.clone()));
    }
    Provided { name: normalised(provider.text_at(&["metadata", "name"]).unwrap_or_default()), sets }
}

/// Every combination of one set of each provider, each under its provider's name. The last provider changes fastest.
fn permuted(
    provided: &[Provided],
    resource_set: &Node,
    blind: &mut Vec<(Unseen, WhyUnseen, Span)>,
    budget: &mut Budget,
) -> Result<Vec<Value>, Spent> {
    let keep_empty = resource_set.at(&["spec", "inputStrategy", "includeEmptyProviders"]).and_then(Node::as_bool);
    let provided: Vec<&Provided> =
        provided.iter().filter(|provided| keep_empty == Some(true) || !provided.sets.is_empty()).collect();
    let count = provided.iter().map(|provided| provided.sets.len()).fold(1, usize::saturating_mul);
    if count > PERMUTATIONS_MAX {
        let why = WhyUnseen::TooManyPermutations { max: PERMUTATIONS_MAX };
        blind.push((Unseen::ResourceSet { name: name_of(resource_set) }, why, resource_set.span));
    }
    if provided.is_empty() || count > PERMUTATIONS_MAX {
        return Ok(Vec::new());
    }
    for provided in &provided {
        // Each set is in as many permutations as there are of the others.
        let cost = provided.sets.iter().flat_map(Map::values).fold(Cost::NONE, |sum, value| sum.and(cost_of(value)));
        budget.spend(cost.times(count / provided.sets.len().max(1)))?;
    }
    let permutations = (0..count)
        .map(|number| {
            let mut set = Map::new();
            let mut left = number;
            let mut names = Vec::new();
            for provided in provided.iter().rev() {
                let at = left % provided.sets.len();
                left /= provided.sets.len();
                set.insert(provided.name.clone(), Value::Object(provided.sets[at].clone()));
                names.push(format!("{}={at}", provided.name));
            }
            names.reverse();
            set.insert("id".to_owned(), adler32(names.join("/").as_bytes()).to_string().into());
            Value::Object(set)
        })
        .collect();
    Ok(permutations)
}

fn adler32(bytes: &[u8]) -> u32 {
    let (low, high) = bytes.iter().fold((1_u32, 0_u32), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    (high << 16) | low
}

/// A name that templates can use: words of lower case letters and digits, with `_` between.
fn normalised(name: &str) -> String {
    let words = name.to_lowercase();
    let words = words.split(|character: char| character.is_whitespace() || character.is_ascii_punctuation());
    let words = words.map(|word| word.chars().filter(char::is_ascii_alphanumeric).collect::<String>());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

fn object(node: &Node) -> Option<Map<String, Value>> {
    node.as_map().map(|map| map.iter().map(|entry| (entry.key.to_string(), json(&entry.value))).collect())
}

pub(crate) fn json(node: &Node) -> Value {
    if let Some(map) = object(node) {
        return Value::Object(map);
    }
    if let Some(items) = node.as_seq() {
        return items.iter().map(json).collect();
    }
    let Some(scalar) = node.as_scalar() else { return Value::Null };
    match scalar.kind {
        ScalarKind::Null => Value::Null,
        ScalarKind::Bool => node.as_bool().into(),
        ScalarKind::Int => node.as_int().map_or_else(|| scalar.text.as_str().into(), Value::from),
        ScalarKind::Float => scalar.text.parse::<f64>().map_or_else(|_| scalar.text.as_str().into(), Value::from),
        ScalarKind::Str => scalar.text.as_str().into(),
    }
}

fn name_of(object: &Node) -> Option<EcoString> {
    object.text_at(&["metadata", "name"]).map(EcoString::from)
}
