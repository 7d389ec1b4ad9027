//! What a finding costs.

use diagnostic::{Cost, NeverCost, RaceCost, Vital};
use model::{ObjectRef, RetryField, say_seconds};

use super::quoted;

/// A clause without a capital letter and a full stop.
pub(crate) fn cost(cost: &Cost) -> String {
    match cost {
        Cost::Boot(cost) => super::boot::cost(cost),
        Cost::Layer(cost) => super::layer::cost(cost).into(),
        Cost::Wait(cost) => super::step::cost(*cost).into(),
        Cost::Race(cost) => race(cost),
        Cost::Never(cost) => never(cost),
        Cost::AsWritten => "applied to the cluster unchanged, defaults included, without any error".into(),
        Cost::BootstrapEnds => "the bootstrap stops there and installs nothing that comes after".into(),
        Cost::BuildFails => "the build always fails, so Flux applies none of it".into(),
        Cost::BuildFailsIfNewer => "with Flux 2.9 or newer the build fails, so Flux applies none of it".into(),
        Cost::BuiltWithoutVariables => "built without the variables, without any error".into(),
        Cost::DeadlockIfTheyWait { parent, between } => deadlock_if_they_wait(parent, between),
        Cost::DependentsStartBeforeThat => "its dependents start before that object is healthy".into(),
        Cost::DependentsStartEarly { count } => match count {
            0 => "nothing depends on it yet; a dependent would start before it is healthy".to_owned(),
            1 => "its dependent starts before it is healthy".to_owned(),
            many => format!("its {many} dependents start before it is healthy"),
        },
        Cost::Downgraded => "Flux downgrades it during the cold start".into(),
        Cost::EachTry { seconds } => {
            format!("every failed attempt costs {} (interval; no retryInterval)", say_seconds(*seconds))
        }
        Cost::EmptyText => "becomes an empty string without any error; from Flux 2.9 on the build fails".into(),
        Cost::EndsWhenAccepted => {
            "what this dependency is for can't be seen here; it is satisfied once the API server accepts the objects"
                .into()
        }
        Cost::None => "none: the order is the same without it".into(),
        Cost::NoneByItself => "none by itself, but it silences nothing today and may hide a finding later".into(),
        Cost::NotThere => "the object is never created".into(),
        Cost::NothingApplied => "Flux applies none of it until this is fixed".into(),
        Cost::Reconfigured => "Flux reconfigures it during the cold start, a few minutes after it was installed".into(),
        Cost::RenderedWithout => {
            "the chart is rendered without it, becomes ready anyway, and is never rendered again".into()
        }
        Cost::Upgraded => "Flux upgrades it during the cold start, a few minutes after it was installed".into(),
        Cost::Lost(Vital::Storage) => "every volume it serves is unavailable until it is back".into(),
        Cost::Lost(Vital::SealingController) => "no SealedSecret is unsealed until it is back".into(),
        Cost::Lost(Vital::PodNetwork | Vital::ClusterDns) => {
            "the cluster can't repair this itself: it needs a cold start".into()
        }
    }
}

/// What losing a race costs.
fn race(cost: &RaceCost) -> String {
    match cost {
        RaceCost::AsksAgain { seconds } => {
            let waits = say_seconds(*seconds);
            format!("its ExternalSecrets fail and are retried with backoff: about {waits}")
        }
        RaceCost::BuiltWithout => "built without it, without any error".into(),
        RaceCost::InstallFails { is_certain, timeout_seconds, needed_seconds } => {
            let timeout = say_seconds(*timeout_seconds);
            let waits = needed_seconds.map(|seconds| format!(", about {} needed", say_seconds(seconds)));
            let when = if *is_certain { "" } else { "if the race is lost, " };
            let waits = waits.unwrap_or_default();
            format!("{when}the install fails after {timeout}{waits}, and stays failed until you intervene")
        }
        RaceCost::InstallRefused => {
            "if the race is lost, the install is rejected, and stays failed until you intervene".into()
        }
        RaceCost::InTime { needed_seconds, timeout_seconds } => {
            let (needed, timeout) = (say_seconds(*needed_seconds), say_seconds(*timeout_seconds));
            format!("harmless: needs about {needed}, and Flux waits {timeout}")
        }
        RaceCost::NoneWithBootstrap => "none when the bootstrap runs; without it, a race".into(),
        RaceCost::Outlasts { more_seconds, seconds } => {
            let (more, all) = (say_seconds(*more_seconds), say_seconds(*seconds));
            format!("if it takes longer than the timeout, Flux waits another {more} ({all} in total)")
        }
        RaceCost::Seconds => "seconds: it recovers by itself".into(),
        RaceCost::TriesAgain { seconds, field } => {
            format!("if the race is lost, Flux retries after {} ({})", say_seconds(*seconds), name(*field))
        }
        RaceCost::TriesAgainWithPauses { seconds } => {
            format!("if the race is lost, Flux retries with backoff: about {}", say_seconds(*seconds))
        }
        RaceCost::Waits { seconds, field } => {
            format!("if the race is lost, Flux retries only after {} ({})", say_seconds(*seconds), name(*field))
        }
        RaceCost::WaitsInterval { seconds } => {
            format!(
                "if the race is lost, Flux retries only after {} (interval; no retryInterval)",
                say_seconds(*seconds)
            )
        }
    }
}

/// What never happens.
fn never(cost: &NeverCost) -> String {
    match cost {
        NeverCost::AppliedFromHere => "never applied unless something outside this repository installs the CRD".into(),
        NeverCost::AppliedWithoutNamespace => {
            "never applied unless something outside this repository creates the Namespace".into()
        }
        NeverCost::BuiltFromHere { retry_seconds } => {
            let retry = say_seconds(*retry_seconds);
            format!("never built unless something outside this repository creates it; Flux retries every {retry}")
        }
        NeverCost::BuiltFromHereFirst => "never built unless something outside this repository creates it first".into(),
        NeverCost::Converges => "never converges".into(),
        NeverCost::ConvergesNorItsSource => {
            "never converges, and Flux notices new revisions of this source only at each Kustomization's interval"
                .into()
        }
        NeverCost::ConvergesSuspended => "never converges: created suspended, it never becomes ready".into(),
        NeverCost::ConvergesWithDependents => {
            "never converges: it stays blocked, and so does everything that depends on it".into()
        }
        NeverCost::Gets => "never gets anything to apply".into(),
        NeverCost::InstalledFromHere => "never installed unless something outside this repository creates it".into(),
        NeverCost::PodsStartFromHere => {
            "its pods never start unless something outside this repository creates it".into()
        }
        NeverCost::Starts => "never starts: helmfile refuses the whole file".into(),
        NeverCost::Unsealed => {
            "on a new cluster no SealedSecret can be unsealed: the controller generates a new key".into()
        }
    }
}

fn deadlock_if_they_wait(parent: &ObjectRef, between: &[ObjectRef]) -> String {
    if between.is_empty() {
        return "none today; a deadlock once the parent waits".to_owned();
    }
    let between: Vec<String> = between.iter().map(quoted).collect();
    format!("none today; a deadlock once {} and {} wait", quoted(parent), between.join(", "))
}

fn name(field: Option<RetryField>) -> &'static str {
    field.map_or("", RetryField::name)
}
