//! `--from-git BASE..HEAD`: the files that changed, and what is made of them.

use std::path::Path;

use draw::impact::Told;
use read::Reading;

use super::subject::Made;
use super::{Asked, COMMAND};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::since::{Between, between};

/// A change, with the files of both revisions.
pub(super) struct Change(Between);

impl Change {
    pub(super) fn of(root: &Path, base: &str, head: &str, entry: Option<&str>) -> Result<Self, Failure> {
        between(COMMAND, (base, head), root, entry).map(Self)
    }

    /// What was removed is asked of the files before the change, everything else of those after it.
    pub(super) fn answers(
        &self,
        here: &Reading,
        only: Option<&str>,
        print: impl Fn(&Told<'_>, &Reading) -> Result<(), Failure>,
        progress: Progress,
    ) -> Result<(), Failure> {
        let Between { files, before, after } = &self.0;
        let after: &Reading = after.as_ref().map_or(here, |after| &after.reading);
        let of = |are_removed: bool| -> Vec<String> {
            let files = files.iter().filter(|file| file.is_removed == are_removed);
            files.map(|file| file.path.clone()).collect()
        };
        let (now, then) = (Asked::all(after, only), Asked::all(&before.reading, only));
        let (made, was_made) = (Made::of(after)?, Made::of(&before.reading)?);
        let (changed, removed) = (of(false), of(true));
        let mut answers: Vec<_> = now.iter().filter_map(|one| made.answer(one, &changed, false)).collect();
        answers.extend(then.iter().filter_map(|one| was_made.answer(one, &removed, true)));
        drop(progress);
        print(&Told::Answers(answers), after)
    }
}
