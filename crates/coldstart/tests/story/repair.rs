//! Repositories with something to fix.

use std::process::Command;

use super::Tree;

pub(crate) const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Cluster
  versions: []
";

/// What needs the CRD.
pub(crate) const WIDGET: &str = "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: one\n";

/// An operator of databases.
pub(crate) const OPERATOR: &str = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: cloudnative-pg
  namespace: flux-system
spec:
  interval: 1h
  chart:
    spec:
      chart: cloudnative-pg
      sourceRef: {kind: HelmRepository, name: cnpg}
";

pub(crate) const DATABASE: &str =
    "apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata:\n  name: pg\n  namespace: flux-system\n";

/// A release in a namespace that only comes after it.
pub(crate) const RELEASE_BEFORE_ITS_NAMESPACE: &str = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: app
  namespace: shop
spec:
  interval: 1h
  install:
    createNamespace: true
  chart:
    spec:
      chart: app
      sourceRef: {kind: HelmRepository, name: app, namespace: flux-system}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: later
  namespace: flux-system
spec:
  dependsOn: [{name: app}]
  interval: 1h
  path: ./later
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
";

/// One that applies the directory of its name.
pub(crate) fn kustomization(name: &str, more: &str) -> String {
    format!(
        "# {name}\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\n  namespace: flux-system\nspec:\n  interval: 1h\n  path: ./{name}\n  prune: true\n{more}  sourceRef:\n    kind: GitRepository\n    name: flux-system\n"
    )
}

/// An operator and its database in one directory that a Kustomization applies.
pub(crate) fn database_beside_its_operator(tree: Tree) -> Tree {
    tree.with(&[
        ("clusters/home/database.yaml", &kustomization("database", "")),
        ("database/kustomization.yaml", "resources:\n  - release.yaml\n  - cluster.yaml\n"),
        ("database/release.yaml", OPERATOR),
        ("database/cluster.yaml", DATABASE),
    ])
}

pub(crate) fn git(tree: &Tree, words: &[&str]) -> String {
    let settings = ["-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").arg("-C").arg(tree.path()).args(settings).args(words).output();
    let output = output.expect("git");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn committed(tree: Tree) -> Tree {
    git(&tree, &["init", "--quiet"]);
    git(&tree, &["config", "user.name", "a"]);
    git(&tree, &["config", "user.email", "a@example.invalid"]);
    git(&tree, &["config", "commit.gpgsign", "false"]);
    git(&tree, &["add", "."]);
    git(&tree, &["commit", "--quiet", "--message", "all"]);
    tree
}
