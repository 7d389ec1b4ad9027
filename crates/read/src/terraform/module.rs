//! The blocks of one directory's files, sorted by what they are.

use std::collections::{BTreeMap, BTreeSet};

use hcl_edit::Span as _;
use hcl_edit::expr::Expression;
use hcl_edit::structure::{Block, Body};
use source::{FileId, Span, to_u32};

/// A directory with Terraform files: one that is applied, or a module of another.
#[derive(Debug, Default)]
pub(crate) struct Module {
    pub(crate) directory: String,
    pub(crate) variables: BTreeMap<String, Variable>,
    pub(crate) locals: BTreeMap<String, Expression>,
    pub(crate) outputs: BTreeMap<String, Output>,
    pub(crate) resources: Vec<Resource>,
    /// Its `module` blocks, by name.
    pub(crate) calls: BTreeMap<String, Block>,
    /// Those with a `provider` block.
    pub(crate) providers: BTreeSet<String>,
    /// It says where its state is kept.
    pub(crate) has_backend: bool,
    /// What `terraform.tfvars` and `*.auto.tfvars` give, and by name what other such files give, which a person chooses from.
    given: BTreeMap<String, Expression>,
    chosen: BTreeMap<String, BTreeMap<String, Expression>>,
}

#[derive(Debug, Default)]
pub(crate) struct Variable {
    pub(crate) default: Option<Expression>,
    pub(crate) kind: Option<Expression>,
}

#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) value: Option<Expression>,
    pub(crate) is_sensitive: bool,
}

#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) is_data: bool,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) body: Body,
    /// Its first line.
    pub(crate) at: Span,
}

impl Module {
    pub(crate) fn new(directory: &str) -> Self {
        Self { directory: directory.to_owned(), ..Self::default() }
    }

    /// Adds what a `.tf` or `.tofu` file says.
    pub(crate) fn add(&mut self, file: FileId, body: Body) {
        for block in body.into_blocks() {
            let label =
                |index: usize| block.labels.get(index).map(|label| label.as_str().to_owned()).unwrap_or_default();
            match block.ident.as_str() {
                "variable" => {
                    let (default, kind) = (attribute(&block, "default"), attribute(&block, "type"));
                    self.variables.insert(label(0), Variable { default, kind });
                }
                "locals" => {
                    let locals = block.body.into_attributes();
                    self.locals.extend(locals.map(|local| (local.key.to_string(), local.value)));
                }
                "output" => {
                    let is_sensitive =
                        attribute(&block, "sensitive").is_some_and(|value| value.as_bool() == Some(true));
                    self.outputs.insert(label(0), Output { value: attribute(&block, "value"), is_sensitive });
                }
                kind @ ("resource" | "data" | "ephemeral") => {
                    let (is_data, at) = (kind != "resource", place(file, &block));
                    self.resources.push(Resource { is_data, kind: label(0), name: label(1), body: block.body, at });
                }
                "module" => {
                    self.calls.insert(label(0), block);
                }
                "provider" => {
                    self.providers.insert(label(0));
                }
                "terraform" => self.has_backend |= block.body.has_blocks("backend") || block.body.has_blocks("cloud"),
                _ => {}
            }
        }
    }

    /// Adds the values of a `.tfvars` file. Files come in the order of their names, and a later one wins.
    pub(crate) fn give(&mut self, file: &str, body: Body) {
        let values = body.into_attributes().map(|value| (value.key.to_string(), value.value));
        match file {
            // Only over what is not given yet: `*.auto.tfvars` win over it.
            "terraform.tfvars" => {
                for (name, value) in values {
                    self.given.entry(name).or_insert(value);
                }
            }
            _ if file.ends_with(".auto.tfvars") => self.given.extend(values),
            _ => {
                for (name, value) in values {
                    self.chosen.entry(name).or_default().insert(file.to_owned(), value);
                }
            }
        }
    }

    /// What files give a variable. One of the others (`-var-file`) counts where there is no choice.
    pub(crate) fn given(&self, variable: &str) -> Option<&Expression> {
        self.given.get(variable).or_else(|| {
            let files = self.chosen.get(variable)?;
            files.values().next().filter(|_| files.len() == 1)
        })
    }

    /// Whether values for it lie beside it.
    pub(crate) fn is_given_values(&self) -> bool {
        !self.given.is_empty() || !self.chosen.is_empty()
    }

    /// Whether every variable has a value: a module that is made for others usually wants some.
    pub(crate) fn is_complete(&self) -> bool {
        self.variables.iter().all(|(name, variable)| variable.default.is_some() || self.given(name).is_some())
    }

    pub(crate) fn resource(&self, is_data: bool, kind: &str, name: &str) -> Option<&Resource> {
        self.resources.iter().find(|one| one.is_data == is_data && one.kind == kind && one.name == name)
    }

    /// The directories of its local modules, with the names they are called by.
    pub(crate) fn called(&self) -> impl Iterator<Item = (&str, String)> {
        self.calls.iter().filter_map(|(name, block)| Some((name.as_str(), self.local_source(block)?)))
    }

    /// The directory of the module that a block calls, if it is in this repository.
    pub(crate) fn local_source(&self, block: &Block) -> Option<String> {
        let source = block.body.get_attribute("source")?;
        let source = source.value.as_str().filter(|source| source.starts_with("./") || source.starts_with("../"))?;
        repository::path::join(&self.directory, source)
    }
}

/// The first line of a block.
fn place(file: FileId, block: &Block) -> Span {
    let (start, end) = (block.ident.span(), block.labels.last().and_then(hcl_edit::Span::span));
    start.zip(end).map_or(Span::GENERATED, |(start, end)| Span::new(file, to_u32(start.start), to_u32(end.end)))
}

pub(crate) fn attribute(block: &Block, name: &str) -> Option<Expression> {
    block.body.get_attribute(name).map(|attribute| attribute.value.clone())
}
