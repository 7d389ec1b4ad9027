//! What expressions lead to: through locals, variables, and inputs and outputs of modules, at any depth.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use hcl_edit::expr::Expression;
use hcl_edit::structure::Body;

use super::block::BlockId;
use super::references::{Reference, of_expression};
use super::sites::{Site, subtree};
use crate::terraform::evaluate::Budget;

/// Names that stand for names. What is further away is left out.
const DEPTH_MAX: usize = 120;

/// Blocks that something leads to, and whether it needs what is known only when they are made.
pub(super) type Targets = BTreeMap<BlockId, bool>;

/// Where the blocks of a chain are.
#[derive(Default)]
pub(super) struct Index<'w> {
    /// By site, whether it is data, type and name.
    pub(super) resources: BTreeMap<(usize, bool, &'w str, &'w str), BlockId>,
    /// Site and body of each block that has one.
    pub(super) bodies: BTreeMap<BlockId, (usize, &'w Body)>,
    /// Those that are made, not read.
    pub(super) made: BTreeSet<BlockId>,
}

/// What is asked for more than once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Local(usize, String),
    Variable(usize, String),
    Output(usize, String),
    Argument(BlockId, Vec<String>),
}

pub(super) struct Resolver<'c, 'w> {
    pub(super) sites: &'c [Site<'w>],
    pub(super) index: &'c Index<'w>,
    pub(super) budget: &'c Budget,
    known: RefCell<BTreeMap<Name, Rc<Targets>>>,
    deferred: RefCell<BTreeMap<BlockId, bool>>,
    depth: Cell<usize>,
}

