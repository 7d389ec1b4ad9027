//! The SealedSecrets of a repository, and where each of them lands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ::seal::manifest::{Place, SealedSecret, sealed_secrets};
use ::seal::store::{Lock, write_atomically};
use ::seal::verify::Landing;
use read::{Applied, Repository};
use yaml::{FileId, Limits, Position, Source, Span};

use super::failure::SealFailure;
use super::store;

/// What lands when nobody says where: as kubectl would.
const NAMESPACE_DEFAULT: &str = "default";

/// One SealedSecret of a file.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// From the root of the repository.
    pub(crate) path: String,
    /// Where in the file.
    pub(crate) place: Place,
    pub(crate) sealed: SealedSecret,
    pub(crate) at: Position,
    /// Where it ends up in the clusters that apply it; without any, where its file says.
    pub(crate) landings: Vec<Landing>,
}

/// What was found, and what may hold more and can't be read.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) found: Vec<Found>,
    /// `path:line` and what the reader says.
    pub(crate) unreadable: Vec<(String, String)>,
}

/// Every SealedSecret below the root, YAML or JSON, in the order of paths.
pub(crate) fn find(repository: &Repository, applied: &[Applied]) -> Tree {
    let landings = landings(applied);
    let is_candidate = |path: &&str| {
        let path = Path::new(path);
        path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml" || ending == "json")
    };
    let paths: Vec<&str> = repository.paths().filter(is_candidate).collect();
    let trees = read::parallel::map(&paths, |path| {
        let source = repository.id(path).and_then(|id| Some((id, repository.source(id)?)));
        let source = source.filter(|(_, source)| source.text().contains("SealedSecret"));
        source.map_or_else(Tree::default, |(id, source)| in_file(path, id, source, &landings))
    });
    let mut tree = Tree::default();
    for one in trees {
        tree.found.extend(one.found);
        tree.unreadable.extend(one.unreadable);
    }
    tree
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

fn in_file(path: &str, id: FileId, source: &Source, landings: &Landings) -> Tree {
    let mut tree = Tree::default();
    let documents = yaml::parse(id, source.text(), Limits::default());
    for read in documents.iter().filter(|read| read.root.is_none() && is_manifest(source.text())) {
        if let Some(problem) = read.problems.first() {
            let line = source.position(problem.span).line;
            tree.unreadable.push((format!("{path}:{line}"), problem.message.clone()));
        }
    }
    for (place, sealed) in sealed_secrets(&documents) {
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

/// Templates of other tools speak of SealedSecrets, too, and are no YAML.
fn is_manifest(text: &str) -> bool {
    text.contains("kind: SealedSecret") && !text.contains("{{")
}

/// Changes a file of the repository: read, changed and replaced under a lock, so that of two writers none is lost.
pub(crate) fn change<T>(
    path: &Path,
    work: impl FnOnce(Option<String>) -> Result<(Option<String>, T), SealFailure>,
) -> Result<T, SealFailure> {
    let parent = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(SealFailure::file(parent))?;
    let _lock = Lock::file(&lock_of(path)?)?;
    let before = match std::fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(SealFailure::file(path)(error)),
    };
    let is_new = before.is_none();
    let (after, result) = work(before)?;
    if let Some(after) = after {
        write_atomically(path, after.as_bytes()).map_err(SealFailure::file(path))?;
        if is_new {
            make_readable(path);
        }
    }
    Ok(result)
}

/// Not beside the file, where a lock has no place in somebody's repository, nor where others could put one first.
fn lock_of(path: &Path) -> Result<PathBuf, SealFailure> {
    let path = path.canonicalize().or_else(|_| {
        let parent = path.parent().unwrap_or(Path::new(".")).canonicalize()?;
        Ok::<_, std::io::Error>(parent.join(path.file_name().unwrap_or_default()))
    });
    let digest = ::seal::digest_hex(path.unwrap_or_default().as_os_str().as_encoded_bytes());
    Ok(store::data_directory()?.join("locks").join(format!("{digest}.lock")))
}

/// A SealedSecret is meant to be read by everybody, as other files of a repository are.
fn make_readable(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let _as_it_was = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644));
    }
    let _ = path;
}
