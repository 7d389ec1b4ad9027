//! `coldstart init`.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};

use read::found::{self, Directory, Found, Purpose, Rack};
use read::{Repository, SETTINGS_FILE};

use crate::arguments::Init;
use crate::confirm::confirm;
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::output;

const COMMAND: &str = "init";

pub(crate) fn run(options: &Init) -> Result<Code, Failure> {
    let repository = Repository::open(&options.path).map_err(|source| Failure::Open { command: COMMAND, source })?;
    let text = written(&found::find(&repository));
    if options.print {
        output::print(&text)?;
        return Ok(exit::CLEAN);
    }
    let path = options.path.join(SETTINGS_FILE);
    if path.exists() {
        return Err(Failure::SettingsExist(path));
    }
    confirm(&format!("{text}\nwrite this to {}\n", path.display()), options.yes)?;
    let failed = |source: std::io::Error| match source.kind() {
        ErrorKind::AlreadyExists => Failure::SettingsExist(path.clone()),
        _ => Failure::WriteFile { path: path.clone(), source },
    };
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    output::print(&format!("next: coldstart plan {}\n", options.path.display()))?;
    Ok(exit::CLEAN)
}

/// The file, with what was found filled in and what was not as a comment.
fn written(found: &Found) -> String {
    let mut out =
        "# What coldstart can't read from manifests. Proposed by `coldstart init`: correct what is wrong.\n\n"
            .to_owned();
    out.push_str("# Where `coldstart up` happens: real, or simulated, which touches nothing.\nworld: real\n\nup:\n");
    match found.racks.split_first() {
        Some((rack, others)) => machines(&mut out, rack, others),
        None => out.push_str(
            "  # No machines were found. The first control plane is the one that etcd starts on.\n  # control-planes: [cp1, cp2, cp3]\n  # workers: [w1]\n  # endpoint: 10.0.0.1:6443\n  # vip: 10.0.0.100:6443\n",
        ),
    }
    terraform(&mut out, &found.terraform);
    out.push_str("\n  # What must answer from outside in the end.\n  # outside: [https://example.org]\n");
    out
}

fn machines(out: &mut String, rack: &Rack, others: &[Rack]) {
    let list = |names: Vec<&str>| names.into_iter().map(plain).collect::<Vec<_>>().join(", ");
    let _ = writeln!(out, "  # From {}. The first control plane is the one that etcd starts on.", comment(&rack.from));
    let _ = writeln!(out, "  control-planes: [{}]", list(rack.control_planes().map(|one| one.name.as_str()).collect()));
    let workers: Vec<&str> = rack.workers().map(|one| one.name.as_str()).collect();
    if !workers.is_empty() {
        let _ = writeln!(out, "  workers: [{}]", list(workers));
    }
    for other in others {
        let names: Vec<&str> = other.machines.iter().map(|one| one.name.as_str()).collect();
        let _ = writeln!(out, "  # {} describes others: {}", comment(&other.from), comment(&names.join(", ")));
    }
    out.push_str("  # Where the API server answers before a virtual address can: at the first control plane.\n");
    match rack.control_planes().find_map(|machine| machine.address.as_deref()) {
        Some(address) => {
            let _ = writeln!(out, "  endpoint: {}", plain(&format!("{address}:6443")));
        }
        None => out.push_str("  # endpoint: 10.0.0.1:6443\n"),
    }
    match &rack.vip {
        Some(vip) => {
            let _ = writeln!(out, "  vip: {}", plain(vip));
        }
        None => out.push_str("  # vip: 10.0.0.100:6443\n"),
    }
}

fn terraform(out: &mut String, directories: &[Directory]) {
    let of = |purpose: Purpose| directories.iter().filter(move |one| one.purpose == purpose);
    let keys: Vec<String> = of(Purpose::Keys).map(|one| plain(&one.path)).collect();
    out.push_str("\n  # Terraform that outlives the cluster: credentials, the sealing keypair.\n");
    let _ = if keys.is_empty() {
        writeln!(out, "  # keys: [terraform/keys]")
    } else {
        writeln!(out, "  keys: [{}]", keys.join(", "))
    };
    out.push_str(
        "\n  # Terraform that speaks to services, and what must be ready first (without `needs`: everything).\n",
    );
    if of(Purpose::Services).next().is_none() {
        out.push_str("  # configuration:\n  #   - directory: terraform/services\n  #     needs: [namespace/name]\n");
    } else {
        out.push_str("  configuration:\n");
    }
    for one in of(Purpose::Services) {
        let _ = writeln!(out, "    # providers: {}", comment(&one.providers.join(", ")));
        let _ = writeln!(out, "    - directory: {}\n      # needs: [namespace/name]", plain(&one.path));
    }
    for one in of(Purpose::Machines) {
        let _ = writeln!(out, "  # {} makes or configures machines: `up` does not run it.", comment(&one.path));
    }
    for one in of(Purpose::Other) {
        let _ = writeln!(out, "  # {} is Terraform, too: put it where it belongs.", comment(&one.path));
    }
}

/// A name as YAML takes it for a text: in quotes where it could be taken for anything else.
fn plain(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

/// A name in a comment: on one line.
fn comment(text: &str) -> String {
    draw::clean(text).into_owned()
}
