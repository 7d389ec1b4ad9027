//! The creation rules of `.sops.yaml`: which files are to be encrypted, which of their values, and to whom.

use ::seal::sops::{Selection, pattern, rule_recipients};
use diagnostic::seal::{SealFault, SopsFault};
use read::Repository;
use regex::bytes::Regex;
use source::FileId;
use yaml::{Limits, Node};

use super::report::{Report, Spot};

const RULES_FILE: &str = ".sops.yaml";
/// A pattern with one of these words is for files that are secret as a whole, not for a whole tree of which only some
/// are.
const SECRET_WORDS: [&str; 5] = ["secret", "sops", "credential", "private", ".enc"];

/// A rule: the paths it is for, seen from its directory, and who is to open what of them.
pub(crate) struct Rule {
    directory: String,
    pattern: Option<Regex>,
    pub(crate) recipients: Vec<String>,
    pub(crate) selection: Selection,
    /// Whether its pattern is one for secrets.
    pub(crate) is_for_secrets: bool,
}

impl Rule {
    fn of(directory: &str, node: &Node) -> Result<Self, regex::Error> {
        let text = node.get("path_regex").and_then(Node::text).filter(|text| !text.is_empty());
        let words = text.unwrap_or_default().to_ascii_lowercase();
        Ok(Self {
            directory: directory.to_owned(),
            pattern: text.map(pattern).transpose()?,
            recipients: rule_recipients(node),
            selection: Selection::of(node),
            is_for_secrets: SECRET_WORDS.iter().any(|word| words.contains(word)),
        })
    }
}

/// All rules of a repository. The nearest file above a path is the one that counts.
pub(crate) struct Rules {
    /// Those of deeper directories first, and those of a file in its order.
    rules: Vec<Rule>,
}

impl Rules {
    pub(crate) fn find(repository: &Repository, report: &mut Report) -> Self {
        let mut rules = Vec::new();
        for path in repository.paths() {
            let Some(directory) = path.strip_suffix(RULES_FILE) else { continue };
            if !directory.is_empty() && !directory.ends_with('/') {
                continue;
            }
            let text = repository.id(path).and_then(|id| repository.source(id)).map_or("", source::Source::text);
            let documents = yaml::parse(FileId(0), text, Limits::default());
            let Some(root) = documents.first().and_then(|document| document.root.as_ref()) else {
                report.error(Spot::File(path.to_owned()), SealFault::Sops(SopsFault::RulesUnreadable), None);
                continue;
            };
            for node in root.items_at("creation_rules") {
                match Rule::of(directory, node) {
                    Ok(rule) => rules.push(rule),
                    Err(_) => report.note(Spot::File(path.to_owned()), SealFault::Sops(SopsFault::BadPattern), None),
                }
            }
        }
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.directory.len()));
        Self { rules }
    }

    /// The first rule that matches.
    pub(crate) fn of(&self, path: &str) -> Option<&Rule> {
        let nearest = &self.rules.iter().find(|rule| path.starts_with(&rule.directory))?.directory;
        let inside = path.strip_prefix(nearest.as_str())?.as_bytes();
        let mut rules = self.rules.iter().filter(|rule| rule.directory == *nearest);
        rules.find(|rule| rule.pattern.as_ref().is_none_or(|pattern| pattern.is_match(inside)))
    }
}
