//! Dependencies that name an object of another kind than they mean.

use model::{ComponentId, ObjectRef, Role};

use crate::context::Context;

/// The component of that name that is of the other kind, where none is of the wanted one.
pub(crate) fn other_kind(context: &Context<'_>, missing: &ObjectRef) -> Option<ComponentId> {
    let other = match missing.kind.as_str() {
        "HelmRelease" => Role::Kustomization,
        "Kustomization" => Role::HelmRelease,
        _ => return None,
    };
    let named = context.index().named(&missing.name);
    if named.iter().any(|id| context.component(*id).object.kind == missing.kind) {
        return None;
    }
    let mut others: Vec<ComponentId> =
        named.iter().copied().filter(|id| context.component(*id).role == other).collect();
    others.sort_by_key(|id| context.component(*id).object.namespace != missing.namespace);
    others.first().copied()
}
