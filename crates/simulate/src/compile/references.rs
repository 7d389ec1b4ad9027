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
        let mut references = Self::default();
        references.walk("", node);
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

    fn walk(&mut self, key: &str, node: &Node) {
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
                    self.walk(&entry.key, &entry.value);
                }
            }
            Value::Seq(items) => items.iter().for_each(|item| self.walk(key, item)),
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
}
