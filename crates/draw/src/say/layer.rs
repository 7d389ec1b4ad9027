//! Runs of Terraform before GitOps: what is wrong with them, what that costs, what to do.

use diagnostic::{LayerAdvice, LayerCost};
use model::{KeptKey, LayerDefect, ObjectRef};

use super::quoted;

/// One line, names in backticks.
pub(super) fn defect(step: &ObjectRef, defect: &LayerDefect) -> String {
    let step = quoted(step);
    match defect {
        LayerDefect::ProviderFromResource { resource, reader: Some(reader), .. } => {
            format!(
                "{step} is configured with `{resource}` of the same run, and `{reader}` needs it when the run is planned"
            )
        }
        LayerDefect::ProviderFromResource { resource, reader: None, is_file: true } => {
            format!("{step} reads the file that `{resource}` of the same run writes")
        }
        LayerDefect::ProviderFromResource { resource, reader: None, is_file: false } => {
            format!("{step} is configured with `{resource}` of the same run")
        }
        LayerDefect::KindAtPlan { kind, by } => {
            format!("{step} needs the CRD of {kind} when the run is planned, and `{by}` of the same run installs it")
        }
        LayerDefect::MissingDirectory { directory } => {
            format!("{step} runs Terraform in `{directory}`, which does not exist")
        }
        LayerDefect::MissingFile { file, instead } => {
            format!("{step} reads `{file}`, which nothing writes: what is written there is `{instead}`")
        }
        LayerDefect::Cycle { directories } => format!("runs of Terraform need each other: {}", in_turn(directories)),
        LayerDefect::ServiceFromGitOps { service, start, at_plan: true, forward } => format!(
            "{step} needs {service} when the run is planned, and only GitOps brings {service}, which `{start}` starts{}",
            unforwarded(forward.as_deref())
        ),
        LayerDefect::ServiceFromGitOps { service, start, at_plan: false, forward } => {
            format!(
                "{step} needs {service}, which only GitOps brings, and does not wait for `{start}`, which starts it{}",
                unforwarded(forward.as_deref())
            )
        }
        LayerDefect::NotForwarded { service, address } => {
            format!("{step} connects to {service} at `{address}`, and no script forwards that port to the cluster")
        }
        LayerDefect::AwaitsGitOps { object, start } => {
            format!("{step} waits for `{object}`, which only GitOps brings, before `{start}` starts GitOps")
        }
        LayerDefect::ObjectFromGitOps { object, start } => format!(
            "{step} reads {} {} when the run is planned, in a namespace that only GitOps brings, which `{start}` starts",
            object.kind,
            quoted(object)
        ),
        LayerDefect::ApiOfSameRun { maker } => {
            format!("{step} connects to the API server, and depends on nothing of the cluster that `{maker}` creates")
        }
        LayerDefect::NamespaceOfSameRun { namespace, by } => {
            format!(
                "{step} needs the namespace `{namespace}`, which `{by}` of the same run creates, and does not wait for it"
            )
        }
        LayerDefect::WaitOff { argument, dependent: Some(dependent) } => {
            format!("{step} has `{argument} = false`, and `{dependent}` depends on it")
        }
        LayerDefect::WaitOff { argument, dependent: None } => {
            format!("{step} has `{argument} = false`, and no later step checks that it works")
        }
        LayerDefect::KeyInState { kept: KeptKey::PrivateKey } => {
            format!("{step} keeps a private key in the state in clear")
        }
        LayerDefect::KeyInState { kept: KeptKey::Token } => format!("{step} keeps a token in the state in clear"),
        LayerDefect::KeyInState { kept: KeptKey::ClusterSecrets } => {
            format!("{step} keeps the secrets of the cluster in the state in clear")
        }
        LayerDefect::KeyInState { kept: KeptKey::Copied } => {
            format!("{step} copies a private key to the state in clear")
        }
        LayerDefect::KeyInState { kept: KeptKey::Printed } => {
            format!("{step} keeps the secret that its program prints in the state in clear")
        }
        LayerDefect::NotPushed { start } => {
            format!("{step} commits what GitOps is to apply, and nothing pushes it before `{start}` starts GitOps")
        }
        LayerDefect::HandWritten { key, is_json } => {
            let language = if *is_json { "JSON" } else { "YAML" };
            format!("{step} has {language} in `{key}` that is written by hand around values")
        }
    }
}

