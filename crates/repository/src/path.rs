//! Paths inside of a repository: with `/`, relative to its root, without `.` and `..` parts.

/// `path` as seen from `directory`. `None` when it leaves the repository.
pub fn join(directory: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = if path.starts_with('/') { Vec::new() } else { split(directory).collect() };
    for part in split(path) {
        match part {
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// `path` as Flux takes the path of a Kustomization: what would leave the repository stays at its root.
pub fn within(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in split(path) {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn split(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

/// The directory a file lies in.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// Whether `path` is `directory` or lies below it.
pub fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty() || path == directory || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// A directory, the one it lies in, and so on up to the root.
pub fn ancestors(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |at| (!at.is_empty()).then(|| parent(at)))
}
