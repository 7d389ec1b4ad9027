//! The flux-operator's ResourceSet: templates and inputs into objects, in the order of its steps.
//!
//! Reads the inputs that stand in the repository: those of the ResourceSet itself and of `Static` providers. Does not
//! ask Git hosts or registries, and knows a part of the template functions: what it can't work out is a blind spot.

mod evaluate;
mod functions;
pub(crate) mod inputs;
mod template;

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::Value as Input;
use yaml::{EcoString, FileId, Limits, Map, Node, Scalar, Span, Value};

use crate::substitute::{is_written_plain, place, reread};
use evaluate::{UNKNOWN, render};

/// Objects that one ResourceSet may make.
const OBJECTS_MAX: usize = 20_000;
const SWITCH: &str = "fluxcd.controlplane.io/reconcile";

/// What a ResourceSet makes.
#[derive(Clone, Debug, Default)]
pub struct Expansion {
    pub objects: Vec<Node>,
    /// The steps in their order, with the range of `objects` that is theirs. None when the set has no steps.
    pub steps: Vec<(EcoString, Range<usize>)>,
    /// What could not be worked out: what, why, and where it is written.
    pub blind: Vec<(String, String, Span)>,
}

/// The objects of a ResourceSet that takes no inputs from elsewhere.
pub fn expand(resource_set: &Node) -> Expansion {
    expand_with(resource_set, &[])
}

/// The objects of a ResourceSet, with the ResourceSetInputProviders that the repository holds.
pub fn expand_with(resource_set: &Node, providers: &[Node]) -> Expansion {
    let mut builder = Builder { out: Expansion::default(), seen: BTreeSet::new() };
    let Some(spec) = resource_set.get("spec") else { return builder.out };
    let inputs = inputs::of(resource_set, providers, &mut builder.out.blind);
    for step in spec.items_at("steps") {
        let start = builder.out.objects.len();
        builder.templates(step, &inputs);
        let name = step.text_at(&["name"]).unwrap_or_default();
        let end = builder.out.objects.len();
        builder.out.steps.push((name.into(), start..end));
    }
    builder.templates(spec, &inputs);
    if let Some(common) = spec.get("commonMetadata") {
        builder.out.objects.iter_mut().for_each(|object| add_metadata(object, common));
    }
    builder.out
}

struct Builder {
    out: Expansion,
    seen: BTreeSet<[String; 4]>,
}

impl Builder {
    /// `resources` and `resourcesTemplate` of the set or of one of its steps.
    fn templates(&mut self, owner: &Node, inputs: &inputs::Inputs) {
        for template in owner.items_at("resources") {
            for input in &inputs.sets {
                match render_node(template, input) {
                    Ok(object) => self.add(object, inputs.are_given),
                    Err(why) => self.blind(object_title(template), why, template.span),
                }
            }
        }
        let Some(template) = owner.get("resourcesTemplate") else { return };
        let Some(text) = template.as_str() else { return };
        match template::parse(text) {
            Ok(parts) => inputs.sets.iter().for_each(|input| self.documents(&parts, input, template.span)),
            Err(why) => self.blind("a resourcesTemplate".to_owned(), why, template.span),
        }
    }

    fn documents(&mut self, parts: &[template::Part], input: &Input, span: Span) {
        let rendered = render(parts, input);
        for document in documents_of(&rendered.text) {
            let parsed = yaml::parse(FileId::GENERATED, document, Limits::default());
            for parsed in parsed {
                match parsed.root {
                    Some(_) if document.contains(UNKNOWN) => {
                        let title = parsed.root.as_ref().map(object_title).unwrap_or_default();
                        self.blind(title.replace(UNKNOWN, "?"), rendered.reasons.join("; "), span);
                    }
                    Some(mut object) if object.as_map().is_some() => {
                        place(&mut object, span);
                        self.add(object, true);
                    }
                    Some(_) => {}
                    None => {
                        let why = rendered.reasons.iter().cloned();
                        let why = why.chain(parsed.problems.into_iter().map(|problem| problem.message));
                        let why = why.collect::<Vec<_>>().join("; ");
                        self.blind("a document of a resourcesTemplate".to_owned(), why, span);
                    }
                }
            }
        }
    }

