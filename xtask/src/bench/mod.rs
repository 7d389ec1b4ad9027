//! `cargo xtask bench`: `check` beside the real kustomize and beside bare parsing, in one run; and how it scales.
//!
//! Rounds are interleaved, so that a slow minute of the machine hits all of them alike. Nothing is asserted.

mod measure;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;

pub(crate) use measure::{Options as MeasureOptions, limited, run as measure};

use self::measure::Cost;
use crate::table::Table;
use crate::{generate, parse, paths, product};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Real trees to compare on
    trees: Vec<PathBuf>,
    /// Rounds; the smallest and the middle one are shown
    #[arg(long, value_name = "N", default_value_t = 5)]
    runs: usize,
    /// The real kustomize
    #[arg(long, value_name = "PATH", default_value = "kustomize", overrides_with = "kustomize")]
    kustomize: PathBuf,
    /// Leave kustomize out
    #[arg(long)]
    no_kustomize: bool,
    /// Sizes of generated repositories
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1000,2000,5000,10000")]
    generated: Vec<usize>,
    /// Shape of generated repositories
    #[arg(long, value_enum, default_value_t = generate::Shape::Mixed)]
    shape: generate::Shape,
    /// Where generated repositories and lists go [default: below the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// The program to run [default: the release build, made first]
    #[arg(long, value_name = "PATH", overrides_with = "bin")]
    bin: Option<PathBuf>,
}

/// One line of the comparison: a name and a command to measure.
pub(crate) struct Contender {
    pub(crate) name: String,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// A file of last arguments, one process for each.
    pub(crate) each: Option<PathBuf>,
}

/// What one contender cost in each round.
pub(crate) struct Costs {
    name: String,
    rounds: Vec<Cost>,
}

impl Costs {
    fn wall_min(&self) -> f64 {
        self.rounds.iter().map(|cost| cost.wall_ms).fold(f64::INFINITY, f64::min)
    }

    /// The middle of the rounds by `of`.
    fn middle(&self, of: impl Fn(&Cost) -> f64) -> f64 {
        let mut values: Vec<f64> = self.rounds.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    }

    fn wall(&self) -> f64 {
        self.middle(|cost| cost.wall_ms)
    }

    pub(crate) fn cpu(&self) -> f64 {
        self.middle(|cost| cost.user_ms + cost.system_ms)
    }

    pub(crate) fn memory_mib_median(&self) -> f64 {
        self.middle(|cost| cost.memory_kib) / 1024.0
    }

    fn memory_mib(&self) -> f64 {
        self.rounds.iter().map(|cost| cost.memory_kib).fold(0.0, f64::max) / 1024.0
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if cfg!(debug_assertions) {
        return optimised();
    }
    let scratch = options.scratch.clone().unwrap_or_else(|| std::env::temp_dir().join("coldstart-bench"));
    fs::create_dir_all(&scratch).with_context(|| format!("cannot create {}", scratch.display()))?;
    let binary = product::binary(options.bin.as_deref())?;
    for tree in &options.trees {
        compare(tree, &binary, &scratch, options)?;
    }
    scale(&binary, &scratch, options)
}

/// The floor is parsed by this very program: an unoptimised one would flatter `check`.
fn optimised() -> Result<()> {
    let arguments = std::env::args_os().skip_while(|argument| argument != "bench").skip(1);
    let script = product::workspace().join("bench").join("run");
    let status = Command::new(&script).args(arguments).status();
    let status = status.with_context(|| format!("cannot start {}", script.display()))?;
    ensure!(status.success(), "bench/run failed");
    Ok(())
}

/// Real trees: `check`, the real kustomize over the same paths, and the floor.
fn compare(tree: &Path, binary: &Path, scratch: &Path, options: &Options) -> Result<()> {
    let tree = tree.canonicalize().with_context(|| format!("no tree at {}", tree.display()))?;
    println!(
        "\n{}",
        tree.file_name().map_or_else(|| tree.display().to_string(), |name| name.to_string_lossy().into_owned())
    );
    let mut contenders = vec![check(binary, &tree)];
    if !options.no_kustomize {
        contenders.push(kustomize(&tree, binary, scratch, options)?);
    }
    contenders.push(floor(&tree)?);
    let all = race(&contenders, options.runs)?;
    let mut table = Table::new(["", "min ms", "median ms", "cpu ms", "memory MiB", "failed", "times check"]);
    for costs in &all {
        table.row([
            costs.name.clone(),
            format!("{:.1}", costs.wall_min()),
            format!("{:.1}", costs.wall()),
            format!("{:.1}", costs.cpu()),
            format!("{:.1}", costs.memory_mib()),
            costs.rounds.iter().map(|cost| cost.failed).max().unwrap_or(0).to_string(),
            format!("{:.2}", costs.wall_min() / all[0].wall_min()),
        ]);
    }
    print!("{}", table.render());
    if let Some(floor) = all.last() {
        println!("check takes {:.2} times the floor", all[0].wall_min() / floor.wall_min());
    }
    Ok(())
}

fn check(binary: &Path, tree: &Path) -> Contender {
    let arguments = ["check".to_owned(), "--format".to_owned(), "json".to_owned(), tree.display().to_string()];
    Contender {
        name: "coldstart check".to_owned(),
        program: binary.to_owned(),
        arguments: arguments.into(),
        each: None,
    }
}

/// Only parsing, by this very program.
fn floor(tree: &Path) -> Result<Contender> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let arguments = vec!["parse".to_owned(), tree.display().to_string()];
    Ok(Contender { name: "parse the YAML files".to_owned(), program, arguments, each: None })
}

