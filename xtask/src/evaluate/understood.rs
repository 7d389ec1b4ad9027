//! `cargo xtask evaluate understood`: how much of Terraform, and of the scripts that boot a cluster, is understood.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use read::Repository;
use read::understood::{self, Share, Understood};

use crate::table::Table;

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Repositories
    #[arg(long, value_name = "DIR", num_args = 1.., required = true)]
    trees: Vec<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut table =
        Table::new(["repository", "files", "read", "arguments", "known", "texts", "read", "commands", "known"]);
    let (mut total, mut without) = (Understood::default(), 0);
    for tree in &options.trees {
        let repository = Repository::open(tree).with_context(|| format!("cannot read {}", tree.display()))?;
        let found = understood::of(&repository);
        if found == Understood::default() {
            without += 1;
            continue;
        }
        let name = tree.file_name().unwrap_or_default().to_string_lossy().replacen('+', "/", 1);
        table.row(row(&name, &found));
        total.add(&found);
    }
    table.row(row("all", &total));
    print!("{}", table.render());
    println!("{without} repositories have neither");
    Ok(())
}

fn row(name: &str, found: &Understood) -> Vec<String> {
    let shares = [found.files, found.arguments, found.texts, found.commands];
    let cells = shares.into_iter().flat_map(|share| [share.all.to_string(), percent(share)]);
    std::iter::once(name.to_owned()).chain(cells).collect()
}

/// Rounded down, so that only all of it is 100 %.
fn percent(share: Share) -> String {
    let tenths = share.known * 1000 / share.all.max(1);
    if share.all == 0 { "–".to_owned() } else { format!("{}.{} %", tenths / 10, tenths % 10) }
}
