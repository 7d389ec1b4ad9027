//! `cargo xtask evaluate growth`: how the cost of each command grows with the repository.
//!
//! Every command runs on generated repositories of growing size, one shape after the other, and every measurement is kept in a
//! file as soon as it is made: a run that was interrupted goes on where it stopped. What grows linearly has the exponent 1; the
//! table shows it for CPU time and for memory, over all sizes by least squares, and for the last step alone. Nothing is asserted.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::bench::limited;
use crate::generate::{self, Shape};
use crate::product;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Sizes: how many Flux Kustomizations
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1000,5000,10000,50000")]
    sizes: Vec<usize>,
    /// Shapes [default: all]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "SHAPE,…")]
    shapes: Vec<Shape>,
    /// Commands to run
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = "check,graph,plan,simulate")]
    commands: Vec<String>,
    /// A run that takes longer is ended
    #[arg(long, value_name = "N", default_value_t = 150)]
    seconds_max: u64,
    /// Where generated repositories and measurements go [default: below the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// The program to run [default: the release build, made first]
    #[arg(long, value_name = "PATH", overrides_with = "bin")]
    bin: Option<PathBuf>,
}

/// What one command cost at one size.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Point {
    /// What the program says of itself: measurements of another one do not count.
    version: String,
    shape: String,
    command: String,
    size: u32,
    cpu_ms: f64,
    memory_mib: f64,
    /// It was ended, or did not do what it should.
    failed: bool,
}

type Key = (String, String, u32);

impl Point {
    fn key(&self) -> Key {
        (self.shape.clone(), self.command.clone(), self.size)
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = product::binary(options.bin.as_deref())?;
    let scratch = options.scratch.clone().unwrap_or_else(|| std::env::temp_dir().join("coldstart-growth"));
    fs::create_dir_all(&scratch).with_context(|| format!("cannot create {}", scratch.display()))?;
    let mut kept = Kept::open(scratch.join("measured.jsonl"), product::version(&binary)?)?;
    let all = Shape::value_variants();
    let shapes = if options.shapes.is_empty() { all } else { &options.shapes };
    for shape in shapes {
        for size in &options.sizes {
            one_size(*shape, *size, &binary, &scratch, options, &mut kept)?;
        }
    }
    print!("{}", table(shapes, options, &kept)?);
    Ok(())
}

/// Every command on one repository, but for those that were measured before.
fn one_size(
    shape: Shape,
    size: usize,
    binary: &Path,
    scratch: &Path,
    options: &Options,
    kept: &mut Kept,
) -> Result<()> {
    let count = u32::try_from(size)?;
    let all = options.commands.iter().map(|command| (name(shape), command.clone(), count));
    let left: Vec<Key> = all.filter(|key| !kept.points.contains_key(key)).collect();
    if left.is_empty() {
        return Ok(());
    }
    let tree = scratch.join(format!("{}-{size}", name(shape)));
    remove(&tree)?;
    generate::write(&tree, size, shape)?;
    for (shape_name, command, size) in left {
        let cost = limited(binary, &arguments(&command, shape, &tree), options.seconds_max)?;
        eprintln!("{shape_name} {size} {command}: {:.0} ms", cost.user_ms + cost.system_ms);
        kept.add(Point {
            version: kept.version.clone(),
            shape: shape_name,
            command,
            size,
            cpu_ms: cost.user_ms + cost.system_ms,
            memory_mib: cost.memory_kib / 1024.0,
            failed: cost.failed > 0,
        })?;
    }
    remove(&tree)
}

fn arguments(command: &str, shape: Shape, tree: &Path) -> Vec<String> {
    let mut arguments = vec![command.to_owned(), "--format".to_owned(), "json".to_owned()];
    if command == "simulate" {
        arguments.extend(["--seeds".to_owned(), "1".to_owned()]);
    }
    // A plan is of one cluster.
    if command == "plan" && shape == Shape::Clusters {
        arguments.extend(["--cluster".to_owned(), "clusters/main".to_owned()]);
    }
    arguments.push(tree.display().to_string());
    arguments
}

fn name(shape: Shape) -> String {
    shape.to_possible_value().map_or_else(|| format!("{shape:?}"), |value| value.get_name().to_owned())
}

/// The measurements of one program, kept in a file of one line each.
struct Kept {
    file: PathBuf,
    version: String,
    points: BTreeMap<Key, Point>,
}

impl Kept {
    fn open(file: PathBuf, version: String) -> Result<Self> {
        let text = if file.exists() { fs::read_to_string(&file)? } else { String::new() };
        let mut points = BTreeMap::new();
        for line in text.lines() {
            let point: Point = serde_json::from_str(line).with_context(|| format!("{}: {line}", file.display()))?;
            if point.version == version {
                points.insert(point.key(), point);
            }
        }
        Ok(Self { file, version, points })
    }

