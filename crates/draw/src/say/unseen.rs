//! What could not be seen, and why.

use std::borrow::Cow;

use model::{BlindSpot, Cause, Unseen, WhyUnseen};

use super::clause::Clause;
use super::unread;

/// What was not seen: a name, or a few words where it has none.
pub fn what(unseen: &Unseen) -> Cow<'_, str> {
    let said = match unseen {
        Unseen::Address(name) | Unseen::File(name) => return Cow::Borrowed(name),
        Unseen::Files => return Cow::Borrowed("files"),
        Unseen::ObjectsOfResourceSet => return Cow::Borrowed("a ResourceSet"),
        Unseen::Template => return Cow::Borrowed("a resourcesTemplate"),
        Unseen::TemplateDocument => return Cow::Borrowed("a document of a resourcesTemplate"),
        Unseen::ReplacementInText => return Cow::Borrowed("a replacement inside a string"),
        Unseen::SelectedInputProviders => return Cow::Borrowed("ResourceSetInputProvider by selector"),
        Unseen::RestOfRepository => {
            return Cow::Borrowed("the rest of the repository, to whose root paths here are relative");
        }
        Unseen::Manifest { kind, name } => {
            let (kind, name) = (kind.as_deref().unwrap_or("an object"), name.as_deref().unwrap_or("without a name"));
            format!("{kind} {name}")
        }
        Unseen::Plugin { kind, name } => format!("{kind} {name}"),
        Unseen::FindingsOf { rule } => format!("findings of {rule}"),
        Unseen::Release { object, chart } => format!("{object} (chart {chart})"),
        Unseen::Kustomization(object) | Unseen::Source(object) => object.to_string(),
        Unseen::ResourceSet { name } => format!("ResourceSet {}", name.as_deref().unwrap_or("?")),
        Unseen::InputProvider { name } => format!("ResourceSetInputProvider {}", name.as_deref().unwrap_or("?")),
        Unseen::Named(name) => format!("`{name}`"),
        Unseen::ReleasesOf { helmfile } => format!("`releases of {helmfile}`"),
        Unseen::InflatedChart { name } => format!("chart {name}"),
        Unseen::CrdsOfScript { script } => format!("the CRDs that `{script}` takes from charts"),
        Unseen::ValuesOf { release, kind, name } => format!("values of {release} from {kind} {name}"),
        Unseen::AppliedBy { kustomization, path, source, url } => {
            let url = url.as_ref().map(|url| format!(" ({url})")).unwrap_or_default();
            format!("what {kustomization} applies: `{path}` of {source}{url}")
        }
    };
    Cow::Owned(said)
}

/// Why it was not seen: a clause that continues its name.
pub fn why(why: &WhyUnseen) -> String {
    clause(why).said(1)
}

