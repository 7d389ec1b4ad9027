//! Several clusters of one repository.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::fs;
use std::path::Path;

use model::CapabilityKind;

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn kustomization(name: &str, path: &str, more: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\n  namespace: \
         flux-system\nspec:\n  interval: 10m\n  path: {path}\n  prune: true\n  sourceRef:\n    kind: GitRepository\n    \
         name: flux-system\n{more}"
    )
}

/// Both apply one directory and say the same about it, each in a file of its own.
#[test]
fn what_clusters_share_still_points_at_their_own_files() {
    let tree = tempfile::tempdir().unwrap();
    for cluster in ["one", "two"] {
        let directory = format!("clusters/{cluster}");
        let root = kustomization("flux-system", &format!("./{directory}"), "");
        write(tree.path(), &format!("{directory}/flux-system/gotk-sync.yaml"), &root);
        let app = kustomization("app", "./app", "  targetNamespace: web\n");
        write(tree.path(), &format!("{directory}/app.yaml"), &app);
    }
    write(tree.path(), "app/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\ndata:\n  a: b\n");
    let reading = coldstart_read::read(tree.path()).unwrap();
    let places: Vec<(&str, &str)> = reading
        .clusters
        .iter()
        .flat_map(|cluster| cluster.needs.iter().map(move |need| (cluster, need)))
        .filter(|(_, need)| need.capability.kind == CapabilityKind::Namespace && need.capability.name == "web")
        .map(|(cluster, need)| (cluster.name.as_str(), reading.repository.path(need.at.file).unwrap()))
        .collect();
    assert_eq!(places, [("clusters/one", "clusters/one/app.yaml"), ("clusters/two", "clusters/two/app.yaml")]);
}

/// Test data of a package looks like a cluster; a kustomization may still take a file of it.
#[test]
fn packages_of_other_tools_are_read_only_when_somebody_asks() {
    let tree = tempfile::tempdir().unwrap();
    let package = "ansible/ansible_collections/community/kubernetes/tests";
    let root = kustomization("flux-system", "./clusters/one", "");
    write(tree.path(), "clusters/one/flux-system/gotk-sync.yaml", &root);
    let takes = format!(
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../../{package}/config.yaml]\n"
    );
    write(tree.path(), "clusters/one/kustomization.yaml", &takes);
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\n  namespace: default\n";
    write(tree.path(), &format!("{package}/config.yaml"), config);
    let other = kustomization("flux-system", &format!("./{package}"), "");
    write(tree.path(), &format!("{package}/flux-system/gotk-sync.yaml"), &other);
    let reading = coldstart_read::read(tree.path()).unwrap();
    let clusters: Vec<(&str, usize)> =
        reading.clusters.iter().map(|cluster| (cluster.name.as_str(), cluster.components[0].objects)).collect();
    assert_eq!(clusters, [("clusters/one", 1)]);
}