    fn add(&mut self, point: Point) -> Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.file)?;
        writeln!(file, "{}", serde_json::to_string(&point)?)?;
        self.points.insert(point.key(), point);
        Ok(())
    }
}

/// A row for every shape and command, in Markdown.
fn table(shapes: &[Shape], options: &Options, kept: &Kept) -> Result<String> {
    let sizes = options.sizes.iter().map(|size| u32::try_from(*size)).collect::<Result<Vec<u32>, _>>()?;
    ensure!(!sizes.is_empty(), "no sizes");
    let heads: Vec<String> = sizes.iter().map(|size| thousands(*size)).collect();
    let mut text = format!(
        "| shape | command | {} | exponent | last step | MiB at the last | exponent of memory |\n",
        heads.join(" | ")
    );
    text += &["|---|---|", &"---|".repeat(sizes.len()), "---|---|---|---|\n"].concat();
    for shape in shapes {
        for command in &options.commands {
            let key = |size: &u32| (name(*shape), command.clone(), *size);
            let points: Vec<&Point> = sizes.iter().filter_map(|size| kept.points.get(&key(size))).collect();
            text += &row(*shape, command, &points);
        }
    }
    Ok(text)
}

fn row(shape: Shape, command: &str, points: &[&Point]) -> String {
    let cost = |point: &&Point| match point {
        point if point.failed => " — |".to_owned(),
        point => format!(" {:.2} s |", point.cpu_ms / 1000.0),
    };
    let costs: String = points.iter().map(cost).collect();
    let good: Vec<&Point> = points.iter().copied().filter(|point| !point.failed).collect();
    let last = &good[good.len().saturating_sub(2)..];
    let memory = good.last().map_or(f64::NAN, |point| point.memory_mib);
    let shown = |points: &[&Point], of: fn(&Point) -> f64| format!("{:.2}", exponent(points, of));
    format!(
        "| {} | `{command}` |{costs} {} | {} | {memory:.0} | {} |\n",
        name(shape),
        shown(&good, |at| at.cpu_ms),
        shown(last, |at| at.cpu_ms),
        shown(&good, |at| at.memory_mib),
    )
}

fn thousands(number: u32) -> String {
    let digits = number.to_string();
    let (head, tail) = digits.split_at(digits.len().saturating_sub(3));
    if head.is_empty() { digits } else { format!("{head},{tail}") }
}

/// The slope of a straight line through the points, both axes as logarithms.
fn exponent(points: &[&Point], of: fn(&Point) -> f64) -> f64 {
    let logs: Vec<(f64, f64)> =
        points.iter().map(|at| (f64::from(at.size).ln(), of(at).max(f64::MIN_POSITIVE).ln())).collect();
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
        let point = |size: u32| Point {
            version: "coldstart 0".to_owned(),
            shape: "chain".to_owned(),
            command: "check".to_owned(),
            size,
            cpu_ms: of(f64::from(size)),
            memory_mib: of(f64::from(size)),
            failed: false,
        };
        [1_000, 2_000, 5_000, 50_000].map(point).into()
    }

    fn slope(points: &[Point], of: fn(&Point) -> f64) -> f64 {
        exponent(&points.iter().collect::<Vec<_>>(), of)
    }

    #[test]
    fn what_grows_linearly_has_the_exponent_one() {
        assert!((slope(&points(|size| size * 3.0), |at| at.cpu_ms) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_grows_with_the_square_has_the_exponent_two() {
        assert!((slope(&points(|size| size * size), |at| at.memory_mib) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn what_was_measured_is_not_measured_again_for_the_same_program() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("measured.jsonl");
        let mut kept = Kept::open(file.clone(), "coldstart 0".to_owned()).unwrap();
        for point in points(|size| size) {
            kept.add(point).unwrap();
        }
        assert_eq!(Kept::open(file.clone(), "coldstart 0".to_owned()).unwrap().points.len(), 4);
        assert!(Kept::open(file, "coldstart 1".to_owned()).unwrap().points.is_empty());
    }

    #[test]
    fn a_row_tells_what_was_ended() {
        let mut measured = points(|size| size);
        measured[3].failed = true;
        let row = row(Shape::FanIn, "plan", &measured.iter().collect::<Vec<_>>());
        assert_eq!(row, "| fan-in | `plan` | 1.00 s | 2.00 s | 5.00 s | — | 1.00 | 1.00 | 5000 | 1.00 |\n");
    }
}
