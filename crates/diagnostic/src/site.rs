use model::ObjectRef;
use source::{FileId, Span};

/// Where something is: in a file of the repository, in a cluster, in a store, or nowhere that could be shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Site {
    File(Span),
    /// An object, in a cluster or among those that a repository describes.
    Object(ObjectRef),
    /// A store of keys, by its name.
    Store(String),
    Nowhere,
}

impl Site {
    /// The range in a file; [`Span::GENERATED`] for what no file holds.
    pub fn span(&self) -> Span {
        match self {
            Self::File(span) => *span,
            Self::Object(_) | Self::Store(_) | Self::Nowhere => Span::GENERATED,
        }
    }

    /// The file that holds it.
    pub fn file(&self) -> Option<FileId> {
        match self {
            Self::File(span) => Some(span.file),
            Self::Object(_) | Self::Store(_) | Self::Nowhere => None,
        }
    }
}

impl From<Span> for Site {
    fn from(span: Span) -> Self {
        if span.is_generated() { Self::Nowhere } else { Self::File(span) }
    }
}
