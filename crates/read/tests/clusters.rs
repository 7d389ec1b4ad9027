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

/// What is read as clusters, of files that are written in this order.
fn clusters(files: &[(&str, String)]) -> Vec<(String, Vec<String>)> {
    let tree = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(tree.path(), path, text);
    }
    let names = |cluster: &model::Cluster| {
        let components = cluster.components.iter().map(|component| component.object.name.to_string());
        (cluster.name.clone(), components.collect())
    };
    coldstart_read::read(tree.path()).unwrap().clusters.iter().map(names).collect()
}

fn directories(files: &[(&str, String)]) -> Vec<String> {
    clusters(files).into_iter().map(|(directory, _)| directory).collect()
}

fn lists(resources: &str) -> String {
    format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: {resources}\n")
}

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: some\n  namespace: default\ndata:\n  a: b\n";

/// Their path takes in the whole tree, the entry point and each other; all that they want there is a component.
#[test]
fn children_that_are_all_components_hide_no_cluster() {
    let child = |name: &str| kustomization(name, "./kubernetes", "  components: [./components/database]\n");
    let entry = |cluster: &str| kustomization("apps", &format!("./kubernetes/clusters/{cluster}/apps"), "");
    let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [config.yaml]\n";
    let files = [
        ("kubernetes/kustomization.yaml", lists("[]")),
        ("kubernetes/components/database/kustomization.yaml", component.to_owned()),
        ("kubernetes/components/database/config.yaml", CONFIG.to_owned()),
        ("kubernetes/clusters/north/start/entry.yaml", entry("north")),
        ("kubernetes/clusters/north/apps/one.yaml", child("one")),
        ("kubernetes/clusters/north/apps/two.yaml", child("two")),
        ("kubernetes/clusters/south/start/entry.yaml", entry("south")),
        ("kubernetes/clusters/south/apps/three.yaml", kustomization("three", "./kubernetes/components/database", "")),
    ];
    assert_eq!(directories(&files), ["kubernetes/clusters/north/start", "kubernetes/clusters/south/start"]);
    // The same where the one cluster is declared.
    let mut files = files.to_vec();
    let root = kustomization("flux-system", "./kubernetes/clusters/north/start", "");
    files.push(("kubernetes/clusters/north/start/root.yaml", root));
    assert_eq!(directories(&files), ["kubernetes/clusters/north/start", "kubernetes/clusters/south/start"]);
}

/// Files in a directory of that name are applied before Flux starts; one of them may be what Flux starts from.
#[test]
fn a_cluster_may_begin_in_a_directory_called_bootstrap() {
    let files = [
        ("clusters/main/bootstrap/entry.yaml", kustomization("apps", "./clusters/main/apps", "")),
        ("clusters/main/apps/one/ks.yaml", kustomization("one", "./apps/one", "")),
        ("clusters/main/apps/two/ks.yaml", kustomization("two", "./apps/two", "")),
        ("apps/one/config.yaml", CONFIG.to_owned()),
        ("apps/two/config.yaml", CONFIG.to_owned()),
    ];
    assert_eq!(directories(&files), ["clusters/main/bootstrap"]);
}

/// Nobody bootstrapped the second one yet.
#[test]
fn a_second_cluster_may_apply_what_the_first_one_does() {
    let files = [
        ("clusters/one/root.yaml", kustomization("flux-system", "./clusters/one", "")),
        ("clusters/one/apps.yaml", kustomization("apps", "./apps", "")),
        ("clusters/two/apps.yaml", kustomization("apps", "./apps", "")),
        ("apps/kustomization.yaml", lists("[web/ks.yaml]")),
        ("apps/web/ks.yaml", kustomization("web", "./apps/web/app", "")),
        ("apps/web/app/config.yaml", CONFIG.to_owned()),
        ("apps/old/ks.yaml", kustomization("old", "./apps/web/app", "")),
    ];
    assert_eq!(directories(&files), ["clusters/one", "clusters/two"]);
}

