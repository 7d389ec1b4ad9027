//! The name that somebody may have meant.

/// Fewer letters than this are in too many names to mean one of them.
const PART_CHARS_MIN: usize = 3;

/// The candidate that is fewest edits away, if that is near enough to be a slip, or else one that the name is a part of.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let slips_max = length / 3 + 1;
    let near = candidates.into_iter().map(|candidate| (edits(name, candidate), candidate));
    let is_part = |candidate: &str| length >= PART_CHARS_MIN && candidate.contains(name);
    near.filter(|(edits, candidate)| *edits <= slips_max || is_part(candidate)).min().map(|(_, candidate)| candidate)
}

/// Of so many letters one may be wrong.
const LETTERS_PER_SLIP: usize = 6;

/// Whether a name is so near to another that only a slip of the keyboard tells them apart. Names that are counted through differ by a
/// digit, and not by mistake.
pub fn is_slip(name: &str, other: &str) -> bool {
    let letters = |name: &str| name.replace(|c: char| c.is_ascii_digit(), "");
    // Every edit changes the length in bytes by less than this.
    let differs = name.len().abs_diff(other.len()) / 4;
    differs * LETTERS_PER_SLIP <= name.len()
        && edits(name, other) * LETTERS_PER_SLIP <= name.len()
        && letters(name) != letters(other)
}

/// How many names are compared for all hints of one kind: where thousands are missing among thousands, the first ones get a hint.
#[derive(Clone, Debug)]
pub struct HintBudget {
    comparisons: usize,
}

impl Default for HintBudget {
    fn default() -> Self {
        Self { comparisons: 300_000 }
    }
}

impl HintBudget {
    /// Whether so many more names may be compared.
    pub fn allows(&mut self, comparisons: usize) -> bool {
        let left = self.comparisons.checked_sub(comparisons);
        self.comparisons = left.unwrap_or(self.comparisons);
        left.is_some()
    }
}

/// How many characters must be put in, taken out or replaced.
pub fn edits(from: &str, to: &str) -> usize {
    strsim::levenshtein(from, to)
}

#[cfg(test)]
mod tests {
    use super::{HintBudget, is_slip, nearest};

    #[test]
    fn a_slip_is_a_letter_in_six_and_no_digit() {
        assert!(is_slip("rook-ceph-clutser", "rook-ceph-cluster"));
        assert!(!is_slip("rook-ceph-cluster-1", "rook-ceph-cluster-2"));
        assert!(!is_slip("redis", "regis"));
    }

    #[test]
    fn budget_ends_and_is_kept_for_what_is_smaller() {
        let mut budget = HintBudget { comparisons: 10 };
        assert!(budget.allows(6) && !budget.allows(6) && budget.allows(4) && !budget.allows(1));
    }

    #[test]
    fn slips_are_understood_and_strangers_are_not() {
        let rules = ["missing-dependency", "missing-source", "slow-retry"];
        assert_eq!(nearest("mising-dependancy", rules), Some("missing-dependency"));
        assert_eq!(nearest("slow-retries", rules), Some("slow-retry"));
        assert_eq!(nearest("slow", rules), Some("slow-retry"));
        assert_eq!(nearest("kubernetes", rules), None);
        assert_eq!(nearest("", rules), None);
    }
}
