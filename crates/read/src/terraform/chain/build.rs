//! Puts the chain of one root together.

use std::collections::BTreeMap;
use std::rc::Rc;

use hcl_edit::expr::{Expression, ObjectKey, TraversalOperator};
use hcl_edit::structure::Body;
use source::Span;

use super::arguments::Gatherer;
use super::blind::{Blind, WhyBlind};
use super::block::{Block, BlockId, BlockKind};
use super::edge::{Edge, Why};
use super::references::{Reference, of_body, of_expression};
use super::resolve::{Index, Resolver};
use super::sites::{Site, sites};
use super::{Chain, Requirement, hand_over, lock, provisioner};
use crate::terraform::instance::{Each, Instance, World};
use crate::terraform::module::{Call, Resource};

/// Dependencies of one run, those of modules lifted to all that is in them.
const EDGES_MAX: usize = 200_000;
const BLOCKS_MAX: usize = 20_000;
/// Keys of one block.
const KEYS_MAX: usize = 1024;

pub(crate) fn chain<'w>(world: &'w World<'w>, directory: &str) -> Option<Chain> {
    let root = Instance::root(world, directory)?;
    let mut chain = Chain { root: directory.to_owned(), backend: hand_over::backend(&root), ..Chain::default() };
    chain.is_state_encrypted = root.module.is_state_encrypted;
    let sites = sites(&root, &mut chain.blind);
    chain.requirements = requirements(world, directory, &sites);
    let mut builder = Builder { chain, index: Index::default(), providers: BTreeMap::new(), places: Vec::new() };
    for (at, site) in sites.iter().enumerate() {
        builder.add_site(at, site);
    }
    builder.configure(&sites);
    builder.add_edges(&sites, world);
    Some(builder.chain)
}

/// Where a block is written.
struct Place<'w> {
    site: usize,
    body: &'w Body,
    /// What it names as its provider.
    provider: Option<(String, Option<String>)>,
}

struct Builder<'w> {
    chain: Chain,
    index: Index<'w>,
    /// By site, name and alias.
    providers: BTreeMap<(usize, String, Option<String>), BlockId>,
    /// Of each block.
    places: Vec<Place<'w>>,
}

impl<'w> Builder<'w> {
    fn add_site(&mut self, at: usize, site: &Site<'w>) {
        let module = site.module;
        for one in &module.configurations {
            let label = one.alias.as_ref().map_or_else(|| one.name.clone(), |alias| format!("{}.{alias}", one.name));
            let address = format!("{}provider.{label}", site.prefix);
            let provider = Some((one.name.clone(), one.alias.clone()));
            let place = Place { site: at, body: &one.body, provider };
            let name = one.alias.clone().unwrap_or_default();
            let id = self.add(address, BlockKind::Provider, (&one.name, &name), one.at, place, site);
            self.providers.extend(id.map(|id| ((at, one.name.clone(), one.alias.clone()), id)));
        }
        for (name, call) in &module.calls {
            let place = Place { site: at, body: &call.block.body, provider: None };
            self.add(
                format!("{}module.{name}", site.prefix),
                BlockKind::Module,
                ("module", name),
                call.at,
                place,
                site,
            );
        }
        for resource in &module.resources {
            let kind = if resource.is_data { BlockKind::Data } else { BlockKind::Resource };
            let data = if resource.is_data { "data." } else { "" };
            let address = format!("{}{data}{}.{}", site.prefix, resource.kind, resource.name);
            let place = Place { site: at, body: &resource.body, provider: Some(provider_of(resource)) };
            let Some(id) = self.add(address, kind, (&resource.kind, &resource.name), resource.at, place, site) else {
                return;
            };
            self.index.resources.insert((at, resource.is_data, &resource.kind, &resource.name), id);
            if !resource.is_data {
                self.index.made.insert(id);
            }
            self.read(id, resource, site);
        }
        if at == 0 {
            self.add_outputs(site);
        }
    }

