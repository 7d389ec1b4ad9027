//! What else is worth saying.

use std::collections::BTreeSet;

use diagnostic::{Alike, Maker, Note, Who};
use model::say_seconds;

use super::{paths, quoted};
use crate::words::first_few;

/// Dependents that are named.
const DEPENDENTS_NAMED_MAX: usize = 12;
/// Others that a finding speaks for and that are named.
const ALIKE_NAMED_MAX: usize = 10;

/// A clause without a capital letter and a full stop.
pub(super) fn note(note: &Note) -> String {
    match note {
        Note::DifferingValues { paths } => format!("values that differ: {}", self::paths(paths)),
        Note::Dependents { all } => {
            let names: Vec<String> = all.iter().map(model::ObjectRef::path).collect();
            format!("{} dependents: {}", names.len(), first_few(&names, DEPENDENTS_NAMED_MAX))
        }
        Note::HoldsByFailure => {
            "works only by accident: something it depends on fails until the provider is up; once that is fixed, this becomes a race"
                .to_owned()
        }
        Note::IsMutual => "the provider also needs something from this one: only one of the two can wait for the other".to_owned(),
        Note::CantRemoveApplying => "which one applies the other can't be changed by removing a dependency".to_owned(),
        Note::UnreadChartMayMake { release } => {
            let release = quoted(release);
            format!("{release}, which it waits for, comes from a chart that was not read, and may create it")
        }
        Note::OtherRepositoryMayMake { component } => {
            format!("{} applies files of another repository, which may create it", quoted(component))
        }
        Note::OtherInputsMayMake { component } => {
            format!("{} takes inputs that are not in this repository, and may create it from them", quoted(component))
        }
        Note::NamespaceMadeElsewhere { namespace } => {
            format!("nothing here creates Namespace {namespace} either: what does may create it, too")
        }
        Note::TerraformMakesNamespace { namespace } => {
            format!("Terraform creates Namespace {namespace}, and may create it, too")
        }
        Note::CommentNames { maker } => format!("a comment beside it says that {} creates it", self::maker(*maker)),
        Note::NotApplied { file } => {
            format!("`{file}` would create it, but coldstart found nothing that applies it: apply it in the bootstrap, before Flux")
        }
        Note::NoScriptRuns { directory } => {
            let directory = if directory.is_empty() { "the top directory".to_owned() } else { format!("`{directory}`") };
            format!("no script was found that runs {directory}, where scripts run others: it may be a leftover")
        }
        Note::UnseenMayDefine => "part of this cluster could not be seen, and may define it".to_owned(),
        Note::UnseenMayHold => "part of this cluster could not be seen, and may hold it".to_owned(),
        Note::UnlessMadeOutside { needed } => format!("unless something outside this repository creates {needed}"),
        Note::UnlessBroughtBy { program } => {
            format!("unless `{program}`, which coldstart does not read, provides it first")
        }
        Note::UnlessMadeBy { file } => format!("unless what `{file}` says creates it first"),
        Note::UnlessHandedOver { directory } => {
            format!("unless another cluster applies `{directory}` to this one first (`kubeConfig`)")
        }
        Note::UnlessAppliedBy { script } => {
            format!("unless `{script}`, which applies the CRDs of charts that are known only when it runs, installs it first")
        }
        Note::IsStrict => "StrictPostBuildSubstitutions is enabled".to_owned(),
        Note::FailsSince { flux } => format!("Flux {flux} fails builds with undefined variables"),
        Note::StillEmpty { flux } => format!("Flux {flux} still substitutes an empty string"),
        Note::MayBeNew { flux } => format!("`{flux}` installs the newest Flux, which may already be 2.9"),
        Note::UnknownFlux => "the Flux version could not be determined".to_owned(),
    }
}

fn maker(maker: Maker) -> &'static str {
    match maker {
        Maker::Terraform => "Terraform",
        Maker::OpenTofu => "OpenTofu",
        Maker::Pulumi => "Pulumi",
        Maker::Ansible => "Ansible",
        Maker::ByHand => "a person",
    }
}

/// Whom a finding speaks for, each once.
pub(super) fn alike(alike: &[Alike]) -> Option<String> {
    let mut told = BTreeSet::new();
    let names: Vec<String> = alike.iter().map(name).filter(|name| told.insert(name.clone())).collect();
    let (all, names) = (alike.len(), first_few(&names, ALIKE_NAMED_MAX));
    (all > 0).then(|| format!("same for {all} more: {names} (--each shows each)"))
}

/// `apps/web`, with what it loses where that is not what the others do: `apps/web (1 h)`.
fn name(alike: &Alike) -> String {
    let name = match &alike.who {
        Who::Component(object) | Who::Provider(object) => object.path(),
        Who::Both { component, provider } => format!("{} on {}", component.path(), provider.path()),
    };
    match alike.seconds {
        Some(seconds) => format!("{name} ({})", say_seconds(seconds)),
        None => name,
    }
}
