//! `coldstart init`.

use std::fmt::Write as _;
use std::io::ErrorKind;

use diagnostic::Next;
use diagnostic::next::Run;
use edit::Readers;
use read::Repository;
use read::inventory::{self, Inventory};
use read::machines::MachineGroup;
use read::terraform::{Directory, Purpose};
use settings::SETTINGS_FILE;
use source::shown;

use crate::arguments::Init;
use crate::confirm::confirm;
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::output;

const COMMAND: &str = "init";

#[expect(
    clippy::disallowed_methods,
    reason = "asked before anything is proposed; what is written can not replace a file"
)]
pub(crate) fn run(options: &Init) -> Result<Code, Failure> {
    let repository = Repository::open(&options.path).map_err(|source| Failure::Open { command: COMMAND, source })?;
    let text = written(&inventory::find(&repository));
    if options.print {
        output::print(&text)?;
        return Ok(exit::CLEAN);
    }
    let path = options.path.join(SETTINGS_FILE);
    if path.exists() {
        return Err(Failure::SettingsExist { at: options.path.clone(), path });
    }
    confirm(&format!("{text}\nwrite this to {}\n", shown(&path)), options.yes)?;
    let failed = |source: std::io::Error| match source.kind() {
        ErrorKind::AlreadyExists => Failure::SettingsExist { at: options.path.clone(), path: path.clone() },
        _ => Failure::WriteFile { path: path.clone(), source },
    };
    edit::create(&path, text.as_bytes(), Readers::Usual).map_err(failed)?;
    let next = Next::Run(Run::Plan { at: options.path.clone() });
    output::print(&format!("wrote {}\nnext: {}\n", shown(&path), draw::say::next(&next)))?;
    Ok(exit::CLEAN)
}

/// The file, with what only a person can tell filled in where it can be proposed, and the rest as comments: what `plan` reads from files
/// by itself is named, and not proposed again.
fn written(found: &Inventory) -> String {
    let mut out =
        "# What coldstart can't read from other files. Proposed by `coldstart init`: correct what is wrong.\n\n"
            .to_owned();
    out.push_str("# Where `coldstart up` happens: real, or simulated, which touches nothing.\nworld: real\n\n");
    let mut up = String::new();
    match &found.groups[..] {
        [] => up.push_str(
            "  # No machines were found. The first control plane is the one that etcd starts on.\n  # control-planes: [cp1, cp2, cp3]\n  # workers: [w1]\n  # endpoint: 10.0.0.1:6443\n  # vip: 10.0.0.100:6443\n",
        ),
        [group] => read_by_itself(&mut up, group),
        [group, others @ ..] => machines(&mut up, group, others),
    }
    terraform(&mut up, &found.terraform);
    up.push_str("\n  # What must answer from outside in the end.\n  # outside: [https://example.org]\n");
    out + "up:\n" + &up
}

/// The one set of machines that files describe: `plan` begins with it.
fn read_by_itself(out: &mut String, group: &MachineGroup) {
    let _ = writeln!(
        out,
        "  # Read from {}, and not to be repeated here; what is set here overrides it:",
        comment(&group.from)
    );
    for other in &group.also {
        let _ = writeln!(out, "  # {} describes the same machines.", comment(other));
    }
    let kind = |is_control_plane: bool| {
        let of = group.machines.iter().filter(move |one| one.is_control_plane == is_control_plane);
        let named = of.map(|one| match one.address.as_ref().filter(|address| **address != one.name) {
            Some(address) => format!("{} {address}", one.name),
            None => one.name.clone(),
        });
        comment(&named.collect::<Vec<_>>().join(", "))
    };
    let _ = writeln!(out, "  # control-planes: {}", kind(true));
    if group.workers().next().is_some() {
        let _ = writeln!(out, "  # workers: {}", kind(false));
    }
    match group.first_address() {
        Some(address) => {
            let _ = writeln!(out, "  # endpoint: {}", comment(&address));
        }
        None => out.push_str(
            "  # No file tells where the API server answers before a virtual address can.\n  # endpoint: 10.0.0.1:6443\n",
        ),
    }
    if let Some(vip) = group.virtual_address() {
        let _ = writeln!(out, "  # vip: {}", comment(vip));
    }
}

