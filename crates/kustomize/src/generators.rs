//! `configMapGenerator` and `secretGenerator`: objects from literals, files and environment files.
//!
//! Charts and other generators would have to be fetched or run; they are reported as not looked at.

use std::collections::HashSet;

use ecow::EcoString;
use source::Span;
use yaml::{Cost, Entry, Map, Node, Value};

use crate::accumulate::Accumulated;
use crate::builder::Builder;
use crate::kustomization::Kustomization;
use crate::path;
use crate::resource::{Behavior, Resource};
use crate::{BuildError, Overlooked};

/// kustomize breaks base64 into lines, and the breaks count for the hash.
const BASE64_LINE_CHARACTERS: usize = 70;

/// What a generated object has beside its data.
const GENERATED_NODES: usize = 12;
/// A line takes longer to make a pair of than to read.
const LINES_TIMES: usize = 8;
/// The two fields of generated data.
const DATA: usize = 0;
const BINARY: usize = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Generated {
    ConfigMap,
    Secret,
}

/// One key of a generated object, and the line that brought it.
struct Pair {
    key: EcoString,
    value: Content,
    span: Span,
}

/// What stands under a key. The text of a file is kept once, however many objects it is in.
enum Content {
    Text(EcoString),
    Bytes(Vec<u8>),
}

impl Content {
    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

impl Builder<'_> {
    pub(crate) fn generate(&mut self, accumulated: &mut Accumulated, directory: &str, kustomization: &Kustomization) {
        let global = kustomization.generator_options.as_ref();
        for item in &kustomization.config_maps {
            if self.exhausted {
                return;
            }
            self.generate_one(accumulated, directory, item, global, Generated::ConfigMap);
        }
        for item in &kustomization.secrets {
            if self.exhausted {
                return;
            }
            self.generate_one(accumulated, directory, item, global, Generated::Secret);
        }
        for chart in &kustomization.helm_charts {
            let name = chart.text_at(&["name"]).or_else(|| chart.text_at(&["chartName"])).unwrap_or_default();
            self.overlook(Overlooked::Chart { name: name.to_owned() }, chart.span);
        }
        self.run_generators(accumulated, directory, kustomization);
    }

    pub(crate) fn generate_one(
        &mut self,
        accumulated: &mut Accumulated,
        directory: &str,
        item: &Node,
        global: Option<&Node>,
        kind: Generated,
    ) {
        let Some(name) = item.get("name").filter(|name| name.text().is_some_and(|text| !text.is_empty())) else {
            self.fail(BuildError::GeneratorWithoutName, item.span);
            return;
        };
        let pairs = self.pairs(directory, item);
        let bytes =
            if kind == Generated::Secret { pairs.iter().map(|pair| pair.value.as_bytes().len()).sum() } else { 0 };
        let made = Cost::made(GENERATED_NODES + pairs.len(), bytes / 3 * 4).and(Resource::COST);
        if !self.affords(made, item.span) {
            return;
        }
        let local = item.get("options");
        let object = make_object(item, name, &pairs, [local, global], kind);
        let mut resource = Resource::new(object);
        resource.behavior = Behavior::parse(item.text_at(&["behavior"]).unwrap_or_default());
        resource.needs_hash = !flag([local, global], "disableNameSuffixHash");
        self.absorb(accumulated, resource, item.span);
    }

