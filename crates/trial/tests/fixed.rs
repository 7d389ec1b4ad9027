//! A few of the repositories that `cargo xtask evaluate fix --generated` makes.

use std::collections::BTreeMap;

use coldstart_trial::{broken, fixed};

const NUMBER: u64 = 16;
/// One in which a cycle, which another edit breaks, made a dependency look as if others implied it.
const WITH_A_CYCLE: u64 = 2126;

#[test]
fn whatever_is_fixed_keeps_every_promise() {
    let mut files = 0;
    let mut rules: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for number in (0..NUMBER).chain([WITH_A_CYCLE]) {
        let one = fixed(&broken(number).files).unwrap();
        assert!(one.wrong.is_empty(), "repository {number}: {:#?}", one.wrong);
        one.found.iter().for_each(|(rule, found)| rules.entry(rule).or_default().0 += found);
        one.left.iter().for_each(|(rule, left)| rules.entry(rule).or_default().1 += left);
        files += one.files;
    }
    // Most of what is found is fixed, as far as there are edits for it.
    let edited = || rules.values().filter(|(found, left)| left < found);
    let (found, left) = edited().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(edited().count() >= 6 && left * 3 < found && files > 0, "{rules:?}");
}

#[test]
fn the_same_number_is_the_same_repository() {
    assert_eq!(broken(7).files, broken(7).files);
    assert_ne!(broken(7).files, broken(8).files);
}
