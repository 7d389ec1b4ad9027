//! The cases of the verdicts, each a small repository of its own below `cases/`. A new directory is picked up by itself.

mod story;

use fixtures::Shelf;

/// Cases that the program does not judge right yet, and why.
const NOT_YET: &[(&str, &str)] = &[];

#[test]
fn every_case_gets_its_verdict_its_consequence_and_its_findings() {
    story::tell_all(Shelf::Cases, NOT_YET);
}

#[test]
fn no_case_of_the_forty_is_missing() {
    let stories = story::stories(Shelf::Cases);
    let number = |name: &str| name.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<u32>().ok();
    let missing: Vec<u32> =
        (1..=40).filter(|case| !stories.iter().any(|story| number(&story.name) == Some(*case))).collect();
    assert!(missing.is_empty(), "no directory for the cases {missing:?}");
}
