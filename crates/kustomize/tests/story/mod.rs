//! A repository written down in a test, and ways to say what should come of it.

#![allow(dead_code, reason = "each test file uses its own part of this")]

use std::collections::{BTreeMap, BTreeSet};

use coldstart_kustomize::{Build, Files, Mode, Overlay, PathKind};
use source::{FileId, Source, Span};
use yaml::{Budget, Document, Limits, Node};

pub(crate) struct Tree {
    files: Vec<(String, String, Vec<Document>)>,
    directories: BTreeMap<String, BTreeSet<String>>,
}

/// A repository of these files.
pub(crate) fn tree(files: &[(&str, &str)]) -> Tree {
    let file = |(at, (path, text)): (usize, &(&str, &str))| {
        let id = FileId(u32::try_from(at).expect("few files"));
        ((*path).to_owned(), (*text).to_owned(), yaml::parse(id, text, Limits::default()))
    };
    Tree { directories: directories(files), files: files.iter().enumerate().map(file).collect() }
}

impl Tree {
    pub(crate) fn build(&self, directory: &str) -> Build {
        coldstart_kustomize::build(self, directory, &Overlay::default(), Mode::Kustomize, &mut Budget::of_build())
    }

    pub(crate) fn flux(&self, directory: &str, overlay: &Overlay) -> Build {
        coldstart_kustomize::build(self, directory, overlay, Mode::Flux, &mut Budget::of_build())
    }

    /// The file and line of a place.
    pub(crate) fn place(&self, span: Span) -> String {
        match self.files.get(span.file.0 as usize) {
            Some((path, text, _)) => format!("{path}:{}", Source::new(text.clone()).position(span).line),
            None => "generated".to_owned(),
        }
    }

    /// Where the value at a path of the first object of a kind comes from.
    pub(crate) fn origin(&self, build: &Build, kind: &str, path: &[&str]) -> String {
        let node = path.iter().fold(object(build, kind), |node, part| match part.parse::<usize>() {
            Ok(at) => &node.as_seq().expect("a list")[at],
            Err(_) => node.get(part).unwrap_or_else(|| panic!("no {part} in {node:?}")),
        });
        self.place(node.span)
    }

    /// Failures as `file:line message`.
    pub(crate) fn failures(&self, build: &Build) -> Vec<String> {
        build.failures.iter().map(|failure| format!("{} {}", self.place(failure.span), failure.error)).collect()
    }
}

fn directories(files: &[(&str, &str)]) -> BTreeMap<String, BTreeSet<String>> {
    let mut directories: BTreeMap<String, BTreeSet<String>> = BTreeMap::from([(String::new(), BTreeSet::new())]);
    for (path, _) in files {
        let mut rest = *path;
        while let Some((parent, name)) = rest.rsplit_once('/') {
            directories.entry(parent.to_owned()).or_default().insert(name.to_owned());
            rest = parent;
        }
        directories.entry(String::new()).or_default().insert(rest.to_owned());
    }
    directories
}

impl Files for Tree {
    fn kind(&self, path: &str) -> PathKind {
        if self.files.iter().any(|(known, ..)| known == path) {
            PathKind::File
        } else if self.directories.contains_key(path) {
            PathKind::Directory
        } else {
            PathKind::Missing
        }
    }

    fn list(&self, directory: &str) -> Vec<String> {
        self.directories.get(directory).into_iter().flatten().cloned().collect()
    }

    fn documents(&self, path: &str) -> Option<(FileId, &[Document])> {
        let at = self.files.iter().position(|(known, ..)| known == path)?;
        Some((FileId(u32::try_from(at).ok()?), &self.files[at].2))
    }

    fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.files.iter().find(|(known, ..)| known == path).map(|(_, text, _)| text.as_bytes())
    }

    fn source(&self, file: FileId) -> Option<&str> {
        self.files.get(file.0 as usize).map(|(_, text, _)| text.as_str())
    }
}

/// The first object of a kind.
pub(crate) fn object<'a>(build: &'a Build, kind: &str) -> &'a Node {
    let found = build.objects.iter().find(|object| object.text_at(&["kind"]) == Some(kind));
    found.unwrap_or_else(|| panic!("no {kind} in {:?}", names(build)))
}

/// Kind and name of all objects, in order.
pub(crate) fn names(build: &Build) -> Vec<String> {
    let text = |object: &Node, path: &[&str]| object.text_at(path).unwrap_or_default().to_owned();
    let name = |object| format!("{}/{}", text(object, &["kind"]), text(object, &["metadata", "name"]));
    build.objects.iter().map(name).collect()
}

/// The build went well and gave exactly these objects, in this order.
#[track_caller]
pub(crate) fn assert_built(build: &Build, expected: &str) {
    assert_eq!(build.failures, [], "no failures");
    let documents = yaml::parse(FileId::GENERATED, expected, Limits::default());
    let expected: Vec<Node> = documents.into_iter().filter_map(|document| document.root).collect();
    assert_eq!(plain(&build.objects), plain(&expected));
}

/// Objects without their spans, for readable differences.
fn plain(objects: &[Node]) -> Vec<String> {
    objects.iter().map(|object| format!("{:#}", Plain(object))).collect()
}

struct Plain<'a>(&'a Node);

impl std::fmt::Display for Plain<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0.value {
            yaml::Value::Scalar(scalar) => write!(out, "{:?}:{}", scalar.kind, scalar.text),
            yaml::Value::Seq(items) => {
                write!(out, "[")?;
                items.iter().try_for_each(|item| write!(out, "{}, ", Plain(item)))?;
                write!(out, "]")
            }
            yaml::Value::Map(map) => {
                let sorted: BTreeMap<&str, &Node> =
                    map.iter().map(|entry| (entry.key.as_str(), &entry.value)).collect();
                write!(out, "{{")?;
                sorted.iter().try_for_each(|(key, value)| write!(out, "{key}={} ", Plain(value)))?;
                write!(out, "}}")
            }
        }
    }
}
