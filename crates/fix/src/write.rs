//! From a change to the lines of a file: where the object, the patch or the release is that has the field, and how it is
//! written there.
//!
//! Knows the fields of Flux and helmfile. How lines are put into YAML is [`crate::text`]'s.

use std::collections::BTreeSet;

use diagnostic::{Unedited, WhyLeft};
use model::{Cluster, Component, ComponentId, ObjectRef, Role};
use source::Span;
use yaml::Node;

use crate::change::Change;
use crate::files::Files;
use crate::listing;
use crate::split;
use crate::text::item::{Field, Fields, Manner, NewItem};
use crate::text::value::{Indents, Quotes, Value, expression, text as written_text, yes};
use crate::text::{Edit, Items, Step, Text, find, steps};

/// How soon a failure is to be tried again.
const RETRY_INTERVAL: &str = "2m";

/// Writes the changes of one cluster into files.
pub(crate) struct Writer<'w, 'a> {
    pub(crate) files: &'w mut Files<'a>,
    pub(crate) cluster: &'a Cluster,
    /// All clusters: they may share files.
    pub(crate) clusters: &'a [Cluster],
    /// Who is to wait for whom, in all clusters.
    pub(crate) wanted: &'w BTreeSet<(ObjectRef, ObjectRef)>,
}

/// The mapping that fields go into, with the tree that it is in.
struct Holder {
    tree: Node,
    path: Vec<Step>,
    kind: String,
    /// A place in it that edits do not move away from.
    at: Span,
}

impl Holder {
    fn map(&self) -> Option<&Node> {
        crate::text::at(&self.tree, &self.path)
    }

    fn below(&self, key: &str) -> Vec<Step> {
        self.path.iter().cloned().chain([Step::Key(key.to_owned())]).collect()
    }
}

impl Writer<'_, '_> {
    /// Writes a change; where the files say it already, nothing.
    pub(crate) fn write(&mut self, change: &Change) -> Result<(), WhyLeft> {
        match change {
            Change::Depend { of, on } => self.depend(*of, *on),
            Change::Undepend { at, .. } => self.at_place(*at, remove_item),
            Change::Unlist { at, .. } => self.unlist(*at),
            Change::Rename { of, at, from, to } | Change::DependInstead { of, at, from, to } => {
                self.rename(*of, *at, from, to)
            }
            Change::Wait { of } => self.wait(*of, true),
            Change::Unwait { of } => self.wait(*of, false),
            Change::Resume { of } => self.resume(*of),
            Change::AwaitReady { at, .. } => self.at_place(*at, set_ready),
            Change::Check { of, object, api_version } => {
                let item = check_item(object, api_version);
                self.new_item(*of, "healthChecks", &item, |known| is_check(known, object))
            }
            Change::Judge { of, kind, by } => {
                let item = vec![
                    ("apiVersion", Field::Written(written_text(&by.api_version, Quotes::None))),
                    ("kind", Field::Written(written_text(kind, Quotes::None))),
                    ("current", Field::Written(expression(&by.current))),
                ];
                let is_same = |known: &Node| known.text_at(&["kind"]) == Some(kind);
                self.new_item(*of, "healthCheckExprs", &NewItem::Fields(item), is_same)
            }
            Change::RetryOnFailure { of } => {
                self.retry_on_failure(*of, "install").and_then(|()| self.retry_on_failure(*of, "upgrade"))
            }
            Change::RetryInterval { of } => {
                self.set_field(*of, "retryInterval", &written_text(RETRY_INTERVAL, Quotes::None))
            }
            Change::HelmWaits { of } => self.helm_waits(*of),
            Change::BringNamespace { of, namespace } => {
                let component = self.component(*of);
                let not_in_file = || WhyLeft::NotInFile { component: component.object.clone() };
                let directory = component.path.clone().ok_or_else(not_in_file)?;
                listing::bring_namespace(self.files, &directory, namespace)
            }
            Change::Split { of, plan } => split::write(self, *of, plan),
            Change::List { file, by, .. } => listing::list(self.files, by, file),
        }
    }

    fn component(&self, id: ComponentId) -> &Component {
        self.cluster.component(id)
    }