    fn add_outputs(&mut self, site: &Site<'w>) {
        for (name, output) in &site.module.outputs {
            let block = block_of(format!("output.{name}"), BlockKind::Output, ("output", name), output.at, site);
            self.chain.blocks.push(block);
            // An output has no body of its own.
            self.places.push(Place { site: 0, body: empty(), provider: None });
        }
    }

    fn add(
        &mut self,
        address: String,
        kind: BlockKind,
        names: (&str, &str),
        at: Span,
        place: Place<'w>,
        site: &Site<'w>,
    ) -> Option<BlockId> {
        if self.chain.blocks.len() >= BLOCKS_MAX {
            self.chain.blind.push(Blind { address, why: WhyBlind::TooMuch, at });
            return None;
        }
        let mut block = block_of(address, kind, names, at, site);
        let id = BlockId::new(self.chain.blocks.len());
        let body = place.body;
        (block.count, block.keys) = counted(site, body);
        block.provider = place.provider.as_ref().map(|(name, _)| name.clone()).unwrap_or_default();
        let (instance, each) = first(site, body);
        let mut gatherer =
            Gatherer { instance: &instance, each: &each, header: at, found: Vec::new(), understood: (0, 0) };
        gatherer.body(body, &mut Vec::new());
        block.arguments = gatherer.found;
        self.chain.understood.0 += gatherer.understood.0;
        self.chain.understood.1 += gatherer.understood.1;
        if kind == BlockKind::Provider {
            self.chain.read.extend(hand_over::read(&instance, &each, body, id, &block));
        }
        self.index.bodies.insert(id, (place.site, body));
        self.chain.blocks.push(block);
        self.places.push(place);
        Some(id)
    }

    /// What a resource runs, writes and reads.
    fn read(&mut self, id: BlockId, resource: &'w Resource, site: &Site<'w>) {
        let (instance, each) = first(site, &resource.body);
        let block = &mut self.chain.blocks[id.index()];
        block.provisioners = provisioner::provisioners(&instance, &each, resource);
        self.chain.states.extend(hand_over::state(&instance, id, block));
        self.chain.written.extend(hand_over::written(&instance, &each, &resource.body, id, block));
        self.chain.read.extend(hand_over::read(&instance, &each, &resource.body, id, block));
        if resource.is_data && resource.kind == "external" {
            self.chain.blind.push(Blind { address: block.address.clone(), why: WhyBlind::Command, at: block.at });
        }
    }

