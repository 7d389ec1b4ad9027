//! A module with values for its variables: what its names stand for.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::{Rc, Weak};

use hcl_edit::expr::Expression;
use hcl_edit::structure::Body;
use kustomize::Files as _;
use repository::path;
use source::{FileId, Span, to_u32};
use yaml::EcoString;

use super::evaluate::{Budget, Evaluation, Given, Names, Nowhere, pairs};
use super::module::{Call, Module, Resource};
use super::types::converted;
use super::value::{Value, whole};
use crate::repository::Repository;
use crate::talos;

/// Modules in modules.
const DEPTH_MAX: usize = 12;
/// What one more instance costs, in steps.
const INSTANCE_STEPS: usize = 200;
/// Arguments of a resource that are about it, not of it.
const META: [&str; 5] = ["count", "depends_on", "for_each", "provider", "lifecycle"];
const META_BLOCKS: [&str; 4] = ["connection", "dynamic", "lifecycle", "provisioner"];

/// Everything that a run of Terraform could see of a repository.
pub(crate) struct World<'r> {
    pub(crate) repository: &'r Repository,
    pub(crate) modules: &'r BTreeMap<String, Module>,
    pub(crate) budget: Budget,
}

/// Which of several a block stands for: `each`, `count.index`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Each {
    /// The key of `for_each`, or the number.
    pub(crate) key: Option<Value>,
    value: Option<Value>,
}

pub(crate) struct Instance<'w> {
    world: &'w World<'w>,
    pub(crate) module: &'w Module,
    /// Where Terraform is run.
    root: &'w str,
    parent: Option<Caller<'w>>,
    depth: usize,
    memory: RefCell<BTreeMap<String, Value>>,
    children: RefCell<BTreeMap<&'w str, Option<Children<'w>>>>,
    /// Itself, for those that it calls.
    this: Weak<Instance<'w>>,
}

struct Caller<'w> {
    instance: Weak<Instance<'w>>,
    call: &'w Call,
    each: Each,
}

type Children<'w> = Rc<Vec<Rc<Instance<'w>>>>;

/// Names where a block stands that may stand for several.
struct Place<'p, 'w> {
    instance: &'p Instance<'w>,
    each: &'p Each,
}

impl Each {
    /// The key as a text, if it is one of several.
    pub(crate) fn key_text(&self) -> Option<String> {
        Some(self.key.as_ref()?.to_text()?.to_string())
    }
}

impl<'w> Instance<'w> {
    /// A directory that is applied by itself.
    pub(crate) fn root(world: &'w World<'w>, directory: &str) -> Option<Rc<Self>> {
        let module = world.modules.get(directory)?;
        Some(Self::make(world, module, &module.directory, None, 0))
    }

    fn make(
        world: &'w World<'w>,
        module: &'w Module,
        root: &'w str,
        parent: Option<Caller<'w>>,
        depth: usize,
    ) -> Rc<Self> {
        Rc::new_cyclic(|this| Self {
            world,
            module,
            root,
            parent,
            depth,
            memory: RefCell::default(),
            children: RefCell::default(),
            this: this.clone(),
        })
    }

    /// What it stands for in its caller.
    pub(crate) fn each(&self) -> Option<&Each> {
        self.parent.as_ref().map(|caller| &caller.each)
    }