    fn depend(&mut self, of: ComponentId, on: ComponentId) -> Result<(), WhyLeft> {
        let own = self.component(of).clone();
        let other = self.component(on).object.clone();
        let key = if own.role.is_bootstrap() { "needs" } else { "dependsOn" };
        let is_same = |known: &Node| is_dependency(known, &own, &other);
        let Some(at) = self.tie_place(of, &own) else {
            let item = self.dependency(&own, on, false);
            return self.new_item(of, key, &item, is_same);
        };
        let is_patch = at.file != own.at.file;
        self.refuse_shared(at, &own, Some(&other))?;
        let item = self.dependency(&own, on, is_patch);
        self.at_place(at, |text, here| append_beside(text, here, &item, is_same))
    }

    /// An item of the list that a component has its dependencies in: in a patch, where one gives them to it. Another edit may have
    /// taken the last one away.
    fn tie_place(&mut self, of: ComponentId, own: &Component) -> Option<Span> {
        let places = self.cluster.ties.iter().filter(|tie| tie.from == of && !tie.at.is_generated()).map(|tie| tie.at);
        let is_list = |at: &Span| self.files.repository.source(at.file).is_some();
        let mut places: Vec<Span> = places.filter(is_list).collect();
        places.sort_by_key(|at| (at.file == own.at.file, at.start));
        let mut is_gone = |at: Span| self.files.open(at).is_ok_and(|text| text.here(at).is_none());
        places.into_iter().find(|at| at.file != own.at.file || !is_gone(*at))
    }

    /// What other components get from the same lines, they get as well: that must be meant.
    fn refuse_shared(&self, at: Span, own: &Component, wanted: Option<&ObjectRef>) -> Result<(), WhyLeft> {
        let mut sharing: BTreeSet<&ObjectRef> = BTreeSet::new();
        for cluster in self.clusters {
            let ties = cluster.ties.iter().filter(|tie| tie.at == at).map(|tie| tie.from);
            let is_at = |id: &ComponentId| {
                let component = cluster.component(*id);
                [component.at, component.gate_at].contains(&at) || component.suspended == Some(at)
            };
            sharing.extend(ties.chain(cluster.ids().filter(is_at)).map(|id| &cluster.component(id).object));
        }
        let is_meant = |object: &&ObjectRef| {
            **object == own.object || wanted.is_some_and(|on| self.wanted.contains(&((*object).clone(), on.clone())))
        };
        if sharing.iter().all(is_meant) {
            return Ok(());
        }
        Err(WhyLeft::Unedited { at, how: Unedited::Shared { by: sharing.len() } })
    }

    /// The item that ties a component to another.
    fn dependency(&self, own: &Component, on: ComponentId, is_patch: bool) -> NewItem {
        let other = self.component(on);
        let ObjectRef { kind, namespace, name } = &other.object;
        if own.role.is_bootstrap() {
            return NewItem::Text(other.object.path());
        }
        let mut fields: Fields = vec![("name", Field::Name(name.to_string()))];
        let is_needed = *namespace != own.object.namespace || is_patch || own.role == Role::ResourceSet;
        if is_needed || self.files.house.names_namespaces() {
            fields.push(("namespace", Field::Name(namespace.to_string())));
        }
        if own.role == Role::ResourceSet {
            let plain = |text: &str| Field::Written(written_text(text, Quotes::None));
            fields.splice(0..0, [("apiVersion", plain(api_version(other.role))), ("kind", plain(kind))]);
            fields.push(("ready", Field::Written(yes())));
        }
        NewItem::Fields(fields)
    }

    fn wait(&mut self, of: ComponentId, is_wanted: bool) -> Result<(), WhyLeft> {
        let own = self.component(of).clone();
        let written = if is_wanted { "true" } else { "false" };
        let is_patch = own.gate_at.file != own.at.file && !own.gate_at.is_generated();
        if !is_patch {
            return self.set_field(of, "wait", &Value::Scalar(written.to_owned()));
        }
        self.refuse_shared(own.gate_at, &own, None)?;
        self.at_place(own.gate_at, |text, here| text.set_scalar(here, written))
    }

    fn resume(&mut self, of: ComponentId) -> Result<(), WhyLeft> {
        let own = self.component(of).clone();
        let at = own.suspended.ok_or(WhyLeft::NoEdit)?;
        self.refuse_shared(at, &own, None)?;
        self.at_place(at, |text, here| text.set_scalar(here, "false"))
    }

    fn rename(&mut self, of: ComponentId, at: Span, from: &ObjectRef, to: &ObjectRef) -> Result<(), WhyLeft> {
        let own = self.component(of).clone();
        self.refuse_shared(at, &own, None)?;
        self.at_place(at, |text, here| rename_item(text, here, &own, from, to))
    }

