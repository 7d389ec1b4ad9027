//! `docs/coverage.md` names tests as proofs: each stands in the file that its link leads to.

use std::fs;
use std::path::Path;

/// A link to a source file, and the names in backticks that its text has.
fn proofs(text: &str) -> Vec<(Vec<&str>, &str)> {
    let mut found = Vec::new();
    for part in text.split('[').skip(1) {
        let Some((title, rest)) = part.split_once("](") else { continue };
        let Some((target, _)) = rest.split_once(')') else { continue };
        if Path::new(target).extension().is_some_and(|extension| extension == "rs") {
            found.push((title.split('`').skip(1).step_by(2).collect(), target));
        }
    }
    found
}

#[test]
fn every_test_that_proves_a_row_stands_where_its_link_leads() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let text = fs::read_to_string(docs.join("coverage.md")).expect("docs/coverage.md");
    let proofs = proofs(&text);
    assert!(proofs.len() >= 40, "the page has its links: {}", proofs.len());
    let mut wrong = Vec::new();
    for (names, target) in proofs {
        let source = fs::read_to_string(docs.join(target)).unwrap_or_default();
        wrong.extend(names.iter().filter(|name| !source.contains(&format!("fn {name}("))).map(|name| (*name, target)));
    }
    assert!(wrong.is_empty(), "no such test there: {wrong:#?}");
}
