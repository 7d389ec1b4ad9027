//! A part of a status: one layer, or one object that a person means among those that fail.

use health::facts::ObjectKey;
use health::status::{LayerName, Status};

use super::StatusFailure;

/// `name`, `Kind/name`, `namespace/name` or `Kind/namespace/name`; kinds in any case.
pub(crate) fn find(status: &Status, said: &str) -> Result<ObjectKey, StatusFailure> {
    let all = || status.links.iter().map(|link| &link.object);
    let mut found: Vec<&ObjectKey> = all().filter(|object| is_meant(object, said)).collect();
    found.sort();
    found.dedup();
    match found[..] {
        [one] => Ok(one.clone()),
        [] => {
            let names: Vec<String> = all().flat_map(names_of).collect();
            let nearest = model::nearest(said, names.iter().map(String::as_str)).map(str::to_owned);
            Err(StatusFailure::UnknownObject { name: said.to_owned(), nearest })
        }
        ref several => {
            let names = several.iter().map(|object| whole_name(object)).collect();
            Err(StatusFailure::SeveralObjects { name: said.to_owned(), names })
        }
    }
}

/// Only what is in the layer, and the roots of that.
pub(crate) fn to_layer(status: &mut Status, name: LayerName) {
    status.links.retain(|link| link.layer == name);
    let failing: Vec<&ObjectKey> = status.links.iter().map(|link| &link.object).collect();
    status.roots.retain(|root| root.layer == name || root.blocks.iter().any(|it| failing.contains(&&it.object)));
    status.layers.retain(|layer| layer.name == name);
}

/// Only the roots of one object.
pub(crate) fn to_object(status: &mut Status, object: &ObjectKey) {
    status.roots.retain(|root| root.object == *object || root.blocks.iter().any(|it| it.object == *object));
    status.links.retain(|link| link.object == *object);
}

fn is_meant(object: &ObjectKey, said: &str) -> bool {
    let words: Vec<&str> = said.split('/').collect();
    let is_kind = |word: &str| object.kind.eq_ignore_ascii_case(word);
    match words[..] {
        [name] => object.name == name,
        [first, name] => object.name == name && (is_kind(first) || object.namespace == first),
        [kind, namespace, name] => is_kind(kind) && object.namespace == namespace && object.name == name,
        _ => false,
    }
}

fn whole_name(object: &ObjectKey) -> String {
    let parts: [&str; 3] = [&object.kind, &object.namespace, &object.name];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("/")
}

/// What it may be called.
fn names_of(object: &ObjectKey) -> [String; 2] {
    [object.name.to_string(), whole_name(object)]
}

#[cfg(test)]
mod tests {
    use health::facts::ObjectKey;

    use super::{is_meant, whole_name};

    #[test]
    fn an_object_is_called_by_any_of_its_names() {
        let apps = ObjectKey::new("kustomize.toolkit.fluxcd.io", "Kustomization", "flux-system", "apps");
        for said in ["apps", "kustomization/apps", "flux-system/apps", "Kustomization/flux-system/apps"] {
            assert!(is_meant(&apps, said), "{said}");
        }
        for said in ["app", "HelmRelease/apps", "other/apps", "Kustomization/other/apps", "a/b/c/apps"] {
            assert!(!is_meant(&apps, said), "{said}");
        }
        assert_eq!(whole_name(&apps), "Kustomization/flux-system/apps");
        assert_eq!(whole_name(&ObjectKey::new("", "Node", "", "worker-1")), "Node/worker-1");
    }
}
