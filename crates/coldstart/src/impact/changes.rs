//! `--from-git BASE..HEAD`: the files that changed, and what is made of them.

use std::path::Path;

use draw::impact::Told;
use exec::System;
use git::{ChangedFile, Git};
use read::Reading;

use super::subject::Made;
use super::{Asked, COMMAND};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::since::{LaidOut, lay_out};

/// A change, with the files before it, and after it where those are not the ones that are checked out.
pub(super) struct Change {
    files: Vec<ChangedFile>,
    before: LaidOut,
    after: Option<LaidOut>,
}

impl Change {
    pub(super) fn of(root: &Path, base: &str, head: &str, entry: Option<&str>) -> Result<Self, Failure> {
        let failure = |revision: &str| {
            let revision = revision.to_owned();
            move |source| Failure::Since { revision, source }
        };
        let git = Git::reading(&System, root);
        git.is_in_repository().map_err(failure(base))?;
        git.tree(base).map_err(failure(base))?;
        git.tree(head).map_err(failure(head))?;
        let files = git.files_between(base, head).map_err(failure(base))?;
        let parted = git.parted(base, head).map_err(failure(base))?;
        let before = lay_out(COMMAND, &parted, root, entry)?;
        let is_here = git.is_checked_out(head).map_err(failure(head))?;
        let after = if is_here { None } else { Some(lay_out(COMMAND, head, root, entry)?) };
        Ok(Self { files, before, after })
    }

    /// What was removed is asked of the files before the change, everything else of those after it.
    pub(super) fn answers(
        &self,
        here: &Reading,
        only: Option<&str>,
        print: impl Fn(&Told<'_>, &Reading) -> Result<(), Failure>,
        progress: Progress,
    ) -> Result<(), Failure> {
        let after: &Reading = self.after.as_ref().map_or(here, |after| &after.reading);
        let of = |are_removed: bool| -> Vec<String> {
            let files = self.files.iter().filter(|file| file.is_removed == are_removed);
            files.map(|file| file.path.clone()).collect()
        };
        let (now, then) = (Asked::all(after, only), Asked::all(&self.before.reading, only));
        let (made, was_made) = (Made::of(after)?, Made::of(&self.before.reading)?);
        let (changed, removed) = (of(false), of(true));
        let mut answers: Vec<_> = now.iter().filter_map(|one| made.answer(one, &changed, false)).collect();
        answers.extend(then.iter().filter_map(|one| was_made.answer(one, &removed, true)));
        drop(progress);
        print(&Told::Answers(answers), after)
    }
}