    /// Where Terraform is run.
    pub(crate) fn run_in(&self) -> &'w str {
        self.root
    }

    /// The text of a file, by a path as Terraform takes it.
    pub(crate) fn file(&self, path: &str) -> Option<&'w str> {
        // Outside of the repository.
        if path.starts_with('/') {
            return None;
        }
        let path = path::join(self.root, path)?;
        std::str::from_utf8(self.world.repository.bytes(&path)?).ok()
    }

    /// What an expression is worth in it.
    pub(crate) fn value(&self, expression: &Expression, each: &Each) -> Value {
        let place = Place { instance: self, each };
        Evaluation { names: &place, budget: &self.world.budget }.value(expression)
    }

    /// What an expression of a template file is worth that is given these values.
    pub(crate) fn value_given(&self, expression: &Expression, given: &Value) -> Value {
        let each = Each::default();
        let files = Place { instance: self, each: &each };
        let names = Given { given, files: &files };
        Evaluation { names: &names, budget: &self.world.budget }.value(expression)
    }

    /// The place of something in the file of a block, or the block's header. What was made out of JSON has no place of its own.
    pub(crate) fn at(&self, header: Span, range: Option<Range<usize>>) -> Span {
        let range = range.filter(|_| !self.is_json(header.file));
        range.map_or(header, |range| Span::new(header.file, to_u32(range.start), to_u32(range.end)))
    }

    pub(crate) fn is_json(&self, file: FileId) -> bool {
        self.world.repository.path(file).is_some_and(|path| path.rsplit('.').next() == Some("json"))
    }

    pub(crate) fn world(&self) -> &'w World<'w> {
        self.world
    }

    /// The ones that a block with `for_each` or `count` stands for; nothing if that can't be known.
    pub(crate) fn expand(&self, body: &Body) -> Option<Vec<Each>> {
        if let Some(count) = body.get_attribute("count") {
            let count = whole(self.value(&count.value, &Each::default()).to_number()?)?;
            let count = usize::try_from(count).ok().filter(|count| *count <= 1024)?;
            #[expect(clippy::cast_precision_loss, reason = "at most 1,024")]
            let number = |index: usize| Each { key: Some(Value::number(index as f64)), value: None };
            return Some((0..count).map(number).collect());
        }
        let Some(for_each) = body.get_attribute("for_each") else { return Some(vec![Each::default()]) };
        let value = self.value(&for_each.value, &Each::default());
        let is_set = value.as_list().is_some();
        let each = |(key, value): (Value, Value)| {
            let key = if is_set { value.clone() } else { key };
            Each { key: Some(key), value: Some(value) }
        };
        pairs(&value).ok().map(|pairs| pairs.into_iter().map(each).collect())
    }

    /// The instances of a module that it calls; nothing if it is not here, or their number is not known.
    pub(crate) fn children(&self, name: &str) -> Option<Children<'w>> {
        let (name, call) = self.module.calls.get_key_value(name)?;
        if let Some(known) = self.children.borrow().get(name.as_str()) {
            return known.clone();
        }
        // While it is looked for it is not known: it may be asked for again on the way.
        self.children.borrow_mut().insert(name, None);
        let found = self.called(call);
        self.children.borrow_mut().insert(name, found.clone());
        found
    }

    fn called(&self, call: &'w Call) -> Option<Children<'w>> {
        let module = self.world.modules.get(&self.module.local_source(&call.block)?)?;
        if self.depth >= DEPTH_MAX {
            return None;
        }
        let mut children = Vec::new();
        for each in self.expand(&call.block.body)? {
            if !self.world.budget.spend(INSTANCE_STEPS) {
                return None;
            }
            let caller = Caller { instance: self.this.clone(), call, each };
            children.push(Self::make(self.world, module, self.root, Some(caller), self.depth + 1));
        }
        Some(Rc::new(children))
    }

    /// One of a module that it calls, where it is not known which there are: `each` is unknown in it.
    pub(crate) fn any_child(&self, name: &str) -> Option<Rc<Self>> {
        let (_, call) = self.module.calls.get_key_value(name)?;
        let module = self.world.modules.get(&self.module.local_source(&call.block)?)?;
        if self.depth >= DEPTH_MAX || !self.world.budget.spend(INSTANCE_STEPS) {
            return None;
        }
        let caller = Caller { instance: self.this.clone(), call, each: Each::default() };
        Some(Self::make(self.world, module, self.root, Some(caller), self.depth + 1))
    }

    /// The keys that it was called with, the outermost first.
    pub(crate) fn keys(&self) -> Vec<String> {
        let Some(caller) = &self.parent else { return Vec::new() };
        let mut keys = caller.instance.upgrade().map(|above| above.keys()).unwrap_or_default();
        keys.extend(caller.each.key_text());
        keys
    }

    /// The first line of the block that calls it.
    pub(crate) fn call_header(&self) -> Option<Span> {
        self.parent.as_ref().map(|caller| caller.call.at)
    }

    /// What it gives a variable of its own call, where that is written, with the instance that it is written in.
    pub(crate) fn argument(&self, name: &str) -> Option<(Rc<Self>, &'w Expression, &Each)> {
        let caller = self.parent.as_ref()?;
        let given = caller.call.block.body.get_attribute(name)?;
        Some((caller.instance.upgrade()?, &given.value, &caller.each))
    }

    /// Itself and everything that it calls.
    pub(crate) fn tree(self: &Rc<Self>) -> Vec<Rc<Self>> {
        let mut all = vec![Rc::clone(self)];
        let mut next = 0;
        while let Some(instance) = all.get(next).cloned() {
            let children = instance.module.calls.keys().filter_map(|name| instance.children(name));
            all.extend(children.flat_map(|children| children.iter().cloned().collect::<Vec<_>>()));
            next += 1;
        }
        all
    }

    /// What a resource is known to be, each of it that there is.
    pub(crate) fn made(&self, resource: &Resource) -> Vec<(Each, Value)> {
        let each = self.expand(&resource.body).unwrap_or_default();
        each.into_iter().map(|each| (each.clone(), self.one_made(resource, &each))).collect()
    }

    fn one_made(&self, resource: &Resource, each: &Each) -> Value {
        let mut entries = self.body(&resource.body, each, 0);
        if resource.is_data && resource.kind == "talos_machine_configuration" {
            let configuration = talos::configuration(&Value::open_map(entries.clone()));
            entries.insert("machine_configuration".into(), configuration);
        }
        Value::open_map(entries)
    }

    fn body(&self, body: &Body, each: &Each, depth: usize) -> BTreeMap<EcoString, Value> {
        let is_own = |name: &str| !META.contains(&name) || depth > 0;
        let mut entries = BTreeMap::new();
        for attribute in body.attributes().filter(|attribute| is_own(attribute.key.as_str())) {
            entries.insert(attribute.key.as_str().into(), self.value(&attribute.value, each));
        }
        let mut blocks: BTreeMap<EcoString, Vec<Value>> = BTreeMap::new();
        for block in body.blocks().filter(|block| depth < DEPTH_MAX && !META_BLOCKS.contains(&block.ident.as_str())) {
            let inner = Value::open_map(self.body(&block.body, each, depth + 1));
            blocks.entry(block.ident.as_str().into()).or_default().push(inner);
        }
        entries.extend(blocks.into_iter().map(|(name, values)| (name, Value::list(values))));
        entries
    }

    /// Works something out once. What is asked for while it is worked out can't be known.
    fn remembered(&self, key: String, work: impl FnOnce() -> Value) -> Value {
        if let Some(known) = self.memory.borrow().get(&key) {
            return known.clone();
        }
        self.memory.borrow_mut().insert(key.clone(), Value::Unknown);
        let value = work();
        self.memory.borrow_mut().insert(key, value.clone());
        value
    }

    pub(crate) fn variable(&self, name: &str) -> Value {
        self.remembered(format!("var.{name}"), || {
            let Some(variable) = self.module.variables.get(name) else { return Value::Unknown };
            let value = match &self.parent {
                Some(caller) => caller.call.block.body.get_attribute(name).and_then(|given| {
                    let above = caller.instance.upgrade()?;
                    Some(above.value(&given.value, &caller.each))
                }),
                None => self.module.given(name).map(|given| self.constant(given)),
            };
            let value = value.or_else(|| variable.default.as_ref().map(|default| self.constant(default)));
            let value = value.unwrap_or(Value::Unknown);
            match &variable.kind {
                Some(kind) => converted(value, kind, &self.world.budget),
                None => value,
            }
        })
    }

    fn constant(&self, expression: &Expression) -> Value {
        Evaluation { names: &Nowhere, budget: &self.world.budget }.value(expression)
    }

    pub(crate) fn local(&self, name: &str) -> Value {
        let work =
            || self.module.locals.get(name).map_or(Value::Unknown, |local| self.value(&local.value, &Each::default()));
        self.remembered(format!("local.{name}"), work)
    }

    pub(crate) fn output(&self, name: &str) -> Value {
        let work = || {
            let output = self.module.outputs.get(name).and_then(|output| output.value.as_ref());
            output.map_or(Value::Unknown, |value| self.value(value, &Each::default()))
        };
        self.remembered(format!("output.{name}"), work)
    }

    fn outputs(&self) -> Value {
        let outputs = self.module.outputs.keys();
        Value::map(outputs.map(|name| (EcoString::from(name.as_str()), self.output(name))).collect())
    }

    /// A list for `count`, a map for `for_each`, otherwise what it is.
    fn gathered(body: &Body, all: Vec<(Each, Value)>) -> Value {
        if body.has_attribute("count") {
            return Value::list(all.into_iter().map(|(_, value)| value).collect());
        }
        if body.has_attribute("for_each") {
            let entry = |(each, value): (Each, Value)| Some((each.key?.to_text()?, value));
            return Value::map(all.into_iter().filter_map(entry).collect());
        }
        all.into_iter().next().map_or(Value::Unknown, |(_, value)| value)
    }

    fn resource(&self, is_data: bool, kind: &str, name: &str) -> Option<Value> {
        let resource = self.module.resource(is_data, kind, name)?;
        let work = || match self.expand(&resource.body) {
            Some(_) => Self::gathered(&resource.body, self.made(resource)),
            None => Value::Unknown,
        };
        Some(self.remembered(format!("{is_data}.{kind}.{name}"), work))
    }

    /// A module's outputs; only the one that is asked for where there is one module.
    fn module_named(&self, name: &str, output: Option<&str>) -> (Value, usize) {
        let (Some(Call { block, .. }), Some(children)) = (self.module.calls.get(name), self.children(name)) else {
            return (Value::Unknown, 1);
        };
        let is_one = !block.body.has_attribute("count") && !block.body.has_attribute("for_each");
        match (children.first(), output) {
            (Some(child), Some(output)) if is_one => (child.output(output), 2),
            _ => {
                let all = children.iter().map(|child| (child.each().cloned().unwrap_or_default(), child.outputs()));
                (Self::gathered(&block.body, all.collect()), 1)
            }
        }
    }

    /// `path.module` from where Terraform is run.
    fn path(&self, which: &str) -> Value {
        match which {
            "module" => Value::text(relative(self.root, &self.module.directory)),
            "root" | "cwd" => Value::text("."),
            _ => Value::Unknown,
        }
    }
}

