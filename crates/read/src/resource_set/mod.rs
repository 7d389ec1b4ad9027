//! The flux-operator's ResourceSet: templates and inputs into objects, in the order of its steps.
//!
//! Reads the inputs that stand in the repository: those of the ResourceSet itself and of `Static` providers. Does not
//! ask Git hosts or registries, and knows a part of the template functions: what it can't work out is a blind spot.

mod error;
mod evaluate;
mod functions;
pub(crate) mod inputs;
mod template;

use std::collections::BTreeSet;
use std::ops::Range;

use model::{Cause, Unseen, WhyUnseen};
use serde_json::Value as Input;
use source::{FileId, Span};
use yaml::{EcoString, Limits, Map, Node, Scalar, Value};

use crate::substitute::{is_written_plain, place, reread};
pub use error::TemplateError;
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
    pub blind: Vec<(Unseen, WhyUnseen, Span)>,
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
                    Err(errors) => self.blind(manifest(template), not_worked_out(errors), template.span),
                }
            }
        }
        let Some(template) = owner.get("resourcesTemplate") else { return };
        let Some(text) = template.as_str() else { return };
        match template::parse(text) {
            Ok(parts) => inputs.sets.iter().for_each(|input| self.documents(&parts, input, template.span)),
            Err(error) => self.blind(Unseen::Template, not_worked_out(vec![error]), template.span),
        }
    }

    fn documents(&mut self, parts: &[template::Part], input: &Input, span: Span) {
        let rendered = render(parts, input);
        for document in documents_of(&rendered.text) {
            let parsed = yaml::parse(FileId::GENERATED, document, Limits::default());
            for parsed in parsed {
                match parsed.root {
                    Some(object) if document.contains(UNKNOWN) => {
                        self.blind(manifest(&object), not_worked_out(rendered.reasons.clone()), span);
                    }
                    Some(mut object) if object.as_map().is_some() => {
                        place(&mut object, span);
                        self.add(object, true);
                    }
                    Some(_) => {}
                    None => {
                        let problems = parsed.problems.into_iter().map(|problem| TemplateError::Yaml(problem.message));
                        let errors = rendered.reasons.iter().cloned().chain(problems).collect();
                        self.blind(Unseen::TemplateDocument, not_worked_out(errors), span);
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
            let why = WhyUnseen::TooManyObjects { max: OBJECTS_MAX };
            self.blind(Unseen::ObjectsOfResourceSet, why, object.span);
        } else {
            self.out.objects.push(object);
        }
    }

    /// The same blind spot is named once, however many inputs run into it.
    fn blind(&mut self, what: Unseen, why: WhyUnseen, span: Span) {
        let spot = (what, why, span);
        if !self.out.blind.contains(&spot) {
            self.out.blind.push(spot);
        }
    }
}

/// The object with every `<< … >>` in scalars and keys worked out. As the operator writes the template as YAML and reads
/// the result again, a value may become a number, a list or a mapping.
fn render_node(node: &Node, input: &Input) -> Result<Node, Vec<TemplateError>> {
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
            let items: Result<Vec<Node>, Vec<TemplateError>> =
                items.iter().map(|item| render_node(item, input)).collect();
            Ok(Node::seq(items?, node.span))
        }
    }
}

fn render_text(text: &str, input: &Input) -> Result<String, Vec<TemplateError>> {
    let rendered = render(&template::parse(text).map_err(|error| vec![error])?, input);
    if rendered.reasons.is_empty() { Ok(rendered.text) } else { Err(rendered.reasons) }
}

fn not_worked_out(errors: Vec<TemplateError>) -> WhyUnseen {
    WhyUnseen::NotWorkedOut(errors.into_iter().map(Cause::new).collect())
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

/// An object by its kind and name, as far as they are known.
fn manifest(object: &Node) -> Unseen {
    let text = |path: &[&str]| object.text_at(path).map(|text| EcoString::from(text.replace(UNKNOWN, "?")));
    Unseen::Manifest { kind: text(&["kind"]), name: text(&["metadata", "name"]) }
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
