//! What hooks of releases apply with kubectl.

use yaml::Node;

use super::Hooked;
use super::release::Context;
use super::templates::Named;
use crate::naming::exists;
use crate::scripts;
use ::repository::path;

impl Context<'_> {
    /// What `kubectl apply` in the hooks of a release applies.
    pub(super) fn applied_by_hooks(&self, sources: &[&Node], release: Named<'_>) -> Vec<Hooked> {
        // What is not known is no path.
        let filled = |node: &Node| self.filled(node, release).unwrap_or_default();
        let mut applied = Vec::new();
        for hook in sources.iter().flat_map(|source| source.items_at("hooks")) {
            let mut words: Vec<String> = hook.text_at(&["command"]).map(str::to_owned).into_iter().collect();
            words.extend(hook.items_at("args").iter().map(filled));
            let is_after = hook.items_at("events").iter().filter_map(Node::text).any(|event| event.starts_with("post"));
            for target in scripts::applied_by(&words) {
                let target = path::join(path::parent(self.file), &target);
                let found = target.filter(|path| exists(self.repository, path));
                applied.extend(found.map(|path| Hooked { path, is_after }));
            }
        }
        applied
    }
}
