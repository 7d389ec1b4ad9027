//! Pairs that nothing orders, which several rules share out among themselves.

use diagnostic::Severity;
use graph::Judged;
use model::{CapabilityKind, Consequence, Phase, Verdict};

use crate::context::Context;
use crate::pairs::{self, Pair};
use crate::remedy;

/// Pairs that nothing orders, without what another suggestion brings already.
pub(crate) fn races<'c>(context: &'c Context<'_>) -> &'c [Pair<'c>] {
    context.races(|| {
        let mut races = pairs::reduce(context, pairs::gather(context, |judged| is_race(context, judged)));
        pairs::mark_circles(context, &mut races);
        // What the provider itself waits for can't wait for it: whatever this is, it can't be ordered.
        for pair in races.iter_mut().filter(|pair| pair.closes_circle && pair.severity == Severity::Info) {
            pair.severity = Severity::Pedantic;
        }
        remedy::find_ways(context, &mut races);
        races
    })
}

/// Nothing orders the two, and losing is not final; variables that are silently absent have a rule of their own too.
fn is_race(context: &Context<'_>, judged: &Judged) -> bool {
    let is_terminal =
        matches!(judged.consequence, Consequence::Terminal { .. }) && context.severity(judged) >= Severity::Warning;
    let is_substitution = judged.consequence == Consequence::Silent && context.need(judged).phase == Phase::Build;
    let is_unordered = judged.verdict == Verdict::Unordered
        || (judged.verdict == Verdict::AppliedOnly && context.is_between_large_kustomizations(judged));
    is_unordered && !is_terminal && !is_substitution
}

/// Whether a pair is about a store that the provider applies.
pub(crate) fn is_about_store(context: &Context<'_>, pair: &Pair<'_>) -> bool {
    pair.judged.iter().any(|judged| context.need(judged).capability.kind == CapabilityKind::SecretStore)
}

/// Whether all that is not ordered between the two is that a webhook answers.
pub(crate) fn is_only_webhooks(context: &Context<'_>, pair: &Pair<'_>) -> bool {
    pair.judged.iter().all(|judged| context.need(judged).capability.kind == CapabilityKind::Webhook)
}
