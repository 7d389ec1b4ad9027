//! The lab itself, held against what it promises.

use std::time::Duration;

use coldstart_lab::{self as lab, Object, Until};

const SOON: Duration = Duration::from_secs(30);

#[test]
fn a_deployment_becomes_ready_after_its_delay() {
    let Some(lab) = lab::or_skip("deployment-after-delay") else { return };
    eprintln!("started in {:?}", lab.start_took());
    lab.add_five_nodes().unwrap();
    eprintln!("nodes {:?}", lab.now());
    lab.apply(&deployment("slow", "lab.coldstart.dev/ready-after: 3s")).unwrap();
    lab.apply(&deployment("plain", "a: b")).unwrap();
    let start = lab.now();
    lab.wait_for(&Object::deployment("default", "plain"), &Until::ready(), SOON).unwrap();
    eprintln!("plain {:?}", lab.now() - start);
    lab.wait_for(&Object::deployment("default", "slow"), &Until::ready(), SOON).unwrap();
    eprintln!("slow {:?}", lab.now() - start);
    if let Ok(s) = std::env::var("LAB_HOLD") {
        eprintln!("{}", lab.kubeconfig().display());
        std::thread::sleep(Duration::from_secs(s.parse().unwrap()));
    }
}

fn deployment(name: &str, annotation: &str) -> String {
    format!(
        "
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: default}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata:
      labels: {{app: {name}}}
      annotations: {{{annotation}}}
    spec:
      containers: [{{name: main, image: example.org/main:1}}]
"
    )
}