impl Names for Place<'_, '_> {
    fn named(&self, name: &str, attributes: &[&str]) -> Option<(Value, usize)> {
        let instance = self.instance;
        let first = attributes.first().copied();
        match (name, first) {
            ("var", Some(name)) => Some((instance.variable(name), 1)),
            ("local", Some(name)) => Some((instance.local(name), 1)),
            ("module", Some(name)) => Some(instance.module_named(name, attributes.get(1).copied())),
            ("path", Some(which)) => Some((instance.path(which), 1)),
            ("terraform", Some("workspace")) => Some((Value::text("default"), 1)),
            ("each", Some("key")) | ("count", Some("index")) => Some((self.each.key.clone()?, 1)),
            ("each", Some("value")) => Some((self.each.value.clone()?, 1)),
            ("data", Some(kind)) => instance.resource(true, kind, attributes.get(1)?).map(|value| (value, 2)),
            ("resource", Some(kind)) => instance.resource(false, kind, attributes.get(1)?).map(|value| (value, 2)),
            (kind, Some(name)) => instance.resource(false, kind, name).map(|value| (value, 1)),
            _ => None,
        }
    }

    fn file(&self, path: &str) -> Option<&str> {
        self.instance.file(path)
    }
}

/// The way from one directory of a repository to another.
fn relative(from: &str, to: &str) -> String {
    let parts = |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (from, to) = (parts(from), parts(to));
    let same = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", from.len() - same);
    let way: Vec<&str> = up.chain(to[same..].iter().map(String::as_str)).collect();
    if way.is_empty() { ".".to_owned() } else { way.join("/") }
}
