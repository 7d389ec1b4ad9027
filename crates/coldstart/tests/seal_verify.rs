//! `coldstart seal verify` where much is wrong, and where keys lie in the open.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

mod sealing;
mod story;

use sealing::{Desk, LOGIN};
use story::works;

const WRONG_STORE: &str = "nothing opens with any key of the store: it may be the wrong one";

#[test]
fn a_wrong_store_is_told_in_one_line() {
    let desk = Desk::with_key("k1");
    for number in 0..23 {
        let name = format!("login{number}");
        desk.write(&format!("{name}.yaml"), &desk.sealed("k2", &LOGIN.replace("login", &name)));
    }
    let ran = desk.seal(&["verify"]).exits(1).says("error: and 3 more items that do not open").says("23 errors");
    assert!(ran.stdout.lines().last().unwrap().starts_with(WRONG_STORE), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("no key in the store opens it").count(), 20, "{}", ran.stdout);
    let json = desk.seal(&["verify", "--format", "json"]).exits(1).json();
    assert_eq!(json["problems"].as_array().unwrap().iter().filter(|one| one["severity"] == "error").count(), 23);
    // One that opens, or belongs elsewhere, shows that the store is the right one.
    desk.write("good.yaml", &desk.sealed("k1", LOGIN).replacen("  name: login", "  name: logon", 1));
    let ran = desk.seal(&["verify"]).exits(1);
    assert!(!ran.stdout.contains(WRONG_STORE), "{}", ran.stdout);
}

#[test]
fn one_item_of_another_key_says_nothing_of_the_store() {
    let desk = Desk::with_key("k1");
    desk.write("login.yaml", &desk.sealed("k2", LOGIN));
    let ran = desk.seal(&["verify"]).exits(1);
    assert!(!ran.stdout.contains(WRONG_STORE), "{}", ran.stdout);
}
