//! Name references: when an object's name has changed, the fields of other objects that name it change with it.
//!
//! Which fields those are is in the [`crate::config`]; here is how the object that a field means is found.

use foldhash::{HashMap, HashMapExt as _};
use std::sync::Arc;

use ecow::EcoString;
use source::Span;
use yaml::{Budget, Cost, Node, ScalarKind, Value};

use crate::accumulate::Accumulated;
use crate::builder::Builder;
use crate::error::BuildError;
use crate::fieldspec::{Create, FieldError, FieldSpec};
use crate::id::{Gvk, NOT_A_NAMESPACE};
use crate::resource::Resource;

/// Places that are held against an object in the time of one node.
const PLACES_OF_NODE: usize = 4;
/// A candidate takes as long as so many nodes to look at.
const CANDIDATE_NODES: usize = 4;

impl Builder<'_> {
    pub(crate) fn fix_references(&mut self, accumulated: &mut Accumulated) {
        let config = Arc::clone(&accumulated.config);
        let by_kind = config.references_by_kind();
        let list = accumulated.resources.all_mut();
        let renamed = renamed(list);
        if renamed.is_empty() && !list.iter().any(|resource| resource.gvk.kind == "RoleBinding") {
            return;
        }
        let any_kind = by_kind.get("").map_or(0, Vec::len);
        for at in 0..list.len() {
            let original = list[at].original_gvk();
            let places = by_kind.get(&original.kind).into_iter().chain(by_kind.get("")).flatten();
            let count = any_kind + by_kind.get(&original.kind).map_or(0, Vec::len);
            if !self.affords(Cost::seen(1 + count / PLACES_OF_NODE), list[at].node.span) {
                return;
            }
            let rules = places.map(|(reference, place)| {
                let reference = &config.name_reference[*reference];
                (&reference.target, &reference.referrers[*place])
            });
            let mut rules = rules.filter(|(_, spec)| original.is_selected_by(&spec.gvk)).peekable();
            if rules.peek().is_some()
                && let Some(span) = blank_subject(&list[at])
            {
                self.fail(BuildError::BlankSubject { object: list[at].id().to_string() }, span);
            }
            for (target, spec) in rules {
                if !spec.any(&list[at].node, &mut |node| names_any(node, &renamed)) {
                    continue;
                }
                let done = fix(list, at, target, spec, &renamed, &mut self.budget);
                if let Err(FieldError::Spent(spent)) = done {
                    self.exhaust(spent, list[at].node.span);
                    return;
                }
                if let Err(error) = done {
                    let span = error.span().unwrap_or(list[at].node.span);
                    self.fail(BuildError::FieldOf { object: list[at].id().to_string(), error }, span);
                }
            }
        }
    }
}

/// The objects that ever had another name, or could have, by each of their old names.
fn renamed(list: &[Resource]) -> HashMap<EcoString, Vec<usize>> {
    let mut renamed: HashMap<EcoString, Vec<usize>> = HashMap::new();
    for (at, resource) in list.iter().enumerate() {
        for previous in &resource.previous {
            let places = renamed.entry(previous.name.clone()).or_default();
            if places.last() != Some(&at) {
                places.push(at);
            }
        }
    }
    renamed
}

fn names_any(node: &Node, renamed: &HashMap<EcoString, Vec<usize>>) -> bool {
    match &node.value {
        Value::Scalar(scalar) => renamed.contains_key(&scalar.text),
        // A mapping without a name is an error that the changing walk reports.
        Value::Map(map) => map.get("name").is_none_or(|name| names_any(name, renamed)),
        Value::Seq(items) => items.iter().any(|item| names_any(item, renamed)),
    }
}

fn fix(
    list: &mut [Resource],
    at: usize,
    target: &Gvk,
    spec: &FieldSpec,
    renamed: &HashMap<EcoString, Vec<usize>>,
    budget: &mut Budget,
) -> Result<(), FieldError> {
    // The kind may have been patched since; where its references are, the kind it was read with says.
    let gvk = list[at].original_gvk();
    let span = list[at].node.span;
    let scope = Scope::new(list, at, target, spec, renamed);
    let mut node = list[at].node.clone();
    let done = spec.apply(&gvk, &mut node, Create::Nothing, span, &mut |field| scope.fix(field, budget));
    list[at].node = node;
    done
}