/// A copy that nobody lists lies beside what the Kustomization applies.
#[test]
fn what_a_cluster_switched_off_is_no_cluster() {
    let red = || kustomization("red", "./apps/red/app", "  dependsOn:\n    - name: nothing\n");
    let files = [
        ("cluster/sync.yaml", kustomization("flux-system", "./cluster", "")),
        ("cluster/apps.yaml", kustomization("apps", "./apps", "")),
        ("apps/kustomization.yaml", lists("[config.yaml] # red/ks.yaml")),
        ("apps/config.yaml", CONFIG.to_owned()),
        ("apps/red/ks.yaml", red()),
        ("apps/red/app/kustomization.yaml", lists("[config.yaml]")),
        ("apps/red/app/config.yaml", CONFIG.to_owned()),
        ("apps/red/app/ks.yaml", red()),
        // One that leads on, too.
        ("apps/blue/ks.yaml", kustomization("blue", "./apps/blue/more", "")),
        ("apps/blue/more/ks.yaml", kustomization("navy", "./apps/red/app", "")),
    ];
    assert_eq!(directories(&files), ["cluster"]);
}

#[test]
fn what_lies_in_an_archive_is_no_cluster() {
    let mut files = vec![
        ("flux/cluster/apps.yaml", kustomization("apps", "./apps", "")),
        ("apps/web/ks.yaml", kustomization("web", "./apps/web/app", "")),
        ("apps/web/app/config.yaml", CONFIG.to_owned()),
        ("archive/old/ks.yaml", kustomization("old", "./apps/old/app", "")),
        ("archive/older/ks.yaml", kustomization("older", "./archive/older/app", "")),
        ("archive/older/app/kustomization.yaml", lists("[config.yaml]")),
        ("archive/older/app/config.yaml", CONFIG.to_owned()),
        ("archive/older/app/ks.yaml", kustomization("older", "./archive/older/app", "")),
    ];
    assert_eq!(directories(&files), ["flux/cluster"]);
    // Where nothing leads on, one that applies a directory of this repository is started by hand.
    files.drain(..2);
    assert_eq!(directories(&files), ["archive/older"]);
}

/// Whatever else is there: the directory that is named begins the only cluster, with what its own root says.
#[test]
fn an_entry_point_that_is_named_is_the_only_one() {
    let tree = tempfile::tempdir().unwrap();
    for cluster in ["one", "two"] {
        let variables = format!("  postBuild:\n    substitute:\n      NAME: {cluster}\n");
        let root = kustomization("flux-system", &format!("./clusters/{cluster}"), &variables);
        write(tree.path(), &format!("clusters/{cluster}/flux-system/gotk-sync.yaml"), &root);
        let app = kustomization("${NAME}-app", "./apps/web", "");
        write(tree.path(), &format!("clusters/{cluster}/app.yaml"), &app);
    }
    write(tree.path(), "apps/web/config.yaml", CONFIG);
    let read = |entry: &str| {
        let (reading, _) = coldstart_read::read_from(tree.path(), Some(entry), None, |_| ())?;
        let components = reading.clusters.iter().flat_map(|cluster| {
            cluster.components.iter().map(|component| format!("{} {}", cluster.name, component.object.name))
        });
        Ok::<Vec<String>, coldstart_read::ReadError>(components.collect())
    };
    assert_eq!(read("./clusters/two/").unwrap(), ["clusters/two flux-system", "clusters/two two-app"]);
    assert_eq!(read("apps/web").unwrap(), ["apps/web flux-system"]);
    let wrong = read("clusters/three").unwrap_err().to_string();
    assert_eq!(wrong, "the entry point `clusters/three` is not a directory of this repository");
    write(tree.path(), "coldstart.yaml", "entry-points: [clusters/one]\n");
    let reading = coldstart_read::read(tree.path()).unwrap();
    let names: Vec<&str> = reading.clusters.iter().map(|cluster| cluster.name.as_str()).collect();
    assert_eq!(names, ["clusters/one"]);
}

