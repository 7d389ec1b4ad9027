//! ArtifactGenerators: from a path in the artifact back to the repository.

use coldstart_read::artifact::{Artifact, Strategy, artifacts, resolve};
use source::FileId;
use yaml::Node;

fn node(text: &str) -> Node {
    yaml::parse_value(FileId(3), text).expect("a fixture that can be read")
}

/// An artifact with these copies, written `from -> to`.
fn artifact(copies: &[(&str, &str)]) -> Artifact {
    let copies: Vec<String> =
        copies.iter().map(|(from, to)| format!("        - {{from: \"{from}\", to: \"{to}\"}}\n")).collect();
    let text = format!(
        "kind: ArtifactGenerator\nmetadata: {{name: g, namespace: flux-system}}\nspec:\n  sources:\n    - {{alias: repo, kind: GitRepository, name: main}}\n  artifacts:\n    - name: it\n      copy:\n{}",
        copies.concat()
    );
    artifacts(&node(&text)).remove(0)
}

#[test]
fn a_generator_names_its_artifacts_sources_and_rules() {
    let found = artifacts(&node(
        r#"
kind: ArtifactGenerator
metadata: {name: parts, namespace: flux-system}
spec:
  sources:
    - {alias: repo, kind: GitRepository, name: main}
    - {alias: chart, kind: OCIRepository, name: chart, namespace: charts}
  artifacts:
    - name: shop
      originRevision: "@repo"
      copy:
        - {from: "@chart/", to: "@artifact/"}
        - {from: "@repo/shop/values.yaml", to: "@artifact/values.yaml", strategy: Merge}
        - {from: "@lost/**", to: "@artifact/lost/", exclude: ["*.md"]}
        - {from: "no alias", to: "@artifact/"}
"#,
    ));
    assert_eq!(found.len(), 1);
    let shop = &found[0];
    assert_eq!((shop.name.as_str(), shop.namespace.as_str(), shop.copies.len()), ("shop", "flux-system", 3));
    let source = &shop.copies[0].source;
    assert_eq!((&*source.kind, &*source.namespace, &*source.name), ("OCIRepository", "charts", "chart"));
    assert_eq!(shop.copies[1].source.namespace, "flux-system");
    assert_eq!((shop.copies[1].strategy, shop.copies[0].strategy), (Strategy::Merge, Strategy::Overwrite));
    assert_eq!((shop.copies[2].source.kind.as_str(), shop.copies[2].exclude.len()), ("", 1));
}

#[test]
fn a_path_in_the_artifact_is_found_in_the_repository() {
    let root = artifact(&[("@repo/platform/**", "@artifact/")]);
    assert_eq!(resolve(&root, "./controllers"), ["platform/controllers"]);
    assert_eq!(resolve(&root, "./"), ["platform"]);
    let split = artifact(&[("@repo/apps/base/**", "@artifact/base/"), ("@repo/apps/staging/**", "@artifact/staging/")]);
    assert_eq!(resolve(&split, "./staging"), ["apps/staging"]);
    assert_eq!(resolve(&split, "staging/shop/"), ["apps/staging/shop"]);
    assert_eq!(resolve(&split, "."), ["apps/base", "apps/staging"]);
    assert!(resolve(&split, "./production").is_empty());
    assert!(resolve(&split, "../outside").is_empty());
}

#[test]
fn a_directory_copied_as_such_keeps_its_name_inside_of_another() {
    assert_eq!(resolve(&artifact(&[("@repo/apps", "@artifact/all/")]), "./all/apps/shop"), ["apps/shop"]);
    assert_eq!(resolve(&artifact(&[("@repo/apps", "@artifact/all")]), "./all/shop"), ["apps/shop"]);
    assert_eq!(resolve(&artifact(&[("@repo/apps/", "@artifact/")]), "./shop"), ["apps/shop"]);
    assert_eq!(resolve(&artifact(&[("@repo/", "@artifact/")]), "./clusters/home"), ["clusters/home"]);
    assert_eq!(resolve(&artifact(&[("@repo/**", "@artifact/")]), "./clusters/home"), ["clusters/home"]);
    assert_eq!(resolve(&artifact(&[("@repo/a/values.yaml", "@artifact/x.yaml")]), "x.yaml"), ["a/values.yaml"]);
    assert_eq!(resolve(&artifact(&[("@repo/a/values.yaml", "@artifact/")]), "values.yaml"), ["a/values.yaml"]);
}

#[test]
fn what_is_excluded_does_not_come() {
    let mut it = artifact(&[("@repo/apps/**", "@artifact/")]);
    it.copies[0].exclude = vec!["*.md".to_owned(), "**/tests/**".to_owned(), "legacy/**".to_owned()];
    assert!(resolve(&it, "legacy").is_empty());
    assert!(resolve(&it, "legacy/shop").is_empty());
    assert!(resolve(&it, "shop/tests/one.yaml").is_empty());
    assert!(resolve(&it, "README.md").is_empty());
    assert_eq!(resolve(&it, "shop/README.md"), ["apps/shop/README.md"]);
}
