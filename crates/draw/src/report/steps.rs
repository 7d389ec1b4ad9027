//! What files tell of the boot in one stage: machines, the address of the API, and the steps of Terraform, scripts and tasks.

use model::{Doing, ObjectRef};
use report::{ApiAddress, BootStage, Credentials, Member};

use super::prose::{code, prose};
use super::sections::{NAMED_MAX, each_once, place};
use crate::say;
use crate::words::{count, first_few};

/// Machines in one line.
const MACHINES_MAX: usize = 20;

/// The machines that the cluster is to have: control planes, then workers.
pub(super) fn machines(all: &[Member]) -> Vec<String> {
    let one = |member: &Member| {
        let address = member.address.as_ref().map(|address| format!(" {}", prose(address))).unwrap_or_default();
        format!("{}{address}", code(&member.name))
    };
    let of = |wanted: bool| all.iter().filter(move |member| member.is_control_plane == wanted).map(one);
    let (control_planes, workers): (Vec<String>, Vec<String>) = (of(true).collect(), of(false).collect());
    let line =
        |what: &str, names: &[String]| format!("{}: {}", count(names.len(), what), first_few(names, MACHINES_MAX));
    let lines = [("control plane", control_planes), ("worker", workers)];
    lines.iter().filter(|(_, names)| !names.is_empty()).map(|(what, names)| line(what, names)).collect()
}

/// Whose address the API server is found at, and who uses it when.
pub(super) fn api_address(it: &ApiAddress) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(shared) = &it.shared {
        lines.push(format!(
            "{} is shared by the control planes: Talos gives it to one of them, and only once etcd runs",
            code(shared)
        ));
    }
    if let Some(endpoint) = it.endpoint.as_ref().filter(|endpoint| {
        let host = endpoint.rsplit_once(':').map_or(endpoint.as_str(), |(host, _)| host);
        it.shared.as_deref() != Some(host)
    }) {
        lines.push(format!("machines and people find the API server at {}", code(endpoint)));
    }
    if !it.before.is_empty() {
        let addresses: Vec<String> = it.before.iter().map(|address| code(address)).collect();
        lines.push(format!("until etcd runs, steps connect to {}", first_few(&addresses, NAMED_MAX)));
    }
    if !it.too_early.is_empty() {
        let steps: Vec<String> = it.too_early.iter().map(|step| code(&step.path())).collect();
        lines.push(format!("**before etcd runs**, {} already uses it", first_few(&steps, NAMED_MAX)));
    }
    lines
}

/// A file that the credentials of the API server are written to.
pub(super) fn credentials(it: &Credentials) -> String {
    format!("the kubeconfig is written to {}{}", code(&it.path), place(it.at.as_ref()))
}

/// What a step of the boot does, after what, and what that shows.
pub(super) fn step(it: &BootStage) -> String {
    let own = step_name(&it.step);
    let mut after: Vec<String> = it.after.iter().map(step_name).filter(|name| *name != own).collect();
    after.dedup();
    let after = if after.is_empty() { String::new() } else { format!(", after {}", first_few(&after, 3)) };
    let shows: Vec<String> = it.shows.iter().map(|(fact, of)| say::boot::shown(*fact, *of)).collect();
    let shows = if shows.is_empty() { say::boot::done(&it.does).to_owned() } else { first_few(&each_once(shows), 4) };
    let is_named = is_command(&it.step) && !matches!(it.does, Doing::Waits | Doing::Other);
    let by = if is_named { format!(" by {}", code(&it.step.name)) } else { String::new() };
    format!(
        "{}{} {}{by}{after}; when it is done, this shows {shows}",
        own,
        place(it.at.as_ref()),
        say::boot::doing(&it.does),
    )
}

/// A command of a script by the path of that; everything else with its name.
fn step_name(step: &ObjectRef) -> String {
    let is_path = step.name.is_empty() || is_command(step);
    code(&if is_path { step.namespace.to_string() } else { step.path() })
}

/// Whether it is a command of a script, and no release of a helmfile.
fn is_command(step: &ObjectRef) -> bool {
    step.kind == "Script" && (step.name.contains(' ') || matches!(step.name.as_str(), "wait" | "run"))
}