/// A clause without a capital letter and a full stop.
pub(super) fn cost(cost: &LayerCost) -> &'static str {
    match cost {
        LayerCost::NothingAskedYet => {
            "the first plan is made without these values: what reads from the API server when a run is planned would fail"
        }
        LayerCost::FileNotThereYet => {
            "the path is known when the first plan is made, the file does not exist: what reads from the API server then would fail"
        }
        LayerCost::FileNeverThere => "the provider finds no file there, and the run fails when it is planned",
        LayerCost::FirstPlanFails => "the first plan fails, and the run creates nothing",
        LayerCost::ScriptEnds => "the script ends there, or goes on in the directory that it was in before",
        LayerCost::NoneFirst => "on a new cluster none of these runs can be the first",
        LayerCost::RunFails => "the run fails if it does not answer by then, and has to be started again",
        LayerCost::GoesOn => "the run goes on before it works",
        LayerCost::ReadableInState => "whatever can read the state can read it, and a new state means a new one",
        LayerCost::CopiedToState => "whatever can read the state can read it",
        LayerCost::PrintedToState => {
            "whatever can read the state can read it; the program runs again whenever the run is planned, with any state"
        }
        LayerCost::WaitsInVain => "on a new cluster the wait fails every time, and the run ends there",
        LayerCost::OldSecrets => "Flux applies the files that were pushed before, which the new key does not open",
        LayerCost::OtherFile => "a value with a quote, a colon or a line break makes the file another one, or none",
    }
}

/// A clause without a capital letter and a full stop.
pub(super) fn advice(advice: &LayerAdvice) -> String {
    match advice {
        LayerAdvice::SplitRun { reader: Some(reader) } => {
            format!(
                "move `{reader}`, and what uses this provider, into a run of its own that is applied after this one"
            )
        }
        LayerAdvice::SplitRun { reader: None } => {
            "it can stay as long as nothing that uses this provider is read when the run is planned; a second run that \
             reads the values with `terraform_remote_state` is safe in any case"
                .into()
        }
        LayerAdvice::ApplyLater { kind } => {
            format!(
                "let Flux or a chart apply the {kind}, or use `kubectl_manifest`, which needs the CRD only at apply"
            )
        }
        LayerAdvice::CorrectDirectory { directory } => format!("remove `{directory}` from the script, or add it"),
        LayerAdvice::BreakCircle => {
            "move what both need into a run of its own that comes first, or pass it as a variable".into()
        }
        LayerAdvice::MoveAfterGitOps { start } => {
            format!("move it out of this run, into one that is applied after `{start}`, or that Flux applies")
        }
        LayerAdvice::DependOnCluster { maker } => {
            format!("let it depend on `{maker}`, or on what waits for the API server after that")
        }
        LayerAdvice::DependOnNamespace { by } => {
            format!(
                "add `depends_on = [{by}]`; where that needs this object itself, create the namespace in a resource of its own"
            )
        }
        LayerAdvice::WaitAgain { argument } => {
            format!("remove `{argument} = false`, or check it in a later step: `kubectl rollout status`")
        }
        LayerAdvice::KeepElsewhere => {
            "keep it in a store that outlives the cluster, or encrypt the state (`encryption` in OpenTofu)".into()
        }
        LayerAdvice::ReadInPlace => {
            "let the step that needs it read it itself, or encrypt the state (`encryption` in OpenTofu)".into()
        }
        LayerAdvice::ReadFile { file } => format!("read `{file}`, or write the file that is read"),
        LayerAdvice::Forward { address } => format!(
            "start `kubectl port-forward` for `{address}` in the script before this run, or use an address that the cluster serves"
        ),
        LayerAdvice::Push { start } => format!("push in the same step, and let `{start}` depend on it"),
        LayerAdvice::Encode { is_json } => {
            format!("use `{}({{ ... }})`", if *is_json { "jsonencode" } else { "yamlencode" })
        }
    }
}

/// That nothing leads to the address at which a service is asked.
fn unforwarded(address: Option<&str>) -> String {
    let said = |address: &str| format!("; it is asked at `{address}`, which no script forwards to the cluster");
    address.map(said).unwrap_or_default()
}

/// Each needs the next: `a`, `b`, `a`.
fn in_turn(directories: &[ecow::EcoString]) -> String {
    let all = directories.iter().chain(directories.first());
    all.map(|directory| format!("`{directory}`")).collect::<Vec<_>>().join(" needs ")
}

#[cfg(test)]
mod tests {
    use model::{LayerDefect, ObjectRef};

    use super::defect;

    #[test]
    fn a_cycle_is_told_in_full() {
        let defect = defect(
            &ObjectRef::new("Terraform", "", "a"),
            &LayerDefect::Cycle { directories: vec!["a".into(), "b".into()] },
        );
        assert_eq!(defect, "runs of Terraform need each other: `a` needs `b` needs `a`");
    }
}
