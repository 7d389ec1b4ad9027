//! The words of one command, without the programs that only hand it on.

use model::Ends;
use shell::{Part, PartKind, Simple, Word};

use crate::scripts::UNKNOWN;

/// Programs that run the rest of their words.
const HANDS_ON: [&str; 8] = ["sudo", "env", "command", "exec", "nohup", "nice", "time", "builtin"];

/// A command and how long it may take.
#[derive(Clone, Debug)]
pub(super) struct Line<'tree> {
    pub(super) words: Vec<(String, &'tree Word)>,
    /// What `timeout` allows it; none inside if that is not known.
    pub(super) bound: Option<Ends>,
}

impl<'tree> Line<'tree> {
    pub(super) fn of(simple: &'tree Simple) -> Self {
        let words: Vec<_> = simple.words.iter().map(|word| (said(&word.parts), word)).collect();
        let mut line = Self { words, bound: None };
        while line.hand_on() {}
        line
    }

    /// Takes away a program that only hands on.
    fn hand_on(&mut self) -> bool {
        let program = self.program().to_owned();
        let is_option = |word: &str| word.starts_with('-') || word.contains('=');
        let skipped = if HANDS_ON.contains(&program.as_str()) {
            1 + self.words.iter().skip(1).take_while(|(word, _)| is_option(word)).count()
        } else if program == "timeout" || program == "gtimeout" {
            let mut at = 1;
            while let Some((word, _)) = self.words.get(at).filter(|(word, _)| word.starts_with('-')) {
                at += if matches!(word.as_str(), "-k" | "-s" | "--kill-after" | "--signal") { 2 } else { 1 };
            }
            let limit = self.words.get(at).and_then(|(word, _)| seconds(word));
            self.bound = Some(limit.map_or(Ends::Sometime, |seconds| Ends::After { seconds }));
            at + 1
        } else {
            return false;
        };
        if skipped >= self.words.len() {
            return false;
        }
        self.words.drain(..skipped);
        true
    }

    /// The program, without its directory.
    pub(super) fn program(&self) -> &str {
        let word = self.words.first().map_or("", |(word, _)| word.as_str());
        word.trim_start_matches('@').rsplit('/').next().unwrap_or_default()
    }

    pub(super) fn has(&self, words: &[&str]) -> bool {
        self.words.iter().any(|(word, _)| words.contains(&word.as_str()))
    }

    /// The value of a flag: `--flag value`, `--flag=value`.
    pub(super) fn value(&self, flags: &[&str]) -> Option<&str> {
        self.words.iter().enumerate().find_map(|(at, (word, _))| {
            if flags.contains(&word.as_str()) {
                return self.words.get(at + 1).map(|(value, _)| value.as_str());
            }
            let (flag, value) = word.split_once('=')?;
            flags.contains(&flag).then_some(value)
        })
    }

    /// The words after the program that are neither flags nor the values of these flags.
    pub(super) fn bare(&self, with_value: &[&str]) -> Vec<&str> {
        let mut bare = Vec::new();
        let mut words = self.words.iter().skip(1).map(|(word, _)| word.as_str());
        while let Some(word) = words.next() {
            if with_value.contains(&word) {
                words.next();
            } else if !word.starts_with('-') {
                bare.push(word);
            }
        }
        bare
    }

    /// The program and what it is to do, to name it by.
    pub(super) fn name(&self) -> String {
        let count = match self.program() {
            "kubectl" | "talosctl" | "helm" | "helmfile" | "flux" | "cilium" | "argocd" | "etcdctl" | "topf" => 1,
            "talhelper" => 2,
            _ => 0,
        };
        let is_plain = |word: &&str| word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-');
        let with_value =
            ["-n", "--namespace", "--nodes", "-e", "--endpoints", "--context", "--kubeconfig", "-f", "--file"];
        let words = self.bare(&with_value).into_iter().take(count).filter(is_plain);
        [self.program()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
    }
}

/// What a word says; what is expanded in it is not known. A variable named after a program holds that program.
pub(super) fn said(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        match &part.kind {
            PartKind::Literal(literal) | PartKind::Quoted(literal) => text.push_str(literal),
            PartKind::Double(inner) => text.push_str(&said(inner)),
            PartKind::Parameter(parameter) if is_program(&parameter.name) => {
                text.push_str(&parameter.name.to_ascii_lowercase());
            }
            _ => text.push(UNKNOWN),
        }
    }
    text
}

fn is_program(name: &str) -> bool {
    matches!(name, "KUBECTL" | "HELM" | "TALOSCTL" | "FLUX" | "HELMFILE" | "kubectl" | "helm" | "talosctl")
}

/// `300`, `300s`, `5m`
pub(super) fn seconds(text: &str) -> Option<u32> {
    let number = text.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    let factor = match &text[number.len()..] {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return model::parse_duration(text).and_then(|seconds| u32::try_from(seconds).ok()),
    };
    number.parse::<u32>().ok()?.checked_mul(factor)
}

/// Every command that a command line holds, in it and in its substitutions.
pub(super) fn all_simple<'tree>(parts: &'tree [Part], found: &mut Vec<&'tree Simple>) {
    for part in parts {
        match &part.kind {
            PartKind::Double(inner) => all_simple(inner, found),
            PartKind::Substitution(list) | PartKind::Process(list) => super::tree::simple_in(list, found),
            PartKind::Parameter(parameter) => all_simple(&parameter.rest, found),
            PartKind::Literal(_) | PartKind::Quoted(_) | PartKind::Arithmetic(_) => {}
        }
    }
}