/// The file of the other repository's root comes first.
#[test]
fn another_repository_that_adds_to_the_same_directory_is_not_this_one() {
    let source = |name: &str| {
        format!(
            "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: {name}\n  namespace: \
             flux-system\nspec:\n  interval: 1h\n  url: https://git.example.org/lab/{name}.git\n---\n"
        )
    };
    let private = kustomization("private", "./cluster", "").replace("name: flux-system\n", "name: private\n");
    let files = [
        ("cluster/a.yaml", source("private") + &private),
        ("cluster/b.yaml", source("flux-system") + &kustomization("cluster", "./cluster", "")),
        ("cluster/apps.yaml", kustomization("apps", "./apps", "")),
        ("apps/ks.yaml", kustomization("web", "./web", "")),
        ("web/config.yaml", CONFIG.to_owned()),
    ];
    let found = clusters(&files);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.iter().any(|name| name == "web"), "{found:?}");
}

/// `${CLUSTER}` in the path that a FluxInstance syncs: set by whoever applies it, or to be seen from the directories.
#[test]
fn a_path_with_a_variable_is_synced() {
    let instance = "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata:\n  name: flux\n  namespace: \
                    flux-system\nspec:\n  sync:\n    kind: GitRepository\n    path: clusters/${CLUSTER}/start\n";
    let applied = |variables: &str| kustomization("flux", "./apps/flux", variables);
    let set = "  postBuild:\n    substitute:\n      CLUSTER: south\n";
    let mut files = vec![
        ("apps/flux/instance.yaml", instance.to_owned()),
        ("clusters/south/start/entry.yaml", kustomization("south", "./clusters/south/apps", "")),
        ("clusters/south/apps/flux.yaml", applied(set)),
    ];
    let root = |files: &[(&str, String)]| clusters(files).into_iter().map(|(name, mut all)| (name, all.remove(0)));
    assert_eq!(root(&files).collect::<Vec<_>>(), [("clusters/south/start".to_owned(), "flux-system".to_owned())]);
    files[2].1 = applied("");
    assert_eq!(directories(&files), ["clusters/south/start"]);
    // That the path is followed shows where nothing else would find the directory.
    files[1].1 = kustomization("south", "./clusters/south/start", "").replace("south/start", "${CLUSTER}/apps");
    assert_eq!(directories(&files), ["clusters/south/start"]);
}

/// A cluster whose source follows another branch is not in the files that are checked out, if another cluster's source follows that one.
#[test]
fn a_cluster_of_another_branch_is_not_seen() {
    let sync = |branch: &str, path: &str| {
        let source = format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{name: flux-system, namespace: flux-system}}\nspec: {{interval: 1m, ref: {{branch: {branch}}}, url: 'https://git.example.org/lab.git'}}\n---\n"
        );
        source + &kustomization("flux-system", path, "")
    };
    let files = [
        ("clusters/east/flux-system/gotk-sync.yaml", sync("main", "./clusters/east")),
        ("clusters/west/flux-system/gotk-sync.yaml", sync("next", "./clusters/west")),
        ("clusters/west/apps.yaml", kustomization("apps", "./gone", "")),
    ];
    let broken = |head: &str| {
        let tree = tempfile::tempdir().unwrap();
        for (path, text) in files.iter().map(|(path, text)| (*path, text.as_str())).chain([(".git/HEAD", head)]) {
            write(tree.path(), path, text);
        }
        let reading = coldstart_read::read(tree.path()).unwrap();
        reading.clusters.iter().map(|cluster| cluster.broken.len()).collect::<Vec<_>>()
    };
    assert_eq!(broken("ref: refs/heads/main\n"), [0, 0]);
    assert_eq!(broken("ref: refs/heads/next\n"), [0, 1]);
    assert_eq!(broken("ref: refs/heads/some-change\n"), [0, 1]);
    assert_eq!(broken("0123456789012345678901234567890123456789\n"), [0, 1]);
}
