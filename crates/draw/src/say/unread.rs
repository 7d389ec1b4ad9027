//! Why a file of the repository was not read.

use model::Cause;
use repository::{LinkError, Unread};

use super::clause::Clause;

/// What a repository says of a file that it left out; anything else in the words of its own error.
pub(super) fn clause(cause: &Cause) -> Clause {
    match cause.error().downcast_ref::<Unread>() {
        Some(Unread::NotUtf8) => Clause::is("not UTF-8 text"),
        Some(Unread::Binary) => Clause::is("a binary file"),
        Some(Unread::NotRegular) => Clause::is("not a regular file"),
        Some(Unread::Directory) => Clause::is("a directory"),
        Some(Unread::TooLarge { bytes_max }) => Clause::is(format!("larger than {} MiB", bytes_max / (1024 * 1024))),
        Some(Unread::NameNotUtf8) => Clause::has("a name that is not UTF-8"),
        Some(Unread::Link(link)) => Clause::is(match link {
            LinkError::Nothing => "a symbolic link to a file that does not exist",
            LinkError::NotPermitted => "a symbolic link to a file that may not be read",
            LinkError::Nowhere => "a symbolic link that can't be followed",
            LinkError::Outside => "a symbolic link that leaves the repository",
            LinkError::IntoGit => "a symbolic link into Git's own files",
            LinkError::Circle => "a symbolic link to itself",
            LinkError::TooMany => "behind too many symbolic links",
        }),
        Some(Unread::ManyLinks { links_max }) => Clause::has(format!(
            "more than {links_max} symbolic links, behind another one: the rest of such links were not followed"
        )),
        Some(Unread::Failed(_) | Unread::TooMany { .. } | Unread::TooManyLinked { .. } | Unread::Index(_)) | None => {
            Clause::plain(cause.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Cause;
    use repository::{LinkError, Unread};

    use super::clause;

    #[test]
    fn one_file_is_told_as_the_repository_tells_it() {
        let links = [LinkError::Nothing, LinkError::NotPermitted, LinkError::Nowhere, LinkError::Outside];
        let more = [LinkError::IntoGit, LinkError::Circle, LinkError::TooMany];
        let others = [
            Unread::Failed(std::io::ErrorKind::PermissionDenied),
            Unread::NotUtf8,
            Unread::Binary,
            Unread::NotRegular,
            Unread::Directory,
            Unread::TooLarge { bytes_max: 16 * 1024 * 1024 },
            Unread::NameNotUtf8,
            Unread::TooMany { files_max: 1, directories_max: 2 },
            Unread::TooManyLinked { directories_max: 2, bytes_max: 3 },
            Unread::ManyLinks { links_max: 4 },
        ];
        for why in links.into_iter().chain(more).map(Unread::Link).chain(others) {
            assert_eq!(clause(&Cause::new(why)).said(1), why.to_string());
        }
    }

    #[test]
    fn several_files_are_told_in_the_plural() {
        let said = |why: Unread| clause(&Cause::new(why)).said(2);
        assert_eq!(said(Unread::TooLarge { bytes_max: 16 * 1024 * 1024 }), "are larger than 16 MiB");
        assert_eq!(said(Unread::NameNotUtf8), "have a name that is not UTF-8");
    }
}
