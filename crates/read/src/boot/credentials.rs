//! The files that a boot writes the credentials of the API server to: what Terraform makes of them, and `talosctl kubeconfig`.

use model::CredentialsFile;

use super::Sources;
use crate::gates;
use crate::scripts::{Script, Scripts, UNKNOWN};
use crate::terraform::GAP;
use crate::terraform::chain::{Chain, FileUse};

/// Options of talosctl that take the next word.
const WITH_VALUE: [&str; 10] = [
    "-n",
    "--nodes",
    "-e",
    "--endpoints",
    "-c",
    "--cluster",
    "--context",
    "--talosconfig",
    "--force-context-name",
    "--siderov1-keys-dir",
];
/// Where talosctl merges them into if it is told nothing else.
const HOME: &str = "~/.kube/config";
const NAME: &str = "kubeconfig";

/// Each file once, those of Terraform first.
pub(super) fn find(sources: &Sources<'_>) -> Vec<CredentialsFile> {
    let by_terraform = sources.chains().flat_map(of_run);
    let early = sources.scripts.found().iter().filter(|script| script.is_early());
    let by_scripts = early.flat_map(|script| of_script(sources.scripts, script));
    let mut found: Vec<CredentialsFile> = Vec::new();
    for file in by_terraform.chain(by_scripts) {
        if !found.iter().any(|known| known.path == file.path) {
            found.push(file);
        }
    }
    found
}

/// A file is known by what goes into it, or by its name where a script writes it.
fn of_run(chain: &Chain) -> Vec<CredentialsFile> {
    let holds = |file: &&FileUse| {
        let block = chain.block(file.block);
        let fetches = |edge: &crate::terraform::chain::Edge| {
            matches!(chain.block(edge.to).type_name.as_str(), "talos_cluster_kubeconfig" | "talos_cluster")
        };
        let is_made = !block.provisioners.is_empty() && is_named(&file.path);
        block.may_exist() && (is_made || chain.waits_for(file.block).iter().any(fetches) && !is_client(&file.path))
    };
    let written = chain.written.iter().filter(holds).filter(|file| !file.path.contains(GAP));
    written.map(|file| CredentialsFile { path: file.path.as_str().into(), at: file.at }).collect()
}

fn is_named(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.contains(NAME))
}

/// The configuration of talosctl may lie beside it.
fn is_client(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.contains("talosconfig"))
}

fn of_script(scripts: &Scripts<'_>, script: &Script) -> Vec<CredentialsFile> {
    let commands = gates::commands(scripts, script).into_iter();
    let written = commands.filter_map(|command| {
        let path = written_by(&command.words)?;
        Some(CredentialsFile { path: path.into(), at: command.at })
    });
    written.collect()
}

/// The file that a command writes them to.
fn written_by(words: &[String]) -> Option<String> {
    if words.first()? != "talosctl" {
        return None;
    }
    let mut bare = Vec::new();
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        if WITH_VALUE.contains(&word.as_str()) {
            rest.next();
        } else if !word.starts_with('-') {
            bare.push(word.as_str());
        }
    }
    let ([NAME], path) = bare.split_at_checked(1)? else { return None };
    let Some(path) = path.first() else { return Some(HOME.to_owned()) };
    // Of a path that begins with something unknown the end is told.
    let known = path.rsplit(UNKNOWN).next().unwrap_or_default().trim_start_matches("./").trim_matches('/');
    match known {
        "" | "." if path.contains(UNKNOWN) => None,
        // In this directory, under its usual name.
        "" | "." => Some(NAME.to_owned()),
        known => Some(known.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::written_by;

    #[test]
    fn a_kubeconfig_is_written_where_the_command_says() {
        let of = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            written_by(&words)
        };
        assert_eq!(of("talosctl kubeconfig --nodes 192.0.2.1 --force ./kubeconfig").as_deref(), Some("kubeconfig"));
        assert_eq!(of("talosctl -n 192.0.2.1 kubeconfig").as_deref(), Some("~/.kube/config"));
        assert_eq!(of("talosctl kubeconfig . --merge=false").as_deref(), Some("kubeconfig"));
        assert_eq!(of("talosctl kubeconfig \u{e000}/out/admin.conf").as_deref(), Some("out/admin.conf"));
        assert_eq!(of("talosctl kubeconfig \u{e000}"), None);
        assert_eq!(of("talosctl health"), None);
    }
}
