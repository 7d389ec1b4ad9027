//! Sources and Kustomizations, by the real source- and kustomize-controller.

use serde_json::json;

use super::scene::Scene;
use super::{Case, Sort, Truth, build};
use crate::LabError;

pub(super) const CASES: &[Case] = &[
    Case::new("wrong-dependency", Sort::Fault, wrong_dependency),
    Case::new("suspended-source", Sort::Fault, suspended_source),
    Case::new("suspended-kustomization", Sort::Fault, suspended_kustomization),
    Case::new("git-down", Sort::Fault, git_down),
    Case::new("branch-missing", Sort::Fault, no_branch),
    Case::new("path-missing", Sort::Fault, no_path),
    Case::new("broken-manifest", Sort::Fault, broken),
    Case::new("crd-missing", Sort::Fault, crd_missing),
    Case::new("namespace-missing", Sort::Fault, no_namespace),
    Case::new("dependency-cycle", Sort::Fault, cycle),
    Case::new("variables-missing", Sort::Fault, no_variables),
    Case::new("sops-key-missing", Sort::Fault, no_sops_key),
    Case::new("immutable-field", Sort::Fault, immutable),
    Case::new("source-missing", Sort::Fault, no_source),
    Case::new("failing-app-holds-a-chain", Sort::Consequence, failing_app),
];

/// A name that no object has, in the middle of a chain.
pub(super) fn wrong_dependency(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let [first, second, third] = scene.chain();
    let depends = |on: &str| json!({"spec": {"dependsOn": [{"name": on}]}});
    scene.patch(&build::the(&second), &depends(&scene.name("typo")), depends(&first))?;
    scene.lab.reconcile(&build::the(&third))?;
    scene.look_again_after(build::the(&third));
    Ok(Truth::root("Kustomization", &second, "FLUX-03").blocks("Kustomization", &third))
}

pub(super) fn suspended_source(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let mut source = build::git_repository(&scene.lab.git().url(), &scene.name("late"));
    source["spec"]["suspend"] = true.into();
    scene.add(&source)?;
    let mut waits = build::kustomization(&scene.name("waits"), "infrastructure", &[]);
    waits["spec"]["sourceRef"]["name"] = scene.name("late").into();
    scene.add(&waits)?;
    Ok(Truth::root("GitRepository", &scene.name("late"), "FLUX-10").blocks("Kustomization", &scene.name("waits")))
}

fn suspended_kustomization(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let mut off = build::kustomization(&scene.name("off"), "infrastructure", &[]);
    off["spec"]["suspend"] = true.into();
    scene.add(&off)?;
    scene.add(&build::kustomization(&scene.name("waits"), "configuration", &[&scene.name("off")]))?;
    Ok(Truth::root("Kustomization", &scene.name("off"), "FLUX-10").blocks("Kustomization", &scene.name("waits")))
}

/// What was applied stays as it is.
fn git_down(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.cut_off_git();
    scene.lab.reconcile(&build::source())?;
    Ok(Truth::root("GitRepository", "cluster", "FLUX-01"))
}

fn no_branch(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let mut source = build::git_repository(&scene.lab.git().url(), &scene.name("branch"));
    source["spec"]["ref"]["branch"] = "nothing".into();
    scene.add(&source)?;
    let mut waits = build::kustomization(&scene.name("waits"), "infrastructure", &[]);
    waits["spec"]["sourceRef"]["name"] = scene.name("branch").into();
    scene.add(&waits)?;
    let last = scene.name("last");
    scene.add(&build::kustomization(&last, "configuration", &[&scene.name("waits")]))?;
    let truth = Truth::root("GitRepository", &scene.name("branch"), "FLUX-01");
    Ok(truth.blocks("Kustomization", &scene.name("waits")).blocks("Kustomization", &last))
}

fn no_path(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.add(&build::kustomization(&scene.name("lost"), "no/such/path", &[]))?;
    Ok(Truth::root("Kustomization", &scene.name("lost"), None))
}

