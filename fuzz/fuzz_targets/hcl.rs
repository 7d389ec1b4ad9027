//! Any text is read as Terraform, alone and as the module of a root, without a panic and in bounded time; every place lies in it.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use read::Repository;
use read::terraform::chains;
use repository::Unsaved;

/// Stands above what is tried: calls it as a module and hands it what only its caller knows.
const CALLER: &str = "module \"it\" {\n  source   = \"./it\"\n  for_each = { a = 1, b = 2 }\n  given    = each.value\n}\n";

/// Has no files: all that is read are texts that are not saved.
static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    let root = std::env::temp_dir().join(format!("coldstart-fuzz-hcl-{}", std::process::id()));
    fs::create_dir_all(&root).expect("a directory for what is tried");
    root
});

fuzz_target!(|text: &str| {
    let mut unsaved = Unsaved::default();
    for (path, text) in [("alone/main.tf", text), ("called/it/main.tf", text), ("called/main.tf", CALLER)] {
        unsaved.set(path, text);
    }
    let repository = Repository::open_unsaved(&ROOT, unsaved).expect("the directory is there");
    let found = chains(&repository);
    assert!(format!("{found:?}") == format!("{:?}", chains(&repository)), "same input, same chains");
    for chain in &found {
        assert!(chain.understood.0 <= chain.understood.1);
        for block in &chain.blocks {
            assert!(repository.locate(block.at).is_some(), "{}", block.address);
        }
        for edge in &chain.edges {
            assert!(edge.from.index() < chain.blocks.len() && edge.to.index() < chain.blocks.len());
        }
    }
});
