//! Nodes that kwok plays.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::{Lab, LabError, Object, Until};

const READY_WITHIN: Duration = Duration::from_secs(20);

impl Lab {
    /// Adds a node and waits until it is ready. Roles become `node-role.kubernetes.io/ROLE` labels; a taint is
    /// `KEY=VALUE:EFFECT` or `KEY:EFFECT`.
    pub fn add_node(
        &self,
        name: &str,
        roles: &[&str],
        labels: &[(&str, &str)],
        taints: &[&str],
    ) -> Result<(), LabError> {
        let mut all = Map::new();
        all.insert("kubernetes.io/hostname".to_owned(), name.into());
        all.insert("kubernetes.io/os".to_owned(), "linux".into());
        all.insert("kubernetes.io/arch".to_owned(), "amd64".into());
        for role in roles {
            all.insert(format!("node-role.kubernetes.io/{role}"), "".into());
        }
        for (key, value) in labels {
            all.insert((*key).to_owned(), (*value).into());
        }
        // Plain apply would own the taints and take away what controllers add: create, as a kubelet does.
        let taints: Vec<Value> = taints.iter().filter_map(|taint| read_taint(taint)).collect();
        let node = json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": all},
            "spec": {"taints": taints},
        });
        self.block_on(self.kubernetes.create(&node))?;
        self.wait_for(&Object::node(name), &ready_for_pods(), READY_WITHIN)?;
        Ok(())
    }

    /// Three control planes, which take no ordinary pods, and two workers.
    pub fn add_five_nodes(&self) -> Result<(), LabError> {
        for name in ["cp-1", "cp-2", "cp-3"] {
            self.add_node(name, &["control-plane"], &[], &["node-role.kubernetes.io/control-plane:NoSchedule"])?;
        }
        for name in ["worker-1", "worker-2"] {
            self.add_node(name, &["worker"], &[], &[])?;
        }
        Ok(())
    }
}

/// Ready, and the node controller has taken its `not-ready` taint away, so the scheduler uses it.
fn ready_for_pods() -> Until {
    Until::new("ready for pods", |node| {
        Until::ready().test(node)?;
        let taints = node.and_then(|node| node.pointer("/spec/taints")).and_then(Value::as_array);
        let not_ready = |taint: &&Value| taint["key"] == "node.kubernetes.io/not-ready";
        match taints.into_iter().flatten().find(not_ready) {
            Some(taint) => Err(format!("still has the taint {taint}")),
            None => Ok(()),
        }
    })
}

fn read_taint(taint: &str) -> Option<Value> {
    let (key, effect) = taint.rsplit_once(':')?;
    let (key, value) = key.split_once('=').unwrap_or((key, ""));
    Some(json!({"key": key, "value": value, "effect": effect}))
}
