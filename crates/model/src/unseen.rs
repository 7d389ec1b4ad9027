//! What could not be seen, and why: blind spots.
//!
//! Knows which things can be missed and for which reasons, and answers what rules ask about them. Makes no sentence.

use ecow::EcoString;
use source::Span;

use crate::cause::Cause;
use crate::cluster::ComponentId;
use crate::object::ObjectRef;

/// Something that could not be seen, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlindSpot {
    pub what: Unseen,
    pub why: WhyUnseen,
    pub at: Span,
    /// The component whose objects are missing for it.
    pub component: Option<ComponentId>,
}

impl BlindSpot {
    /// Whether objects of a component may be in there. Those of what holds nothing but Flux are known.
    pub fn may_define_objects(&self) -> bool {
        self.component.is_some() && !matches!(self.why, WhyUnseen::HoldsFlux | WhyUnseen::WrittenByBootstrap)
    }

    /// Whether it is no part of a component and is named after CRDs: it may well bring some.
    pub fn may_bring_crds(&self) -> bool {
        self.component.is_none() && self.what.names().any(|name| name.contains("crd"))
    }

    /// Whether it is what a Kustomization applies of another source, and is named after CRDs and after one of these: the API group of a CRD,
    /// or what else would install it.
    pub fn is_named_after_crds_of<'a>(&self, mut owners: impl Iterator<Item = &'a str>) -> bool {
        if !matches!(self.what, Unseen::AppliedBy { .. }) {
            return false;
        }
        let said: String = self.what.names().map(letters).collect();
        let is_said = |word: &str| word.len() >= WORD_LETTERS_MIN && !COMMON.contains(&word) && said.contains(word);
        said.contains("crd") && owners.any(|owner| is_said(&letters(owner)))
    }
}

/// Shorter words are part of too many others.
const WORD_LETTERS_MIN: usize = 4;
/// What many groups and operators are called.
const COMMON: [&str; 7] = ["operator", "controller", "toolkit", "cloud", "crds", "helm", "chart"];

/// Only the letters and digits of a name, however it is written.
fn letters(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// What could not be seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unseen {
    /// An object that a template makes, as far as its kind and name are known.
    Manifest { kind: Option<EcoString>, name: Option<EcoString> },
    /// A plugin that a kustomization has run.
    Plugin { kind: EcoString, name: EcoString },
    /// What a release installs.
    Release { object: ObjectRef, chart: EcoString },
    /// What a Kustomization applies.
    Kustomization(ObjectRef),
    /// A source of Flux.
    Source(ObjectRef),
    /// A ResourceSet, if it has a name.
    ResourceSet { name: Option<EcoString> },
    /// A ResourceSetInputProvider, if it has a name.
    InputProvider { name: Option<EcoString> },
    /// ResourceSetInputProviders that a selector means.
    SelectedInputProviders,
    /// A file, a directory, or an address, as something of the bootstrap names it.
    Named(String),
    /// The releases of a helmfile.
    ReleasesOf { helmfile: String },
    /// Objects that a ResourceSet makes beyond those that were kept.
    ObjectsOfResourceSet,
    /// One document of a template.
    TemplateDocument,
    /// A replacement that reaches into a text.
    ReplacementInText,
    /// A whole template.
    Template,
    /// A chart that a kustomization inflates.
    InflatedChart { name: EcoString },
    /// Files that nobody can name.
    Files,
    /// A file of the repository.
    File(String),
    /// An address, as a kustomization names it.
    Address(String),
    /// The CRDs that a script takes from charts.
    CrdsOfScript { script: String },
    /// What lies above the directory that was read.
    RestOfRepository,
    /// A source of a release's values.
    ValuesOf { release: ObjectRef, kind: EcoString, name: EcoString },
    /// What a rule found.
    FindingsOf { rule: &'static str },
    /// What a Kustomization applies of a source.
    AppliedBy { kustomization: ObjectRef, path: String, source: ObjectRef, url: Option<String> },
}

impl Unseen {
    /// The names in it, as they are written in the repository: of objects, files, charts, and addresses.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names: Vec<&str> = match self {
            Self::Manifest { kind, name } => kind.iter().chain(name).map(EcoString::as_str).collect(),
            Self::Plugin { kind, name } => vec![kind, name],
            Self::Release { object, chart } => [&of(object)[..], &[chart]].concat(),
            Self::Kustomization(object) | Self::Source(object) => of(object).to_vec(),
            Self::ResourceSet { name } | Self::InputProvider { name } => name.iter().map(EcoString::as_str).collect(),
            Self::InflatedChart { name } => vec![name],
            Self::Named(name)
            | Self::ReleasesOf { helmfile: name }
            | Self::File(name)
            | Self::Address(name)
            | Self::CrdsOfScript { script: name } => vec![name],
            Self::ValuesOf { release, kind, name } => [&of(release)[..], &[kind, name]].concat(),
            Self::AppliedBy { kustomization, path, source, url } => {
                let mut names = [&of(kustomization)[..], &[path], &of(source)[..]].concat();
                names.extend(url.as_deref());
                names
            }
            Self::SelectedInputProviders
            | Self::ObjectsOfResourceSet
            | Self::TemplateDocument
            | Self::ReplacementInText
            | Self::Template
            | Self::Files
            | Self::FindingsOf { .. }
            | Self::RestOfRepository => Vec::new(),
        };
        names.into_iter()
    }

    /// Where it would be fetched from, if it has an address.
    pub fn address(&self) -> Option<&str> {
        match self {
            Self::Address(address) | Self::Named(address) => Some(address),
            Self::AppliedBy { url, .. } => url.as_deref(),
            _ => None,
        }
    }
}