/// What a field takes over from the object it names. Objects that differ in it can't both be meant.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    Name,
    /// Name and namespace, with the namespace that is written.
    NameIn(Option<&'a EcoString>),
}

/// Everything that decides which object a name in one field of one referrer means.
struct Scope<'a> {
    list: &'a [Resource],
    referrer: &'a Resource,
    target: &'a Gvk,
    /// For a role binding: the kind that its `roleRef` names.
    role: Option<Gvk>,
    /// Namespaces besides its own that a role binding's subjects are in.
    subject_namespaces: Vec<EcoString>,
    renamed: &'a HashMap<EcoString, Vec<usize>>,
}

impl<'a> Scope<'a> {
    fn new(
        list: &'a [Resource],
        at: usize,
        target: &'a Gvk,
        spec: &FieldSpec,
        renamed: &'a HashMap<EcoString, Vec<usize>>,
    ) -> Self {
        let referrer = &list[at];
        let role = spec.path.ends_with("roleRef/name").then(|| role(&referrer.node)).flatten();
        let subject_namespaces = if referrer.gvk.kind == "RoleBinding" { subjects(&referrer.node) } else { Vec::new() };
        Self { list, referrer, target, role, subject_namespaces, renamed }
    }

    fn fix(&self, node: &mut Node, budget: &mut Budget) -> Result<(), FieldError> {
        match &mut node.value {
            Value::Scalar(scalar) if scalar.kind == ScalarKind::Null => Ok(()),
            Value::Scalar(scalar) => {
                let found = self.find(&scalar.text, Wanted::Name, node.span, budget)?;
                if let Some(found) = found.filter(|found| found.name != scalar.text) {
                    scalar.text = found.name.clone();
                    scalar.kind = ScalarKind::Str;
                }
                Ok(())
            }
            Value::Map(_) => self.fix_mapping(node, budget),
            Value::Seq(items) => items.make_mut().iter_mut().try_for_each(|item| self.fix(item, budget)),
        }
    }

    /// A field that names an object by name and namespace.
    fn fix_mapping(&self, node: &mut Node, budget: &mut Budget) -> Result<(), FieldError> {
        let span = node.span;
        let Value::Map(map) = &mut node.value else { return Ok(()) };
        let Some(old) = map.get("name").and_then(Node::as_scalar).map(|scalar| scalar.text.clone()) else {
            return Err(FieldError::ReferenceWithoutName { span });
        };
        let namespace = map.get("namespace").and_then(Node::as_scalar).map(|scalar| scalar.text.clone());
        let Some(found) = self.find(&old, Wanted::NameIn(namespace.as_ref()), span, budget)? else { return Ok(()) };
        if found.name == old && found.namespace.is_empty() {
            return Ok(());
        }
        if found.name != old
            && let Some(name) = map.get_mut("name")
        {
            name.value = Value::Scalar(yaml::Scalar::string(found.name.clone()));
        }
        if !found.namespace.is_empty() && map.get("namespace").and_then(Node::text) != Some(&found.namespace) {
            let brought_by = found.node.at(&["metadata", "namespace"]).map_or(span, |node| node.span);
            map.insert("namespace", brought_by, Node::string(found.namespace.clone(), brought_by));
        }
        Ok(())
    }

