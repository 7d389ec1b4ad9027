//! Where a bootstrap restores the sealing key: the label of one in a file that is no manifest.

use source::Span;

use crate::content::SEALING_KEY_LABEL;
use crate::repository::Repository;

/// How files end that may restore one: Terraform, scripts, templates.
const ENDINGS: [&str; 8] = ["tf", "tofu", "hcl", "sh", "just", "j2", "tpl", "nix"];

pub(super) fn find(repository: &Repository) -> Option<Span> {
    let paths =
        repository.paths().filter(|path| path.rsplit('.').next().is_some_and(|ending| ENDINGS.contains(&ending)));
    paths.filter_map(|path| repository.id(path)).find_map(|id| {
        let at = repository.source(id)?.text().find(SEALING_KEY_LABEL)?;
        let start = u32::try_from(at).ok()?;
        Some(Span::new(id, start, start + u32::try_from(SEALING_KEY_LABEL.len()).ok()?))
    })
}
