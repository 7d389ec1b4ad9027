//! A run that comes before what applies Git, or starts that, and needs a service that only Git brings.

use std::collections::BTreeSet;

use catalogue::Service;
use ecow::EcoString;
use model::{LayerDefect, StepFault};
use source::Span;

use super::{Judge, fault, is_asked_at_plan, name, start_of};
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
    let start = start_of(judge, at);
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
            if seen.contains(service) {
                continue;
            }
            let asked = Asked { judge, at, id, at_plan: is_asked_at_plan(chain, id, need) };
            if let Some(fault) = asked.fault(start, service, shown) {
                seen.insert(*service);
                found.push(fault);
            }
        }
    }
}

/// A block that asks a service.
struct Asked<'j, 'r> {
    judge: &'r Judge<'j>,
    at: usize,
    id: BlockId,
    at_plan: bool,
}

impl Asked<'_, '_> {
    fn fault(&self, start: Option<(usize, BlockId)>, service: &str, shown: &str) -> Option<StepFault> {
        let chain = &self.judge.layers.chains[self.at];
        let block = chain.block(self.id);
        // What comes after the start may find it there, in time.
        let is_early = |(start_chain, start): &(usize, BlockId)| {
            self.at_plan || *start_chain != self.at || !chain.is_before(*start, self.id)
        };
        let brought = brought(self.judge, service)?;
        let local = local_address(chain, block).filter(|_| !is_forwarded(self.judge));
        if let Some((start_chain, start)) = start.filter(is_early) {
            let starter = self.judge.layers.chains[start_chain].block(start);
            let defect = LayerDefect::ServiceFromGitOps {
                service: shown.into(),
                start: name(starter),
                at_plan: self.at_plan,
                forward: local.map(|(address, _)| address),
            };
            return Some(fault(chain, block, block.at, defect, vec![starter.at, brought]));
        }
        let (address, at) = local?;
        let defect = LayerDefect::NotForwarded { service: shown.into(), address };
        Some(fault(chain, block, at, defect, vec![brought]))
    }
}

/// Arguments of providers that are the address of their service.
const ADDRESSES: [&str; 5] = ["address", "url", "server_url", "base_url", "endpoint"];

/// The address of this machine at which a provider asks its service.
fn local_address(chain: &Chain, block: &Block) -> Option<(EcoString, Span)> {
    let configuration = chain.block(block.configuration?);
    let argument = ADDRESSES.iter().find_map(|name| configuration.argument(&[name]))?;
    let address = argument.known()?;
    let host = address.split_once("://").map_or(address, |(_, rest)| rest);
    let is_here = ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .any(|local| host.strip_prefix(local).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/'])));
    is_here.then(|| (host.trim_end_matches('/').into(), argument.at))
}

/// Whether any script or provisioner leads from this machine to the cluster.
fn is_forwarded(judge: &Judge<'_>) -> bool {
    let mut blocks = judge.layers.chains.iter().flat_map(|chain| &chain.blocks);
    FORWARDS.iter().any(|word| judge.scripts.mention(word))
        || blocks.any(|block| {
            block.provisioners.iter().any(|one| FORWARDS.iter().any(|word| one.script.text.contains(word)))
        })
}

/// What leads a port of this machine elsewhere.
const FORWARDS: [&str; 4] = ["port-forward", "kubectl proxy", "ssh -L", "ssh -N"];

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
