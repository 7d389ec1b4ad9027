//! Kinds of objects, and where an API server serves them. Knows no kind by name.

/// What an API server serves objects of a kind as.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource {
    /// Empty for the core group.
    pub group: String,
    pub version: String,
    /// As in paths: `pods`.
    pub plural: String,
    pub kind: String,
    pub namespaced: bool,
}

impl Resource {
    /// As objects write it: `v1`, `apps/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// The path of a list of them: of one namespace, or of all.
    pub(crate) fn path(&self, namespace: Option<&str>) -> String {
        let root = if self.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", self.group) };
        match namespace.filter(|_| self.namespaced) {
            Some(namespace) => {
                format!("{root}/{}/namespaces/{}/{}", self.version, escaped(namespace), self.plural)
            }
            None => format!("{root}/{}/{}", self.version, self.plural),
        }
    }
}

/// How much of an object is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Whole,
    /// Name, labels, annotations, owners; nothing else leaves the API server.
    Metadata,
}

/// A kind to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Empty for the core group.
    pub group: &'static str,
    pub plural: &'static str,
    /// The versions that are understood, best first; the API server's own choice where there are none.
    pub versions: &'static [&'static str],
    pub form: Form,
    /// Only objects with these values of fields, as the API server selects them.
    pub field_selector: Option<&'static str>,
    /// Its changes are taken, and nobody is woken for them.
    pub quiet: bool,
}

impl Wanted {
    pub const fn new(group: &'static str, plural: &'static str, versions: &'static [&'static str]) -> Self {
        Self { group, plural, versions, form: Form::Whole, field_selector: None, quiet: false }
    }

    #[must_use]
    pub const fn metadata(mut self) -> Self {
        self.form = Form::Metadata;
        self
    }

    #[must_use]
    pub const fn quiet(mut self) -> Self {
        self.quiet = true;
        self
    }

    #[must_use]
    pub const fn only(mut self, field_selector: &'static str) -> Self {
        self.field_selector = Some(field_selector);
        self
    }
}

/// A value for a path or a query of a URL.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            for half in [byte >> 4, byte & 15] {
                out.push(char::from_digit(half.into(), 16).unwrap_or('0').to_ascii_uppercase());
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Resource, escaped};

    #[test]
    fn paths_are_those_of_the_api_server() {
        let pods = Resource {
            group: String::new(),
            version: "v1".to_owned(),
            plural: "pods".to_owned(),
            kind: "Pod".to_owned(),
            namespaced: true,
        };
        assert_eq!(pods.path(None), "/api/v1/pods");
        assert_eq!(pods.path(Some("a/b")), "/api/v1/namespaces/a%2Fb/pods");
        let nodes = Resource { plural: "nodes".to_owned(), namespaced: false, ..pods.clone() };
        assert_eq!(nodes.path(Some("apps")), "/api/v1/nodes");
        let sets = Resource { group: "apps".to_owned(), ..pods };
        assert_eq!(sets.path(None), "/apis/apps/v1/pods");
        assert_eq!(sets.api_version(), "apps/v1");
    }

    #[test]
    fn what_a_query_may_not_hold_is_escaped() {
        assert_eq!(escaped("type!=Normal"), "type%21%3DNormal");
    }
}
