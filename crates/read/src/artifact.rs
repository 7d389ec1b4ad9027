//! ArtifactGenerators: which files of which source end up where in the ExternalArtifacts that Flux builds from.
//!
//! Knows the copy rules of `source.extensions.fluxcd.io`. Does not know which source is this repository, nor which files
//! exist: patterns are turned into directories, not into lists of files.

use yaml::{EcoString, Node, Span};

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
    let Some(wanted) = normalise(path_in_artifact) else { return Vec::new() };
    let mut found: Vec<String> = Vec::new();
    for copy in &artifact.copies {
        for path in copy.origins(&wanted) {
            if !copy.excludes(&path) && !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

/// Whether files lie to each other in the artifact otherwise than in the source, so that a `../base` inside of the
/// artifact may mean something else than the same path in the repository.
pub fn layout_differs(artifact: &Artifact) -> bool {
    let mut shift: Option<Shift> = None;
    for copy in &artifact.copies {
        let Some(this) = copy.shift() else { return true };
        match &shift {
            None => shift = Some(this),
            Some(first) if *first == this => {}
            Some(_) => return true,
        }
    }
    false
}

/// What has to be taken from the front of a source path, and put there, to get the path in the artifact.
#[derive(Debug, PartialEq, Eq)]
struct Shift {
    source_alias: EcoString,
    removed: String,
    added: String,
}

impl Copy {
    /// What is copied as a directory: its path in the source, and where it lies in the artifact.
    fn directories(&self) -> Option<(String, String)> {
        let (base, is_pattern) = pattern_base(&self.from);
        let base = normalise(base)?;
        let target = normalise(&self.to)?;
        let name = base.rsplit('/').next().unwrap_or_default();
        let keeps_name = !is_pattern && self.is_into_directory() && !base.is_empty() && !self.from.ends_with('/');
        Some(if keeps_name { (base.clone(), join(&target, name)) } else { (base, target) })
    }

    fn is_into_directory(&self) -> bool {
        self.to.is_empty() || self.to.ends_with('/')
    }

    /// Where in the source `wanted` comes from. A parent of what is copied stands for the whole copy.
    fn origins(&self, wanted: &str) -> Vec<String> {
        let Some((base, target)) = self.directories() else { return Vec::new() };
        if self.strategy == Strategy::Extract {
            return if below(&target, wanted).is_some() || below(wanted, &target).is_some() {
                vec![base]
            } else {
                Vec::new()
            };
        }
        if let Some(rest) = below(&target, wanted) {
            return vec![join(&base, rest)];
        }
        if below(wanted, &target).is_some() { vec![base] } else { Vec::new() }
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

    fn shift(&self) -> Option<Shift> {
        let (base, target) = self.directories()?;
        if self.strategy == Strategy::Extract {
            return None;
        }
        let common = base
            .rsplit('/')
            .zip(target.rsplit('/'))
            .take_while(|(one, other)| one == other && !one.is_empty())
            .map(|(part, _)| part.len() + 1)
            .sum::<usize>();
        let cut = |path: &str| {
            path[..(path.len() + 1).saturating_sub(common).min(path.len())].trim_end_matches('/').to_owned()
        };
        Some(Shift { source_alias: self.source_alias.clone(), removed: cut(&base), added: cut(&target) })
    }
}

/// The directory before the first wildcard, and whether there is one.
fn pattern_base(pattern: &str) -> (&str, bool) {
    match pattern.find(['*', '?', '[', '{']) {
        Some(at) => (&pattern[..pattern[..at].rfind('/').unwrap_or(0)], true),
        None => (pattern, false),
    }
}

/// Without `.`, empty parts and slashes at the ends. `None` for a path that leaves its root.
fn normalise(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn join(directory: &str, rest: &str) -> String {
    match (directory, rest) {
        ("", rest) => rest.to_owned(),
        (directory, "") => directory.to_owned(),
        (directory, rest) => format!("{directory}/{rest}"),
    }
}

/// The rest of `path` below `directory`; empty when they are the same.
fn below<'path>(directory: &str, path: &'path str) -> Option<&'path str> {
    if directory.is_empty() {
        return Some(path);
    }
    let rest = path.strip_prefix(directory)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
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
