use source::FileId;
use yaml::{Document, EcoString, Node};

/// The files of a repository as the builder sees them. Paths are relative to the repository's root, with `/` and without
/// `.` or `..` parts; the root itself is the empty path. The builder asks for nothing outside of it.
pub trait Files: Sync {
    /// What is at `path`, symbolic links inside the repository followed.
    fn kind(&self, path: &str) -> PathKind;

    /// The names in a directory, sorted. Empty for anything else.
    fn list(&self, directory: &str) -> Vec<String>;

    /// The documents of a YAML file, whatever its name. `None` when it can't be read or is too large.
    fn documents(&self, path: &str) -> Option<(FileId, &[Document])>;

    /// The bytes of a file, for generators and JSON patches. `None` when it can't be read or is too large.
    fn bytes(&self, path: &str) -> Option<&[u8]>;

    /// The text of a file, for whoever keeps it: one text for all. `None` where there is none to share, or it is no text.
    fn shared_text(&self, _path: &str) -> Option<EcoString> {
        None
    }

    /// Why a file that is there can't be read, as the end of a sentence that begins with its name.
    fn obstacle(&self, _path: &str) -> Option<String> {
        None
    }

    /// The text of a file that a span is of. With it the values of an inline patch get spans of their own lines; without
    /// it they have the span of the whole patch.
    fn source(&self, _file: FileId) -> Option<&str> {
        None
    }

    /// Whether the source of the repository leaves this path out of what it gives to Flux.
    fn is_left_out(&self, _path: &str, _kind: PathKind) -> bool {
        false
    }

    /// The documents inside of a text. Many builds meet the same inline patch: whoever keeps them need not parse it again.
    fn inline(&self, _block: &Node, parse: &dyn Fn() -> Vec<Document>) -> Vec<Document> {
        parse()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    File,
    Directory,
    Missing,
}