    /// What is gone was taken away for another.
    fn unlist(&mut self, at: Span) -> Result<(), WhyLeft> {
        let is_gone = self.files.open(at).is_ok_and(|text| text.here(at).is_none());
        if is_gone { Ok(()) } else { self.at_place(at, remove_list) }
    }

    /// Does something at a place that was there before all edits.
    pub(crate) fn at_place(
        &mut self,
        at: Span,
        work: impl FnOnce(&mut Text, Span) -> Result<(), Unedited>,
    ) -> Result<(), WhyLeft> {
        let unedited = |how| WhyLeft::Unedited { at, how };
        let text = self.files.open(at).map_err(unedited)?;
        let here = text.here(at).ok_or(unedited(Unedited::Unexpected))?;
        work(text, here).map_err(unedited)
    }

    /// The mapping that the fields of a component stand in.
    fn holder(&mut self, of: ComponentId) -> Result<Holder, WhyLeft> {
        let own = self.component(of).clone();
        if own.at.is_generated() || self.files.repository.source(own.at.file).is_none() {
            return Err(WhyLeft::NotInFile { component: own.object });
        }
        self.refuse_shared(own.at, &own, None)?;
        let unedited = |how| WhyLeft::Unedited { at: own.at, how };
        let text = self.files.open(own.at).map_err(unedited)?;
        let here = text.here(own.at).ok_or(unedited(Unedited::Unexpected))?;
        let tree = text.tree(here).ok_or(unedited(Unedited::Template))?.into_owned();
        let way = find(&tree, here);
        let all = steps(&way);
        let is_metadata = all.len() >= 2 && all[all.len() - 2..] == [key("metadata"), key("name")];
        let path = match own.role {
            Role::Bootstrap(_) if all.last() == Some(&key("name")) => all[..all.len() - 1].to_vec(),
            Role::Bootstrap(_) => return Err(unedited(Unedited::Unexpected)),
            _ if is_metadata => all[..all.len() - 2].iter().cloned().chain([key("spec")]).collect(),
            _ => return Err(unedited(Unedited::Unexpected)),
        };
        let holder = Holder { tree: tree.clone(), path, kind: own.object.kind.to_string(), at: here };
        let map = holder.map().filter(|map| map.as_map().is_some());
        let map = map.ok_or(unedited(Unedited::Unexpected))?;
        let spec = (!own.role.is_bootstrap()).then(|| &way[way.len() - 3]);
        let entry = spec.and_then(|object| object.node.as_map()).and_then(|object| object.entry("spec"));
        if entry.is_some_and(|entry| text.is_anchored(entry.key_span, map)) {
            return Err(unedited(Unedited::Anchor));
        }
        Ok(holder)
    }

    /// Gives a component a field with this value.
    fn set_field(&mut self, of: ComponentId, name: &str, value: &Value) -> Result<(), WhyLeft> {
        let holder = self.holder(of)?;
        self.set_in(&holder, name, value)
    }

    fn set_in(&mut self, holder: &Holder, name: &str, value: &Value) -> Result<(), WhyLeft> {
        let house = self.files.house;
        let unedited = |how| WhyLeft::Unedited { at: holder.at, how };
        let text = self.files.open(holder.at).map_err(unedited)?;
        let map = holder.map().ok_or(unedited(Unedited::Unexpected))?;
        if let Some(entry) = map.as_map().and_then(|map| map.entry(name)) {
            let Value::Scalar(written) = value else { return Err(unedited(Unedited::Unexpected)) };
            let is_same = entry.value.text() == Some(written);
            if !is_same && text.is_anchored(entry.key_span, &entry.value) {
                return Err(unedited(Unedited::Anchor));
            }
            return if is_same { Ok(()) } else { text.set_scalar(entry.value.span, written).map_err(unedited) };
        }
        add_entry(text, house, holder, map, name, value).map_err(unedited)
    }

    /// Gives a list of a component one more item, unless one of its items is it.
    fn new_item(
        &mut self,
        of: ComponentId,
        list: &str,
        item: &NewItem,
        is_same: impl Fn(&Node) -> bool,
    ) -> Result<(), WhyLeft> {
        let holder = self.holder(of)?;
        let house = self.files.house;
        let unedited = |how| WhyLeft::Unedited { at: holder.at, how };
        let text = self.files.open(holder.at).map_err(unedited)?;
        let map = holder.map().ok_or(unedited(Unedited::Unexpected))?;
        let Some(entry) = map.as_map().and_then(|map| map.entry(list)) else {
            let manner = Manner::quoted(house.quotes());
            let value = Value::List(vec![item.value(&manner)]);
            return add_entry(text, house, &holder, map, list, &value).map_err(unedited);
        };
        let known = entry.value.as_seq().ok_or(unedited(Unedited::Unexpected))?;
        if known.iter().any(is_same) {
            return Ok(());
        }
        let items = Items { key: Some(entry.key_span), list: &entry.value };
        let indents = house.indents(&holder.tree, text.text());
        let edit = text.new_item(items, item, indents).map_err(unedited)?;
        text.apply(holder.at, vec![edit], &holder.below(list)).map_err(unedited)
    }

