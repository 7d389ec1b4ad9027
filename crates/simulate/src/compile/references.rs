//! Names that a tree of values, a pod or a custom resource holds: claims, classes, Secrets, hosts.

use ecow::EcoString;
use yaml::{Node, Value};

/// What a tree names.
#[derive(Clone, Debug, Default)]
pub(crate) struct References {
    pub(crate) claims: Vec<EcoString>,
    pub(crate) classes: Vec<EcoString>,
    /// With the namespace that stands beside the name, where one does.
    pub(crate) secrets: Vec<(EcoString, Option<EcoString>)>,
    pub(crate) config_maps: Vec<EcoString>,
    /// `name.namespace`, of anything that looks like a host in the cluster.
    pub(crate) hosts: Vec<(EcoString, EcoString)>,
}

impl References {
    pub(crate) fn of(node: &Node) -> Self {
        Self::read(node, |_| false)
    }

    /// What the values of a chart name, but for the classes of volumes that an operator makes of a custom resource
    /// (`prometheusSpec: {storageSpec: …}`): Helm does not wait for those.
    pub(crate) fn of_values(node: &Node) -> Self {
        Self::read(node, is_custom_spec)
    }

    /// Classes of volumes below a key that is `carried_out` by an operator are left out.
    fn read(node: &Node, carried_out: fn(&str) -> bool) -> Self {
        let mut references = Self::default();
        references.walk("", node, carried_out);
        let is_known = |name: &EcoString| !name.is_empty() && !name.contains("${");
        for list in [&mut references.claims, &mut references.classes, &mut references.config_maps] {
            list.retain(is_known);
            list.sort();
            list.dedup();
        }
        references.secrets.retain(|(name, _)| is_known(name));
        references.secrets.sort();
        references.secrets.dedup();
        references.hosts.sort();
        references.hosts.dedup();
        references
    }

    fn walk(&mut self, key: &str, node: &Node, carried_out: fn(&str) -> bool) {
        match &node.value {
            Value::Map(map) => {
                let is_off = node.get("enabled").and_then(Node::as_bool) == Some(false);
                let is_optional = node.get("optional").and_then(Node::as_bool) == Some(true);
                if is_off || is_optional {
                    return;
                }
                if let Some(name) = node.get("name").and_then(Node::text) {
                    match key {
                        "configMapRef" | "configMapKeyRef" => self.config_maps.push(name.into()),
                        _ if is_secret(key) => {
                            let of = node.get("namespace").and_then(Node::text).map(EcoString::from);
                            self.secrets.push((name.into(), of));
                        }
                        _ => {}
                    }
                }
                for entry in map {
                    let classes = self.classes.len();
                    self.walk(&entry.key, &entry.value, carried_out);
                    if carried_out(&entry.key) {
                        self.classes.truncate(classes);
                    }
                }
            }
            Value::Seq(items) => items.iter().for_each(|item| self.walk(key, item, carried_out)),
            Value::Scalar(scalar) => self.text(key, &scalar.text),
        }
    }

    fn text(&mut self, key: &str, text: &EcoString) {
        match key {
            "existingClaim" | "claimName" => self.claims.push(text.clone()),
            "storageClass" | "storageClassName" if text != "-" => self.classes.push(text.clone()),
            "secretName" | "existingConfigSecret" => self.secrets.push((text.clone(), None)),
            _ if key.starts_with("existingSecret") && !key.ends_with("Key") => self.secrets.push((text.clone(), None)),
            _ => self.hosts_in(text),
        }
    }

    fn hosts_in(&mut self, text: &str) {
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
        for word in text.split(|c: char| !is_part(c)).filter(|word| word.contains('.')) {
            let mut labels = word.split('.');
            if let (Some(name), Some(namespace)) = (labels.next(), labels.next()) {
                self.hosts.push((name.into(), namespace.into()));
            }
        }
    }
}

/// `prometheusSpec`, `storageSpec`: of a custom resource. `spec` and `podSpec` are of anything.
fn is_custom_spec(key: &str) -> bool {
    key.len() > "Spec".len() && key.ends_with("Spec") && key != "podSpec"
}

/// Keys whose mapping names a Secret: `secretRef`, `secretKeyRef`, `superuserSecret`.
fn is_secret(key: &str) -> bool {
    matches!(key, "secretRef" | "secretKeyRef" | "secret") || key.ends_with("Secret") || key.ends_with("SecretRef")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_where_charts_keep_them() {
        let text = "{a: {existingClaim: data}, b: {storageClass: fast}, c: {enabled: false, secretRef: {name: no}},\
                    d: [{secretRef: {name: yes-it-is}}], e: {host: pg-rw.db.svc.cluster.local},\
                    f: {tokenSecretRef: {name: token, namespace: vault}}}";
        let found = References::of(&yaml::parse_value(source::FileId(0), text).unwrap());
        assert_eq!(found.claims, ["data"]);
        assert_eq!(found.classes, ["fast"]);
        assert_eq!(found.secrets, [("token".into(), Some("vault".into())), ("yes-it-is".into(), None)]);
        assert_eq!(found.hosts, [("pg-rw".into(), "db".into())]);
    }

    #[test]
    fn volumes_that_an_operator_makes_are_not_waited_for() {
        let text =
            "{persistence: {storageClass: fast}, storageSpec: {volumeClaimTemplate: {spec: {storageClassName: slow}}}}";
        let values = yaml::parse_value(source::FileId(0), text).unwrap();
        assert_eq!(References::of_values(&values).classes, ["fast"]);
        assert_eq!(References::of(&values).classes, ["fast", "slow"], "a custom resource waits for its own");
    }
}