/// Several sets of machines: only a person can say which are those of this cluster.
fn machines(out: &mut String, group: &MachineGroup, others: &[MachineGroup]) {
    let list = |names: Vec<&str>| names.into_iter().map(draw::yaml_text).collect::<Vec<_>>().join(", ");
    let _ = writeln!(out, "  # From {}. The first control plane is the one that etcd starts on.", comment(&group.from));
    for other in &group.also {
        let _ = writeln!(out, "  # {} describes the same machines.", comment(other));
    }
    let _ =
        writeln!(out, "  control-planes: [{}]", list(group.control_planes().map(|one| one.name.as_str()).collect()));
    let workers: Vec<&str> = group.workers().map(|one| one.name.as_str()).collect();
    if !workers.is_empty() {
        let _ = writeln!(out, "  workers: [{}]", list(workers));
    }
    let elsewhere = group.machines.iter().filter(|one| one.address.as_ref() != Some(&one.name));
    let located = elsewhere.filter_map(|one| Some(format!("{} {}", one.name, one.address.as_deref()?)));
    let located = located.collect::<Vec<_>>().join(", ");
    if !located.is_empty() {
        let _ = writeln!(out, "  # Their addresses: {}.", comment(&located));
    }
    for other in others {
        let names: Vec<&str> = other.machines.iter().map(|one| one.name.as_str()).collect();
        let _ = writeln!(out, "  # {} describes others: {}", comment(&other.from), comment(&names.join(", ")));
    }
    out.push_str("  # Where the API server answers before a virtual address can: at the first control plane.\n");
    match group.first_address() {
        Some(address) => {
            let _ = writeln!(out, "  endpoint: {}", draw::yaml_text(&address));
        }
        None => out.push_str("  # endpoint: 10.0.0.1:6443\n"),
    }
    match group.virtual_address() {
        Some(vip) => {
            let _ = writeln!(out, "  vip: {}", draw::yaml_text(vip));
        }
        None => out.push_str("  # vip: 10.0.0.100:6443\n"),
    }
}

fn terraform(out: &mut String, directories: &[Directory]) {
    let of = |purpose: Purpose| directories.iter().filter(move |one| one.purpose == purpose);
    let keys: Vec<String> = of(Purpose::Keys).map(|one| comment(&one.path)).collect();
    out.push_str("\n  # Terraform that outlives the cluster: credentials, the sealing keypair.\n");
    // One that is named here takes the place of those that are read.
    let read = if keys.is_empty() { "terraform/keys".to_owned() } else { keys.join(", ") };
    let _ = writeln!(out, "  # {}keys: [{read}]", if keys.is_empty() { "" } else { "Read from files: " });
    out.push_str(
        "\n  # Terraform that configures services, and what must be ready first (without `needs`: everything).\n",
    );
    if of(Purpose::Services).next().is_none() {
        out.push_str("  # configuration:\n  #   - directory: terraform/services\n  #     needs: [namespace/name]\n");
    } else {
        // That they are there `plan` reads; what each needs it does not.
        out.push_str("  # configuration:\n");
    }
    for one in of(Purpose::Services) {
        let _ = writeln!(out, "  #   # providers: {}", comment(&one.providers.join(", ")));
        let _ = writeln!(
            out,
            "  #   - directory: {}\n  #     needs: [namespace/name]",
            comment(&draw::yaml_text(&one.path))
        );
    }
    not_run(out, directories);
}

/// The directories that have no place in the file, and why.
fn not_run(out: &mut String, directories: &[Directory]) {
    let by_flux = directories.iter().filter(|one| one.purpose == Purpose::Flux).count();
    if by_flux > 0 {
        let _ = writeln!(out, "  # Flux applies {by_flux} more through tofu-controller.");
    }
    for one in directories {
        let path = comment(&one.path);
        let speaks_to = comment(&one.providers.join(", "));
        let speaks_to = if speaks_to.is_empty() { String::new() } else { format!(" ({speaks_to})") };
        let _ = match one.purpose {
            Purpose::Machines => writeln!(out, "  # {path} makes or configures machines: `plan` puts it before Talos."),
            Purpose::Cluster => {
                writeln!(out, "  # {path} installs into the new cluster{speaks_to}: `plan` shows whether it is a step.")
            }
            Purpose::Other => writeln!(out, "  # {path} is Terraform, too{speaks_to}: put it where it belongs."),
            Purpose::Keys | Purpose::Services | Purpose::Flux => Ok(()),
        };
    }
}

/// A name in a comment: on one line.
fn comment(text: &str) -> String {
    draw::clean(text).into_owned()
}
