//! What hooks of releases apply with kubectl, and which of these files are not there.

use yaml::Node;

use super::Hooked;
use super::release::Context;
use crate::naming::exists;
use crate::scripts::{self, MissingFile};
use crate::templated_yaml;
use ::repository::path;

impl Context<'_> {
    /// What `kubectl apply` in the hooks of a release applies.
    pub(super) fn applied_by_hooks(&self, sources: &[&Node], namespace: &str, name: &str) -> Vec<Hooked> {
        let text = self.repository.id(self.file).and_then(|id| self.repository.source(id));
        let raw = |node: &Node| {
            let written = text.and_then(|text| text.slice(node.span)).unwrap_or_default();
            with_release(written.trim_matches(['"', '\'']), namespace, name)
        };
        let mut applied = Vec::new();
        for hook in sources.iter().flat_map(|source| source.items_at("hooks")) {
            let mut words: Vec<String> = hook.text_at(&["command"]).map(str::to_owned).into_iter().collect();
            words.extend(hook.items_at("args").iter().map(raw));
            let is_after = hook.items_at("events").iter().filter_map(Node::text).any(|event| event.starts_with("post"));
            for target in scripts::applied_by(&words) {
                let target = path::join(path::parent(self.file), &target);
                let found = target.filter(|path| exists(self.repository, path));
                applied.extend(found.map(|path| Hooked { path, is_after }));
            }
        }
        applied
    }

    /// What plain `kubectl apply` hooks of a release apply and nobody has. Helmfile runs them in its own directory.
    pub(super) fn absent_in_hooks(&self, sources: &[&Node]) -> Vec<MissingFile> {
        let text =
            self.repository.id(self.file).and_then(|id| self.repository.source(id)).map_or("", source::Source::text);
        let mut absent = Vec::new();
        for (source, hook) in
            sources.iter().flat_map(|source| source.items_at("hooks").iter().map(move |it| (source, it)))
        {
            if hook.text_at(&["command"]) != Some("kubectl") || self.is_conditional(source.span, hook.span) {
                continue;
            }
            let arguments = hook.items_at("args");
            let words = ["kubectl"].into_iter().chain(arguments.iter().filter_map(Node::text)).map(str::to_owned);
            for target in scripts::applied_by(&words.collect::<Vec<_>>()) {
                // Named twice it may be made before it is applied.
                let is_plain = !templated_yaml::is_unknown(&target)
                    && !target.contains(['$', '{', '*', ':'])
                    && text.matches(target.as_str()).count() == 1;
                let path = path::join(path::parent(self.file), &target).filter(|_| is_plain);
                let place = arguments.iter().find(|node| node.text() == Some(&target));
                let found = path.zip(place).filter(|(path, _)| scripts::leads_nowhere(self.repository, path));
                absent.extend(found.map(|(path, place)| MissingFile { path, at: place.span }));
            }
        }
        absent
    }
}

/// The two variables that helmfile knows of a release, filled in.
fn with_release(text: &str, namespace: &str, name: &str) -> String {
    let mut output = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((action, after)) = after.split_once("}}") else { break };
        output.push_str(before);
        match action.trim_matches(['-', ' ']) {
            ".Release.Namespace" => output.push_str(namespace),
            ".Release.Name" => output.push_str(name),
            _ => output.push_str("{{?}}"),
        }
        rest = after;
    }
    output + rest
}
