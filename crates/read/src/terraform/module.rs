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
    pub(crate) locals: BTreeMap<String, Written>,
    pub(crate) outputs: BTreeMap<String, Output>,
    pub(crate) resources: Vec<Resource>,
    /// Its `module` blocks, by name.
    pub(crate) calls: BTreeMap<String, Call>,
    /// Those with a `provider` block.
    pub(crate) providers: BTreeSet<String>,
    /// Its `provider` blocks.
    pub(crate) configurations: Vec<Configuration>,
    /// Its `required_providers`, by the name that it gives them.
    pub(crate) required: BTreeMap<String, Required>,
    /// Where it keeps its state, if it says so.
    pub(crate) backend: Option<Backend>,
    /// It has an `encryption` block.
    pub(crate) is_state_encrypted: bool,
    /// What `terraform.tfvars` and `*.auto.tfvars` give, and by name what other such files give, which a person chooses from.
    given: BTreeMap<String, Expression>,
    chosen: BTreeMap<String, BTreeMap<String, Expression>>,
}

#[derive(Debug, Default)]
pub(crate) struct Variable {
    pub(crate) default: Option<Expression>,
    pub(crate) kind: Option<Expression>,
}

/// An expression, and the file that its places are in.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) value: Expression,
    pub(crate) file: FileId,
}

#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) value: Option<Expression>,
    pub(crate) depends_on: Option<Expression>,
    pub(crate) is_sensitive: bool,
    /// Its first line.
    pub(crate) at: Span,
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

/// A `module` block.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) block: Block,
    /// Its first line.
    pub(crate) at: Span,
}

/// A `provider` block.
#[derive(Debug)]
pub(crate) struct Configuration {
    pub(crate) name: String,
    pub(crate) alias: Option<String>,
    pub(crate) body: Body,
    /// Its first line.
    pub(crate) at: Span,
}

/// An entry of `required_providers`.
#[derive(Clone, Debug)]
pub(crate) struct Required {
    pub(crate) source: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) at: Span,
}

/// A `backend` or `cloud` block.
#[derive(Debug)]
pub(crate) struct Backend {
    /// `local`, `s3`, `cloud`.
    pub(crate) kind: String,
    pub(crate) body: Body,
    pub(crate) at: Span,
}

impl Module {
    pub(crate) fn new(directory: &str) -> Self {
        Self { directory: directory.to_owned(), ..Self::default() }
    }

    /// Adds what a `.tf` or `.tofu` file says.
    pub(crate) fn add(&mut self, file: FileId, body: Body) {
        for block in body.into_blocks() {
            let at = place(file, &block);
            self.add_block(file, at, block);
        }
    }

    /// Adds one block, whose places are in this file.
    pub(crate) fn add_block(&mut self, file: FileId, at: Span, block: Block) {
        let label = |index: usize| block.labels.get(index).map(|label| label.as_str().to_owned()).unwrap_or_default();
        match block.ident.as_str() {
            "variable" => {
                let (default, kind) = (attribute(&block, "default"), attribute(&block, "type"));
                self.variables.insert(label(0), Variable { default, kind });
            }
            "locals" => {
                let locals = block.body.into_attributes();
                let written = |value| Written { value, file };
                self.locals.extend(locals.map(|local| (local.key.to_string(), written(local.value))));
            }
            "output" => {
                let is_sensitive = attribute(&block, "sensitive").is_some_and(|value| value.as_bool() == Some(true));
                let (value, depends_on) = (attribute(&block, "value"), attribute(&block, "depends_on"));
                self.outputs.insert(label(0), Output { value, depends_on, is_sensitive, at });
            }
            kind @ ("resource" | "data" | "ephemeral") => {
                let is_data = kind != "resource";
                self.resources.push(Resource { is_data, kind: label(0), name: label(1), body: block.body, at });
            }
            "module" => {
                self.calls.insert(label(0), Call { block, at });
            }
            "provider" => {
                let name = label(0);
                self.providers.insert(name.clone());
                let alias = attribute(&block, "alias").and_then(|alias| alias.as_str().map(str::to_owned));
                self.configurations.push(Configuration { name, alias, body: block.body, at });
            }
            "terraform" => self.add_settings(file, &block.body),
            _ => {}
        }
    }

    fn add_settings(&mut self, file: FileId, settings: &Body) {
        for block in settings.blocks() {
            let at = place(file, block);
            match block.ident.as_str() {
                "backend" => {
                    let kind = block.labels.first().map(|label| label.as_str().to_owned()).unwrap_or_default();
                    self.backend = Some(Backend { kind, body: block.body.clone(), at });
                }
                "encryption" => self.is_state_encrypted = true,
                "cloud" => self.backend = Some(Backend { kind: "cloud".to_owned(), body: block.body.clone(), at }),
                "required_providers" => {
                    for required in block.body.attributes() {
                        let text = |key: &str| Some(field(&required.value, key)?.as_str()?.to_owned());
                        // Before 0.13 there was only a version.
                        let version = text("version").or_else(|| required.value.as_str().map(str::to_owned));
                        let at = span(file, &required.key).unwrap_or(at);
                        let entry = Required { source: text("source"), version, at };
                        self.required.insert(required.key.to_string(), entry);
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the values of a `.tfvars` file. Files come in the order of their names, and a later one wins.
    pub(crate) fn give(&mut self, file: &str, body: Body) {
        let values = body.into_attributes().map(|value| (value.key.to_string(), value.value));
        match file {
            // Only over what is not given yet: `*.auto.tfvars` win over it.
            "terraform.tfvars" | "terraform.tfvars.json" => {
                for (name, value) in values {
                    self.given.entry(name).or_insert(value);
                }
            }
            _ if file.ends_with(".auto.tfvars") || file.ends_with(".auto.tfvars.json") => self.given.extend(values),
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
        self.calls.iter().filter_map(|(name, call)| Some((name.as_str(), self.local_source(&call.block)?)))
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
    let end = end.or_else(|| start.clone());
    start.zip(end).map_or(Span::GENERATED, |(start, end)| Span::new(file, to_u32(start.start), to_u32(end.end)))
}

/// The place of something that was parsed; what was made out of JSON has none.
pub(crate) fn span(file: FileId, node: &impl hcl_edit::Span) -> Option<Span> {
    node.span().map(|range| Span::new(file, to_u32(range.start), to_u32(range.end)))
}

pub(crate) fn attribute(block: &Block, name: &str) -> Option<Expression> {
    block.body.get_attribute(name).map(|attribute| attribute.value.clone())
}

/// What an object has under a key, as it is written.
pub(crate) fn field<'e>(expression: &'e Expression, name: &str) -> Option<&'e Expression> {
    let object = expression.as_object()?;
    object.iter().find(|(key, _)| key_text(key) == Some(name)).map(|(_, value)| value.expr())
}

/// A key of an object, if it is not worked out.
pub(crate) fn key_text(key: &hcl_edit::expr::ObjectKey) -> Option<&str> {
    use hcl_edit::expr::ObjectKey;
    match key {
        ObjectKey::Ident(ident) => Some(ident.as_str()),
        ObjectKey::Expression(Expression::Variable(name)) => Some(name.as_str()),
        ObjectKey::Expression(key) => key.as_str(),
    }
}
