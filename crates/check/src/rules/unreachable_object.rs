//! ## What it finds
//!
//! A Flux Kustomization or HelmRelease in a file below a directory that Flux applies, which no kustomization.yaml
//! lists. A file that a kustomization names in a comment is disabled on purpose and not reported; nor is anything below
//! a Kustomization that is reported.
//!
//! ## Why it matters at a cold start
//!
//! It looks deployed, and is not. If an older cluster still runs it, the new one will not.
//!
//! ## Example
//!
//! ```yaml
//! # apps/network/kustomization.yaml
//! resources:
//!   - ./ingress/ks.yaml
//! # and beside it, listed nowhere: apps/network/policies/ks.yaml
//! ```
//!
//! ## Fix
//!
//! List the file, or delete it.

use diagnostic::{Absence, Cost, Finding, Fix, Goal, Location, PlainAdvice, Quiet, Remark, Rule, Severity, Together};
use model::Dead;

use crate::context::Context;

pub(crate) static RULE: Rule =
    Rule::new("unreachable-object", "a file that nothing applies", include_str!("unreachable_object.rs"))
        .folding(Together::Nothing, Quiet::Cluster);

/// What a Kustomization that nothing applies would apply goes without saying: it lies beside or below its file.
fn is_below_dead(context: &Context<'_>, dead: &Dead) -> bool {
    let Some(place) = context.directory(dead.at) else { return false };
    let is_above = |above: &Dead| {
        let directory = context.directory(above.at).filter(|directory| !directory.is_empty());
        above.object.kind == "Kustomization"
            && directory.is_some_and(|above| place.strip_prefix(above).is_some_and(|rest| rest.starts_with('/')))
    };
    context.cluster.dead.iter().any(is_above)
}

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let dead = context.cluster.dead.iter().filter(|dead| !is_below_dead(context, dead));
    dead.map(|dead| finding(context, dead)).collect()
}

fn finding(context: &Context<'_>, dead: &Dead) -> Finding {
    let statement = Absence::NotApplied { object: dead.object.clone() };
    let primary = Location::new(dead.at, Remark::NothingListsFile);
    Finding::new(&RULE, Severity::Info, &context.cluster.name, &dead.object, statement, primary)
        .with_cost(Cost::NotThere)
        .with_fix(Fix::by_hand(PlainAdvice::ListFileOrDelete, Goal::Gone))
}
