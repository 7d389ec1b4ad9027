//! What both binaries cost on each tree: medians over interleaved rounds, and their ratio.

use std::path::Path;

use anyhow::Result;

use super::{Asked, Tree};
use crate::bench::{Contender, Costs, race};
use crate::table::Table;

pub(super) fn run(old: &Path, new: &Path, trees: &[Tree], commands: &[Asked], seeds: u32, rounds: usize) -> Result<()> {
    let heading = ["", "old cpu ms", "new cpu ms", "ratio", "old MiB", "new MiB", "ratio"];
    for asked in commands {
        println!("\n{}: medians of {rounds} rounds", asked.word());
        let mut table = Table::new(heading);
        let mut sums = Sums::default();
        for tree in trees {
            let contenders = [old, new].map(|binary| contender(binary, tree, *asked, seeds));
            let all = race(&contenders, rounds)?;
            let [was, is] = all.as_slice() else { continue };
            table.row(cells(&tree.name, [was.cpu(), is.cpu()], [was.memory_mib_median(), is.memory_mib_median()]));
            sums.add(was, is);
        }
        table.row(cells("all", sums.cpu, sums.memory));
        print!("{}", table.render());
    }
    Ok(())
}

/// CPU time of all trees together, and the memory of the biggest.
#[derive(Default)]
struct Sums {
    cpu: [f64; 2],
    memory: [f64; 2],
}

impl Sums {
    fn add(&mut self, old: &Costs, new: &Costs) {
        for (at, costs) in [old, new].into_iter().enumerate() {
            self.cpu[at] += costs.cpu();
            self.memory[at] = self.memory[at].max(costs.memory_mib_median());
        }
    }
}

fn contender(binary: &Path, tree: &Tree, asked: Asked, seeds: u32) -> Contender {
    let mut arguments = asked.arguments(seeds);
    // The measuring process stays where it is: the tree is named instead.
    arguments[1] = tree.path.display().to_string();
    Contender { name: asked.word().to_owned(), program: binary.to_owned(), arguments, each: None }
}

fn cells(name: &str, cpu: [f64; 2], memory: [f64; 2]) -> [String; 7] {
    let ratio = |[old, new]: [f64; 2]| format!("{:.2}", new / old);
    let number = |value: f64| format!("{value:.1}");
    [name.to_owned(), number(cpu[0]), number(cpu[1]), ratio(cpu), number(memory[0]), number(memory[1]), ratio(memory)]
}
