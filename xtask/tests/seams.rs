//! Every product crate denies what clippy.toml bans. The lint itself finds what is used all the same.

use std::fs;
use std::path::Path;

const DENIED: &str = "#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]";
/// The floors: what the others reach files, programs and Git through.
const FLOORS: [&str; 4] = ["edit", "exec", "git", "repository"];
/// The workbench, which ships to nobody.
const WORKBENCH: [&str; 3] = ["fixtures", "lab", "trial"];

#[test]
fn every_product_crate_denies_what_the_floors_are_for() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut without = Vec::new();
    for entry in fs::read_dir(crates).expect("the crates") {
        let path = entry.expect("a crate").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name").to_owned();
        let root = ["src/lib.rs", "src/main.rs"].map(|file| path.join(file)).into_iter().find(|file| file.is_file());
        let text = fs::read_to_string(root.expect("a root of the crate")).expect("a source");
        if !text.lines().any(|line| line == DENIED) {
            without.push(name);
        }
    }
    without.sort_unstable();
    let mut exempt = [&FLOORS[..], &WORKBENCH].concat();
    exempt.sort_unstable();
    assert_eq!(without, exempt);
}
