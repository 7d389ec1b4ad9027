//! Helm releases, by the real helm-controller.

use serde_json::{Value, json};

use super::scene::{SOON, Scene};
use super::{Case, Sort, Truth};
use crate::{LabError, Object, Until};

pub(super) const CASES: &[Case] = &[
    Case::new("stalled-release", Sort::Fault, stalled),
    Case::new("chart-missing", Sort::Fault, no_chart),
    Case::new("values-secret-missing", Sort::Fault, no_values),
    Case::new("release-depends-on-nothing", Sort::Fault, wrong_dependency),
];

/// The release of the healthy cluster, and where its chart is from.
pub(super) fn healthy(scene: &Scene<'_>) -> Vec<Value> {
    // A chart that can't be packed shows as a release that is not ready.
    let _ = scene.offer_chart();
    let home = scene.home();
    vec![
        json!({"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmRepository",
            "metadata": {"name": scene.name("charts"), "namespace": home},
            "spec": {"interval": "1h", "url": scene.lab.charts().url(), "timeout": "20s"}}),
        release(scene, "release", "app"),
    ]
}

fn release(scene: &Scene<'_>, part: &str, chart: &str) -> Value {
    json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
        "metadata": {"name": scene.name(part), "namespace": scene.home()},
        "spec": {"interval": "1h", "timeout": "60s",
            "chart": {"spec": {"chart": chart, "version": "1.0.0", "interval": "1h",
                "sourceRef": {"kind": "HelmRepository", "name": scene.name("charts")}}},
            "values": {"delay": "0s"}}})
}

fn the(scene: &Scene<'_>, part: &str) -> Object {
    Object::helm_release(&scene.home(), &scene.name(part))
}

/// Its pods were not ready in time, and no attempt is left. They are ready since.
fn stalled(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let mut late = release(scene, "late release", "app");
    late["spec"]["timeout"] = "3s".into();
    late["spec"]["values"]["delay"] = "8s".into();
    scene.add(&late)?;
    scene.lab.wait_for(&the(scene, "late release"), &Until::condition("Stalled", "True"), SOON)?;
    let deployment = Object::deployment(&scene.home(), &scene.name("late release"));
    scene.lab.wait_for(&deployment, &Until::ready(), SOON)?;
    Ok(Truth::root("HelmRelease", &scene.name("late release"), "FLUX-08"))
}

fn no_chart(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.add(&release(scene, "lost release", "no-such-chart"))?;
    let chart = format!("{}-{}", scene.home(), scene.name("lost release"));
    Ok(Truth::root("HelmChart", &chart, "FLUX-01").blocks("HelmRelease", &scene.name("lost release")))
}

fn no_values(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let mut it = release(scene, "blind release", "app");
    it["spec"]["valuesFrom"] = json!([{"kind": "Secret", "name": scene.name("values")}]);
    scene.add(&it)?;
    Ok(Truth::root("Secret", &scene.name("values"), None).blocks("HelmRelease", &scene.name("blind release")))
}

fn wrong_dependency(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let mut it = release(scene, "waiting release", "app");
    it["spec"]["dependsOn"] = json!([{"name": scene.name("nothing")}]);
    scene.add(&it)?;
    Ok(Truth::root("HelmRelease", &scene.name("waiting release"), "FLUX-03"))
}