fn broken(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.push(&[("broken/it.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: [\n".to_owned())])?;
    scene.add(&build::kustomization(&scene.name("broken"), "broken", &[]))?;
    Ok(Truth::root("Kustomization", &scene.name("broken"), None))
}

pub(super) fn crd_missing(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let widget = json!({"apiVersion": "widgets.example.com/v1", "kind": "Widget",
        "metadata": {"name": "it", "namespace": scene.home()}});
    scene.push(&[("widgets/it.yaml", widget.to_string())])?;
    scene.add(&build::kustomization(&scene.name("widgets"), "widgets", &[]))?;
    let crd = "Widget.widgets.example.com";
    Ok(Truth::root("CustomResourceDefinition", crd, "FLUX-05").blocks("Kustomization", &scene.name("widgets")))
}

fn no_namespace(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let it = build::config_map(&scene.name("nowhere"), "it");
    scene.push(&[("nowhere/it.yaml", it.to_string())])?;
    scene.add(&build::kustomization(&scene.name("early"), "nowhere", &[]))?;
    Ok(Truth::root("Namespace", &scene.name("nowhere"), None).blocks("Kustomization", &scene.name("early")))
}

fn cycle(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let (hen, egg) = (scene.name("hen"), scene.name("egg"));
    scene.add(&build::kustomization(&hen, "infrastructure", &[&egg]))?;
    scene.add(&build::kustomization(&egg, "configuration", &[&hen]))?;
    // It is told by the one that comes first by its name.
    Ok(Truth::root("Kustomization", (&hen).min(&egg), "FLUX-04"))
}

fn no_variables(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let mut it = build::kustomization(&scene.name("blank"), "infrastructure", &[]);
    it["spec"]["postBuild"] = json!({"substituteFrom": [{"kind": "ConfigMap", "name": scene.name("variables")}]});
    scene.add(&it)?;
    Ok(Truth::root("ConfigMap", &scene.name("variables"), None).blocks("Kustomization", &scene.name("blank")))
}

fn no_sops_key(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let mut it = build::kustomization(&scene.name("locked"), "infrastructure", &[]);
    it["spec"]["decryption"] = json!({"provider": "sops", "secretRef": {"name": scene.name("sops")}});
    scene.add(&it)?;
    Ok(Truth::root("Secret", &scene.name("sops"), "SEC-02").blocks("Kustomization", &scene.name("locked")))
}

fn immutable(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let (home, name) = (scene.home(), scene.name("rigid"));
    scene.add(&build::deployment(&home, &name, ("app", &name)))?;
    let other = build::deployment(&home, &name, ("part-of", &name));
    scene.push(&[("rigid/it.yaml", other.to_string())])?;
    let mut it = build::kustomization(&scene.name("stuck"), "rigid", &[]);
    // It is not taken away with its Kustomization: the case does that.
    it["spec"]["prune"] = false.into();
    scene.add(&it)?;
    Ok(Truth::root("Kustomization", &scene.name("stuck"), "FLUX-06"))
}

fn no_source(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let mut it = build::kustomization(&scene.name("orphan"), "infrastructure", &[]);
    it["spec"]["sourceRef"]["name"] = scene.name("no source").into();
    scene.add(&it)?;
    let truth = Truth::root("GitRepository", &scene.name("no source"), None);
    Ok(truth.blocks("Kustomization", &scene.name("orphan")))
}

/// GitOps is below applications, and fails because one of them does.
pub(super) fn failing_app(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let (home, name) = (scene.home(), scene.name("faulty"));
    let app = build::annotated(build::deployment(&home, &name, ("app", &name)), "image-pull-backoff", "true");
    scene.push(&[("faulty/it.yaml", app.to_string())])?;
    let (fails, waits) = (scene.name("fails"), scene.name("waits"));
    let mut it = build::kustomization(&fails, "faulty", &[]);
    it["spec"]["timeout"] = "2s".into();
    scene.add(&it)?;
    scene.add(&build::kustomization(&waits, "infrastructure", &[&fails]))?;
    Ok(Truth::root("Deployment", &name, None).blocks("Kustomization", &fails).blocks("Kustomization", &waits))
}
