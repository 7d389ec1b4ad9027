//! Charts of which a bootstrap script applies only the CRDs: `helm show crds`, `helm template` filtered for them, and `helm pull`
//! with a `kubectl apply` of what lies in a directory of CRDs.
//!
//! Follows a variable to its assignment, and that of a loop to the words or the array it goes through. Runs no command: a list that
//! one makes is unclear.

use source::Span;

use super::script_releases::{bare_words, is_version};
use crate::helmfile::{Release, last_part};
use crate::scripts::{Script, Scripts, UNKNOWN, Word, applied_by, flag_values, texts};

/// A command that takes the CRDs of a chart.
struct Taking<'a> {
    turn: usize,
    /// The chart as it is written.
    chart: &'a Word,
    version: Option<Word>,
}

/// The charts of a script of which only the CRDs are applied, each with the turn of its command.
pub(super) fn releases(scripts: &Scripts<'_>, script: &Script) -> Vec<(usize, Release)> {
    let mut found = Vec::new();
    for taking in takings(script) {
        for (chart, version) in charts(scripts, script, &taking) {
            found.push((taking.turn, release(script, &taking, chart, version)));
        }
    }
    found
}

/// A script that applies the CRDs of charts which only it knows when it runs.
#[derive(Clone, Debug)]
pub(super) struct UnclearCrds {
    pub(super) script: String,
    /// Where one such command names its chart.
    pub(super) at: Span,
}

/// The scripts that take the CRDs of charts which no file tells.
pub(super) fn unclear(scripts: &Scripts<'_>) -> Vec<UnclearCrds> {
    let first = |script: &Script| {
        let mut takings = takings(script).into_iter();
        let unclear = takings.find(|taking| charts(scripts, script, taking).is_empty())?;
        Some(UnclearCrds { script: script.path.clone(), at: script.span(unclear.chart) })
    };
    scripts.found().iter().filter_map(first).collect()
}

fn takings(script: &Script) -> Vec<Taking<'_>> {
    let applies_directory = || {
        let mut commands = script.pipelines.iter().flatten().map(|command| applied_by(&texts(command)));
        commands.any(|targets| targets.iter().any(|target| target.to_ascii_lowercase().contains("crd")))
    };
    let mut found = Vec::new();
    for pipeline in &script.pipelines {
        let applies = pipeline.iter().any(|command| !applied_by(&texts(command)).is_empty());
        let speaks = || pipeline.iter().flatten().any(|word| word.text.contains("CustomResourceDefinition"));
        for command in pipeline {
            let Some(helm) = command.iter().position(|word| word.text == "helm" || word.text.ends_with("/helm")) else {
                continue;
            };
            let command = &command[helm + 1..];
            let bare = bare_words(command);
            let chart = match bare.iter().map(|word| word.text.as_str()).collect::<Vec<_>>()[..] {
                ["show", "crds", _, ..] if applies => bare.get(2),
                ["template", _, _, ..] if applies && (has(command, "--include-crds") || speaks()) => bare.get(2),
                ["pull" | "fetch", _, ..] if has(command, "--untar") && applies_directory() => bare.get(1),
                _ => None,
            };
            if let Some((chart, turn)) = chart.and_then(|chart| Some((*chart, script.turn(chart.at)?))) {
                let version = flag_values(&texts(command), &["--version"]).pop();
                let version = version.map(|text| Word { text, at: chart.at });
                found.push(Taking { turn, chart, version });
            }
        }
    }
    found
}

fn has(command: &[Word], flag: &str) -> bool {
    command.iter().any(|word| word.text == flag)
}

/// The charts that a command means, with their versions: several for the variable of a loop.
fn charts(scripts: &Scripts<'_>, script: &Script, taking: &Taking<'_>) -> Vec<(String, Option<String>)> {
    let known = |word: &Word| Some(scripts.expand(script, &word.text, word.at)).filter(|text| !text.contains(UNKNOWN));
    let version = taking.version.as_ref().and_then(known).filter(|version| is_version(version));
    match known(taking.chart).filter(|chart| is_chart(chart)) {
        Some(chart) => vec![(chart, version)],
        None => scripts.looped_over(script, taking.chart).iter().filter_map(|element| chart_in(element)).collect(),
    }
}

/// `oci://registry/chart 1.2.3`, and the like with other signs between the two.
fn chart_in(element: &str) -> Option<(String, Option<String>)> {
    let mut parts = element.split([' ', '|', ',', ';', '=', '\t']).skip_while(|part| !is_chart(part));
    let chart = parts.next()?.to_owned();
    Some((chart, parts.next().filter(|version| is_version(version)).map(str::to_owned)))
}

fn is_chart(text: &str) -> bool {
    text.contains('/') && last_part(text).is_some() && !text.contains(['$', '{'])
}

fn release(script: &Script, taking: &Taking<'_>, chart: String, version: Option<String>) -> Release {
    let name = last_part(&chart).unwrap_or(&chart).to_owned();
    Release {
        chart_name: name.as_str().into(),
        chart: Some(chart.into()),
        version: version.map(Into::into),
        only_crds: true,
        ..Release::by_script(&name, script.span(taking.chart))
    }
}