    /// Keeps an object, once. With inputs, one that an annotation switches off is left out.
    fn add(&mut self, object: Node, with_inputs: bool) {
        if with_inputs && object.text_at(&["metadata", "annotations", SWITCH]) == Some("disabled") {
            return;
        }
        let text = |path: &[&str]| object.text_at(path).unwrap_or_default().to_owned();
        let version = text(&["apiVersion"]);
        let group = version.rsplit_once('/').map_or("", |(group, _)| group).to_owned();
        let key = [group, text(&["kind"]), text(&["metadata", "namespace"]), text(&["metadata", "name"])];
        if !self.seen.insert(key) {
            return;
        }
        if self.out.objects.len() == OBJECTS_MAX {
            self.blind("a ResourceSet".to_owned(), format!("makes more than {OBJECTS_MAX} objects"), object.span);
        } else {
            self.out.objects.push(object);
        }
    }

    /// The same blind spot is named once, however many inputs run into it.
    fn blind(&mut self, what: String, why: String, span: Span) {
        let spot = (what, why, span);
        if !self.out.blind.contains(&spot) {
            self.out.blind.push(spot);
        }
    }
}

/// The object with every `<< … >>` in scalars and keys worked out. As the operator writes the template as YAML and reads
/// the result again, a value may become a number, a list or a mapping.
fn render_node(node: &Node, input: &Input) -> Result<Node, String> {
    match &node.value {
        Value::Scalar(scalar) if scalar.text.contains("<<") => {
            let text = render_text(&scalar.text, input)?;
            let value = match text.strip_prefix('\n') {
                _ if !is_written_plain(&scalar.text) => Value::Scalar(Scalar::string(text)),
                Some(block) => {
                    let mut value =
                        yaml::parse_value(FileId::GENERATED, block).unwrap_or_else(|| Node::null(node.span));
                    place(&mut value, node.span);
                    value.value
                }
                None => reread(text.trim_end_matches('\n'), node.span),
            };
            Ok(Node::new(value, node.span))
        }
        Value::Scalar(_) => Ok(node.clone()),
        Value::Map(map) => {
            let mut rendered = Map::new();
            for entry in map {
                let key =
                    if entry.key.contains("<<") { render_text(&entry.key, input)?.into() } else { entry.key.clone() };
                rendered.insert(key, entry.key_span, render_node(&entry.value, input)?);
            }
            Ok(Node::map(rendered, node.span))
        }
        Value::Seq(items) => {
            let items: Result<Vec<Node>, String> = items.iter().map(|item| render_node(item, input)).collect();
            Ok(Node::seq(items?, node.span))
        }
    }
}

fn render_text(text: &str, input: &Input) -> Result<String, String> {
    let rendered = render(&template::parse(text)?, input);
    if rendered.reasons.is_empty() { Ok(rendered.text) } else { Err(rendered.reasons.join("; ")) }
}

/// The documents of rendered text, so that one that can't be read leaves the others alone.
fn documents_of(text: &str) -> Vec<&str> {
    let mut documents = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == "---" {
            documents.push(&text[start..at]);
            start = at + line.len();
        }
        at += line.len();
    }
    documents.push(&text[start..]);
    documents.retain(|document| !document.trim().is_empty());
    documents
}

fn object_title(object: &Node) -> String {
    let kind = object.text_at(&["kind"]).unwrap_or("an object");
    format!("{kind} {}", object.text_at(&["metadata", "name"]).unwrap_or("without a name"))
}

fn add_metadata(object: &mut Node, common: &Node) {
    let span = object.span;
    let Some(map) = object.as_map_mut() else { return };
    for field in ["labels", "annotations"] {
        for entry in common.get(field).map(Node::entries).unwrap_or_default() {
            let target = map.map_mut("metadata", span).map_mut(field, span);
            target.insert(entry.key.clone(), entry.key_span, entry.value.clone());
        }
    }
}