    fn retry_on_failure(&mut self, of: ComponentId, action: &str) -> Result<(), WhyLeft> {
        let holder = self.holder(of)?;
        let strategy = Value::Map(vec![("name".to_owned(), Value::Scalar("RetryOnFailure".to_owned()))]);
        let map = holder.map().and_then(Node::as_map);
        match map.and_then(|map| map.get(action)).filter(|inner| !inner.entries().is_empty()) {
            None => self.set_in(&holder, action, &Value::Map(vec![("strategy".to_owned(), strategy)])),
            Some(inner) => {
                // A strategy and a remediation exclude each other; which one is meant, only a person can tell.
                if inner.get("strategy").is_some() || inner.get("remediation").is_some() {
                    return Err(WhyLeft::NoEdit);
                }
                let path = holder.below(action);
                self.set_in(&Holder { path, ..holder }, "strategy", &strategy)
            }
        }
    }

    fn helm_waits(&mut self, of: ComponentId) -> Result<(), WhyLeft> {
        let at = self.component(of).gate_at;
        self.at_place(at, |text, here| text.set_scalar(here, "false"))
    }
}

fn key(name: &str) -> Step {
    Step::Key(name.to_owned())
}

fn api_version(role: Role) -> &'static str {
    match role {
        Role::HelmRelease => "helm.toolkit.fluxcd.io/v2",
        Role::ResourceSet => "fluxcd.controlplane.io/v1",
        Role::Kustomization | Role::Bootstrap(_) => "kustomize.toolkit.fluxcd.io/v1",
    }
}

/// Whether an item of `dependsOn` or `needs` names it already.
fn is_dependency(item: &Node, own: &Component, other: &ObjectRef) -> bool {
    if let Some(text) = item.text() {
        return text == other.path() || (own.object.namespace == other.namespace && text == other.name);
    }
    let namespace = item.text_at(&["namespace"]).unwrap_or(&own.object.namespace);
    item.text_at(&["name"]) == Some(&other.name) && namespace == other.namespace
}

fn is_check(item: &Node, object: &ObjectRef) -> bool {
    item.text_at(&["kind"]) == Some(&object.kind) && item.text_at(&["name"]) == Some(&object.name)
}

fn check_item(object: &ObjectRef, api_version: &str) -> NewItem {
    let plain = |text: &str| Field::Written(written_text(text, Quotes::None));
    let mut fields: Fields = vec![
        ("apiVersion", plain(api_version)),
        ("kind", plain(&object.kind)),
        ("name", Field::Name(object.name.to_string())),
    ];
    if !object.namespace.is_empty() {
        fields.push(("namespace", Field::Name(object.namespace.to_string())));
    }
    NewItem::Fields(fields)
}

fn add_entry(
    text: &mut Text,
    house: &crate::house::House,
    holder: &Holder,
    map: &Node,
    name: &str,
    value: &Value,
) -> Result<(), Unedited> {
    let mut keys: Vec<(u32, &str)> = map
        .entries()
        .iter()
        .filter(|entry| map.span.start <= entry.key_span.start && entry.key_span.end <= map.span.end)
        .map(|entry| (entry.key_span.start, entry.key.as_str()))
        .collect();
    keys.sort_unstable();
    let keys: Vec<&str> = keys.into_iter().map(|(_, key)| key).collect();
    let position = house.position(&holder.kind, &keys, name);
    let indents = house.indents(&holder.tree, text.text());
    let edit = text.new_entry(map, position, name, value, indents)?;
    text.apply(holder.at, vec![edit], &holder.below(name))
}

/// The innermost list that a place is in, with the steps to it, and which of its items it is in.
fn list_around(tree: &Node, here: Span) -> Option<(Items<'_>, Vec<Step>, usize)> {
    let way = find(tree, here);
    let at = way.iter().rposition(|on| on.node.as_seq().is_some())?;
    let Some(Step::Item(index)) = way.get(at + 1).and_then(|on| on.step.clone()) else { return None };
    Some((Items { key: way[at].key, list: way[at].node }, steps(&way[..=at]), index))
}