    fn pairs(&mut self, directory: &str, item: &Node) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for source in item.items_at("envs").iter().chain(item.get("env").filter(|env| env.text().is_some())) {
            self.pairs_of_lines(directory, source, &mut pairs);
        }
        for source in item.items_at("literals") {
            let text = source.text().unwrap_or_default();
            match text.split_once('=') {
                Some((key, value)) if !key.is_empty() => {
                    let value = Content::Text(unquote(value).into());
                    pairs.push(Pair { key: key.into(), value, span: source.span });
                }
                _ => self.fail(BuildError::NoPair { text: text.to_owned() }, source.span),
            }
        }
        for source in item.items_at("files") {
            self.pair_of_file(directory, source, &mut pairs);
        }
        let mut seen = HashSet::new();
        for pair in &pairs {
            if !seen.insert(pair.key.clone()) {
                self.fail(BuildError::DoubledKey { key: pair.key.to_string() }, pair.span);
            }
        }
        pairs
    }

    fn pairs_of_lines(&mut self, directory: &str, source: &Node, pairs: &mut Vec<Pair>) {
        let Some(path) = self.file(directory, source) else { return };
        let Some(bytes) = self.bytes(&path, source.span) else { return };
        // One key takes four bytes at least.
        if !self.affords(Cost::read(bytes.len() * LINES_TIMES), source.span) {
            return;
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            self.fail(BuildError::NotUtf8 { path }, source.span);
            return;
        };
        for line in text.strip_prefix('\u{feff}').unwrap_or(text).lines() {
            let line = line.trim_start();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            if !key.is_empty() {
                pairs.push(Pair { key: key.into(), value: Content::Text(value.into()), span: source.span });
            }
        }
    }

    fn pair_of_file(&mut self, directory: &str, source: &Node, pairs: &mut Vec<Pair>) {
        let text = source.text().unwrap_or_default();
        let (key, file) = match text.split_once('=') {
            None => (path::base_name(text), text),
            Some((key, file)) if !key.is_empty() && !file.is_empty() && !file.contains('=') => (key, file),
            Some(_) => {
                self.fail(BuildError::NoPathPair { text: text.to_owned() }, source.span);
                return;
            }
        };
        let Some(path) = self.file(directory, &Node::string(file, source.span)) else { return };
        if let Some(bytes) = self.bytes(&path, source.span) {
            let value = match self.files.shared_text(&path) {
                Some(text) => Content::Text(text),
                None if !self.affords(Cost::made(1, bytes.len()), source.span) => return,
                None => std::str::from_utf8(bytes)
                    .map_or_else(|_| Content::Bytes(bytes.to_vec()), |text| Content::Text(text.into())),
            };
            pairs.push(Pair { key: key.into(), value, span: source.span });
        }
    }

    /// Adds a generated object, or merges it with the one that is there, as its behavior says.
    fn absorb(&mut self, accumulated: &mut Accumulated, mut resource: Resource, span: Span) {
        let id = resource.id();
        let found = accumulated.resources.with_id(&id);
        match (found.as_slice(), resource.behavior) {
            ([], Behavior::Merge | Behavior::Replace) => {
                // What was not fetched may hold it.
                if self.blind.is_empty() {
                    self.fail(BuildError::NothingToMerge { object: id.to_string() }, span);
                }
                self.append(accumulated, std::iter::once(resource), span);
            }
            ([], _) => self.append(accumulated, std::iter::once(resource), span),
            ([at], behavior @ (Behavior::Merge | Behavior::Replace)) => {
                let old = accumulated.resources.get(*at);
                let merged = old.node.entries().iter().map(|entry| entry.value.entries().len()).sum();
                if !self.affords(Cost::made(merged, 0), span) {
                    return;
                }
                if behavior == Behavior::Merge {
                    for field in ["data", "binaryData"] {
                        merge_texts(&mut resource.node, &old.node, &[field]);
                    }
                }
                inherit(&mut resource, old);
                *accumulated.resources.content_mut(*at) = resource;
            }
            ([_], _) => self.fail(BuildError::GeneratedExists { object: id.to_string() }, span),
            _ => self.fail(BuildError::ManyToMerge { object: id.to_string() }, span),
        }
    }
}

/// Takes over the metadata and the history of the object that is merged with or replaced.
fn inherit(resource: &mut Resource, old: &Resource) {
    merge_texts(&mut resource.node, &old.node, &["metadata", "labels"]);
    merge_texts(&mut resource.node, &old.node, &["metadata", "annotations"]);
    let span = resource.node.span;
    resource.set_metadata("name", &old.name, span);
    if old.namespace.is_empty() {
        resource.remove_metadata("namespace");
    } else {
        resource.set_metadata("namespace", &old.namespace, span);
    }
    resource.previous.clone_from(&old.previous);
    resource.prefixes.clone_from(&old.prefixes);
    resource.suffixes.clone_from(&old.suffixes);
    resource.vars.clone_from(&old.vars);
    resource.behavior = old.behavior;
    resource.needs_hash &= old.needs_hash;
}

/// Puts what only `old` has at the path in as well.
fn merge_texts(node: &mut Node, old: &Node, path: &[&str]) {
    let Some(entries) = old.at(path).map(Node::entries).filter(|entries| !entries.is_empty()) else { return };
    let span = node.span;
    let Value::Map(root) = &mut node.value else { return };
    let map = path.iter().fold(root, |map, key| map.map_mut(key, span));
    let known: HashSet<EcoString> = map.iter().map(|entry| entry.key.clone()).collect();
    let missing: Vec<Entry> = entries.iter().filter(|entry| !known.contains(&entry.key)).cloned().collect();
    map.insert_all(missing.into_iter());
}