/// Only directories that build offline are timed: a failing build is cut short, and would flatter kustomize.
fn kustomize(tree: &Path, binary: &Path, scratch: &Path, options: &Options) -> Result<Contender> {
    let paths = paths::find(tree, Some(binary)).or_else(|_| paths::find(tree, None))?;
    let arguments = ["build", "--load-restrictor", "LoadRestrictionsNone"].map(String::from);
    let candidates: Vec<String> = paths.buildable.iter().map(|path| path.display().to_string()).collect();
    let tried = crate::parallel::map(&candidates, parse::cores(), |path| {
        let arguments = [&arguments[..], std::slice::from_ref(path)].concat();
        measure::succeeds(&options.kustomize, &arguments).map(|builds| (path, builds))
    });
    let tried = tried.into_iter().collect::<Result<Vec<_>>>()?;
    let built: Vec<&str> = tried.iter().filter(|(_, builds)| *builds).map(|(path, _)| path.as_str()).collect();
    println!(
        "kustomize: {} directories timed; left out: {} that do not build offline, {} with a variable, absent, or without a \
         kustomization file",
        built.len(),
        tried.len() - built.len(),
        paths.other.len()
    );
    let each = scratch.join("directories.txt");
    fs::write(&each, built.join("\n")).with_context(|| format!("cannot write {}", each.display()))?;
    let name = format!("kustomize build × {}", built.len());
    Ok(Contender { name, program: options.kustomize.clone(), arguments: arguments.to_vec(), each: Some(each) })
}

/// All contenders in turn, one unmeasured round first to warm the file cache.
pub(crate) fn race(contenders: &[Contender], runs: usize) -> Result<Vec<Costs>> {
    let mut all: Vec<Costs> = contenders.iter().map(|it| Costs { name: it.name.clone(), rounds: Vec::new() }).collect();
    for round in 0..=runs {
        for (contender, costs) in contenders.iter().zip(&mut all) {
            let Contender { program, arguments, each, .. } = contender;
            let cost = measure::in_child(program, arguments, each.as_deref(), parse::cores())?;
            if round > 0 {
                costs.rounds.push(cost);
            }
        }
    }
    Ok(all)
}

/// Generated trees: the time per Kustomization should not grow with their number.
fn scale(binary: &Path, scratch: &Path, options: &Options) -> Result<()> {
    if options.generated.is_empty() {
        return Ok(());
    }
    println!("\ngenerated, {:?}", options.shape);
    let heading = [
        "kustomizations",
        "files",
        "min ms",
        "median ms",
        "cpu ms",
        "memory MiB",
        "µs each",
        "KiB each",
        "floor ms",
        "/ floor",
    ];
    let mut table = Table::new(heading);
    for size in &options.generated {
        let tree = scratch.join(format!("generated-{size}"));
        if tree.exists() {
            fs::remove_dir_all(&tree).with_context(|| format!("cannot remove {}", tree.display()))?;
        }
        let files = generate::write(&tree, *size, options.shape)?;
        let all = race(&[check(binary, &tree), floor(&tree)?], options.runs)?;
        let number = f64::from(u32::try_from(*size)?);
        let [costs, floor] = all.as_slice() else { continue };
        table.row([
            size.to_string(),
            files.to_string(),
            format!("{:.0}", costs.wall_min()),
            format!("{:.0}", costs.wall()),
            format!("{:.0}", costs.cpu()),
            format!("{:.0}", costs.memory_mib()),
            format!("{:.1}", costs.wall_min() * 1000.0 / number),
            format!("{:.1}", costs.memory_mib() * 1024.0 / number),
            format!("{:.0}", floor.wall_min()),
            format!("{:.2}", costs.wall_min() / floor.wall_min()),
        ]);
        fs::remove_dir_all(&tree).with_context(|| format!("cannot remove {}", tree.display()))?;
    }
    print!("{}", table.render());
    Ok(())
}
