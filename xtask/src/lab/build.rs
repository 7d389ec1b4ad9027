//! `cargo xtask lab build`: the lab's programs, built from their Go modules into the cache of this machine.

use std::env;

use anyhow::{Result, bail};
use clap::Args;
use lab::build::{BuildOutcome, Builder, Built, Cache, Go, Tier, Tool};

use super::progress::{Progress, seconds};
use crate::table::Table;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// `small` (what CI needs), `full` (everything) or names of tools; without it, `small` with helm and kubectl
    #[arg(value_name = "TIER|TOOL")]
    what: Vec<String>,
    /// How many tools to build at once
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { what: Vec::new(), jobs: 2 }
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let tools = chosen(&options.what)?;
    let cache = Cache::from_environment()?;
    let go = match Go::find(env::var_os("PATH").as_deref()) {
        Ok(go) => go,
        // A full cache, from an earlier machine or a CI cache, is as good as a toolchain.
        Err(_) if tools.iter().all(|tool| cache.binary(*tool).is_ok()) => Go::at("go"),
        Err(error) => return Err(error.into()),
    };
    let progress = Progress::new(tools.len());
    let built = Builder::new(cache.clone(), go).build_all(&tools, options.jobs, &|event| progress.show(&event));
    progress.finish();
    print!("{}", table(&built));
    println!("in {}", cache.root().display());
    let failures: Vec<&str> = built.iter().filter(|(_, result)| result.is_err()).map(|(tool, _)| tool.name()).collect();
    if failures.is_empty() {
        return Ok(());
    }
    bail!("not built: {}; what is done stays done, run the command again", failures.join(", "))
}

/// The tools that the words name, each once and in the order of the table.
fn chosen(words: &[String]) -> Result<Vec<Tool>> {
    if words.is_empty() {
        return Ok(Tier::Cli.tools().collect());
    }
    let mut wanted = Vec::new();
    for word in words {
        match (word.as_str(), Tool::named(word)) {
            (_, Some(tool)) => wanted.push(tool),
            ("small", None) => wanted.extend(Tier::Small.tools()),
            ("full", None) => wanted.extend(Tier::Full.tools()),
            (unknown, None) => {
                let names: Vec<&str> = Tool::ALL.iter().map(|tool| tool.name()).collect();
                bail!("no tier or tool of the lab is called {unknown}: small, full, {}", names.join(", "));
            }
        }
    }
    Ok(Tool::ALL.iter().copied().filter(|tool| wanted.contains(tool)).collect())
}

fn table(built: &[Built]) -> String {
    let mut table = Table::new(["tool", "version", "built in"]);
    for (tool, result) in built {
        let outcome = match result {
            Ok(BuildOutcome::Cached) => "cached".into(),
            Ok(BuildOutcome::Built(duration)) => seconds(*duration),
            Err(_) => "FAILED".into(),
        };
        table.row([tool.name().into(), tool.version().into(), outcome]);
    }
    format!("\n{}", table.render())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lab::build::{BuildOutcome, Tier, Tool};

    use super::{chosen, table};

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().copied().map(String::from).collect()
    }

    #[test]
    fn without_words_the_command_lines_come_with_the_small_tier() {
        let tools = chosen(&[]).unwrap();
        assert!(tools.contains(&Tool::Kubectl) && tools.contains(&Tool::Etcd) && !tools.contains(&Tool::Tofu));
        assert!(!chosen(&words(&["small"])).unwrap().contains(&Tool::Kubectl));
    }

    #[test]
    fn tools_are_named_once_whatever_the_words() {
        assert_eq!(chosen(&words(&["kwok", "etcd", "kwok"])).unwrap(), [Tool::Kwok, Tool::Etcd]);
        assert_eq!(chosen(&words(&["full", "etcd"])).unwrap(), Tier::Full.tools().collect::<Vec<_>>());
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = chosen(&words(&["etdc"])).unwrap_err().to_string();
        assert!(error.contains("called etdc: small, full, kube-apiserver, "), "{error}");
    }

    #[test]
    fn the_table_says_what_was_built_and_what_was_there() {
        let built = [
            (Tool::Etcd, Ok(BuildOutcome::Cached)),
            (Tool::Kwok, Ok(BuildOutcome::Built(Duration::from_millis(96_700)))),
        ];
        let text = table(&built);
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .filter(|line: &Vec<_>| !line.is_empty())
            .collect();
        assert_eq!(lines[1], ["etcd", Tool::Etcd.version(), "cached"]);
        assert_eq!(lines[2], ["kwok", Tool::Kwok.version(), "97", "s"]);
    }
}
