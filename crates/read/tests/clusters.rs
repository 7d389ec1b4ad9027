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

/// Test data of a package looks like a cluster, and nobody reads it; but a kustomization may take a file of a package, Flux
/// may be sent there, and a directory without a kustomization holds all that is below it.
#[test]
fn packages_of_other_tools_are_read_only_when_somebody_asks() {
    let takes =
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../../node_modules/x/app]\n";
    let ways: [(&str, &str, &str, bool); 5] = [
        ("nobody", "clusters/one/kustomization.yaml", "resources: []\n", false),
        ("a kustomization", "clusters/one/kustomization.yaml", takes, true),
        ("a path", "clusters/one/app.yaml", &kustomization("app", "./node_modules/x/app", ""), true),
        ("a path to all of them", "clusters/one/app.yaml", &kustomization("app", "./node_modules", ""), true),
        ("a directory above", "clusters/one/app.yaml", &kustomization("app", "./", ""), true),
    ];
    for (who, path, text, is_read) in ways {
        let tree = tempfile::tempdir().unwrap();
        write(
            tree.path(),
            "clusters/one/flux-system/gotk-sync.yaml",
            &kustomization("flux-system", "./clusters/one", ""),
        );
        write(tree.path(), path, text);
        write(tree.path(), "node_modules/x/app/kustomization.yaml", "resources: [config.yaml]\n");
        let config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\n  namespace: shop\n";
        write(tree.path(), "node_modules/x/app/config.yaml", config);
        let other = kustomization("flux-system", "./node_modules/x/test", "");
        write(tree.path(), "node_modules/x/test/flux-system/gotk-sync.yaml", &other);
        let reading = coldstart_read::read(tree.path()).unwrap();
        assert_eq!(reading.clusters.len(), 1, "{who}");
        let mut needs = reading.clusters[0].needs.iter().map(|need| &need.capability);
        let needs_shop = needs.any(|need| need.kind == CapabilityKind::Namespace && need.name == "shop");
        assert_eq!(needs_shop, is_read, "{who}");
    }
}
