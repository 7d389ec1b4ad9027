//! Custom resources that move out of the Kustomization of their operator.

#![allow(clippy::expect_used, reason = "a fixture that can not be set up fails")]

use std::collections::BTreeMap;

use coldstart_trial::proof::{checked, repairs, saved};
use diagnostic::{Action, Handover, Repairs, Unsplit, WhyLeft};
use fixtures::{Fixture, Shelf};
use repository::Unsaved;

/// What comes of a fixture, and its files after that.
fn fixed(shelf: Shelf, name: &str) -> (Repairs, BTreeMap<String, Option<String>>) {
    let fixture = Fixture::open(&shelf.directory().join(name)).expect("a fixture");
    let root = fixture.repository().expect("a repository");
    let before = checked(root.path(), &Unsaved::default()).expect("a repository");
    let made = repairs(root.path(), &Unsaved::default(), &before).expect("what is checked again can be read");
    let after = checked(root.path(), &saved(&made)).expect("a repository after edits");
    if !made.made.is_empty() {
        assert!(after.findings.is_empty(), "{:#?}", after.findings);
    }
    let files = made.made.iter().flat_map(|repair| &repair.files);
    let files = files.map(|changed| (changed.path.clone(), changed.after.clone())).collect();
    (made, files)
}

fn handover(repairs: &Repairs) -> Option<Handover> {
    repairs.made.iter().flat_map(|repair| &repair.actions).find_map(|action| match action {
        Action::Split { handover, .. } => Some(*handover),
        _ => None,
    })
}

#[test]
fn a_store_moves_with_its_health_checks_and_what_uses_it_waits_for_the_new_one() {
    let (made, files) = fixed(Shelf::Shapes, "store-listed-and-checked-beside-its-operator");
    assert_eq!(handover(&made), Some(Handover::Deleted));
    let names: Vec<(&str, bool)> = files.iter().map(|(path, after)| (path.as_str(), after.is_some())).collect();
    assert_eq!(
        names,
        [
            ("clusters/test/app.yaml", true),
            ("clusters/test/external-secrets.yaml", true),
            ("external-secrets/app/kustomization.yaml", true),
            ("external-secrets/app/store.yaml", false),
            ("external-secrets/config/kustomization.yaml", true),
            ("external-secrets/config/store.yaml", true),
        ]
    );
    let text = |path: &str| files[path].clone().unwrap_or_default();
    assert!(text("clusters/test/app.yaml").contains("dependsOn:\n    - name: external-secrets-config\n"));
    assert_eq!(
        text("external-secrets/config/kustomization.yaml"),
        "---\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nlabels:\n  - pairs:\n      team: secrets\nresources:\n  - ./store.yaml\n"
    );
    let both = text("clusters/test/external-secrets.yaml");
    let [_, operator, config] = both.split("---\n").collect::<Vec<_>>()[..] else { panic!("{both}") };
    assert!(operator.contains("kind: HelmRelease\n") && !operator.contains("ClusterSecretStore"), "{operator}");
    assert!(config.contains("path: ./external-secrets/config\n"), "{config}");
    assert!(config.contains("dependsOn:\n    - name: external-secrets\n"), "{config}");
    assert!(config.matches("ClusterSecretStore").count() == 2 && !config.contains("HelmRelease"), "{config}");
}

#[test]
fn a_directory_that_holds_nothing_else_stays_where_it_is() {
    let (made, files) = fixed(Shelf::Shapes, "databases-in-a-directory-beside-their-operator");
    assert_eq!(handover(&made), Some(Handover::Kept));
    let names: Vec<&String> = files.keys().collect();
    assert_eq!(names, ["clusters/test/database.yaml", "database/kustomization.yaml"]);
    let new = files["clusters/test/database.yaml"].clone().unwrap_or_default();
    assert!(new.contains("  path: ./database/clusters\n") && new.contains("  targetNamespace: database\n"), "{new}");
}

#[test]
fn what_a_directory_gets_from_above_moves_along_and_an_empty_one_goes() {
    let (_, files) = fixed(Shelf::Shapes, "databases-in-a-directory-that-gets-labels");
    let names: Vec<(&str, bool)> = files.iter().map(|(path, after)| (path.as_str(), after.is_some())).collect();
    assert_eq!(
        names,
        [
            ("clusters/test/database.yaml", true),
            ("database-config/cluster.yaml", true),
            ("database-config/kustomization.yaml", true),
            ("database/clusters/cluster.yaml", false),
            ("database/clusters/kustomization.yaml", false),
            ("database/kustomization.yaml", true),
        ]
    );
    let new = files["database-config/kustomization.yaml"].clone().unwrap_or_default();
    assert_eq!(new, "namespace: database\ncommonAnnotations:\n  owner: data\nresources:\n  - cluster.yaml\n");
}

#[test]
fn where_flux_takes_every_file_the_new_directory_is_beside_the_old_one() {
    let (made, files) = fixed(Shelf::Cases, "10-resource-beside-its-operator");
    assert_eq!(handover(&made), Some(Handover::Deleted));
    let names: Vec<&String> = files.keys().collect();
    assert_eq!(names, ["clusters/test/database.yaml", "database-config/cluster.yaml", "database/cluster.yaml"]);
}

/// Why nothing is moved.
fn refused(name: &str) -> Unsplit {
    let (made, files) = fixed(Shelf::Shapes, name);
    assert!(files.is_empty(), "{files:?}");
    match made.left.into_iter().map(|left| left.why).next() {
        Some(WhyLeft::Unsplit { how, .. }) => how,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_can_not_be_moved_safely_stays_and_says_why() {
    assert_eq!(
        refused("database-in-the-file-of-its-operator"),
        Unsplit::Mixed { path: "database/all.yaml".to_owned() }
    );
    assert!(matches!(refused("database-that-two-directories-list"), Unsplit::BuiltOtherwise { .. }));
    assert_eq!(refused("operator-beside-its-resource-in-the-root"), Unsplit::WithProvider);
}
