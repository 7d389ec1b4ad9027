//! An object whose kind must be served when the run is planned, while the same run installs it.

use catalogue::{Moment, Service};
use model::{LayerDefect, StepFault};

use super::{Judge, fault, name};
use crate::terraform::chain::{Block, BlockKind, Chain};

pub(super) fn find(judge: &Judge<'_>, chain: &Chain, found: &mut Vec<StepFault>) {
    let is_made = |block: &&Block| block.kind == BlockKind::Resource && block.count.is_some_and(|count| count > 0);
    for block in chain.blocks.iter().filter(is_made) {
        let needs_kind = judge
            .needs(chain, block)
            .iter()
            .any(|need| need.what == Service::KubernetesKind && need.when == Moment::Plan);
        let named = || Some((block.text(&["manifest", "apiVersion"])?, block.argument(&["manifest", "kind"])?));
        let Some((version, kind_at)) = named().filter(|_| needs_kind) else { continue };
        let (Some((group, _)), Some(kind)) = (version.split_once('/'), kind_at.known()) else { continue };
        let brings = |other: &&Block| {
            let chart = other.text(&["chart"]).filter(|_| other.type_name == "helm_release");
            let component = chart.and_then(|chart| judge.catalogue.by_chart(chart));
            component.is_some_and(|component| {
                judge.catalogue.crd_owners(group, kind).any(|owner| owner.name == component.name)
            })
        };
        if let Some(by) = chain.blocks.iter().filter(is_made).find(brings) {
            let defect = LayerDefect::KindAtPlan { kind: kind.into(), by: name(by) };
            found.push(fault(chain, block, kind_at.at, defect, vec![by.at]));
        }
    }
}
