//! `replacements`: a value of one object copied into fields of others.

use yaml::{Budget, Cost, DEPTH_MAX, Node, Scalar, ScalarKind, Value};

use crate::builder::Builder;
use crate::fieldpath::{FieldPath, Missing, PathError};
use crate::id::{DEFAULT_NAMESPACE, Gvk};
use crate::resource::Resource;
use crate::resources::Resources;
use crate::selector::Selector;
use crate::{BuildError, LimitError, Overlooked};

const DEFAULT_PATH: &str = "metadata.name";
/// An object takes as long to hold against a source as so many nodes to look at.
const SOURCE_NODES: usize = 8;
/// An object takes as long to hold against a selector as so many nodes to look at.
const SELECTED_NODES: usize = 2;

impl Builder<'_> {
    pub(crate) fn replace(&mut self, resources: &mut Resources, directory: &str, items: &[Node]) {
        for item in items {
            if self.exhausted {
                return;
            }
            match item.get("path").filter(|path| path.text().is_some_and(|text| !text.is_empty())) {
                Some(path) => {
                    for replacement in self.replacement_file(directory, path) {
                        self.replace_one(resources, &replacement);
                    }
                }
                None => self.replace_one(resources, item),
            }
        }
        resources.forget();
    }

    /// A file holds one replacement or a list of them.
    fn replacement_file(&mut self, directory: &str, name: &Node) -> Vec<Node> {
        let Some(path) = self.file(directory, name) else { return Vec::new() };
        let Some((_, documents)) = self.documents(&path, name.span) else { return Vec::new() };
        let values = self.values(documents.get(..1).unwrap_or_default());
        values
            .into_iter()
            .flat_map(|value| value.as_seq().map_or_else(|| vec![value.clone()], <[Node]>::to_vec))
            .collect()
    }

    fn replace_one(&mut self, resources: &mut Resources, item: &Node) {
        let targets = item.items_at("targets");
        let written = |key: &str| item.get(key).is_some_and(|node| !node.is_null());
        if targets.is_empty() || !(written("source") || written("sourceValue")) {
            self.fail(BuildError::IncompleteReplacement, item.span);
            return;
        }
        if !self.affords(Cost::seen(SOURCE_NODES * resources.len()), item.span) {
            return;
        }
        let value = match source_value(resources, item) {
            Ok(value) => value,
            Err(error) => {
                let span = item.get("source").map_or(item.span, |source| source.span);
                self.fail(error, span);
                return;
            }
        };
        for target in targets {
            match replace_target(resources, target, &value, &mut self.budget) {
                Ok(()) => {}
                Err(PathError::Spent(spent)) => return self.exhaust(spent, target.span),
                Err(PathError::TooDeep) => return self.exhaust(LimitError::Depth, target.span),
                Err(PathError::Rewrite) => self.overlook(Overlooked::TextReplacement, target.span),
                Err(error) => self.fail(error, target.span),
            }
        }
    }
}

fn source_value(resources: &Resources, item: &Node) -> Result<Node, PathError> {
    if let Some(value) = item.get("sourceValue").filter(|value| !value.is_null()) {
        return Ok(Node::plain(value.text().unwrap_or_default(), value.span));
    }
    let Some(source) = item.get("source") else { return Err(PathError::NoSource) };
    let mut found = resources.iter().filter(|resource| is_source(resource, source));
    let (Some(object), None) = (found.next(), found.next()) else {
        let count = resources.iter().filter(|resource| is_source(resource, source)).count();
        return Err(PathError::Sources(count));
    };
    let path = source.text_at(&["fieldPath"]).filter(|path| !path.is_empty()).unwrap_or(DEFAULT_PATH);
    let value = FieldPath::parse(path)?.get(&object.node).filter(|value| !crate::load::is_empty(value));
    let Some(value) = value else {
        return Err(PathError::NoValue { object: object.id().to_string(), path: path.to_owned() });
    };
    refine(value, source.get("options"))
}

/// By exact values, empty ones meaning any, on any id the object has or had.
fn is_source(resource: &Resource, source: &Node) -> bool {
    let text = |key: &str| source.text_at(&[key]).unwrap_or_default();
    let wanted = Gvk { group: text("group").into(), version: text("version").into(), kind: text("kind").into() };
    let (name, namespace) = (text("name"), text("namespace"));
    let or_default = |text: &str| if text.is_empty() { DEFAULT_NAMESPACE.to_owned() } else { text.to_owned() };
    let is = |kind: &ecow::EcoString, have_name: &str, have_namespace: &str| {
        let gvk = Gvk { kind: kind.clone(), ..resource.gvk.clone() };
        gvk.is_selected_by(&wanted)
            && (name.is_empty() || name == have_name)
            && (namespace.is_empty() || or_default(namespace) == or_default(have_namespace))
    };
    is(&resource.gvk.kind, &resource.name, &resource.namespace)
        || resource.previous.iter().any(|previous| is(&previous.kind, &previous.name, &previous.namespace))
}

/// The part of a source's value that its options pick.
fn refine(value: &Node, options: Option<&Node>) -> Result<Node, PathError> {
    let Some((delimiter, index)) = options.and_then(delimiter) else { return Ok(value.clone()) };
    let Value::Scalar(scalar) = &value.value else {
        return Err(PathError::Delimiter);
    };
    let part = usize::try_from(index).ok().and_then(|index| scalar.text.split(delimiter).nth(index));
    let Some(part) = part else {
        return Err(PathError::NoPart { text: scalar.text.to_string(), index });
    };
    Ok(Node::new(Value::Scalar(Scalar { text: part.into(), kind: scalar.kind }), value.span))
}

