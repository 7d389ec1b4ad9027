//! Conditions to wait for. Each says what stands in its way while it does not hold.

use std::fmt;

use serde_json::Value;

use crate::object::{condition, conditions};

type Test = dyn Fn(Option<&Value>) -> Result<(), String> + Send + Sync;

/// What an object is to be like before a wait ends.
pub struct Until {
    wanted: String,
    test: Box<Test>,
}

impl Until {
    /// A condition of your own: `test` gets the object, or `None` where there is none, and says what is missing.
    pub fn new(
        wanted: impl Into<String>,
        test: impl Fn(Option<&Value>) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Self { wanted: wanted.into(), test: Box::new(test) }
    }

    /// The object has what it needs to work: its Ready (or Available, Complete, Established) condition for the current
    /// generation, or all its replicas for workloads.
    pub fn ready() -> Self {
        Self::new("ready", |object| ready(object.ok_or_else(absent)?))
    }

    /// `Ready` says no, for the current generation, and nothing is under way any more.
    pub fn failed() -> Self {
        Self::new("failed", |object| {
            let object = object.ok_or_else(absent)?;
            current(object)?;
            let ready = condition(object, "Ready").ok_or("no Ready condition")?;
            if ready.status == "False" && ready.reason != "DependencyNotReady" {
                return Ok(());
            }
            Err(say(&[ready]))
        })
    }

    /// One condition has this status.
    pub fn condition(kind: &str, status: &str) -> Self {
        let (kind, status) = (kind.to_owned(), status.to_owned());
        Self::new(format!("{kind}={status}"), move |object| {
            let object = object.ok_or_else(absent)?;
            match condition(object, &kind) {
                Some(condition) if condition.status == status => Ok(()),
                Some(condition) => Err(say(&[condition])),
                None if status == "False" => Err(format!("no {kind} condition")),
                None => Err(format!("no {kind} condition; {}", say(&conditions(object)))),
            }
        })
    }

    /// One condition gives this reason, whatever its status.
    pub fn reason(kind: &str, reason: &str) -> Self {
        let (kind, reason) = (kind.to_owned(), reason.to_owned());
        Self::new(format!("{kind} with reason {reason}"), move |object| {
            let object = object.ok_or_else(absent)?;
            match condition(object, &kind) {
                Some(condition) if condition.reason == reason => Ok(()),
                Some(condition) => Err(say(&[condition])),
                None => Err(format!("no {kind} condition; {}", say(&conditions(object)))),
            }
        })
    }

    pub fn exists() -> Self {
        Self::new("there", |object| object.map(|_| ()).ok_or_else(absent))
    }

    pub fn gone() -> Self {
        Self::new("gone", |object| match object {
            None => Ok(()),
            Some(object) => Err(format!(
                "still there; finalizers {}; {}",
                object["metadata"]["finalizers"],
                say(&conditions(object))
            )),
        })
    }

    /// A field, by JSON pointer, has this value.
    pub fn field(pointer: &str, value: impl Into<Value>) -> Self {
        let (pointer, value) = (pointer.to_owned(), value.into());
        Self::new(format!("{pointer}={value}"), move |object| {
            let found = object.ok_or_else(absent)?.pointer(&pointer);
            if found == Some(&value) {
                return Ok(());
            }
            Err(format!("{pointer} is {}", found.unwrap_or(&Value::Null)))
        })
    }

    pub fn wanted(&self) -> &str {
        &self.wanted
    }

    /// Does it hold? If not: why not.
    pub fn test(&self, object: Option<&Value>) -> Result<(), String> {
        (self.test)(object)
    }
}

impl fmt::Debug for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Until").field(&self.wanted).finish()
    }
}

fn absent() -> String {
    "there is no such object".to_owned()
}

fn current(object: &Value) -> Result<(), String> {
    let generation = object["metadata"]["generation"].as_i64();
    let observed = object["status"]["observedGeneration"].as_i64();
    match (generation, observed) {
        (Some(generation), Some(observed)) if observed < generation => {
            Err(format!("generation {generation} was not looked at yet; {}", say(&conditions(object))))
        }
        _ => Ok(()),
    }
}

fn ready(object: &Value) -> Result<(), String> {
    current(object)?;
    let status = &object["status"];
    let number = |value: &Value| value.as_i64().unwrap_or(0);
    let (have, want) = match object["kind"].as_str().unwrap_or_default() {
        "Deployment" | "StatefulSet" | "ReplicaSet" => {
            let want = object["spec"]["replicas"].as_i64().unwrap_or(1);
            // A workload that was just created carries no status at all.
            status["observedGeneration"].as_i64().ok_or("not looked at yet")?;
            let updated = status["updatedReplicas"].as_i64().unwrap_or(want);
            (number(&status["readyReplicas"]).min(updated), want)
        }
        "DaemonSet" => {
            status["observedGeneration"].as_i64().ok_or("not looked at yet")?;
            (number(&status["numberReady"]), number(&status["desiredNumberScheduled"]))
        }
        _ => return one_of(object, &["Ready", "Available", "Complete", "Established"]),
    };
    if have >= want { Ok(()) } else { Err(format!("{have} of {want} ready; {}", say(&conditions(object)))) }
}

fn one_of(object: &Value, kinds: &[&str]) -> Result<(), String> {
    let all = conditions(object);
    let held = all.iter().any(|condition| kinds.contains(&condition.kind.as_str()) && condition.status == "True");
    if held { Ok(()) } else { Err(say(&all)) }
}

fn say(conditions: &[crate::Condition]) -> String {
    if conditions.is_empty() {
        return "no conditions".to_owned();
    }
    let say = |c: &crate::Condition| format!("{}={} {}: {}", c.kind, c.status, c.reason, c.message);
    conditions.iter().map(say).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Until;

    #[test]
    fn a_stale_ready_is_not_ready() {
        let object = json!({
            "kind": "Kustomization",
            "metadata": {"generation": 2},
            "status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]},
        });
        assert!(Until::ready().test(Some(&object)).unwrap_err().starts_with("generation 2 was not looked at yet"));
    }

    #[test]
    fn a_deployment_is_ready_when_its_new_pods_are() {
        let mut object = json!({
            "kind": "Deployment", "metadata": {"generation": 1}, "spec": {"replicas": 2},
            "status": {"observedGeneration": 1, "readyReplicas": 2, "updatedReplicas": 1},
        });
        assert!(Until::ready().test(Some(&object)).is_err());
        object["status"]["updatedReplicas"] = 2.into();
        assert_eq!(Until::ready().test(Some(&object)), Ok(()));
    }

    #[test]
    fn the_reason_says_what_stands_in_the_way() {
        let object = json!({"status": {"conditions": [
            {"type": "Ready", "status": "False", "reason": "HealthCheckFailed", "message": "timeout"}]}});
        assert_eq!(Until::ready().test(Some(&object)).unwrap_err(), "Ready=False HealthCheckFailed: timeout");
        assert_eq!(Until::gone().test(None), Ok(()));
    }
}
