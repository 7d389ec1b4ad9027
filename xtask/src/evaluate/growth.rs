//! `cargo xtask evaluate growth`: how the cost of each command grows with the repository.
//!
//! Every command runs on generated repositories of growing size, one shape after the other. What grows linearly has the
//! exponent 1; the table shows it for CPU time and for memory, over all sizes by least squares. Nothing is asserted.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use crate::bench::{Contender, Costs, race};
use crate::generate::{self, Shape};
use crate::product;
use crate::table::Table;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Sizes: how many Flux Kustomizations
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1000,2000,5000,10000,20000,50000")]
    sizes: Vec<usize>,
    /// Shapes [default: all]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "SHAPE,…")]
    shapes: Vec<Shape>,
    /// Commands to run
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = "check,graph,plan,simulate")]
    commands: Vec<String>,
    /// Rounds of each; the middle one counts
    #[arg(long, value_name = "N", default_value_t = 1)]
    runs: usize,
    /// Where generated repositories go [default: below the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// The program to run [default: the release build, made first]
    #[arg(long, value_name = "PATH", overrides_with = "bin")]
    bin: Option<PathBuf>,
}

/// What one command cost at one size.
struct Point {
    size: f64,
    cpu_ms: f64,
    memory_mib: f64,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = product::binary(options.bin.as_deref())?;
    let scratch = options.scratch.clone().unwrap_or_else(|| std::env::temp_dir().join("coldstart-growth"));
    let all = Shape::value_variants();
    let shapes = if options.shapes.is_empty() { all } else { &options.shapes };
    let mut table =
        Table::new(["shape and command", "sizes", "cpu ms", "memory MiB", "exponent cpu", "exponent memory"]);
    for shape in shapes {
        let measured = one_shape(*shape, &binary, &scratch, options)?;
        for (command, points) in options.commands.iter().zip(measured) {
            table.row(row(&format!("{shape:?} {command}"), &points));
        }
    }
    print!("{}", table.render());
    Ok(())
}

/// The costs of each command at every size, in the order of the commands.
fn one_shape(shape: Shape, binary: &Path, scratch: &Path, options: &Options) -> Result<Vec<Vec<Point>>> {
    let mut measured: Vec<Vec<Point>> = options.commands.iter().map(|_| Vec::new()).collect();
    for size in &options.sizes {
        let tree = scratch.join(format!("{shape:?}-{size}"));
        remove(&tree)?;
        generate::write(&tree, *size, shape)?;
        let contenders: Vec<Contender> = options.commands.iter().map(|name| contender(name, binary, &tree)).collect();
        for (costs, points) in race(&contenders, options.runs)?.iter().zip(&mut measured) {
            points.push(point(*size, costs)?);
        }
        remove(&tree)?;
    }
    Ok(measured)
}

fn contender(command: &str, binary: &Path, tree: &Path) -> Contender {
    let mut arguments = vec![command.to_owned(), "--format".to_owned(), "json".to_owned()];
    if command == "simulate" {
        arguments.extend(["--seeds".to_owned(), "1".to_owned()]);
    }
    arguments.push(tree.display().to_string());
    Contender { name: command.to_owned(), program: binary.to_owned(), arguments, each: None }
}

fn point(size: usize, costs: &Costs) -> Result<Point> {
    let size = f64::from(u32::try_from(size)?);
    Ok(Point { size, cpu_ms: costs.cpu(), memory_mib: costs.memory_mib_median() })
}

fn row(name: &str, points: &[Point]) -> [String; 6] {
    let joined = |of: fn(&Point) -> f64| points.iter().map(|at| format!("{:.0}", of(at))).collect::<Vec<_>>().join(" ");
    [
        name.to_owned(),
        joined(|at| at.size),
        joined(|at| at.cpu_ms),
        joined(|at| at.memory_mib),
        format!("{:.2}", exponent(points, |at| at.cpu_ms)),
        format!("{:.2}", exponent(points, |at| at.memory_mib)),
    ]
}

/// The slope of a straight line through the points, both axes as logarithms.
fn exponent(points: &[Point], of: fn(&Point) -> f64) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|at| (at.size.ln(), of(at).max(f64::MIN_POSITIVE).ln())).collect();
    let count = f64::from(u32::try_from(logs.len()).unwrap_or(u32::MAX));
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / count;
    let (middle_x, middle_y) = (mean(|at| at.0), mean(|at| at.1));
    let above: f64 = logs.iter().map(|(x, y)| (x - middle_x) * (y - middle_y)).sum();
    let below: f64 = logs.iter().map(|(x, _)| (x - middle_x).powi(2)).sum();
    above / below
}

fn remove(tree: &Path) -> Result<()> {
    if tree.exists() {
        fs::remove_dir_all(tree).with_context(|| format!("cannot remove {}", tree.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(of: fn(f64) -> f64) -> Vec<Point> {
        let size = [1_000.0, 2_000.0, 5_000.0, 50_000.0];
        size.map(|size| Point { size, cpu_ms: of(size), memory_mib: of(size) }).into()
    }

    #[test]
    fn what_grows_linearly_has_the_exponent_one() {
        assert!((exponent(&points(|size| size * 3.0), |at| at.cpu_ms) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_grows_with_the_square_has_the_exponent_two() {
        assert!((exponent(&points(|size| size * size), |at| at.memory_mib) - 2.0).abs() < 1e-9);
    }
}
