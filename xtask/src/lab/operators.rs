//! What operators would do. A Kustomization that waits for an object that an operator makes, or for a status that it
//! writes, would wait for ever in a lab, where operators are stand-ins: so the supervisor does both, once somebody waits.

use anyhow::Result;
use lab::{Lab, Object, condition};
use serde_json::{Map, Value, json};

/// One look at what is waited for, and what there is to do about it.
pub(crate) fn play(lab: &Lab, pending: &mut Vec<Object>) -> Result<()> {
    let kustomizations = lab.list("kustomize.toolkit.fluxcd.io/v1", "Kustomization", None)?;
    let mut waited_for = Vec::new();
    for kustomization in kustomizations.iter().filter(|kustomization| is_at_its_health_checks(kustomization)) {
        let checks = kustomization["spec"]["healthChecks"].as_array();
        waited_for.extend(checks.into_iter().flatten().filter_map(checked));
        for expression in kustomization["spec"]["healthCheckExprs"].as_array().into_iter().flatten() {
            write_status(lab, expression)?;
        }
    }
    write_secrets(lab)?;
    let mut rest = Vec::new();
    for object in pending.drain(..) {
        if !waited_for.contains(&object) || lab.get(&object).is_ok_and(|found| found.is_some()) {
            rest.push(object);
        } else if let Err(error) = lab.apply_value(&stand_in(&object)) {
            // Its kind or its namespace may only come later.
            println!("{object} is not made yet: {error}");
            rest.push(object);
        } else {
            println!("made {object}, as its operator would");
        }
    }
    *pending = rest;
    Ok(())
}

/// Gives every object of the kind that has no status the conditions that the expression asks for.
fn write_status(lab: &Lab, expression: &Value) -> Result<()> {
    let text = |key: &str| expression[key].as_str().unwrap_or_default();
    let condition = |kind: &str| {
        json!({
            "type": kind, "status": "True", "reason": "StandIn", "message": "the lab says so",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    };
    let conditions: Vec<Value> = condition_types(text("current")).into_iter().map(condition).collect();
    for found in lab.list(text("apiVersion"), text("kind"), None)? {
        let Some(object) = Object::of(&found).filter(|_| found["status"].is_null() && !conditions.is_empty()) else {
            continue;
        };
        lab.patch_status(&object, &json!({ "conditions": conditions }))?;
        println!("wrote the status of {object}, as its operator would");
    }
    Ok(())
}

/// The Secret of every ExternalSecret, with the keys it names.
fn write_secrets(lab: &Lab) -> Result<()> {
    // Served only once the stand-in of external-secrets is there.
    for found in lab.list("external-secrets.io/v1", "ExternalSecret", None).unwrap_or_default() {
        let Some(owner) = Object::of(&found) else { continue };
        let name = found.pointer("/spec/target/name").and_then(Value::as_str).unwrap_or(&owner.name);
        let secret = Object::secret(owner.namespace.as_deref().unwrap_or_default(), name);
        if lab.get(&secret)?.is_some() {
            continue;
        }
        let templated = found.pointer("/spec/target/template/data").and_then(Value::as_object);
        let plain = found.pointer("/spec/data").and_then(Value::as_array);
        let keys = templated.into_iter().flat_map(|data| data.keys().map(String::as_str));
        let keys = keys.chain(plain.into_iter().flatten().filter_map(|entry| entry["secretKey"].as_str()));
        let data: Map<String, Value> = keys.map(|key| (key.to_owned(), "stand-in".into())).collect();
        lab.apply_value(&json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": secret.name, "namespace": secret.namespace},
            "stringData": data,
        }))?;
        println!("made {secret}, as external-secrets would");
    }
    Ok(())
}

/// The condition types that a CEL expression compares with: the word after `type ==`.
fn condition_types(expression: &str) -> Vec<&str> {
    expression.split(".type").skip(1).filter_map(compared_with).collect()
}

fn compared_with(rest: &str) -> Option<&str> {
    let rest = rest.trim_start().strip_prefix("==")?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    rest[1..].split(quote).next()
}

fn is_at_its_health_checks(kustomization: &Value) -> bool {
    condition(kustomization, "Reconciling").is_some_and(|found| found.message.starts_with("Running health checks"))
}

/// What an entry of `healthChecks` names, unless Flux or a chart makes it.
pub(crate) fn checked(check: &Value) -> Option<Object> {
    let text = |key: &str| check[key].as_str();
    let group = text("apiVersion")?.split_once('/').map_or("", |(group, _)| group);
    let object = Object::new(text("apiVersion")?, text("kind")?, text("namespace")?, text("name")?);
    (!group.ends_with(".fluxcd.io")).then_some(object)
}

fn stand_in(object: &Object) -> Value {
    let Object { api_version, kind, namespace, name } = object;
    let mut made = json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
    });
    let labels = json!({"app.kubernetes.io/name": name});
    let pod = json!({
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "main", "image": "stand-in.example.org/operated:1"}]},
    });
    match kind.as_str() {
        "Deployment" | "DaemonSet" => made["spec"] = json!({"selector": {"matchLabels": labels}, "template": pod}),
        "StatefulSet" => {
            made["spec"] = json!({"selector": {"matchLabels": labels}, "serviceName": name, "template": pod});
        }
        _ => {}
    }
    made
}

#[cfg(test)]
mod tests {
    use super::condition_types;

    #[test]
    fn the_conditions_of_an_expression_are_found() {
        let expression = "status.conditions.filter(e, e.type == 'Programmed').all(e, e.status == 'True')";
        assert_eq!(condition_types(expression), ["Programmed"]);
        assert_eq!(condition_types(r#"a.exists(e, e.type=="A") && b.exists(e, e.type == "B")"#), ["A", "B"]);
        assert!(condition_types("status.phase == 'Bound'").is_empty());
    }
}
