//! Which Flux a repository installs: its controllers' images, a FluxInstance, the values of its chart, or the address its
//! manifests are fetched from.

use ecow::EcoString;
use model::{BlindSpot, FluxVersion};
use source::Span;
use yaml::{Node, Value};

use crate::object::Object;

const STRICT_GATE: &str = "StrictPostBuildSubstitutions=";

/// The version that these objects and addresses tell, the surest first.
pub(crate) fn find(objects: &[&Node], blind: &[BlindSpot]) -> Option<FluxVersion> {
    let told = |of: fn(Object<'_>) -> Option<(EcoString, Span)>| objects.iter().find_map(|node| of(Object::new(node)));
    let (written, at) = told(of_controller)
        .or_else(|| told(of_instance))
        .or_else(|| told(of_manifests))
        .or_else(|| told(of_values))
        .or_else(|| blind.iter().find_map(of_address))?;
    let strict = objects.iter().filter(|node| is_of_flux(Object::new(node))).find_map(|node| strict_gate(node));
    Some(FluxVersion { minor: minor(&written), written, strict, at })
}

/// Flux labels its controllers with its own version; and kustomize-controller 1.n comes with Flux 2.n.
fn of_controller(object: Object<'_>) -> Option<(EcoString, Span)> {
    if !object.is("apps", "Deployment") || object.name() != "kustomize-controller" {
        return None;
    }
    if let Some(version) = object.node.at(&["metadata", "labels", "app.kubernetes.io/version"]) {
        return Some((version.text()?.into(), version.span));
    }
    let containers = object.node.at(&["spec", "template", "spec", "containers"])?.as_seq()?;
    let image = containers.iter().find_map(|container| container.get("image"))?;
    let tag = image.text()?.split('@').next()?.rsplit_once(':')?.1;
    let (major, rest) = tag.strip_prefix('v')?.split_once('.')?;
    (major == "1").then(|| (ecow::eco_format!("v2.{rest}"), image.span))
}

fn of_instance(object: Object<'_>) -> Option<(EcoString, Span)> {
    let version = object.node.at(&["spec", "distribution", "version"]).filter(|_| object.kind() == "FluxInstance")?;
    Some((version.text()?.into(), version.span))
}

fn of_manifests(object: Object<'_>) -> Option<(EcoString, Span)> {
    let url = object.spec("url").and_then(Node::text).filter(|_| object.kind() == "OCIRepository")?;
    let tag = object.node.at(&["spec", "ref", "tag"]).filter(|_| url.ends_with("fluxcd/flux-manifests"))?;
    Some((tag.text()?.into(), tag.span))
}

/// The chart `flux-instance`, as a HelmRelease or as bare values.
fn of_values(object: Object<'_>) -> Option<(EcoString, Span)> {
    let path = ["instance", "distribution", "version"];
    let version = object.node.at(&["spec", "values"]).unwrap_or(object.node).at(&path)?;
    Some((version.text()?.into(), version.span))
}

fn of_address(spot: &BlindSpot) -> Option<(EcoString, Span)> {
    let (_, after) = spot.what.address()?.split_once("fluxcd/flux2/")?;
    let start = after.find("v2.")?;
    let version: String = after[start..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '.').collect();
    Some((version.trim_end_matches('.').into(), spot.at))
}

fn is_of_flux(object: Object<'_>) -> bool {
    matches!(object.kind(), "FluxInstance" | "HelmRelease" | "Deployment" | "")
        && (object.name().contains("flux") || object.name() == "kustomize-controller" || object.kind().is_empty())
}

fn strict_gate(node: &Node) -> Option<bool> {
    match &node.value {
        Value::Map(map) => map.iter().find_map(|entry| strict_gate(&entry.value)),
        Value::Seq(items) => items.iter().find_map(strict_gate),
        Value::Scalar(scalar) => {
            let (_, after) = scalar.text.split_once(STRICT_GATE)?;
            Some(after.starts_with("true"))
        }
    }
}

/// Major and minor of a version or of a range that leaves only the patch open.
fn minor(written: &str) -> Option<(u64, u64)> {
    let fixed = written.trim_start_matches(['v', '=', '~', ' ']);
    if fixed.contains(['<', '>', '^', '|', ' ', '$', ',']) {
        return None;
    }
    let mut parts = fixed.split('.');
    let (major, minor) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::{find, minor};

    #[test]
    fn a_version_is_fixed_when_only_its_patch_is_open() {
        for (written, expected) in [
            ("v2.9.1", Some((2, 9))),
            ("2.8.x", Some((2, 8))),
            ("=2.7.5", Some((2, 7))),
            ("~2.9", Some((2, 9))),
            ("2.x", None),
            (">=2.6.0 <3.0.0", None),
            ("^2.6.0", None),
            ("*", None),
        ] {
            assert_eq!(minor(written), expected, "{written}");
        }
    }

    #[test]
    fn the_controllers_image_and_the_instance_tell_the_version() {
        let parse = |text: &str| yaml::parse_value(source::FileId(0), text).expect("YAML");
        let deployment = parse(
            "{apiVersion: apps/v1, kind: Deployment, metadata: {name: kustomize-controller}, spec: {template: {spec: {containers: [{image: 'ghcr.io/fluxcd/kustomize-controller:v1.9.2', args: ['--feature-gates=StrictPostBuildSubstitutions=false']}]}}}}",
        );
        let instance = parse(
            "{apiVersion: fluxcd.controlplane.io/v1, kind: FluxInstance, metadata: {name: flux}, spec: {distribution: {version: 2.x}}}",
        );
        let found = find(&[&instance, &deployment], &[]).expect("a version");
        assert_eq!((found.written.as_str(), found.minor, found.strict), ("v2.9.2", Some((2, 9)), Some(false)));
        let found = find(&[&instance], &[]).expect("a version");
        assert_eq!((found.written.as_str(), found.minor, found.strict), ("2.x", None, None));
    }
}