/// Why it was not seen, as it stands after a name or a number.
pub(crate) fn clause(why: &WhyUnseen) -> Clause {
    match why {
        WhyUnseen::NestedTooDeep { levels } => {
            Clause::plain(format!("Kustomizations nest deeper than {levels} levels"))
        }
        WhyUnseen::InputsFromOutside { provider_type } => {
            let provider_type = provider_type.as_deref().unwrap_or("no type");
            Clause::plain(format!("its inputs come from outside the repository ({provider_type})"))
        }
        WhyUnseen::TooManyPermutations { max } => {
            Clause::plain(format!("its inputs have more than {max} permutations, which the operator refuses"))
        }
        WhyUnseen::TooManyObjects { max } => Clause::plain(format!("makes more than {max} objects")),
        WhyUnseen::TooManyFindings { max } => {
            Clause::plain(format!("more than {max} in one cluster: the rest is not shown"))
        }
        WhyUnseen::TooManyComments { max } => {
            Clause::has(format!("comments beyond the first {max} of the repository, which are not read"))
        }
        WhyUnseen::NotWorkedOut(causes) => {
            Clause::plain(causes.iter().map(Cause::to_string).collect::<Vec<_>>().join("; "))
        }
        WhyUnseen::NotRendered(cause) => Clause::has(format!("a chart that {cause}")),
        WhyUnseen::NotRead(cause) => unread::clause(cause),
        WhyUnseen::BeyondLimit(cause) => Clause::plain(cause.to_string()),
        WhyUnseen::Fetched => Clause::plain("would be fetched over the network"),
        WhyUnseen::Cloned => Clause::plain("would be cloned from another repository"),
        WhyUnseen::InflatedByHelm => Clause::plain("would be fetched and rendered by Helm"),
        WhyUnseen::Run => Clause::plain("would be run as a program or a container"),
        WhyUnseen::RunByTerragrunt => Clause::is("run by Terragrunt, whose files are not read"),
        WhyUnseen::TextRewritten => Clause::plain("YAML inside a string would have to be rewritten"),
        WhyUnseen::OpenApiSchema => Clause::plain("OpenAPI schemas are not read"),
        WhyUnseen::AnotherSource => Clause::is("in another repository or artifact"),
        WhyUnseen::AnotherRevision => Clause::is("in another branch, tag or commit of this repository"),
        WhyUnseen::AnotherCluster => Clause::is("applied to another cluster (`kubeConfig`)"),
        WhyUnseen::Encrypted => Clause::is("encrypted, names included"),
        WhyUnseen::DefinedElsewhere => {
            Clause::is("not defined here, and nothing says where Flux begins: what defines it may define more")
        }
        WhyUnseen::NothingOfSource => Clause::is("not in this repository, nor is anything else of its source"),
        WhyUnseen::PathOfVariables => Clause::is("at a path with variables that no file here sets"),
        WhyUnseen::HoldsFlux => Clause::plain("holds Flux itself"),
        WhyUnseen::NoArtifactGenerator => Clause::is("not made by any ArtifactGenerator here"),
        WhyUnseen::ArtifactOfOthers => Clause::is("built from sources outside this repository"),
        WhyUnseen::NoInputProvider => Clause::plain("the repository does not hold it"),
        WhyUnseen::UnknownChart => Clause::comes("from a chart that is neither here nor in the catalogue"),
        WhyUnseen::ValuesNotHere => Clause::plain("are not in the repository: the chart was rendered without them"),
        WhyUnseen::AboveDirectory => Clause::is("outside this directory: run coldstart at the repository root"),
        WhyUnseen::Program => Clause::is("a program that seems to bootstrap the cluster; programs are not read"),
        WhyUnseen::ChartsOfScript => Clause::plain("are those of charts that are known only when the script runs"),
        WhyUnseen::NoYaml => Clause::is("not valid YAML, even without its templates"),
        WhyUnseen::MadeByTemplate => Clause::is("made by a template"),
        WhyUnseen::ChosenByTemplate => Clause::is("chosen by a template"),
        WhyUnseen::NotInRepository => Clause::is("not in the repository"),
        WhyUnseen::WrittenByTerraform => Clause::is("not in the repository yet: Terraform writes it"),
        WhyUnseen::WrittenByBootstrap => Clause::is("not in the repository yet: `flux bootstrap` writes it"),
        WhyUnseen::HelmfileByItself => Clause::plain(
            "installs one application, and no script and no other helmfile runs it: not part of the bootstrap",
        ),
        WhyUnseen::LeftoverHelmfile => Clause::plain(
            "names values files that do not exist, and another helmfile has its releases or no script names helmfile: treated as a leftover",
        ),
    }
}

/// A blind spot with its words.
#[derive(Clone, Debug)]
pub(crate) struct Told<'a> {
    pub(crate) what: Cow<'a, str>,
    pub(crate) why: String,
    pub(crate) spot: &'a BlindSpot,
}

/// Blind spots as they are told, in the order of their words.
pub(crate) fn told(blind: &[BlindSpot]) -> Vec<Told<'_>> {
    let mut told: Vec<Told<'_>> =
        blind.iter().map(|spot| Told { what: what(&spot.what), why: why(&spot.why), spot }).collect();
    let key = |one: &Told<'_>| (one.spot.at, one.spot.component);
    told.sort_by(|a, b| (&a.what, &a.why, key(a)).cmp(&(&b.what, &b.why, key(b))));
    told
}
