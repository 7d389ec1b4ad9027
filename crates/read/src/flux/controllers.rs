//! Which controllers of Flux a cluster runs: those whose Deployments are applied, and those that a FluxInstance lists.

use ecow::EcoString;
use yaml::Node;

use crate::object::Object;

/// In the order in which they can work: sources are fetched first.
const KNOWN: [&str; 7] = [
    "source-controller",
    "kustomize-controller",
    "helm-controller",
    "notification-controller",
    "image-reflector-controller",
    "image-automation-controller",
    "source-watcher",
];
/// What a FluxInstance runs that lists none.
const BY_DEFAULT: usize = 4;

/// None where no object tells.
pub(crate) fn find(objects: &[&Node]) -> Vec<EcoString> {
    let mut names: Vec<&str> = objects.iter().filter_map(|node| of_deployment(Object::new(node))).collect();
    if names.is_empty() {
        let listed = objects.iter().find_map(|node| of_instance(Object::new(node)));
        names = listed.unwrap_or_default();
    }
    KNOWN.into_iter().filter(|known| names.contains(known)).map(EcoString::from).collect()
}

fn of_deployment(object: Object<'_>) -> Option<&str> {
    let is_flux =
        object.node.at(&["metadata", "labels", "app.kubernetes.io/part-of"]).and_then(Node::text) == Some("flux");
    (is_flux && object.is("apps", "Deployment")).then(|| object.name())
}

/// A FluxInstance, or the values of the chart that makes one.
fn of_instance(object: Object<'_>) -> Option<Vec<&str>> {
    let spec = if object.kind() == "FluxInstance" {
        object.node.get("spec")?
    } else {
        let instance = object.node.at(&["spec", "values"]).unwrap_or(object.node).get("instance")?;
        instance.get("distribution").is_some().then_some(instance)?
    };
    let listed: Vec<&str> = spec.items_at("components").iter().filter_map(Node::text).collect();
    Some(if listed.is_empty() { KNOWN[..BY_DEFAULT].to_vec() } else { listed })
}

#[cfg(test)]
mod tests {
    use super::find;

    fn names(texts: &[&str]) -> Vec<String> {
        let nodes: Vec<yaml::Node> =
            texts.iter().map(|text| yaml::parse_value(source::FileId(0), text).expect("YAML")).collect();
        find(&nodes.iter().collect::<Vec<_>>()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn deployments_an_instance_and_values_tell_the_controllers() {
        let deployment = |name: &str| {
            format!(
                "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}, labels: {{app.kubernetes.io/part-of: flux}}}}}}"
            )
        };
        let (helm, source) = (deployment("helm-controller"), deployment("source-controller"));
        assert_eq!(names(&[&helm, &source]), ["source-controller", "helm-controller"]);
        let instance = "{apiVersion: fluxcd.controlplane.io/v1, kind: FluxInstance, metadata: {name: flux}, spec: {components: [kustomize-controller, source-controller]}}";
        assert_eq!(names(&[instance]), ["source-controller", "kustomize-controller"]);
        let values = "{instance: {distribution: {version: 2.x}}}";
        assert_eq!(names(&[values]).len(), 4);
        assert!(names(&["{instance: {size: large}}"]).is_empty());
    }
}
