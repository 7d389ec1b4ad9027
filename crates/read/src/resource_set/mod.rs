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
use yaml::{Budget, Cost, EcoString, Limits, Map, Node, Scalar, Spent, Value};

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
    expand_with(resource_set, &[], &mut Budget::of_build())
}

/// The objects of a ResourceSet, with the ResourceSetInputProviders that the repository holds.
pub fn expand_with(resource_set: &Node, providers: &[Node], budget: &mut Budget) -> Expansion {
    let mut builder = Builder { out: Expansion::default(), seen: BTreeSet::new(), budget };
    if let Err(spent) = builder.expand(resource_set, providers) {
        // Half of it says what is not so.
        builder.out.objects.clear();
        builder.out.steps.iter_mut().for_each(|(_, range)| *range = 0..0);
        let name = resource_set.text_at(&["metadata", "name"]).map(EcoString::from);
        let why = WhyUnseen::BeyondLimit(Cause::new(spent));
        builder.blind(Unseen::ResourceSet { name }, why, resource_set.span);
    }
    builder.out
}

struct Builder<'b> {
    out: Expansion,
    seen: BTreeSet<[String; 4]>,
    budget: &'b mut Budget,
}

/// Text is parsed in more time than it is read in.
const PARSED_TIMES: usize = 8;

impl Builder<'_> {
    fn expand(&mut self, resource_set: &Node, providers: &[Node]) -> Result<(), Spent> {
        let Some(spec) = resource_set.get("spec") else { return Ok(()) };
        let inputs = inputs::of(resource_set, providers, &mut self.out.blind, self.budget)?;
        for step in spec.items_at("steps") {
            let start = self.out.objects.len();
            self.templates(step, &inputs)?;
            let name = step.text_at(&["name"]).unwrap_or_default();
            let end = self.out.objects.len();
            self.out.steps.push((name.into(), start..end));
        }
        self.templates(spec, &inputs)?;
        if let Some(common) = spec.get("commonMetadata") {
            let added = common.entries().iter().map(|entry| entry.value.entries().len()).sum();
            self.budget.spend(Cost::made(added, 0).times(self.out.objects.len()))?;
            self.out.objects.iter_mut().for_each(|object| add_metadata(object, common));
        }
        Ok(())
    }

    /// `resources` and `resourcesTemplate` of the set or of one of its steps.
    fn templates(&mut self, owner: &Node, inputs: &inputs::Inputs) -> Result<(), Spent> {
        for template in owner.items_at("resources") {
            let cost = Cost::of_copy(template, self.budget.nodes_left());
            for input in &inputs.sets {
                self.budget.spend(cost)?;
                match render_node(template, input, self.budget) {
                    Ok(object) => self.add(object, inputs.are_given),
                    Err(Unrendered::Spent(spent)) => return Err(spent),
                    Err(Unrendered::Unknown(errors)) => {
                        self.blind(manifest(template), not_worked_out(errors), template.span);
                    }
                }
            }
        }
        let Some(template) = owner.get("resourcesTemplate") else { return Ok(()) };
        let Some(text) = template.as_str() else { return Ok(()) };
        match template::parse(text) {
            Ok(parts) => inputs.sets.iter().try_for_each(|input| self.documents(&parts, input, template.span))?,
            Err(error) => self.blind(Unseen::Template, not_worked_out(vec![error]), template.span),
        }
        Ok(())
    }

    fn documents(&mut self, parts: &[template::Part], input: &Input, span: Span) -> Result<(), Spent> {
        let rendered = render(parts, input);
        self.budget.spend(rendered.cost.and(Cost::read(PARSED_TIMES * rendered.text.len())))?;
        for document in documents_of(&rendered.text) {
            let parsed = yaml::parse(FileId::GENERATED, document, Limits::default());
            for parsed in parsed {
                match parsed.root {
                    Some(object) if document.contains(UNKNOWN) => {
                        self.blind(manifest(&object), not_worked_out(rendered.reasons.clone()), span);
                    }
                    Some(mut object) if object.as_map().is_some() => {
                        self.budget.spend(Cost::of_copy(&object, self.budget.nodes_left()))?;
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
        Ok(())
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
fn render_node(node: &Node, input: &Input, budget: &mut Budget) -> Result<Node, Unrendered> {
    match &node.value {
        Value::Scalar(scalar) if scalar.text.contains("<<") => {
            let text = render_text(&scalar.text, input, budget)?;
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
                let is_template = entry.key.contains("<<");
                let key = if is_template { render_text(&entry.key, input, budget)?.into() } else { entry.key.clone() };
                budget.spend(Cost::seen(rendered.len() / KEYS_OF_NODE))?;
                rendered.insert(key, entry.key_span, render_node(&entry.value, input, budget)?);
            }
            Ok(Node::map(rendered, node.span))
        }
        Value::Seq(items) => {
            let items: Result<Vec<Node>, Unrendered> =
                items.iter().map(|item| render_node(item, input, budget)).collect();
            Ok(Node::seq(items?, node.span))
        }
    }
}

fn render_text(text: &str, input: &Input, budget: &mut Budget) -> Result<String, Unrendered> {
    budget.spend(Cost::read(PARSED_TIMES * text.len()))?;
    let rendered = render(&template::parse(text).map_err(|error| Unrendered::Unknown(vec![error]))?, input);
    budget.spend(rendered.cost)?;
    if rendered.reasons.is_empty() { Ok(rendered.text) } else { Err(Unrendered::Unknown(rendered.reasons)) }
}

/// Why something could not be rendered.
enum Unrendered {
    Unknown(Vec<TemplateError>),
    Spent(Spent),
}

impl From<Spent> for Unrendered {
    fn from(spent: Spent) -> Self {
        Self::Spent(spent)
    }
}

/// Keys that are compared in the time of one node.
const KEYS_OF_NODE: usize = 8;

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