impl<'c, 'w> Resolver<'c, 'w> {
    pub(super) fn new(sites: &'c [Site<'w>], index: &'c Index<'w>, budget: &'c Budget) -> Self {
        Self { sites, index, budget, known: RefCell::default(), deferred: RefCell::default(), depth: Cell::new(0) }
    }

    /// What one reference in a module leads to.
    pub(super) fn of_reference(&self, site: usize, reference: &Reference) -> Rc<Targets> {
        let attributes: Vec<&str> = reference.attributes.iter().map(String::as_str).collect();
        match (reference.root.as_str(), attributes.as_slice()) {
            ("data", [kind, name, rest @ ..]) => self.resource(site, true, kind, name, rest),
            ("data" | "each" | "count" | "path" | "self" | "terraform", _) | (_, []) => Rc::default(),
            ("local", [name, ..]) => self.named(Name::Local(site, (*name).to_owned())),
            ("var", [name, ..]) => self.named(Name::Variable(site, (*name).to_owned())),
            ("module", [name, output, ..]) => match self.child(site, name) {
                Some(child) => self.named(Name::Output(child, (*output).to_owned())),
                None => Rc::default(),
            },
            ("module", [name]) => self.child(site, name).map(|child| self.all_outputs(child)).unwrap_or_default(),
            ("resource", [kind, name, rest @ ..]) => self.resource(site, false, kind, name, rest),
            (kind, [name, rest @ ..]) => self.resource(site, false, kind, name, rest),
        }
    }

    pub(super) fn of_expression(&self, site: usize, expression: &Expression) -> Targets {
        let mut all = Targets::new();
        for reference in of_expression(expression) {
            add(&mut all, &self.of_reference(site, &reference));
        }
        all
    }

    /// What an item of `depends_on` means: a module is all that is made and read in it.
    pub(super) fn of_dependency(&self, site: usize, item: &Reference) -> Rc<Targets> {
        match (item.root.as_str(), item.attributes.as_slice()) {
            ("module", [name]) => {
                let Some(child) = self.child(site, name) else { return Rc::default() };
                let inside = subtree(self.sites, child);
                let is_inside = |(at, ..): &&(usize, bool, &str, &str)| inside.contains(at);
                let blocks = self.index.resources.iter().filter(|(key, _)| is_inside(key));
                Rc::new(blocks.map(|(_, id)| (*id, false)).collect())
            }
            _ => self.of_reference(site, item),
        }
    }

    fn child(&self, site: usize, name: &str) -> Option<usize> {
        self.sites[site].children.iter().find(|(child, _)| *child == name).map(|(_, at)| *at)
    }

    fn all_outputs(&self, site: usize) -> Rc<Targets> {
        let mut all = Targets::new();
        for output in self.sites[site].module.outputs.keys() {
            add(&mut all, &self.named(Name::Output(site, output.clone())));
        }
        Rc::new(all)
    }

    /// Works a name out once. What is asked for while it is worked out leads in a circle, which Terraform refuses.
    fn named(&self, name: Name) -> Rc<Targets> {
        if let Some(known) = self.known.borrow().get(&name) {
            return Rc::clone(known);
        }
        if self.depth.get() >= DEPTH_MAX || !self.budget.spend(1) {
            return Rc::default();
        }
        self.known.borrow_mut().insert(name.clone(), Rc::default());
        self.depth.set(self.depth.get() + 1);
        let found = Rc::new(self.work_out(&name));
        self.depth.set(self.depth.get() - 1);
        self.budget.spend(found.len());
        self.known.borrow_mut().insert(name, Rc::clone(&found));
        found
    }

    fn work_out(&self, name: &Name) -> Targets {
        match name {
            Name::Local(site, name) => {
                let local = self.sites[*site].module.locals.get(name);
                local.map(|local| self.of_expression(*site, &local.value)).unwrap_or_default()
            }
            Name::Variable(site, name) => {
                let Some((above, call)) = &self.sites[*site].caller else { return Targets::new() };
                let given = call.block.body.get_attribute(name);
                given.map(|given| self.of_expression(*above, &given.value)).unwrap_or_default()
            }
            Name::Output(site, name) => {
                let Some(output) = self.sites[*site].module.outputs.get(name) else { return Targets::new() };
                let mut all = output.value.as_ref().map(|value| self.of_expression(*site, value)).unwrap_or_default();
                for item in output.depends_on.iter().flat_map(of_expression) {
                    add(&mut all, &self.of_dependency(*site, &item));
                }
                all
            }
            Name::Argument(id, path) => {
                let Some((site, body)) = self.index.bodies.get(id) else { return Targets::new() };
                let written = written(body, path);
                written.map(|written| self.of_expression(*site, written)).unwrap_or_default()
            }
        }
    }

    fn resource(&self, site: usize, is_data: bool, kind: &str, name: &str, rest: &[&str]) -> Rc<Targets> {
        let Some(id) = self.index.resources.get(&(site, is_data, kind, name)) else { return Rc::default() };
        Rc::new(Targets::from([(*id, self.is_computed(*id, is_data, rest))]))
    }

    /// Whether a part of a block is known only when the block is done. What it is given is known before, if that is.
    fn is_computed(&self, id: BlockId, is_data: bool, path: &[&str]) -> bool {
        let path: Vec<String> = path.iter().take(2).map(|part| (*part).to_owned()).collect();
        let is_given = self.index.bodies.get(&id).is_some_and(|(_, body)| written(body, &path).is_some());
        if is_given {
            return self.named(Name::Argument(id, path)).values().any(|computed| *computed);
        }
        if is_data { self.is_deferred(id) } else { true }
    }

    /// Whether a data source is read only when something else is made.
    fn is_deferred(&self, id: BlockId) -> bool {
        if let Some(known) = self.deferred.borrow().get(&id) {
            return *known;
        }
        if self.depth.get() >= DEPTH_MAX || !self.budget.spend(1) {
            return true;
        }
        self.deferred.borrow_mut().insert(id, false);
        self.depth.set(self.depth.get() + 1);
        let is_deferred = self.index.bodies.get(&id).is_some_and(|(site, body)| self.defers(*site, body));
        self.depth.set(self.depth.get() - 1);
        self.deferred.borrow_mut().insert(id, is_deferred);
        is_deferred
    }

    fn defers(&self, site: usize, body: &Body) -> bool {
        let own = body.get_attribute("depends_on").map(|items| (site, of_expression(&items.value)));
        let mut explicit: Vec<(usize, Vec<Reference>)> = own.into_iter().collect();
        let mut at = site;
        while let Some((above, call)) = &self.sites[at].caller {
            let items = call.block.body.get_attribute("depends_on");
            explicit.extend(items.map(|items| (*above, of_expression(&items.value))));
            at = *above;
        }
        let waits = explicit.iter().flat_map(|(at, items)| items.iter().map(|item| (*at, item)));
        let mut waits = waits.map(|(at, item)| self.of_dependency(at, item));
        waits.any(|targets| targets.keys().any(|id| self.index.made.contains(id)))
            || super::references::of_body(body)
                .iter()
                .any(|reference| self.of_reference(site, reference).values().any(|computed| *computed))
    }
}

fn add(all: &mut Targets, more: &Targets) {
    for (id, computed) in more {
        *all.entry(*id).or_default() |= computed;
    }
}

/// What a block gives an argument, or one in a block of it.
fn written<'b>(body: &'b Body, path: &[String]) -> Option<&'b Expression> {
    let first = path.first()?;
    if let Some(attribute) = body.get_attribute(first) {
        return Some(&attribute.value);
    }
    let second = path.get(1)?;
    let mut inner = body.blocks().filter(|block| block.ident.as_str() == first);
    inner.find_map(|block| block.body.get_attribute(second)).map(|attribute| &attribute.value)
}
