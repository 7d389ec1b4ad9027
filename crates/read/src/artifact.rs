//! ArtifactGenerators: which files of which source end up where in the ExternalArtifacts that Flux builds from.
//!
//! Knows the copy rules of `source.extensions.fluxcd.io`. Does not know which source is this repository, nor which files
//! exist: patterns are turned into directories, not into lists of files.

use source::Span;
use yaml::{EcoString, Node};

use ::repository::path;

/// One artifact: an ExternalArtifact of this name in this namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    pub name: EcoString,
    pub namespace: EcoString,
    /// In the order they are made: later copies overwrite earlier ones.
    pub copies: Vec<Copy>,
    pub span: Span,
}

/// One rule: what is copied from a source, and where to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    pub source_alias: EcoString,
    pub source: SourceRef,
    /// A path or pattern inside of the source.
    pub from: String,
    /// A path inside of the artifact; with a `/` at its end, or empty, a directory.
    pub to: String,
    pub strategy: Strategy,
    pub exclude: Vec<String>,
    pub span: Span,
}

/// The source that an alias stands for. An empty kind means that nothing declares the alias.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceRef {
    pub kind: EcoString,
    pub namespace: EcoString,
    pub name: EcoString,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    #[default]
    Overwrite,
    /// YAML files that are there already are merged with.
    Merge,
    /// The file copied is an archive, and its content is put there.
    Extract,
}

/// The artifacts of one ArtifactGenerator.
pub fn artifacts(generator: &Node) -> Vec<Artifact> {
    let namespace = generator.text_at(&["metadata", "namespace"]).unwrap_or_default();
    let Some(spec) = generator.get("spec") else { return Vec::new() };
    let source = |alias: &str| {
        let found = spec.items_at("sources").iter().find(|source| source.text_at(&["alias"]) == Some(alias));
        found.map_or_else(SourceRef::default, |source| SourceRef {
            kind: source.text_at(&["kind"]).unwrap_or_default().into(),
            namespace: source.text_at(&["namespace"]).unwrap_or(namespace).into(),
            name: source.text_at(&["name"]).unwrap_or_default().into(),
        })
    };
    let artifact = |node: &Node| {
        Some(Artifact {
            name: node.text_at(&["name"])?.into(),
            namespace: namespace.into(),
            copies: node.items_at("copy").iter().filter_map(|copy| copy_of(copy, &source)).collect(),
            span: node.span,
        })
    };
    spec.items_at("artifacts").iter().filter_map(artifact).collect()
}

fn copy_of(node: &Node, source: &dyn Fn(&str) -> SourceRef) -> Option<Copy> {
    let (alias, from) = split_alias(node.text_at(&["from"])?)?;
    let (target, to) = split_alias(node.text_at(&["to"])?)?;
    let strategy = match node.text_at(&["strategy"]) {
        Some("Merge") => Strategy::Merge,
        Some("Extract") => Strategy::Extract,
        _ => Strategy::Overwrite,
    };
    (target == "artifact").then(|| Copy {
        source_alias: alias.into(),
        source: source(alias),
        from: from.to_owned(),
        to: to.to_owned(),
        strategy,
        exclude: node.items_at("exclude").iter().filter_map(Node::text).map(str::to_owned).collect(),
        span: node.span,
    })
}

/// `@alias/path` into both; the path may be missing.
fn split_alias(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix('@')?;
    Some(rest.split_once('/').unwrap_or((rest, "")))
}

/// The paths of the sources that a path inside of the artifact comes from, without doubles. A directory may come from
/// several; the root of a source is the empty path.
pub fn resolve(artifact: &Artifact, path_in_artifact: &str) -> Vec<String> {
    let Some(wanted) = path::join("", path_in_artifact) else { return Vec::new() };
    let mut found: Vec<String> = Vec::new();
    for copy in &artifact.copies {
        let Some(path) = copy.origin(&wanted) else { continue };
        if !copy.excludes(&path) && !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

impl Copy {
    /// What is copied as a directory: its path in the source, and where it lies in the artifact.
    fn directories(&self) -> Option<(String, String)> {
        let (base, is_pattern) = pattern_base(&self.from);
        let base = path::join("", base)?;
        let target = path::join("", &self.to)?;
        let name = base.rsplit('/').next().unwrap_or_default();
        let keeps_name = !is_pattern && self.is_into_directory() && !base.is_empty() && !self.from.ends_with('/');
        Some(if keeps_name { (base.clone(), path::join(&target, name)?) } else { (base, target) })
    }

    fn is_into_directory(&self) -> bool {
        self.to.is_empty() || self.to.ends_with('/')
    }

    /// Where in the source `wanted` comes from. A parent of what is copied stands for the whole copy.
    fn origin(&self, wanted: &str) -> Option<String> {
        let (base, target) = self.directories()?;
        match below(&target, wanted) {
            Some(_) if self.strategy == Strategy::Extract => Some(base),
            Some(rest) => path::join(&base, rest),
            None => path::is_below(&target, wanted).then_some(base),
        }
    }

    fn excludes(&self, path: &str) -> bool {
        let Some((base, _)) = self.directories() else { return false };
        let Some(rest) = below(&base, path).filter(|rest| !rest.is_empty()) else { return false };
        self.exclude.iter().any(|pattern| {
            let pattern = pattern.trim_start_matches("./");
            let whole = pattern.strip_suffix("/**").unwrap_or(pattern);
            matches(whole, rest) || rest.match_indices('/').any(|(at, _)| matches(whole, &rest[..at]))
        })
    }
}

/// The directory before the first wildcard, and whether there is one.
fn pattern_base(pattern: &str) -> (&str, bool) {
    match pattern.find(['*', '?', '[', '{']) {
        Some(at) => (&pattern[..pattern[..at].rfind('/').unwrap_or(0)], true),
        None => (pattern, false),
    }
}

/// The rest of `path` below `directory`; empty when they are the same.
fn below<'path>(directory: &str, path: &'path str) -> Option<&'path str> {
    path::is_below(path, directory).then(|| path[directory.len()..].trim_start_matches('/'))
}

/// `*` matches inside of one part of a path, `**` any number of parts.
fn matches(pattern: &str, path: &str) -> bool {
    let mut expression = String::from("^");
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let (piece, length): (String, usize) = if rest.starts_with("**/") {
            ("(?:.*/)?".to_owned(), 3)
        } else if rest.starts_with("**") {
            (".*".to_owned(), 2)
        } else if first == '*' {
            ("[^/]*".to_owned(), 1)
        } else if first == '?' {
            ("[^/]".to_owned(), 1)
        } else {
            (regex::escape(first.encode_utf8(&mut [0; 4])), first.len_utf8())
        };
        expression.push_str(&piece);
        rest = &rest[length..];
    }
    expression.push('$');
    regex::Regex::new(&expression).is_ok_and(|expression| expression.is_match(path))
}