fn delimiter(options: &Node) -> Option<(&str, i64)> {
    let delimiter = options.text_at(&["delimiter"]).filter(|text| !text.is_empty())?;
    Some((delimiter, options.get("index").and_then(Node::as_int).unwrap_or_default()))
}

fn replace_target(
    resources: &mut Resources,
    target: &Node,
    value: &Node,
    budget: &mut Budget,
) -> Result<(), PathError> {
    let selectors = || target.get("select").into_iter().chain(target.items_at("reject"));
    let read_all = selectors().fold(Cost::NONE, |cost, node| cost.and(Selector::cost(node)));
    budget.spend(read_all.and(Cost::seen(selectors().count()).times(SELECTED_NODES * resources.len())))?;
    let read = |node: &Node| Selector::read(node).map_err(PathError::Selector);
    let Some(select) = target.get("select").filter(|select| !select.is_null()) else {
        return Err(PathError::NoSelect);
    };
    let select = read(select)?;
    let rejects = target.items_at("reject").iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let rejected = |resource: &Resource| {
        rejects.iter().any(|reject| {
            (reject.asks_for_meta() && reject.has_meta(resource))
                || (reject.asks_for_id() && reject.selects_any_id(resource))
        })
    };
    let written: Vec<&str> = target.items_at("fieldPaths").iter().filter_map(Node::text).collect();
    let paths = if written.is_empty() { vec![DEFAULT_PATH] } else { written };
    let paths: Vec<(&str, Result<FieldPath, PathError>)> =
        paths.into_iter().map(|path| (path, FieldPath::parse(path))).collect();
    budget.spend(paths.iter().fold(Cost::NONE, |cost, (path, _)| cost.and(Cost::seen(path.len()))))?;
    let copied = Cost::of_copy(value, budget.nodes_left());
    budget.spend(copied)?;
    let depth = value.depth();
    let options = target.get("options");
    for at in 0..resources.len() {
        let resource = resources.content_mut(at);
        if !select.has_meta(resource) || !select.selects_any_id(resource) || rejected(resource) {
            continue;
        }
        for (path, parsed) in &paths {
            budget.spend(copied)?;
            let parsed = parsed.as_ref().map_err(Clone::clone);
            let done = parsed.and_then(|parsed| {
                if parsed.len() + depth > DEPTH_MAX {
                    return Err(PathError::TooDeep);
                }
                copy_value(&mut resource.node, parsed, value, options, budget)
            });
            done.map_err(|error| match error {
                limit @ (PathError::Rewrite | PathError::TooDeep | PathError::TooLarge(_) | PathError::Spent(_)) => {
                    limit
                }
                error => PathError::At {
                    object: resource.id().to_string(),
                    path: (*path).to_owned(),
                    error: Box::new(error),
                },
            })?;
        }
        resource.refresh();
    }
    Ok(())
}

fn copy_value(
    object: &mut Node,
    path: &FieldPath,
    value: &Node,
    options: Option<&Node>,
    budget: &mut Budget,
) -> Result<(), PathError> {
    let create = options.and_then(|options| options.get("create")).and_then(crate::style::as_bool).unwrap_or_default();
    let missing = match (create, &value.value) {
        (false, _) => Missing::Skip,
        (true, Value::Scalar(_)) => Missing::Scalar,
        (true, Value::Map(_)) => Missing::Map,
        (true, Value::Seq(_)) => Missing::Seq,
    };
    budget.spend(crate::structured::cost(object, path))?;
    let mut set = |field: &mut Node, made: bool| {
        let texts = [&*field, value].map(|node| node.as_scalar().map_or(0, |scalar| scalar.text.len()));
        let is_spliced = options.and_then(delimiter).is_some();
        budget.spend(Cost::made(1, if is_spliced { texts.iter().sum() } else { 0 }))?;
        set_field(field, value, options, made)
    };
    if crate::structured::replace(object, path, missing, value.span, &mut set)? {
        return Ok(());
    }
    match path.visit(object, missing, value.span, &mut set)? {
        0 => Err(PathError::NoField),
        _ => Ok(()),
    }
}

fn set_field(field: &mut Node, value: &Node, options: Option<&Node>, made: bool) -> Result<(), PathError> {
    let (Value::Scalar(old), Value::Scalar(new)) = (&field.value, &value.value) else {
        if options.and_then(delimiter).is_some() {
            return Err(PathError::Delimiter);
        }
        *field = value.clone();
        return Ok(());
    };
    let text = match options.and_then(delimiter) {
        Some((delimiter, index)) => splice(&old.text, delimiter, index, &new.text).into(),
        None => new.text.clone(),
    };
    // A field keeps being a text, or being plain: only the text of it is replaced.
    let kind = if made || old.kind != ScalarKind::Str { ScalarKind::of_plain(&text) } else { ScalarKind::Str };
    *field = Node::new(Value::Scalar(Scalar { text, kind }), value.span);
    Ok(())
}

/// Replaces one part of a delimited text, or adds one at either end.
fn splice(old: &str, delimiter: &str, index: i64, new: &str) -> String {
    let mut parts: Vec<&str> = old.split(delimiter).collect();
    match usize::try_from(index) {
        Err(_) => parts.insert(0, new),
        Ok(index) if index >= parts.len() => parts.push(new),
        Ok(index) => parts[index] = new,
    }
    parts.join(delimiter)
}
