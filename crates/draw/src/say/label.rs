//! What stands beside a place.

use diagnostic::{Deed, Hop, Label, Remark};
use model::{BuildFault, FileUse};

use super::purpose::purpose;
use super::statement::vital;

/// A clause without a capital letter and a full stop.
pub(super) fn label(label: &Label) -> String {
    match label {
        Label::Remark(remark) => self::remark(*remark).to_owned(),
        Label::Brings { by } => format!("which {by} provides"),
        Label::Broken { fault } => fault.to_string(),
        Label::BrokenCommand { fault } => format!("{}, but {fault}", used_here(fault)),
        Label::DoesNotWaitFor { provider } => format!("does not wait for {}", provider.path()),
        Label::FluxVersion { written } => format!("Flux {written}"),
        Label::Hops(hops) => self::hops(hops),
        Label::IsReadyWhenStored { kind } => {
            format!("the release is ready as soon as its {kind} is stored: Helm does not wait for it")
        }
        Label::LooksAmong { kind } => format!("Flux looks only among objects of kind {kind}"),
        Label::Needs { kind, needed, purpose } => format!("{kind} needs {needed} {}", self::purpose(purpose)),
        Label::NeedsWhich { needed } => format!("needs {needed} ..."),
        Label::NoSuchSource { kind } => format!("no {kind} of this name was read"),
        Label::OfThisName { kind } => format!("the {kind} of this name"),
        Label::OpensAtFirstLook { kind } => {
            format!("passes at the first check: an {kind} without a status counts as healthy")
        }
        Label::OptionalAndNotMade { needed } => format!("optional, and nothing here creates {needed}"),
        Label::Patience { field } => format!("{} limits how long it waits", field.name()),
        Label::VitalIsHere(what) => format!("this provides {}", vital(*what)),
        Label::WaitsForIt { component } => format!("{} waits for it", component.path()),
        Label::WouldBeInstalledBy { switch } => format!("`{switch}` would install it"),
        Label::WouldInstall { role, is_beside } => {
            let place = if *is_beside { "in the same Kustomization" } else { "applied through the same Kustomization" };
            format!("... which this {}, {place}, would install: one failed dry run stops both", role.noun())
        }
    }
}

fn remark(remark: Remark) -> &'static str {
    match remark {
        Remark::WaitsForLess => "waits for less",
        Remark::WaitsHere => "waits here",
        Remark::GoesOnHere => "goes on from here",
        Remark::RunsHere => "runs here",
        Remark::NeverRun => "never run when it fails",
        Remark::LeftOutHere => "left out here",
        Remark::DoesNotExit => "does not exit",
        Remark::RepeatsHere => "repeats this",
        Remark::GitOpsStartsHere => "GitOps starts here",
        Remark::ComesOnlyHere => "comes only here",
        Remark::InstalledHere => "installed here",
        Remark::UsedAtPlan => "needs it when the run is planned",
        Remark::ConfiguredByIt => "configured with this",
        Remark::EnteredHere => "does not exist",
        Remark::TakenHere => "reads it here",
        Remark::NeededHere => "needs it here",
        Remark::DoesNotWait => "does not wait",
        Remark::MadeHere => "created here",
        Remark::StartsAfter => "depends on it",
        Remark::CommittedHere => "committed here",
        Remark::WrittenByHand => "written by hand",
        Remark::SpeaksHere => "connects here",
        Remark::AllowsNothing => "allows nothing",
        Remark::AllVariablesSetHere => "all that sets its variables",
        Remark::ChangesNothing => "changes nothing",
        Remark::DeletesWhatLeaves => "deletes what leaves the build",
        Remark::DoesNotWaitNow => "does not wait now",
        Remark::DoneWhenAccepted => "ready here means only that the API server accepted the objects",
        Remark::FluxMakesThis => "and Flux turns it into this",
        Remark::Ignored => "ignored",
        Remark::IgnoredByWait => "Flux ignores `healthChecks` where `wait: true` is set",
        Remark::NamesNoGate => "none of these waits for it",
        Remark::NeededForBuild => "needed before anything can be built",
        Remark::NeverEvaluated => "never evaluated: neither `wait` nor `healthChecks` is set",
        Remark::NoReason => "no reason",
        Remark::NoRetryInterval => "no retryInterval, so Flux retries at this interval",
        Remark::NoSuchRelease => "no release of this helmfile has this name",
        Remark::NoValue => "no value and no default",
        Remark::NothingHasName => "nothing has this name",
        Remark::NothingListsFile => "no kustomization lists this file",
        Remark::NothingMakesIt => "nothing that coldstart read creates it",
        Remark::NothingSubstituted => "nothing is substituted here",
        Remark::SilencesNothing => "silences nothing",
        Remark::StartsWithThis => "a new cluster starts with this",
        Remark::StatusTellsNothing => "waits for objects whose status says nothing about their health",
        Remark::StopsAtFirstFailure => "the bootstrap stops at the first release that fails",
        Remark::SwitchedOff => "disabled here",
        Remark::TriesOnce => "it tries only once",
        Remark::UnknownRule => "unknown",
        Remark::WaitsForAllItApplies => "waits for everything it applies",
        Remark::WaitsForEver => "waits forever",
        Remark::WaitsForNoMore => "waits only for that",
        Remark::WaitsForOtherObjects => "waits for other objects, not for this one",
        Remark::WaitsForParent => "waits for what applies it",
        Remark::WaitsUntilExists => "waits only until it exists",
    }
}

/// Steps of a circle as one sentence; the subject is not repeated.
pub(super) fn hops(hops: &[Hop]) -> String {
    let mut said = String::new();
    let mut before = None;
    for hop in hops {
        let does = deed(&hop.does);
        said = match before {
            None => format!("{} {does}", subject(hop)),
            Some(before) if before == &hop.component => format!("{said}, and {does}"),
            Some(_) => format!("{said}, and {} {does}", subject(hop)),
        };
        before = Some(&hop.component);
    }
    said
}

fn subject(hop: &Hop) -> String {
    match hop.does {
        Deed::Brings { .. } => format!("only {}", hop.component),
        Deed::IsApplied { .. } => hop.component.to_string(),
        _ => hop.component.path(),
    }
}

fn deed(deed: &Deed) -> String {
    match deed {
        Deed::Brings { brought } => format!("provides {brought}"),
        Deed::IsApplied { by } => format!("is applied by {}", by.path()),
        Deed::Needs { needed, purpose } => format!("needs {needed} {}", self::purpose(purpose)),
        Deed::WaitsFor { target } => format!("waits for {}", target.path()),
        Deed::WaitsForApplied { object } => format!("waits for everything it applies, including {object}"),
        Deed::WaitsForListed { object } => format!("waits for {object} by its `healthChecks`"),
        Deed::WaitsUntilExists { target, applied_by } => {
            format!("waits until {} exists, which {} applies", target.path(), applied_by.path())
        }
    }
}

/// What a bootstrap does where it names a file.
fn used_here(fault: &BuildFault) -> &'static str {
    match fault {
        BuildFault::NoFile { used_as: FileUse::Values, .. } => "values of this release",
        BuildFault::NoFile { used_as: FileUse::Command, .. } => "run here",
        _ => "applied here",
    }
}