/// Puts an item into the list that a place is in.
fn append_beside(text: &mut Text, here: Span, item: &NewItem, is_same: impl Fn(&Node) -> bool) -> Result<(), Unedited> {
    let tree = text.tree(here).ok_or(Unedited::InText)?.into_owned();
    let (items, path, _) = list_around(&tree, here).ok_or(Unedited::InText)?;
    // The operations of a JSON patch are a list as well.
    if items.list.as_seq().unwrap_or_default().iter().any(|item| item.get("op").is_some()) {
        return Err(Unedited::InText);
    }
    if items.list.as_seq().unwrap_or_default().iter().any(is_same) {
        return Ok(());
    }
    let edit = text.new_item(items, item, Indents::default())?;
    text.apply(here, vec![edit], &path)
}

/// Takes the item out that a place is in.
pub(crate) fn remove_item(text: &mut Text, here: Span) -> Result<(), Unedited> {
    let tree = text.tree(here).ok_or(Unedited::InText)?.into_owned();
    let (items, path, index) = list_around(&tree, here).ok_or(Unedited::InText)?;
    if items.list.as_seq().unwrap_or_default().iter().any(|item| item.get("op").is_some()) {
        return Err(Unedited::InText);
    }
    let edit = text.without_item(items, index)?;
    text.apply(here, vec![edit], &path)
}

/// Takes the list away that a place is in; nothing where it is gone already.
fn remove_list(text: &mut Text, here: Span) -> Result<(), Unedited> {
    let tree = text.tree(here).ok_or(Unedited::InText)?.into_owned();
    let (items, path, _) = list_around(&tree, here).ok_or(Unedited::InText)?;
    let edit = text.without_list(items)?;
    text.apply(here, vec![edit], &path)
}

/// Sets `ready: true` on the item that a place is in.
fn set_ready(text: &mut Text, here: Span) -> Result<(), Unedited> {
    let tree = text.tree(here).ok_or(Unedited::InText)?.into_owned();
    let (items, path, index) = list_around(&tree, here).ok_or(Unedited::InText)?;
    let item = items.list.as_seq().and_then(|all| all.get(index)).ok_or(Unedited::Unexpected)?;
    if let Some(known) = item.get("ready") {
        return if known.as_bool() == Some(true) { Ok(()) } else { text.set_scalar(known.span, "true") };
    }
    let edit = text.new_entry(item, usize::MAX, "ready", &yes(), Indents::default())?;
    let path: Vec<Step> = path.into_iter().chain([Step::Item(index), key("ready")]).collect();
    text.apply(here, vec![edit], &path)
}

/// Gives the item that a place is in the name and the namespace that were meant.
fn rename_item(text: &mut Text, here: Span, own: &Component, from: &ObjectRef, to: &ObjectRef) -> Result<(), Unedited> {
    let tree = text.tree(here).ok_or(Unedited::InText)?.into_owned();
    let (items, path, index) = list_around(&tree, here).ok_or(Unedited::InText)?;
    let item = items.list.as_seq().and_then(|all| all.get(index)).ok_or(Unedited::Unexpected)?;
    let quoted = |text: &Text, node: &Node, new: &str| {
        let old = text.text().get(node.span.start as usize..node.span.end as usize).unwrap_or_default();
        written_text(new, Quotes::of(old)).flow(false)
    };
    if item.as_scalar().is_some() {
        let written = quoted(text, item, &to.path());
        return text.set_scalar(item.span, &written);
    }
    let name = item.get("name").ok_or(Unedited::Unexpected)?;
    if name.text() != Some(&from.name) {
        return Err(Unedited::Template);
    }
    let mut edits = Vec::new();
    if to.name != from.name {
        edits.push(Edit::replace(name.span, quoted(text, name, &to.name)));
    }
    let is_own = to.namespace == own.object.namespace && item.get("namespace").is_none();
    if to.namespace != from.namespace && !is_own {
        edits.push(if let Some(known) = item.get("namespace") {
            Edit::replace(known.span, quoted(text, known, &to.namespace))
        } else {
            let behind = item.entries().iter().position(|entry| entry.key == "name").map_or(0, |at| at + 1);
            let written = written_text(&to.namespace, Quotes::of(&quoted(text, name, &to.name)));
            text.new_entry(item, behind, "namespace", &written, Indents::default())?
        });
    }
    let path: Vec<Step> = path.into_iter().chain([Step::Item(index)]).collect();
    text.apply(here, edits, &path)
}
