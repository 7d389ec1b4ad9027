//! Template actions in the texts of a helmfile: filled in where the files of the repository tell their value.
//!
//! Knows the release, the environment and its values, and variables of the shell that hold the root of the repository, or that all
//! scripts set to one value. Every other action is unknown, and then so is the text.

use yaml::Node;

use super::release::Context;
use crate::scripts::ROOTS;
use crate::templated_yaml;

/// What helmfile calls the environment where none is named.
const DEFAULT_ENVIRONMENT: &str = "default";

/// A release as its templates know it.
#[derive(Clone, Copy)]
pub(super) struct Named<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
}

impl Context<'_> {
    /// A text with all its actions filled in; nothing where one of them is unknown.
    pub(super) fn filled(&self, node: &Node, release: Named<'_>) -> Option<String> {
        let text = node.text()?;
        if !templated_yaml::is_unknown(text) {
            return Some(text.to_owned());
        }
        let written = self.repository.source(node.span.file)?.slice(node.span)?;
        // What an outer template hands on to the inner one stands in backticks.
        let written = written.trim_matches(['"', '\'']).replace("{{`", "").replace("`}}", "").replace("\\\"", "\"");
        let mut output = String::new();
        let mut rest = written.as_str();
        while let Some((before, after)) = rest.split_once("{{") {
            let (action, after) = after.split_once("}}")?;
            output.push_str(before);
            output.push_str(&self.value_of(action.trim_matches(['-', ' ']), release)?);
            rest = after;
        }
        Some(output + rest)
    }

    fn value_of(&self, action: &str, release: Named<'_>) -> Option<String> {
        match action.split_whitespace().collect::<Vec<_>>()[..] {
            [".Release.Name"] => Some(release.name.to_owned()),
            [".Release.Namespace"] => Some(release.namespace.to_owned()).filter(|it| !it.is_empty()),
            [".Environment.Name"] => self.environment_name(),
            ["requiredEnv" | "env", name] => self.variable(name.trim_matches(['"', '`', '\''])),
            [field] => {
                self.state_value(field.strip_prefix(".Values.").or_else(|| field.strip_prefix(".StateValues."))?)
            }
            _ => None,
        }
    }

    /// The name of the environment where there is only one.
    fn environment_name(&self) -> Option<String> {
        let declared = self.environment_names();
        match declared[..] {
            [] => Some(DEFAULT_ENVIRONMENT.to_owned()),
            [one] => Some(one.to_owned()),
            _ => None,
        }
    }

    /// A variable of the shell that runs helmfile; the root of the repository is `/`.
    fn variable(&self, name: &str) -> Option<String> {
        if ROOTS.contains(&name) { Some("/".to_owned()) } else { self.scripts.settled(name) }
    }

    /// A value that is the same in every environment.
    fn state_value(&self, path: &str) -> Option<String> {
        let keys: Vec<&str> = path.split('.').collect();
        let mut found: Option<String> = None;
        for values in self.environments() {
            let value = values?.at(&keys)?.text().filter(|text| !templated_yaml::is_unknown(text))?.to_owned();
            if found.as_ref().is_some_and(|found| *found != value) {
                return None;
            }
            found = Some(value);
        }
        found
    }
}
