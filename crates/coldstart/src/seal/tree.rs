//! The SealedSecrets of a repository, and where each of them lands.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::sync::LazyLock;

use ::seal::manifest::{API_VERSION, ObjectPlace, SealedSecret, sealed_secrets};
use ::seal::verify::Landing;
use read::{Applied, Repository};
use regex::Regex;
use source::{FileId, Position, Source, Span, clean};
use yaml::{Document, Limits};

/// What lands when nobody says where: as kubectl would.
const NAMESPACE_DEFAULT: &str = "default";

/// Without this word a file holds no SealedSecret.
const WORD: &str = "SealedSecret";
/// Of a file that is no text, this much is searched for the word.
const SEARCHED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// One SealedSecret of a file.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// From the root of the repository.
    pub(crate) path: String,
    /// Where in the file.
    pub(crate) place: ObjectPlace,
    pub(crate) sealed: SealedSecret,
    pub(crate) at: Position,
    /// Where it ends up in the clusters that apply it; without any, where its file says.
    pub(crate) landings: Vec<Landing>,
}

/// A file, or a line of it, that was not read as it might have been.
#[derive(Clone, Debug)]
pub(crate) struct Unread {
    pub(crate) path: String,
    pub(crate) line: Option<usize>,
    pub(crate) why: UnreadWhy,
}

impl Unread {
    /// `path` or `path:line`.
    pub(crate) fn place(&self) -> String {
        self.line.map_or_else(|| self.path.clone(), |line| format!("{}:{line}", self.path))
    }
}

/// Why something was not read.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum UnreadWhy {
    #[error("can't be read as YAML: {problem}", problem = clean(.problem))]
    NotYaml { problem: String },
    #[error("kustomize rejects it: {problem}", problem = clean(.problem))]
    KustomizeRefuses { problem: String },
    #[error("is a template of another tool")]
    ForeignTemplate,
    #[error("mentions SealedSecrets and can't be read as YAML: {problem}", problem = clean(.problem))]
    SpeaksOfThem { problem: String },
    #[error("can't be read: it is too large, or not UTF-8 text")]
    NotText,
    /// What the system says.
    #[error("can't be read: {error}", error = clean(.error))]
    Unreadable { error: String },
    #[error(transparent)]
    Skipped(repository::Unread),
}

/// What was found, and what may hold more and can't be read.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) found: Vec<Found>,
    /// Files that most likely hold a SealedSecret, and what is wrong there.
    pub(crate) unreadable: Vec<Unread>,
    /// What nothing can be said of, and why it was not looked at.
    pub(crate) unread: Vec<Unread>,
}

/// Every SealedSecret below the root, YAML or JSON, in the order of paths.
pub(crate) fn find(repository: &Repository, applied: &[Applied]) -> Tree {
    let landings = landings(applied);
    let paths: Vec<&str> = repository.paths().filter(|path| is_candidate(path)).collect();
    let trees = repository::parallel::map(&paths, |path| {
        match repository.id(path).and_then(|id| Some((id, repository.source(id)?))) {
            None => not_text(repository.root(), path),
            Some((_, source)) if !source.text().contains(WORD) => Tree::default(),
            Some((id, source)) => {
                let documents = yaml::parse(id, source.text(), Limits::default());
                let mut tree = readable(path, &documents, source, &landings);
                if !is_chart_template(repository, path) {
                    tree.add_broken(path, source, &documents);
                }
                tree
            }
        }
    });
    let mut tree = Tree::default();
    for one in trees {
        tree.found.extend(one.found);
        tree.unreadable.extend(one.unreadable);
        tree.unread.extend(one.unread);
    }
    // Directories; files are among the paths, and a link leads to what is looked at elsewhere, or out of the repository.
    let others = repository.skipped.iter().filter(|skipped| {
        repository.id(&skipped.path).is_none() && !repository.root().join(&skipped.path).is_symlink()
    });
    let others = others.map(|skipped| (skipped.path.clone(), UnreadWhy::Skipped(skipped.why)));
    tree.unread.extend(others.map(|(path, why)| Unread { path, line: None, why }));
    tree
}

pub(crate) fn is_candidate(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending == "yaml" || ending == "yml" || ending == "json")
}

/// What lies below the `templates` of a chart becomes YAML only in Helm's hands.
pub(crate) fn is_chart_template(repository: &Repository, path: &str) -> bool {
    let mut starts = path.match_indices("templates/").map(|(at, _)| at);
    starts.any(|at| repository.id(&format!("{}Chart.yaml", &path[..at])).is_some())
}

/// By the place of any of its items: names and namespaces are changed on the way, sealed values never.
type Landings = BTreeMap<Span, Vec<Landing>>;

fn landings(applied: &[Applied]) -> Landings {
    let mut landings = Landings::new();
    for one in applied {
        let Some(sealed) = SealedSecret::of(&one.node) else { continue };
        let landing = Landing { namespace: one.namespace.to_string(), name: sealed.name.clone() };
        for item in &sealed.items {
            let known = landings.entry(item.span).or_default();
            if !known.contains(&landing) {
                known.push(landing.clone());
            }
        }
    }
    landings
}

fn readable(path: &str, documents: &[Document], source: &Source, landings: &Landings) -> Tree {
    let mut tree = Tree::default();
    for (place, sealed) in sealed_secrets(documents) {
        let applied = sealed.items.iter().find_map(|item| landings.get(&item.span));
        let own = || {
            let namespace = sealed.namespace.clone().unwrap_or_else(|| NAMESPACE_DEFAULT.to_owned());
            vec![Landing { namespace, name: sealed.name.clone() }]
        };
        tree.found.push(Found {
            path: path.to_owned(),
            place,
            at: source.position(sealed.span),
            landings: applied.cloned().unwrap_or_else(own),
            sealed,
        });
    }
    tree
}

