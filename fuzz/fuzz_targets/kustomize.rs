//! Any files give a build, in bounded time and without a panic, that points only at files that are there; and the same
//! files give the same build.
#![no_main]

use kustomize::{Build, Files, Mode, Overlay, PathKind};
use libfuzzer_sys::fuzz_target;
use source::{FileId, Span};
use yaml::{Document, Limits, Node, Value};

/// Small, so that a build of hostile files stays fast.
const LIMITS: Limits = Limits { nodes_max: 5_000, depth_max: 40, documents_max: 50 };
/// The files of the repository, in the order that the input is cut into them.
const PATHS: [&str; 5] = ["kustomization.yaml", "a.yaml", "b.yaml", "x/kustomization.yaml", "x/c.yaml"];
/// Cuts the input.
const SEPARATOR: char = '\u{1}';

fuzz_target!(|text: &str| {
    let tree = Tree::new(text);
    let overlay = Overlay::default();
    for (directory, mode) in [("", Mode::Kustomize), ("x", Mode::Kustomize), ("", Mode::Flux)] {
        let build = kustomize::build(&tree, directory, &overlay, mode, &mut yaml::Budget::of_build());
        check(&build);
        let again = kustomize::build(&tree, directory, &overlay, mode, &mut yaml::Budget::of_build());
        assert_eq!(build.objects, again.objects, "same files, same objects");
        assert_eq!(build.failures, again.failures, "same files, same failures");
        assert_eq!(build.blind, again.blind, "same files, same blind spots");
    }
});

fn check(build: &Build) {
    build.failures.iter().for_each(|failure| in_tree(failure.span));
    build.blind.iter().for_each(|blind| in_tree(blind.span));
    build.objects.iter().for_each(walk);
    assert!(build.files.iter().all(|path| PATHS.contains(&path.as_str())));
    assert!(build.files.is_sorted());
}

fn walk(node: &Node) {
    in_tree(node.span);
    match &node.value {
        Value::Scalar(_) => {}
        Value::Seq(items) => items.iter().for_each(walk),
        Value::Map(map) => map.iter().for_each(|entry| walk(&entry.value)),
    }
}

fn in_tree(span: Span) {
    assert!(span.is_generated() || (span.file.0 as usize) < PATHS.len());
    assert!(span.start <= span.end, "{span:?} ends before it starts");
}

struct Tree<'a> {
    files: Vec<(&'static str, &'a str, Vec<Document>)>,
}

impl<'a> Tree<'a> {
    fn new(text: &'a str) -> Self {
        let mut parts = text.splitn(PATHS.len(), SEPARATOR);
        let file = |(id, path): (u32, &'static str)| {
            let text = parts.next().unwrap_or_default();
            (path, text, yaml::parse(FileId(id), text, LIMITS))
        };
        Self { files: (0..).zip(PATHS).map(file).collect() }
    }
}

impl Files for Tree<'_> {
    fn kind(&self, path: &str) -> PathKind {
        match path {
            "" | "x" => PathKind::Directory,
            _ if PATHS.contains(&path) => PathKind::File,
            _ => PathKind::Missing,
        }
    }

    fn list(&self, directory: &str) -> Vec<String> {
        let names: &[&str] = match directory {
            "" => &["a.yaml", "b.yaml", "kustomization.yaml", "x"],
            "x" => &["c.yaml", "kustomization.yaml"],
            _ => &[],
        };
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn documents(&self, path: &str) -> Option<(FileId, &[Document])> {
        let at = self.files.iter().position(|(known, ..)| *known == path)?;
        Some((FileId(u32::try_from(at).ok()?), &self.files[at].2))
    }

    fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.files.iter().find(|(known, ..)| *known == path).map(|(_, text, _)| text.as_bytes())
    }

    fn source(&self, file: FileId) -> Option<&str> {
        self.files.get(file.0 as usize).map(|(_, text, _)| *text)
    }
}
