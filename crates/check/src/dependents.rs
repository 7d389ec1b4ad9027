//! One finding that speaks for all who rely on the same component.

use std::collections::BTreeSet;

use diagnostic::{Also, Finding, Note};
use model::ObjectRef;

use crate::context::Context;
use crate::pairs::Pair;

/// Lets a finding about a gate speak for all that rely on it: it is the gate that has to do with them.
pub(crate) fn speak_for_all(context: &Context<'_>, finding: &mut Finding, pairs: &[Pair<'_>]) {
    finding.notes = dependents(context, pairs).into_iter().collect();
    finding.also = also(context, pairs);
    for also in &mut finding.also {
        also.provider.clone_from(&finding.provider);
    }
}

/// Every consumer but the first.
pub(crate) fn also(context: &Context<'_>, pairs: &[Pair<'_>]) -> Vec<Also> {
    let others = pairs.iter().skip(1);
    others
        .map(|pair| {
            let (component, provider) = pair.objects(context);
            Also {
                component,
                provider: Some(provider),
                at: context.component(pair.consumer).at.into(),
                severity: pair.severity,
                cost: Some(pair.cost(context)),
                consequence: Some(pair.judged[0].consequence),
            }
        })
        .collect()
}

/// Which components are concerned, when it is more than one.
pub(crate) fn dependents(context: &Context<'_>, pairs: &[Pair<'_>]) -> Option<Note> {
    // A Kustomization and the release in it often have the same name, and are one thing to people.
    let mut told = BTreeSet::new();
    let objects = pairs.iter().map(|pair| &context.component(pair.consumer).object);
    let all: Vec<ObjectRef> =
        objects.filter(|object| told.insert((&object.namespace, &object.name))).cloned().collect();
    (all.len() > 1).then_some(Note::Dependents { all })
}
