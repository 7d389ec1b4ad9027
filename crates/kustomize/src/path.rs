//! Paths inside the repository, and telling them from addresses of other places.
//!
//! Works on text alone: whether anything is at a path is for [`crate::Files`] to say.

/// Joins a path that a file in `directory` names. `None` when it leaves the repository or is absolute.
pub(crate) fn join(directory: &str, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Whether `directory` is `other` or has it somewhere below.
pub(crate) fn contains(directory: &str, other: &str) -> bool {
    directory.is_empty()
        || other == directory
        || other.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

pub(crate) fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// A file that would be fetched over HTTP.
pub(crate) fn is_url(path: &str) -> bool {
    strip_prefix_ignoring_case(path, "https://").or_else(|| strip_prefix_ignoring_case(path, "http://")).is_some()
}

/// A repository that would be cloned, by the same rules that kustomize takes a path for one.
pub(crate) fn is_repository(path: &str) -> bool {
    if path.starts_with('/') {
        return false;
    }
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    let path = strip_prefix_ignoring_case(path, "git::").unwrap_or(path);
    let schemes = ["ssh://", "https://", "http://", "file://"];
    let scheme = schemes.into_iter().find(|scheme| strip_prefix_ignoring_case(path, scheme).is_some());
    let path = scheme.and_then(|scheme| strip_prefix_ignoring_case(path, scheme)).unwrap_or(path);
    let (user, path) = split_user(path);
    let github =
        ["github.com/", "github.com:"].into_iter().any(|host| strip_prefix_ignoring_case(path, host).is_some());
    let short_form = scheme.is_none() && (user || github);
    if scheme.is_none() && !short_form {
        return false;
    }
    let separators: &[char] = if short_form { &['/', ':'] } else { &['/'] };
    let Some((_, rest)) = path.split_once(separators) else { return false };
    let marked = rest.contains("_git/") || rest.contains("//") || rest.contains(".git");
    scheme == Some("file://") || marked || rest.split('/').count() >= 2
}

fn split_user(path: &str) -> (bool, &str) {
    let Some((user, rest)) = path.split_once('@') else { return (false, path) };
    let named = user.starts_with(|first: char| first.is_ascii_alphabetic())
        && user.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if named { (true, rest) } else { (false, path) }
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside_of_the_repository() {
        assert_eq!(join("apps/web", "../base"), Some("apps/base".to_owned()));
        assert_eq!(join("", "./a//b/."), Some("a/b".to_owned()));
        assert_eq!(join("apps", ".."), Some(String::new()));
        assert_eq!(join("apps", "../.."), None);
        assert_eq!(join("apps", "/etc/passwd"), None);
    }

    #[test]
    fn addresses_are_not_taken_for_paths() {
        for address in [
            "github.com/fluxcd/flux2//manifests/install?ref=v2",
            "https://github.com/fluxcd/flux2",
            "git@github.com:fluxcd/flux2.git",
            "ssh://git@example.org/org/repo",
            "git::https://example.org/org/repo",
        ] {
            assert!(is_repository(address), "{address}");
        }
        for path in ["../base", "github.company/x", "base/github.com/x/y", "x@y.yaml", "/abs/github.com/x/y"] {
            assert!(!is_repository(path), "{path}");
        }
    }
}
