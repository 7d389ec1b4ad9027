//! Charts that bootstrap scripts install with helm itself: `helm install NAME CHART` and `helm upgrade --install NAME CHART`.
//!
//! Knows the name, the chart, the namespace, and the version where it is written out. Values are not read.

use yaml::EcoString;

use super::script_crds;
use crate::helmfile::{Helmfile, Release, last_part};
use crate::remote_crds::whole_project;
use crate::scripts::{Script, Scripts, UNKNOWN, Word, applied_by, flag_values, texts};

/// Flags of helm that stand alone; every other one is followed by its value.
const BARE_FLAGS: [&str; 27] = [
    "--install",
    "-i",
    "--wait",
    "--wait-for-jobs",
    "--atomic",
    "--rollback-on-failure",
    "--create-namespace",
    "--debug",
    "--devel",
    "--force",
    "--reuse-values",
    "--reset-values",
    "--reset-then-reuse-values",
    "--skip-crds",
    "--no-hooks",
    "--dependency-update",
    "--cleanup-on-fail",
    "--replace",
    "--take-ownership",
    "--verify",
    "--hide-notes",
    "--render-subchart-notes",
    "--include-crds",
    "--no-headers",
    "--untar",
    "--generate-name",
    "--plain-http",
];

/// One for each script of which a bootstrap runs something that installs, as if it were a helmfile.
pub(super) fn by_scripts(scripts: &Scripts<'_>) -> Vec<Helmfile> {
    let helmfile = |script: &Script| {
        let mut found: Vec<(usize, Release)> = Vec::new();
        for command in script.pipelines.iter().flatten() {
            let turn = command.first().and_then(|word| script.turn(word.at));
            let release = || release(scripts, script, command).or_else(|| manifest(script, command));
            found.extend(turn.and_then(|turn| Some((turn, release()?))));
        }
        found.extend(script_crds::releases(scripts, script));
        // Tasks stand in any order. What runs in one turn runs one after the other.
        found.sort_by_key(|(turn, _)| *turn);
        let mut releases: Vec<Release> = Vec::new();
        for (_, mut release) in found {
            if releases.iter().any(|before| before.object() == release.object()) {
                continue;
            }
            let before = releases.iter().filter(|before| !before.only_crds && !release.only_crds);
            release.needs = before.map(|before| (before.name.to_string(), release.span)).collect();
            releases.push(release);
        }
        let order_key = script.path.clone();
        (!releases.is_empty()).then(|| Helmfile { path: script.path.clone(), order_key, releases })
    };
    scripts.found().iter().filter_map(helmfile).collect()
}

fn release(scripts: &Scripts<'_>, script: &Script, command: &[Word]) -> Option<Release> {
    let helm = command.iter().position(|word| word.text == "helm" || word.text.ends_with("/helm"))?;
    let command = &command[helm + 1..];
    let has = |flag: &str| command.iter().any(|word| word.text == flag);
    let installs = has("install") || (has("upgrade") && (has("--install") || has("-i")));
    if !installs || command.iter().any(|word| word.text.starts_with("--dry-run")) {
        return None;
    }
    let known = |word: &Word| Some(scripts.expand(script, &word.text, word.at)).filter(|it| !it.contains(UNKNOWN));
    let mut bare = bare_words(command).into_iter().skip(1);
    let (name_at, chart_at) = (bare.next()?, bare.next()?);
    let (name, chart) = (known(name_at)?, known(chart_at)?);
    let flag = |flags: &[&str]| {
        let values = flag_values(&command.iter().map(|word| word.text.clone()).collect::<Vec<_>>(), flags);
        values.last().and_then(|value| known(&Word { text: value.clone(), at: name_at.at }))
    };
    let version = flag(&["--version"]).filter(|version| is_version(version));
    let version_at = command.iter().find(|word| version.as_ref().is_some_and(|version| word.text.ends_with(version)));
    Some(Release {
        namespace: flag(&["-n", "--namespace"]).unwrap_or_default().into(),
        chart_name: last_part(&chart).unwrap_or(&chart).into(),
        chart: Some(chart.into()),
        version_at: version.as_ref().map(|_| script.span(version_at.unwrap_or(name_at))),
        version: version.map(EcoString::from),
        wait: Some(has("--wait") || has("--atomic")),
        ..Release::by_script(&name, script.span(name_at))
    })
}

/// A project whose manifests a command applies as a whole, as if it were the chart of the project's name.
fn manifest(script: &Script, command: &[Word]) -> Option<Release> {
    let addresses = applied_by(&texts(command));
    let (address, name) = addresses.iter().find_map(|address| Some((address, whole_project(address)?)))?;
    let word = command.iter().find(|word| word.text.ends_with(address.as_str()))?;
    // `kubectl wait` or `kubectl rollout status` of something that is named after it.
    let is_awaited = |command: &Vec<Word>| {
        let words = texts(command);
        let has = |wanted: &str| words.iter().any(|word| word == wanted);
        let waits = has("wait") || (has("rollout") && has("status"));
        waits && words.iter().any(|word| word.contains(name))
    };
    Some(Release {
        wait: Some(script.pipelines.iter().flatten().any(is_awaited)),
        ..Release::by_script(name, script.span(word))
    })
}

/// The words that are neither flags nor their values: the verb, the name, the chart.
pub(super) fn bare_words(command: &[Word]) -> Vec<&Word> {
    let mut bare = Vec::new();
    let mut words = command.iter();
    while let Some(word) = words.next() {
        if !word.text.starts_with('-') {
            bare.push(word);
        } else if !word.text.contains('=') && !BARE_FLAGS.contains(&word.text.as_str()) {
            words.next();
        }
    }
    bare
}

pub(super) fn is_version(text: &str) -> bool {
    text.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit())
}