    /// The object that had this name, and is meant by a field that takes over what `wanted` says.
    fn find(
        &self,
        name: &EcoString,
        wanted: Wanted<'_>,
        span: Span,
        budget: &mut Budget,
    ) -> Result<Option<&'a Resource>, FieldError> {
        let named = self.renamed.get(name).map(Vec::as_slice).unwrap_or_default();
        let all = if matches!(wanted, Wanted::NameIn(Some(_))) { self.list.len() } else { 0 };
        budget.spend(Cost::seen(1 + CANDIDATE_NODES * named.len() + all))?;
        let candidates = named.iter().map(|at| &self.list[*at]);
        let candidates = candidates.filter(|resource| self.is_in_reach(resource) && self.is_of_kind(resource));
        let mut candidates: Vec<&Resource> = match wanted {
            Wanted::NameIn(Some(namespace)) => {
                let group = self.namespace_group(namespace);
                candidates.filter(|resource| group(resource)).collect()
            }
            Wanted::Name | Wanted::NameIn(None) => candidates.collect(),
        };
        if candidates.len() > 1 {
            candidates.retain(|resource| affixes_agree(resource, self.referrer, true));
        }
        if candidates.len() > 1 {
            candidates.retain(|resource| affixes_agree(resource, self.referrer, false));
        }
        let Some((first, rest)) = candidates.split_first() else { return Ok(None) };
        let same = |other: &&Resource| {
            other.name == first.name && (matches!(wanted, Wanted::Name) || other.namespace == first.namespace)
        };
        if rest.iter().all(same) {
            return Ok(Some(first));
        }
        let (first, second) = (first.id().to_string(), rest[0].id().to_string());
        Err(FieldError::Ambiguous { name: name.clone(), first, second, span })
    }

    /// A written namespace is the one objects were read with, if any was; else the one they have now.
    fn namespace_group(&self, namespace: &EcoString) -> impl Fn(&Resource) -> bool {
        let originally =
            self.list.iter().any(|resource| self.is_in_reach(resource) && resource.original().namespace == *namespace);
        let namespace = namespace.clone();
        move |resource: &Resource| {
            let have = if originally { resource.original().namespace } else { resource.effective_namespace() };
            have == namespace
        }
    }

    fn is_in_reach(&self, resource: &Resource) -> bool {
        let own = self.referrer.effective_namespace();
        if own == NOT_A_NAMESPACE {
            return true;
        }
        let namespace = resource.effective_namespace();
        if namespace == NOT_A_NAMESPACE || namespace == own {
            return true;
        }
        // Only service accounts are named across namespaces, and only by role bindings.
        resource.gvk.kind == "ServiceAccount" && self.subject_namespaces.contains(&resource.namespace)
    }

    fn is_of_kind(&self, resource: &Resource) -> bool {
        let ever = |wanted: &Gvk| {
            resource.previous.iter().any(|previous| {
                let gvk = Gvk { kind: previous.kind.clone(), ..resource.gvk.clone() };
                gvk.is_selected_by(wanted)
            })
        };
        ever(self.target) && self.role.as_ref().is_none_or(ever)
    }
}

fn role(node: &Node) -> Option<Gvk> {
    let reference = node.get("roleRef")?;
    let group = reference.text_at(&["apiGroup"])?.into();
    Some(Gvk { group, kind: reference.text_at(&["kind"])?.into(), ..Gvk::default() })
}

fn subjects(node: &Node) -> Vec<EcoString> {
    let subjects = node.items_at("subjects").iter();
    let accounts = subjects.filter(|subject| subject.text_at(&["kind"]) == Some("ServiceAccount"));
    accounts.filter_map(|subject| subject.text_at(&["namespace"]).map(EcoString::from)).collect()
}

/// A service account of a role binding whose namespace is written, but no text.
fn blank_subject(resource: &Resource) -> Option<Span> {
    if resource.gvk.kind != "RoleBinding" {
        return None;
    }
    let subjects = resource.node.items_at("subjects").iter();
    let accounts = subjects.filter(|subject| subject.text_at(&["kind"]) == Some("ServiceAccount"));
    let mut namespaces = accounts.filter_map(|subject| subject.get("namespace"));
    namespaces.find(|namespace| namespace.as_str().is_none()).map(|namespace| namespace.span)
}

/// Objects that went through the same overlays belong together.
fn affixes_agree(one: &Resource, other: &Resource, empty_agrees: bool) -> bool {
    let agree = |one: &[EcoString], other: &[EcoString]| {
        let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
        (empty_agrees && short.is_empty()) || (long.ends_with(short) && (!short.is_empty() || long.is_empty()))
    };
    agree(&one.prefixes, &other.prefixes) && agree(&one.suffixes, &other.suffixes)
}
