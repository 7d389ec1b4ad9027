//! A run that comes before what applies Git, or starts that, and needs a service that only Git brings.

use std::collections::BTreeSet;

use catalogue::Service;
use model::{LayerDefect, StepFault};
use source::Span;

use super::{Judge, fault, is_asked_at_plan, name, starts};
use crate::object::Object;
use crate::terraform::chain::{Block, BlockId, BlockKind, Chain};

/// Services that people run in their clusters, and what they are called there.
const SERVICES: [(Service, &str, &str); 5] = [
    (Service::Vault, "vault", "Vault"),
    (Service::Authentik, "authentik", "authentik"),
    (Service::Powerdns, "powerdns", "PowerDNS"),
    (Service::Gitea, "gitea", "Gitea"),
    (Service::Harbor, "harbor", "Harbor"),
];

pub(super) fn find(judge: &Judge<'_>, at: usize, found: &mut Vec<StepFault>) {
    let chain = &judge.layers.chains[at];
    let Some((start_chain, start)) = start(judge, at) else { return };
    let mut seen = BTreeSet::new();
    for (id, block) in chain.iter() {
        let is_made = matches!(block.kind, BlockKind::Resource | BlockKind::Data);
        // Of one that may not be made, it is not known that it is asked.
        if !is_made || block.count.is_none_or(|count| count == 0) {
            continue;
        }
        for need in judge.needs(chain, block) {
            let Some((_, service, shown)) = SERVICES.iter().find(|(service, ..)| *service == need.what) else {
                continue;
            };
            let at_plan = is_asked_at_plan(chain, id, need);
            // What comes after the start may find it there, in time.
            if !at_plan && start_chain == at && chain.is_before(start, id) {
                continue;
            }
            let Some(brought) = brought(judge, service) else { continue };
            if seen.insert(*service) {
                let starter = judge.layers.chains[start_chain].block(start);
                let defect = LayerDefect::ServiceFromGitOps { service: (*shown).into(), start: name(starter), at_plan };
                found.push(fault(chain, block, place(chain, block), defect, vec![starter.at, brought]));
            }
        }
    }
}

/// The provider's own block, if it has one: there is the address.
fn place(chain: &Chain, block: &Block) -> Span {
    block.configuration.map_or(block.at, |id| chain.block(id).at)
}

/// Where what applies Git is started, by the run itself or by one that comes after it.
fn start(judge: &Judge<'_>, at: usize) -> Option<(usize, BlockId)> {
    let chains = &judge.layers.chains;
    let own = starts(&chains[at]).next().map(|(id, _)| (at, id));
    let later = || {
        let mut others = (0..chains.len()).filter(|other| judge.layers.is_after(*other, at));
        others.find_map(|other| Some((other, starts(&chains[other]).next()?.0)))
    };
    own.or_else(later)
}

/// The object in Git that brings a service.
fn brought(judge: &Judge<'_>, service: &str) -> Option<Span> {
    let objects = judge.repository.yaml_files().flat_map(|(_, _, documents)| documents);
    let mut objects = objects.filter_map(|document| document.root.as_ref()).map(Object::new);
    let is_it = |object: &Object<'_>| match object.kind() {
        "HelmRelease" => {
            let chart = object.node.text_at(&["spec", "chart", "spec", "chart"]);
            let chart = chart.or_else(|| object.node.text_at(&["spec", "chartRef", "name"])).unwrap_or_default();
            let component = judge.catalogue.by_chart(chart).map(|component| component.name.as_str());
            component == Some(service) || chart.rsplit('/').next() == Some(service) || object.name() == service
        }
        // Of the operator by Bank-Vaults.
        "Vault" => service == "vault" && object.group() == "vault.banzaicloud.com",
        _ => false,
    };
    objects.find(is_it).map(Object::name_span)
}