fn make_object(item: &Node, name: &Node, pairs: &[Pair], options: [Option<&Node>; 2], kind: Generated) -> Node {
    let span = item.span;
    let text = |text: &str| Node::string(text, span);
    let mut metadata = Map::new();
    metadata.insert("name", span, Node::string(name.text().unwrap_or_default(), name.span));
    if let Some(namespace) = item.get("namespace").filter(|node| node.text().is_some_and(|text| !text.is_empty())) {
        metadata.insert("namespace", span, namespace.clone());
    }
    for field in ["labels", "annotations"] {
        add_options(&mut metadata, options, field, span);
    }
    let mut object = Map::new();
    object.insert("apiVersion", span, text("v1"));
    object.insert("kind", span, text(if kind == Generated::Secret { "Secret" } else { "ConfigMap" }));
    object.insert("metadata", span, Node::map(metadata, span));
    if kind == Generated::Secret {
        let written = item.get("type").filter(|node| node.text().is_some_and(|text| !text.is_empty()));
        object.insert("type", span, written.cloned().unwrap_or_else(|| text("Opaque")));
        object.map_mut("data", span);
    }
    let mut fields: [Vec<Entry>; 2] = [Vec::new(), Vec::new()];
    let mut first = None;
    for pair in pairs {
        let (field, value) = match (kind, &pair.value) {
            (Generated::ConfigMap, Content::Text(text)) => (DATA, text.clone()),
            (Generated::ConfigMap, Content::Bytes(bytes)) => (BINARY, base64(bytes)),
            (Generated::Secret, value) => (DATA, base64(value.as_bytes())),
        };
        first = first.or(Some(field));
        let value = Node::string(value, pair.span);
        fields[field].push(Entry { key: pair.key.clone(), key_span: pair.span, value });
    }
    // In the order in which they are met.
    let order = if first == Some(BINARY) { [BINARY, DATA] } else { [DATA, BINARY] };
    for field in order {
        let entries = std::mem::take(&mut fields[field]);
        if !entries.is_empty() {
            object.map_mut(["data", "binaryData"][field], span).insert_all(entries.into_iter());
        }
    }
    if flag(options, "immutable") {
        object.insert("immutable", span, Node::plain("true", span));
    }
    Node::map(object, span)
}

/// Labels or annotations of the generator's own options, then of the kustomization's.
fn add_options(metadata: &mut Map, options: [Option<&Node>; 2], field: &str, span: Span) {
    for entry in options.into_iter().flatten().filter_map(|options| options.get(field)).flat_map(Node::entries) {
        let map = metadata.map_mut(field, span);
        if !map.contains_key(&entry.key) {
            let text = entry.value.text().unwrap_or_default();
            map.insert(entry.key.clone(), entry.key_span, Node::string(text, entry.value.span));
        }
    }
}

fn flag(options: [Option<&Node>; 2], key: &str) -> bool {
    options.into_iter().flatten().any(|options| options.get(key).and_then(crate::style::as_bool).unwrap_or_default())
}

fn unquote(text: &str) -> &str {
    let inner = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    if text.len() < 2 {
        return text;
    }
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

fn base64(bytes: &[u8]) -> EcoString {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len() / 3 * 4 + bytes.len() / 40 + 8);
    let digits = bytes.len().div_ceil(3) * 4;
    let broken = digits >= BASE64_LINE_CHARACTERS;
    let mut column = 0;
    let mut push = |digit: char| {
        out.push(digit);
        column += 1;
        if broken && column % BASE64_LINE_CHARACTERS == 0 {
            out.push('\n');
        }
    };
    for chunk in bytes.chunks(3) {
        let [first, second, third] = [0, 1, 2].map(|at| u32::from(chunk.get(at).copied().unwrap_or_default()));
        let group = first << 16 | second << 8 | third;
        for place in 0..4 {
            let digit = DIGITS[(group >> (18 - 6 * place) & 63) as usize];
            push(if place <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    if broken && !digits.is_multiple_of(BASE64_LINE_CHARACTERS) {
        out.push('\n');
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_broken_into_lines_as_kustomize_does() {
        assert_eq!(base64(b"hello"), "aGVsbG8=");
        assert_eq!(base64(b""), "");
        let long = base64(&[b'a'; 60]);
        assert_eq!(long.lines().map(str::len).collect::<Vec<_>>(), [70, 10]);
        assert!(long.ends_with('\n'));
    }
}
