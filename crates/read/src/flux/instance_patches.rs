//! What a FluxInstance patches in what it makes: of that, the Kustomization that its cluster begins with.

use kustomize::{Files, Mode, Overlay, PathKind};
use source::{FileId, Span};
use yaml::{Document, Limits, Node};

use crate::flux::kustomization::Kustomization;
use crate::flux::{CONTROL_PLANE_GROUP, Common, HELM_GROUP};
use crate::object::Object;
use crate::repository::Repository;

/// The file that the Kustomization is built from.
const FILE: &str = "sync.yaml";

/// The patches of a FluxInstance, or of the values of the chart that makes one.
pub(super) fn patches_of(node: &Node) -> &[Node] {
    let object = Object::new(node);
    let kustomize = if object.is(CONTROL_PLANE_GROUP, "FluxInstance") {
        node.at(&["spec", "kustomize"])
    } else if object.is(HELM_GROUP, "HelmRelease") {
        node.at(&["spec", "values", "instance", "kustomize"])
    } else {
        node.at(&["instance", "kustomize"])
    };
    kustomize.map(|kustomize| kustomize.items_at("patches")).unwrap_or_default()
}

/// The Kustomization of a sync as these patches leave it. What it applies is settled before.
pub(super) fn patched(common: &Common<'_>, root: Kustomization, patches: &[Node]) -> Kustomization {
    let patches: Vec<Node> = patches.iter().filter(|patch| may_mean_kustomization(patch)).cloned().collect();
    if patches.is_empty() {
        return root;
    }
    let repository = common.repository;
    let sync = Sync { repository, documents: yaml::parse(FileId::GENERATED, &written(&root), Limits::default()) };
    let overlay = Overlay { patches, ..Overlay::default() };
    let made = common.search(|ledger| ledger.one(|budget| kustomize::build(&sync, "", &overlay, Mode::Flux, budget)));
    let Some(node) = made.objects.first() else { return root };
    let built = Kustomization::read(node, &root.object.namespace);
    let own = |patched: Span, own: Span| if patched.is_generated() { own } else { patched };
    let (ties_at, gate_at) = (own(built.ties_at, root.ties_at), own(built.gate_at, root.gate_at));
    let mut patience = built.patience;
    patience.retry_at = own(patience.retry_at, root.patience.retry_at);
    let Kustomization { object, at, path, path_at, source, .. } = root;
    Kustomization { object, at, path, path_at, source, ties_at, gate_at, patience, ..built }
}

/// Whether a patch says that it is for Kustomizations; most are for Flux's own Deployments.
fn may_mean_kustomization(patch: &Node) -> bool {
    let is_written = || patch.text_at(&["patch"]).is_some_and(|text| text.contains("kind: Kustomization"));
    match patch.text_at(&["target", "kind"]) {
        Some(kind) => kind.contains("Kustomization"),
        None => is_written(),
    }
}

/// What the operator makes of a sync.
fn written(root: &Kustomization) -> String {
    let (name, namespace) = (quoted(&root.object.name), quoted(&root.object.namespace));
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\n  namespace: \
         {namespace}\nspec:\n  interval: 10m\n  prune: true\n"
    )
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A directory with nothing but one Kustomization in it.
struct Sync<'r> {
    repository: &'r Repository,
    documents: Vec<Document>,
}

impl Files for Sync<'_> {
    fn kind(&self, path: &str) -> PathKind {
        match path {
            "" => PathKind::Directory,
            FILE => PathKind::File,
            _ => PathKind::Missing,
        }
    }

    fn list(&self, directory: &str) -> Vec<String> {
        if directory.is_empty() { vec![FILE.to_owned()] } else { Vec::new() }
    }

    fn documents(&self, path: &str) -> Option<(FileId, &[Document])> {
        (path == FILE).then_some((FileId::GENERATED, self.documents.as_slice()))
    }

    fn bytes(&self, _path: &str) -> Option<&[u8]> {
        None
    }

    fn source(&self, file: FileId) -> Option<&str> {
        Files::source(self.repository, file)
    }

    fn inline(&self, block: &Node, parse: &dyn Fn() -> Vec<Document>) -> Vec<Document> {
        self.repository.inline(block, parse)
    }
}
