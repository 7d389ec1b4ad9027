//! How scripts call helmfile: which file, which releases of it, and whether to install them or only to apply their CRDs.

use super::choice::Choice;
use crate::scripts::{Script, Scripts, UNKNOWN, Word, calls_helmfile, flag_values, is_helmfile, texts};

/// Flags of helmfile that are followed by a value.
const VALUE_FLAGS: [&str; 16] = [
    "-f",
    "--file",
    "-e",
    "--environment",
    "-l",
    "--selector",
    "-n",
    "--namespace",
    "--kube-context",
    "--kubeconfig",
    "--log-level",
    "-b",
    "--helm-binary",
    "--state-values-set",
    "--state-values-file",
    "--concurrency",
];

/// How scripts use a helmfile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HelmfileCall {
    TemplatesCrds,
    Installs,
}

/// Which helmfile is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Called {
    /// Files, or directories of them.
    Paths(Vec<String>),
    /// The one of the directory that the script is in by then.
    Default,
    Unknown,
}

/// A command that runs helmfile.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) called: Called,
    pub(super) kind: HelmfileCall,
    pub(super) choice: Choice,
    /// It gives all releases a namespace.
    pub(super) sets_namespace: bool,
    /// It gives values of its own, over those of the environment.
    pub(super) sets_values: bool,
}

/// Every call of helmfile that installs something, or renders CRDs.
pub(super) fn calls(scripts: &Scripts<'_>) -> Vec<Call> {
    let mut calls = Vec::new();
    for script in scripts.found() {
        for pipeline in &script.pipelines {
            for (at, command) in pipeline.iter().enumerate() {
                if let Some(kind) = helmfile_call(&texts(command), &pipeline[at + 1..]) {
                    let called = called_helmfile(scripts, script, command);
                    let choice = choice(scripts, script, command);
                    let sets_namespace = command.iter().any(|word| is_namespace_flag(&word.text));
                    let sets_values = command.iter().any(|word| word.text.starts_with("--state-values-"));
                    calls.push(Call { called, kind, choice, sets_namespace, sets_values });
                }
            }
        }
    }
    calls
}

fn called_helmfile(scripts: &Scripts<'_>, script: &Script, command: &[Word]) -> Called {
    let files = flag_values(&texts(command), &["-f", "--file"]);
    let offset = command.first().map_or(0, |word| word.at);
    let paths: Vec<String> = files.iter().flat_map(|file| scripts.resolve(script, file, offset)).collect();
    match (files.is_empty(), paths.is_empty()) {
        (true, _) => Called::Default,
        (false, true) => Called::Unknown,
        (false, false) => Called::Paths(paths),
    }
}

/// The releases that a call of helmfile chooses.
fn choice(scripts: &Scripts<'_>, script: &Script, command: &[Word]) -> Choice {
    let arguments = command.iter().skip_while(|word| !is_helmfile(&word.text)).skip(1);
    let arguments: Vec<&Word> = arguments.collect();
    let expand = |text: &str| scripts.expand(script, text, arguments.first().map_or(0, |word| word.at));
    // A variable in the place of an argument may hold selectors as well.
    let is_open = |(at, word): (usize, &&Word)| {
        let before = at.checked_sub(1).map_or("", |before| arguments[before].text.as_str());
        !word.text.starts_with('-') && !VALUE_FLAGS.contains(&before) && expand(&word.text).starts_with(UNKNOWN)
    };
    if arguments.iter().enumerate().any(is_open) {
        return Choice::All;
    }
    let words: Vec<String> = arguments.iter().map(|word| word.text.clone()).collect();
    let joined = words.iter().filter_map(|word| word.strip_prefix("-l")).filter(|rest| !rest.starts_with('='));
    let joined = joined.filter(|rest| rest.contains('=')).map(str::to_owned);
    let apart = flag_values(&words, &["-l", "--selector"]).into_iter();
    let selectors: Vec<String> = apart.chain(joined).map(|selector| expand(&selector)).collect();
    let with_needs = words.iter().any(|word| word == "--include-needs" || word == "--include-transitive-needs");
    Choice::of(selectors.iter().map(|selector| Some(selector.as_str())), with_needs)
}

fn is_namespace_flag(word: &str) -> bool {
    word == "-n" || word.starts_with("-n=") || word.starts_with("--namespace")
}

fn helmfile_call(words: &[String], after: &[Vec<Word>]) -> Option<HelmfileCall> {
    if !calls_helmfile(words) {
        return None;
    }
    let filters_crds = || after.iter().flatten().any(|word| word.text.contains("CustomResourceDefinition"));
    let does = |what: &str| words.iter().any(|word| word == what);
    if does("template") && filters_crds() {
        Some(HelmfileCall::TemplatesCrds)
    } else {
        (does("sync") || does("apply")).then_some(HelmfileCall::Installs)
    }
}
