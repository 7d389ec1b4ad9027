//! What a cold start must know, from files.

#[allow(dead_code, reason = "each test uses its own part")]
mod tree;

use coldstart_read::inventory::uses_tofu;
use tree::repository;

#[test]
fn the_program_of_a_directory_is_told_by_its_own_files_first() {
    let files = [
        ("infra/one/main.tofu", ""),
        ("infra/two/main.tf", ""),
        ("infra/three/main.tf", ""),
        ("Makefile", "two:\n\tterraform -chdir=infra/two apply\nthree:\n\ttofu -chdir=infra/three apply\n"),
    ];
    let (_tree, repository) = repository(&files);
    assert!(uses_tofu(&repository, "infra/one"));
    assert!(!uses_tofu(&repository, "infra/two"));
    assert!(uses_tofu(&repository, "infra/three"));
}

#[test]
fn a_list_of_tools_tells_where_nothing_else_does() {
    let (_tree, repository) =
        repository(&[("terraform/main.tf", ""), (".mise.toml", "[tools]\nopentofu = \"1.10\"\n")]);
    assert!(uses_tofu(&repository, "terraform"));
}
