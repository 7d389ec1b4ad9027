//! The table of tools and the lock files beside it agree. No Go needed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use coldstart_lab::build::{Tier, Tool};

fn modules() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("modules")
}

/// Every `module version` that a go.mod requires, written as Go writes it.
fn requirements(go_mod: &str) -> Vec<&str> {
    go_mod.lines().filter_map(|line| line.strip_prefix("require ")).collect()
}

#[test]
fn every_directory_of_lock_files_is_a_tool_and_every_tool_has_one() {
    let directories: BTreeSet<String> =
        fs::read_dir(modules()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let tools: BTreeSet<String> = Tool::ALL.iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(directories, tools);
    for tool in Tool::ALL {
        let files: BTreeSet<_> = fs::read_dir(modules().join(tool.name()))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(files, BTreeSet::from(["go.mod".into(), "go.sum".into()]), "{tool}");
    }
}

#[test]
fn every_go_mod_requires_its_tool_and_nothing_else() {
    for tool in Tool::ALL {
        let only = format!("{} {}", tool.module(), tool.version());
        assert_eq!(requirements(tool.go_mod()), [only.as_str()], "{}", tool.name());
        assert!(tool.version().starts_with('v'), "{tool}");
        assert!(tool.package().starts_with(tool.module()), "{tool}");
    }
}

#[test]
fn every_go_sum_pins_the_content_of_its_tool() {
    for tool in Tool::ALL {
        let pin = format!("{} {} h1:", tool.module(), tool.version());
        assert!(tool.go_sum().lines().any(|line| line.starts_with(&pin)), "{tool}: go.sum has no line {pin}…");
    }
}

#[test]
fn tools_of_one_module_are_of_one_version() {
    for tool in Tool::ALL {
        for other in Tool::ALL.iter().filter(|other| other.module() == tool.module()) {
            assert_eq!(tool.version(), other.version(), "{tool} and {other}");
            assert_eq!(tool.family(), other.family(), "{tool} and {other}");
        }
    }
}

#[test]
fn no_lock_file_leans_on_a_directory_of_somebodys_machine() {
    for tool in Tool::ALL {
        for line in tool.go_mod().lines().filter(|line| line.starts_with("replace ")) {
            let target = line.split(" => ").nth(1).unwrap();
            assert_eq!(target.split_whitespace().count(), 2, "{tool}: {line} has no version");
        }
    }
}

#[test]
fn tiers_hold_the_ones_before_them() {
    let names = |tier: Tier| tier.tools().map(Tool::name).collect::<BTreeSet<_>>();
    let small = BTreeSet::from([
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kwok",
        "source-controller",
        "kustomize-controller",
        "helm-controller",
        "sealed-secrets-controller",
        "kubeseal",
        "kustomize",
    ]);
    assert_eq!(names(Tier::Small), small);
    let more: Vec<_> = names(Tier::Cli).difference(&small).copied().collect();
    assert_eq!(more, ["helm", "kubectl"]);
    assert_eq!(names(Tier::Full).len(), Tool::ALL.len());
}