fn of(object: &ObjectRef) -> [&str; 2] {
    [&object.namespace, &object.name]
}

/// Why something could not be seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WhyUnseen {
    /// It would be fetched over the network.
    Fetched,
    /// It would be cloned from another repository.
    Cloned,
    /// A chart that Helm would fetch and render.
    InflatedByHelm,
    /// It would be run as a program or a container.
    Run,
    /// Terragrunt runs it.
    RunByTerragrunt,
    /// A text of YAML would have to be written anew.
    TextRewritten,
    /// OpenAPI schemas of a kustomization are not read.
    OpenApiSchema,
    /// Kustomizations nest deeper than this.
    NestedTooDeep { levels: usize },
    /// In another repository or artifact.
    AnotherSource,
    /// In another branch, tag or commit of this repository than the one that was read.
    AnotherRevision,
    /// In another cluster: Flux applies it there, with the kubeconfig of that one.
    AnotherCluster,
    /// Encrypted, down to the names.
    Encrypted,
    /// A source that no file here defines, of a cluster of which no file says where it begins: what defines it may define more.
    DefinedElsewhere,
    /// Its path is no directory here, nor is any other path of its source.
    NothingOfSource,
    /// At a path with variables that no file here sets.
    PathOfVariables,
    /// An artifact that holds Flux itself, and nothing else.
    HoldsFlux,
    /// An artifact that no ArtifactGenerator here makes.
    NoArtifactGenerator,
    /// An artifact that is made of sources which are not here.
    ArtifactOfOthers,
    /// Inputs that a provider of this type brings from outside of the repository.
    InputsFromOutside { provider_type: Option<EcoString> },
    /// A ResourceSetInputProvider that the repository does not hold.
    NoInputProvider,
    /// Inputs with more permutations than this, which the operator refuses.
    TooManyPermutations { max: usize },
    /// A ResourceSet that makes more objects than this.
    TooManyObjects { max: usize },
    /// A template could not be worked out, for each of these.
    NotWorkedOut(Vec<Cause>),
    /// A chart that is neither here nor in the catalogue.
    UnknownChart,
    /// A chart that could not be rendered.
    NotRendered(Cause),
    /// Values that are not in the repository, without which a chart was rendered.
    ValuesNotHere,
    /// Above the directory that was given.
    AboveDirectory,
    /// A program that seems to bootstrap the cluster.
    Program,
    /// CRDs of charts that only a script knows when it runs.
    ChartsOfScript,
    /// No YAML, even without its templates.
    NoYaml,
    /// A template makes it.
    MadeByTemplate,
    /// A template chooses it.
    ChosenByTemplate,
    /// A file that is not in the repository.
    NotInRepository,
    /// A file that is not in the repository, and that Terraform writes into it.
    WrittenByTerraform,
    /// What `flux bootstrap` is yet to write where a cluster begins: Flux itself, and nothing else.
    WrittenByBootstrap,
    /// A helmfile that names values files which are not there, and whose releases another one has, or which no script speaks of.
    LeftoverHelmfile,
    /// A helmfile of one application, in a directory of its name, that no script and no other helmfile runs.
    HelmfileByItself,
    /// A file that was left out when the repository was read.
    NotRead(Cause),
    /// A rule that finds more than this in one cluster, or one that is told of more in the whole report.
    TooManyFindings { max: usize },
    /// Comments that allow something, of which there are more than this in the repository.
    TooManyComments { max: usize },
    /// It takes more than is done for it: which limit it meets.
    BeyondLimit(Cause),
}

impl WhyUnseen {
    /// Whether it is in another repository than the one that was read, or in an artifact.
    pub fn is_other_repository(&self) -> bool {
        matches!(self, Self::Cloned | Self::AnotherSource | Self::NothingOfSource)
    }

    /// Whether components of the cluster may be in there, and what goes with them. Charts hold none.
    pub fn may_hold_components(&self) -> bool {
        let is_beyond_limits = matches!(
            self,
            Self::NestedTooDeep { .. }
                | Self::TooManyPermutations { .. }
                | Self::TooManyObjects { .. }
                | Self::BeyondLimit(_)
        );
        let is_elsewhere = matches!(
            self,
            Self::NoArtifactGenerator
                | Self::ArtifactOfOthers
                | Self::DefinedElsewhere
                | Self::AboveDirectory
                | Self::PathOfVariables
                | Self::AnotherRevision
        );
        let is_template = matches!(self, Self::NotWorkedOut(_));
        self.is_other_repository() || self.is_other_inputs() || is_elsewhere || is_template || is_beyond_limits
    }

    /// Whether a ResourceSet makes objects of inputs that are not here.
    pub fn is_other_inputs(&self) -> bool {
        matches!(self, Self::InputsFromOutside { .. } | Self::NoInputProvider)
    }
}
