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

/// How many characters must be put in, taken out or replaced.
pub fn edits(from: &str, to: &str) -> usize {
    strsim::levenshtein(from, to)
}

#[cfg(test)]
mod tests {
    use super::nearest;

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