    /// Finds the configuration of the provider of each block.
    fn configure(&mut self, sites: &[Site<'w>]) {
        for (block, place) in self.chain.blocks.iter_mut().zip(&self.places) {
            if matches!(block.kind, BlockKind::Resource | BlockKind::Data)
                && let Some((name, alias)) = &place.provider
            {
                block.configuration = configuration(&self.providers, sites, place.site, name, alias.as_deref());
            }
        }
    }

    fn add_edges(&mut self, sites: &[Site<'w>], world: &World<'_>) {
        let resolver = Resolver::new(sites, &self.index, &world.budget);
        let lifted: Vec<Vec<Edge>> = (0..sites.len()).map(|site| lifted(&resolver, sites, site)).collect();
        let mut edges: Vec<Edge> = Vec::new();
        let mut starts = Vec::with_capacity(self.chain.blocks.len());
        let mut too_much = None;
        for id in self.chain.ids() {
            starts.push(edges.len());
            if too_much.is_some() {
                continue;
            }
            let own = self.edges_of(id, &resolver, sites, &lifted);
            if edges.len() + own.len() > EDGES_MAX {
                too_much = Some(id);
                continue;
            }
            edges.extend(own.into_values());
        }
        (self.chain.starts, self.chain.edges) = (starts, edges);
        if let Some(id) = too_much {
            let block = self.chain.block(id);
            let blind = Blind { address: block.address.clone(), why: WhyBlind::TooMuch, at: block.at };
            self.chain.blind.push(blind);
        }
    }

    fn edges_of(
        &self,
        id: BlockId,
        resolver: &Resolver<'_, '_>,
        sites: &[Site<'_>],
        lifted: &[Vec<Edge>],
    ) -> BTreeMap<(BlockId, Why), Edge> {
        let (block, place) = (self.chain.block(id), &self.places[id.index()]);
        let mut own: BTreeMap<(BlockId, Why), Edge> = BTreeMap::new();
        let mut push = |edge: Edge| {
            if edge.to != id {
                let known = own.entry((edge.to, edge.why)).or_insert(edge);
                known.is_computed |= edge.is_computed;
            }
        };
        let output = sites[0].module.outputs.get(&block.name).filter(|_| block.kind == BlockKind::Output);
        let explicit = match output {
            Some(output) => output.depends_on.as_ref().map(of_expression),
            None => place.body.get_attribute("depends_on").map(|items| of_expression(&items.value)),
        };
        for item in explicit.unwrap_or_default() {
            follow(resolver, place.site, id, block.at, &item, Why::DependsOn, &mut push);
        }
        let value = output.and_then(|output| output.value.as_ref()).map(of_expression);
        for reference in value.unwrap_or_else(|| of_body(place.body)) {
            follow(resolver, place.site, id, block.at, &reference, Why::Reference, &mut push);
        }
        if matches!(block.kind, BlockKind::Resource | BlockKind::Data) {
            lifted[place.site].iter().for_each(|edge| push(Edge { from: id, ..*edge }));
            if let Some(to) = block.configuration {
                let at = self.chain.block(to).at;
                push(Edge { from: id, to, why: Why::Configuration, is_computed: false, at });
            }
        }
        own
    }
}

/// A block of which only its place is known.
fn block_of(address: String, kind: BlockKind, (type_name, name): (&str, &str), at: Span, site: &Site<'_>) -> Block {
    Block {
        address,
        kind,
        type_name: type_name.to_owned(),
        name: name.to_owned(),
        at,
        count: None,
        keys: Vec::new(),
        provider: String::new(),
        configuration: None,
        arguments: Vec::new(),
        provisioners: Vec::new(),
        directory: site.module.directory.clone(),
    }
}

/// The edges that all of a module have for the sake of the calls that lead to it.
fn lifted(resolver: &Resolver<'_, '_>, sites: &[Site<'_>], site: usize) -> Vec<Edge> {
    let mut found = Vec::new();
    let mut at = site;
    let nobody = BlockId::new(0);
    while let Some((above, Call { block, at: header })) = &sites[at].caller {
        let mut push = |edge: Edge| found.push(edge);
        for item in block.body.get_attribute("depends_on").map(|it| of_expression(&it.value)).unwrap_or_default() {
            follow(resolver, *above, nobody, *header, &item, Why::ModuleDependsOn, &mut push);
        }
        for name in ["count", "for_each"] {
            for reference in block.body.get_attribute(name).map(|it| of_expression(&it.value)).unwrap_or_default() {
                follow(resolver, *above, nobody, *header, &reference, Why::ModuleExpansion, &mut push);
            }
        }
        at = *above;
    }
    found
}

fn follow(
    resolver: &Resolver<'_, '_>,
    site: usize,
    from: BlockId,
    header: Span,
    reference: &Reference,
    why: Why,
    push: &mut dyn FnMut(Edge),
) {
    let targets = match why {
        Why::DependsOn | Why::ModuleDependsOn => resolver.of_dependency(site, reference),
        _ => resolver.of_reference(site, reference),
    };
    let at = resolver.sites[site].sample.at(header, reference.range.clone());
    for (to, is_computed) in targets.iter() {
        push(Edge { from, to: *to, why, is_computed: *is_computed && !why.is_explicit(), at });
    }
}

/// How many there are of a block, and their keys.
fn counted(site: &Site<'_>, body: &Body) -> (Option<usize>, Vec<String>) {
    let Some(instances) = &site.instances else { return (None, Vec::new()) };
    let (mut count, mut keys) = (0, Vec::new());
    for instance in instances {
        let Some(all) = instance.expand(body) else { return (None, Vec::new()) };
        count += all.len();
        for each in all.iter().take(KEYS_MAX.saturating_sub(keys.len())) {
            let mut way = instance.keys();
            way.extend(each.key_text());
            keys.extend(Some(way.join("/")).filter(|key| !key.is_empty()));
        }
    }
    (Some(count), keys)
}

/// The first of a block, for what is the same of all.
fn first<'w>(site: &Site<'w>, body: &Body) -> (Rc<Instance<'w>>, Each) {
    let instance = Rc::clone(&site.sample);
    let each = instance.expand(body).and_then(|all| all.into_iter().next()).unwrap_or_default();
    (instance, each)
}

/// The local name of a resource's provider and its alias.
fn provider_of(resource: &Resource) -> (String, Option<String>) {
    let said = resource.body.get_attribute("provider").and_then(|attribute| reference_to_provider(&attribute.value));
    let default = || (resource.kind.split('_').next().unwrap_or(&resource.kind).to_owned(), None);
    said.unwrap_or_else(default)
}

/// `helm`, `helm.east`, also in quotes as it was once written.
fn reference_to_provider(expression: &Expression) -> Option<(String, Option<String>)> {
    match expression {
        Expression::Variable(name) => Some((name.as_str().to_owned(), None)),
        Expression::Traversal(traversal) => {
            let Expression::Variable(name) = &traversal.expr else { return None };
            let TraversalOperator::GetAttr(alias) = traversal.operators.first()?.value() else { return None };
            Some((name.as_str().to_owned(), Some(alias.as_str().to_owned())))
        }
        other => {
            let text = other.as_str()?;
            let (name, alias) = text.split_once('.').map_or((text, None), |(name, alias)| (name, Some(alias)));
            Some((name.to_owned(), alias.map(str::to_owned)))
        }
    }
}

/// The block that configures a provider for a module: its own, or one that it is given by those that call it.
fn configuration(
    providers: &BTreeMap<(usize, String, Option<String>), BlockId>,
    sites: &[Site<'_>],
    site: usize,
    name: &str,
    alias: Option<&str>,
) -> Option<BlockId> {
    let (mut site, mut name, mut alias) = (site, name.to_owned(), alias.map(str::to_owned));
    loop {
        if let Some(found) = providers.get(&(site, name.clone(), alias.clone())) {
            return Some(*found);
        }
        let (above, call) = sites[site].caller.as_ref()?;
        let given = call.block.body.get_attribute("providers").and_then(|it| it.value.as_object());
        let own = (name.clone(), alias.clone());
        let handed = given.and_then(|given| {
            let mut entries = given.iter();
            entries.find_map(|(key, value)| (key_of(key)? == own).then(|| reference_to_provider(value.expr()))?)
        });
        match handed {
            Some((as_name, as_alias)) => (name, alias) = (as_name, as_alias),
            // One with an alias is never handed down by itself.
            None if alias.is_some() => return None,
            None => {}
        }
        site = *above;
    }
}

fn key_of(key: &ObjectKey) -> Option<(String, Option<String>)> {
    match key {
        ObjectKey::Ident(name) => Some((name.as_str().to_owned(), None)),
        ObjectKey::Expression(expression) => reference_to_provider(expression),
    }
}

fn requirements(world: &World<'_>, root: &str, sites: &[Site<'_>]) -> BTreeMap<String, Requirement> {
    let locked = lock::versions(world.repository, root);
    let mut all: BTreeMap<String, Requirement> = BTreeMap::new();
    for (name, required) in sites.iter().filter(|site| site.may_exist()).flat_map(|site| &site.module.required) {
        let source = required.source.clone().unwrap_or_else(|| format!("hashicorp/{name}"));
        let one = all.entry(name.clone()).or_default();
        if one.source.is_empty() || required.source.is_some() && one.at.is_none() {
            lock::without_registry(&source).clone_into(&mut one.source);
        }
        one.locked = locked.get(&one.source).cloned();
        one.versions.extend(required.version.clone().filter(|version| !one.versions.contains(version)));
        one.at = one.at.or(Some(required.at));
    }
    all
}

fn empty() -> &'static Body {
    static EMPTY: std::sync::LazyLock<Body> = std::sync::LazyLock::new(Body::new);
    &EMPTY
}
