//! Which values of a file SOPS encrypts: all of them, unless the metadata of the file or the rule of `.sops.yaml` says
//! otherwise.

use regex::bytes::{Regex, RegexBuilder};
use source::Span;
use yaml::{Node, Value};

/// The key of the metadata, which is never encrypted.
const METADATA: &str = "sops";
/// Keys with this ending stay in the clear where nothing else is said.
const UNENCRYPTED_SUFFIX_DEFAULT: &str = "_unencrypted";

/// By the keys on the way to a value, whichever of them.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    unencrypted_suffix: Option<String>,
    encrypted_suffix: Option<String>,
    unencrypted_regex: Option<Regex>,
    encrypted_regex: Option<Regex>,
    /// It goes by comments, which are not read here, or by a pattern that is not understood.
    is_unknown: bool,
}

/// A pattern as Go reads it: its classes know ASCII only.
pub fn pattern(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).unicode(false).build()
}

impl Selection {
    /// From the metadata of a file, or from a rule.
    pub fn of(node: &Node) -> Self {
        let text = |key: &str| node.get(key).and_then(Node::text).filter(|text| !text.is_empty());
        let regex = |key: &str| text(key).map(pattern).transpose();
        let (unencrypted, encrypted) = (regex("unencrypted_regex"), regex("encrypted_regex"));
        let by_comments = text("unencrypted_comment_regex").or(text("encrypted_comment_regex")).is_some();
        let mut selection = Self {
            unencrypted_suffix: text("unencrypted_suffix").map(str::to_owned),
            encrypted_suffix: text("encrypted_suffix").map(str::to_owned),
            is_unknown: by_comments || unencrypted.is_err() || encrypted.is_err(),
            unencrypted_regex: unencrypted.unwrap_or_default(),
            encrypted_regex: encrypted.unwrap_or_default(),
        };
        let says_nothing = selection.encrypted_suffix.is_none()
            && selection.unencrypted_regex.is_none()
            && selection.encrypted_regex.is_none();
        if says_nothing && selection.unencrypted_suffix.is_none() {
            selection.unencrypted_suffix = Some(UNENCRYPTED_SUFFIX_DEFAULT.to_owned());
        }
        selection
    }

    /// Whether a value at the end of these keys is to be encrypted.
    pub fn wants(&self, path: &[&str]) -> bool {
        if self.is_unknown {
            return false;
        }
        let ends = |suffix: &String| path.iter().any(|key| key.ends_with(suffix.as_str()));
        let matches = |regex: &Regex| path.iter().any(|key| regex.is_match(key.as_bytes()));
        !self.unencrypted_suffix.as_ref().is_some_and(ends)
            && self.encrypted_suffix.as_ref().is_none_or(ends)
            && !self.unencrypted_regex.as_ref().is_some_and(matches)
            && self.encrypted_regex.as_ref().is_none_or(matches)
    }

    /// The values of a document that are to be encrypted and are in the clear, each with the keys on the way to it.
    pub fn plain(&self, root: &Node) -> Vec<(String, Span)> {
        let mut found = Vec::new();
        for entry in root.entries().iter().filter(|entry| entry.key != METADATA) {
            self.look(&entry.value, &mut vec![entry.key.as_str()], &mut found);
        }
        found
    }

    fn look<'a>(&self, node: &'a Node, path: &mut Vec<&'a str>, found: &mut Vec<(String, Span)>) {
        match &node.value {
            // SOPS leaves nothing and the empty text as they are; numbers and booleans it encrypts.
            Value::Scalar(scalar) if node.is_null() || scalar.text.is_empty() || scalar.text.starts_with("ENC[") => {}
            Value::Scalar(_) if self.wants(path) => found.push((path.join("."), node.span)),
            Value::Scalar(_) => {}
            Value::Seq(items) => items.iter().for_each(|item| self.look(item, path, found)),
            Value::Map(map) => {
                for entry in map {
                    path.push(entry.key.as_str());
                    self.look(&entry.value, path, found);
                    path.pop();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use source::FileId;
    use yaml::parse_value;

    use super::Selection;

    fn plain(selection: &str, text: &str) -> Vec<String> {
        let node = |text: &str| parse_value(FileId(0), text).unwrap();
        let found = Selection::of(&node(selection)).plain(&node(text));
        found.into_iter().map(|(path, _)| path).collect()
    }

    const FILE: &str = "kind: Secret\ndata: {a: x, b: 'ENC[y]', c: '', d: null, e: [true, 'ENC[z]'], f_unencrypted: x}\nsops: {mac: x}\n";

    #[test]
    fn everything_is_encrypted_where_nothing_is_said() {
        assert_eq!(plain("{}", FILE), ["kind", "data.a", "data.e"]);
        assert_eq!(plain("unencrypted_suffix: ind", FILE), ["data.a", "data.e", "data.f_unencrypted"]);
    }

    #[test]
    fn patterns_and_endings_are_those_of_any_key_on_the_way() {
        assert_eq!(plain("encrypted_regex: ^(data|stringData)$", FILE), ["data.a", "data.e", "data.f_unencrypted"]);
        assert_eq!(plain("unencrypted_regex: ^data$", FILE), ["kind"]);
        assert_eq!(plain("encrypted_suffix: nd", FILE), ["kind"]);
        assert_eq!(plain(r"encrypted_regex: ^\w$", FILE), ["data.a", "data.e"]);
    }

    #[test]
    fn what_is_not_understood_is_not_judged() {
        assert!(plain("encrypted_comment_regex: secret", FILE).is_empty());
        assert!(plain("encrypted_regex: '('", FILE).is_empty());
    }
}
