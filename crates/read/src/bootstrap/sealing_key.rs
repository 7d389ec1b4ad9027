//! Where a bootstrap restores the sealing key: the label of one in a file that is no manifest, or a step that a text for people
//! describes.

use source::{Span, to_u32};

use crate::content::SEALING_KEY_LABEL;
use crate::repository::Repository;
use crate::scripts::is_script;

/// How files end that may restore one, beside scripts and recipes: Terraform, templates.
const ENDINGS: [&str; 6] = ["tf", "tofu", "hcl", "j2", "tpl", "nix"];
/// Where pipelines are: some make a whole cluster. Other YAML with the label is a manifest, which is read as one.
const PIPELINES: [&str; 4] = [".github/workflows/", ".gitea/workflows/", ".forgejo/workflows/", ".gitlab-ci"];
/// What the key is of, as people write it.
const NAMES: [&str; 5] = ["sealed-secret", "sealed secret", "sealedsecret", "sealing key", "sealing-key"];
/// How texts for people end.
const TEXTS: [&str; 3] = ["md", "adoc", "rst"];

pub(super) fn find(repository: &Repository) -> Option<Span> {
    let may_restore = |path: &str| ends_in(path, &ENDINGS) || is_script(path);
    let is_text = |path: &str| ends_in(path, &TEXTS);
    let is_pipeline = |path: &str| PIPELINES.iter().any(|at| path.starts_with(at));
    in_files(repository, may_restore, |text| Some((text.find(SEALING_KEY_LABEL)?, SEALING_KEY_LABEL.len())))
        .or_else(|| in_files(repository, may_restore, applied))
        .or_else(|| in_files(repository, is_text, described))
        .or_else(|| in_files(repository, is_text, applied))
        .or_else(|| in_files(repository, is_pipeline, applied))
}

fn ends_in(path: &str, endings: &[&str]) -> bool {
    path.rsplit('.').next().is_some_and(|ending| endings.contains(&ending))
}

fn in_files(
    repository: &Repository,
    is_meant: impl Fn(&str) -> bool,
    find: impl Fn(&str) -> Option<(usize, usize)>,
) -> Option<Span> {
    repository.paths().filter(|path| is_meant(path)).filter_map(|path| repository.id(path)).find_map(|id| {
        let (start, length) = find(repository.source(id)?.text())?;
        Some(Span::new(id, to_u32(start), to_u32(start + length)))
    })
}

/// A line that tells how the key comes back: "Restore the sealed-secrets master key from the backup".
fn described(text: &str) -> Option<(usize, usize)> {
    line_about_the_key(text, |words| words.contains("restore") || words.contains("recover"))
}

/// A command that applies a file named as the key of sealed-secrets.
fn applied(text: &str) -> Option<(usize, usize)> {
    let deeds = [" apply ", " create ", " replace "];
    line_about_the_key(text, |words| words.contains("kubectl") && deeds.iter().any(|deed| words.contains(deed)))
}

fn line_about_the_key(text: &str, is_it: impl Fn(&str) -> bool) -> Option<(usize, usize)> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let words = line.to_ascii_lowercase();
        let names_it = NAMES.iter().any(|name| words.contains(name)) && words.contains("key");
        // A line that seals a value speaks of keys as well.
        if names_it && !words.contains("kubeseal") && is_it(&words) {
            return Some((start, line.trim_end().len()));
        }
        start += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{applied, described};

    #[test]
    fn a_step_that_restores_the_key_is_found_in_a_text() {
        let text = "# Setup\n1. flux bootstrap\n2. Restore the sealed-secrets master key from backup\n";
        assert_eq!(described(text).map(|(start, length)| &text[start..start + length]), Some(text[26..].trim_end()));
        for other in ["Seal a value with kubeseal and its key\n", "Recover Vault with the unseal keys\n", ""] {
            assert_eq!(described(other), None, "{other}");
        }
    }

    #[test]
    fn a_command_that_applies_the_key_is_found() {
        let script = "if test -f sealed-secrets-master.key; then kubectl apply -f sealed-secrets-master.key; fi\n";
        assert!(applied(script).is_some());
        assert!(applied("kubectl -n sealed-secrets apply -f main.key.yaml --force\n").is_some(), "typed by a person");
        for other in [
            "kubectl get secret -l sealed-secrets-key\nkubeseal --fetch-cert\n",
            "kubectl create secret generic x --from-literal=api-key=1 --dry-run=client -o yaml | kubeseal > sealed-secret.yaml\n",
            "kubectl create secret generic vault-unseal-keys\n",
        ] {
            assert_eq!(applied(other), None, "{other}");
        }
    }
}
