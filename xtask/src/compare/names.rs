//! Names in the place of numbers: `graph` names components, needs and ties by their place in its lists, and one more
//! component would shift them all.

use serde_json::{Map, Value};

/// The same document with every number that stands for an entry replaced by what names the entry.
pub(super) fn named(mut document: Value) -> Value {
    let clusters = document.get_mut("clusters").and_then(Value::as_array_mut);
    for cluster in clusters.into_iter().flatten() {
        if let Some(cluster) = cluster.as_object_mut() {
            name_cluster(cluster);
        }
    }
    document
}

fn name_cluster(cluster: &mut Map<String, Value>) {
    let components = names(cluster, "components", &["kind", "namespace", "name"]);
    for field in ["tiers", "critical_path"] {
        replace(cluster.get_mut(field), &components);
    }
    for (list, fields) in [
        ("components", &["id", "parent"][..]),
        ("offers", &["by"]),
        ("needs", &["of", "provider"]),
        ("ties", &["from", "to"]),
        ("deadlocks", &["components"]),
    ] {
        replace_in(cluster, list, fields, &components);
    }
    let needs = names(cluster, "needs", &["of", "phase", "capability", "object"]);
    let ties = names(cluster, "ties", &["from", "to", "unknown"]);
    replace_in(cluster, "deadlocks", &["needs"], &needs);
    replace_in(cluster, "deadlocks", &["ties"], &ties);
}

/// What names each entry of a list.
fn names(cluster: &Map<String, Value>, list: &str, fields: &[&str]) -> Vec<String> {
    let entries = cluster.get(list).and_then(Value::as_array);
    let name = |entry: &Value| fields.iter().map(|field| text(&entry[*field])).collect::<Vec<_>>().join(" ");
    entries.into_iter().flatten().map(name).collect()
}

fn replace_in(cluster: &mut Map<String, Value>, list: &str, fields: &[&str], names: &[String]) {
    let entries = cluster.get_mut(list).and_then(Value::as_array_mut);
    for entry in entries.into_iter().flatten() {
        for field in fields {
            replace(entry.get_mut(*field), names);
        }
    }
}

/// A number, or all numbers in a list.
fn replace(value: Option<&mut Value>, names: &[String]) {
    match value {
        Some(Value::Array(entries)) => entries.iter_mut().for_each(|entry| replace(Some(entry), names)),
        Some(value) => {
            let index = value.as_u64().and_then(|number| usize::try_from(number).ok());
            if let Some(name) = index.and_then(|index| names.get(index)) {
                *value = Value::String(name.clone());
            }
        }
        None => {}
    }
}

/// A value in a line: an object of a cluster by its name, a text without its quotes.
pub(super) fn text(value: &Value) -> String {
    let field = |name: &str| value.get(name).and_then(Value::as_str);
    match (field("kind"), field("namespace"), field("name"), value) {
        (Some(kind), Some(namespace), Some(name), _) if value.as_object().is_some_and(|it| it.len() == 3) => {
            format!("{kind} {namespace}/{name}")
        }
        (.., Value::String(text)) => text.clone(),
        (.., Value::Null) => "-".to_owned(),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::named;

    #[test]
    fn numbers_become_the_names_that_they_stand_for() {
        let component = |id: u32, name: &str| json!({"id": id, "kind": "K", "namespace": "n", "name": name, "tier": 1});
        let document = json!({"clusters": [{
            "components": [component(0, "a"), component(1, "b")],
            "tiers": [[0], [1]],
            "ties": [{"from": 1, "to": 0, "unknown": null}],
            "needs": [],
            "deadlocks": [{"components": [1], "needs": [], "ties": [0]}],
        }]});
        let cluster = &named(document)["clusters"][0];
        assert_eq!(cluster["tiers"], json!([["K n a"], ["K n b"]]));
        assert_eq!(cluster["deadlocks"][0], json!({"components": ["K n b"], "needs": [], "ties": ["K n b K n a -"]}));
        assert_eq!(cluster["components"][0]["tier"], json!(1), "a number that is a number stays one");
    }
}
