//! A few of the repositories that `cargo xtask evaluate fix --generated` makes.

use std::collections::BTreeMap;

use coldstart_trial::{broken, fixed};

const NUMBER: u64 = 16;

#[test]
fn whatever_is_fixed_keeps_every_promise() {
    let (mut found, mut left, mut files) = (0, 0, 0);
    for number in 0..NUMBER {
        let one = fixed(&broken(number).files).unwrap();
        assert!(one.wrong.is_empty(), "repository {number}: {:#?}", one.wrong);
        let sum = |rules: &BTreeMap<&str, usize>| rules.values().sum::<usize>();
        (found, left, files) = (found + sum(&one.found), left + sum(&one.left), files + one.files);
    }
    // Most of what is found is fixed.
    assert!(found > 0 && left * 3 < found && files > 0, "{left} of {found} left");
}

#[test]
fn the_same_number_is_the_same_repository() {
    assert_eq!(broken(7).files, broken(7).files);
    assert_ne!(broken(7).files, broken(8).files);
}