impl Tree {
    /// Documents that are no YAML, and those that hold a SealedSecret and a key twice.
    fn add_broken(&mut self, path: &str, source: &Source, documents: &[Document]) {
        let holds: Vec<usize> = self.found.iter().map(|found| found.place.document).collect();
        for (index, document) in documents.iter().enumerate() {
            let Some(problem) = document.problems.first() else { continue };
            let line = usize::try_from(source.position(problem.span).line).ok();
            let unread = |why| Unread { path: path.to_owned(), line, why };
            let problem = problem.message.clone();
            match &document.root {
                Some(_) if holds.contains(&index) => {
                    self.unreadable.push(unread(UnreadWhy::KustomizeRefuses { problem }));
                }
                Some(_) => {}
                None if is_foreign_template(source.text()) => self.unread.push(unread(UnreadWhy::ForeignTemplate)),
                None if is_manifest(source.text()) => self.unreadable.push(unread(UnreadWhy::NotYaml { problem })),
                None => self.unread.push(unread(UnreadWhy::SpeaksOfThem { problem })),
            }
        }
    }
}

/// A file that is no text may hold a SealedSecret all the same: one byte of another encoding is enough.
fn not_text(root: &Path, path: &str) -> Tree {
    let mut tree = Tree::default();
    let mut bytes = Vec::new();
    let read =
        std::fs::File::open(root.join(path)).and_then(|file| file.take(SEARCHED_BYTES_MAX).read_to_end(&mut bytes));
    if let Err(error) = read {
        let why = UnreadWhy::Unreadable { error: error.to_string() };
        tree.unread.push(Unread { path: path.to_owned(), line: None, why });
        return tree;
    }
    // In UTF-16 every other byte of English is zero.
    bytes.retain(|byte| *byte != 0);
    let text = String::from_utf8_lossy(&bytes);
    if text.contains(WORD) && is_manifest(&text) {
        let line = text.find(char::REPLACEMENT_CHARACTER).map(|at| text[..at].matches('\n').count() + 1);
        tree.unreadable.push(Unread { path: path.to_owned(), line, why: UnreadWhy::NotText });
    }
    tree
}

/// Whether a text that is no YAML is meant to be a SealedSecret, in YAML or JSON.
fn is_manifest(text: &str) -> bool {
    #[expect(clippy::unwrap_used, reason = "the pattern is a constant, and a test uses it")]
    static KIND: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"kind["']?[ \t]*:[ \t]*["']?SealedSecret"#).unwrap());
    text.contains(API_VERSION) || KIND.is_match(text)
}

/// Whether it is for Helm or Jinja. A SealedSecret's own template has values by their keys, `{{ .password }}`, and is
/// text in good YAML.
fn is_foreign_template(text: &str) -> bool {
    #[expect(clippy::unwrap_used, reason = "the pattern is a constant, and a test uses it")]
    static ACTION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\{\{[^}]*(\.(Values|Release|Chart|Files|Capabilities)[. }]|[ (](include|template) )|\{%|\{\{-? *[A-Za-z_][A-Za-z0-9_.]* *(\||-?\}\})")
            .unwrap()
    });
    ACTION.is_match(text) && is_yaml_when_filled(text)
}

/// Whether nothing but the actions of a template stands in the way.
fn is_yaml_when_filled(text: &str) -> bool {
    #[expect(clippy::unwrap_used, reason = "the pattern is a constant, and a test uses it")]
    static ACTION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{\{.*?\}\}|\{%.*?%\}").unwrap());
    let mut filled = String::new();
    for line in text.lines() {
        // A line of actions alone is control, or whole lines that come from elsewhere.
        if !ACTION.is_match(line) || !ACTION.replace_all(line, "").trim().is_empty() {
            filled.push_str(&ACTION.replace_all(line, "x"));
        }
        filled.push('\n');
    }
    yaml::parse(FileId(0), &filled, Limits::default())
        .iter()
        .all(|document| document.root.is_some() || document.problems.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{is_foreign_template, is_manifest};

    #[test]
    fn a_sealed_secret_is_known_by_its_kind_or_its_group() {
        for text in [
            "kind: SealedSecret",
            "kind: \"SealedSecret\"",
            "{\"kind\" : \"SealedSecret\"",
            "apiVersion: bitnami.com/v1alpha1",
        ] {
            assert!(is_manifest(text), "{text}");
        }
        assert!(!is_manifest("# about SealedSecrets"));
    }

    #[test]
    fn templates_of_other_tools_are_told_from_broken_secrets() {
        for text in [
            "kind: SealedSecret\nname: {{ .Values.name }}\n",
            "{{- if .Values.on }}\nkind: SealedSecret\n{{- end }}\n",
            "kind: SealedSecret\n{% if on %}\nname: {{ name }}\n{% endif %}\n",
            "kind: SealedSecret\nname: {{ name | quote }}\n",
        ] {
            assert!(is_foreign_template(text), "{text}");
        }
        for text in [
            "kind: SealedSecret\nname: {{ .k }}\n",
            "kind: SealedSecret\nurl: 'a {{ .k }}\nname: a\n",
            "kind: SealedSecret\nname: {{ .Values.name }}\nbroken: [\n",
        ] {
            assert!(!is_foreign_template(text), "{text}");
        }
    }
}
