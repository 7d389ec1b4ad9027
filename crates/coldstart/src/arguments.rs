//! The words of the command line.

use std::path::PathBuf;

use check::Severity;
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Know how a Kubernetes cluster comes up, before it has to.
#[derive(Debug, Parser)]
#[command(name = "coldstart", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say what will go wrong at the next cold start, what it costs, and which line to edit
    Check(Check),
    /// Show the order in which a cluster comes up
    Graph(Graph),
    /// Write a coldstart.yaml from what the repository tells of machines, addresses and Terraform
    Init(Init),
    /// Show what a cold start would do, step by step, and what each step waits for
    Plan(Plan),
    /// Keep sealing keys outside of the cluster's life, seal with them, and prove that everything opens
    Seal(crate::seal::arguments::Seal),
    /// Boot the repository many times in a simulated world, and say how often it comes up and what it dies of
    Simulate(Simulate),
    /// Bring a cluster up: every step proved before the next needs it, resumable after a crash
    Up(Up),
    /// List earlier runs of `up`, or tell one of them again
    Log(Log),
    /// Print a script that completes coldstart's words in a shell
    Completions(Completions),
    /// Print the manual page, or write the pages of all commands
    Man(Man),
}

const CHECK_HELP: &str = "\
Reads files, runs nothing of the repository, uses no network. With --render-charts it runs helm, offline.

Exit codes:
  0  no errors (there may be warnings)
  1  at least one finding of severity error
  2  the command line was not understood, or the path could not be read
  3  nothing to check: no Flux objects found";

#[derive(Args, Debug)]
#[command(after_help = CHECK_HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
pub(crate) struct Check {
    /// The directory of a cluster repository
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// How to print the report
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
    /// Leave out findings that matter less [default: warning, or what coldstart.yaml says]
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub min_severity: Option<Level>,
    /// Everything that can be said: the same as --min-severity pedantic
    #[arg(long, conflicts_with = "min_severity")]
    pub pedantic: bool,
    /// Only this cluster: its directory, or the last part of that
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// Show every finding by itself, also where many components miss the same one
    #[arg(long)]
    pub each: bool,
    /// List everything that could not be seen, and why
    #[arg(long)]
    pub blind_spots: bool,
    /// Leave out the findings that this file holds, and count them
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write all findings of the wanted severity to the baseline, so that only later ones are shown
    #[arg(long, conflicts_with = "since")]
    pub write_baseline: bool,
    /// Only what is new since this revision of the Git repository: a commit, a branch, a tag
    #[arg(long, value_name = "REV")]
    pub since: Option<String>,
    #[command(flatten)]
    pub charts: Charts,
    /// Print the manual page of a rule, and check nothing
    #[arg(long, value_name = "RULE")]
    pub explain: Option<String>,
    /// When to use colours; auto is on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Args, Debug)]
pub(crate) struct Man {
    /// Write a page for every command into this directory, instead of printing the first
    #[arg(long, value_name = "DIRECTORY")]
    pub out: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Graph {
    /// The directory of a cluster repository
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// How to print the graph
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub format: TextOrJson,
    /// Only this cluster: its directory, or the last part of that
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    #[command(flatten)]
    pub charts: Charts,
    /// When to use colours; auto is on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

const SIMULATE_HELP: &str = "\
Nothing real is touched: a virtual clock, what the files render to, the catalogue's start-up
times, and chance from a seed. The same seeds give the same output.

Exit codes:
  0  every boot converged
  1  at least one did not
  2  the command line was not understood, or the path could not be read
  3  nothing to boot: no Flux objects found";

#[derive(Args, Debug)]
#[command(after_help = SIMULATE_HELP)]
pub(crate) struct Simulate {
    /// The directory of a cluster repository
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// How many boots
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub seeds: u64,
    /// The seed of the first boot; the others follow
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=u64::MAX / 2))]
    pub first_seed: u64,
    /// A fault that strikes every boot, several if given several times; `random` is one of them by seed
    #[arg(long = "fault", value_name = "NAME", value_parser = fault_names())]
    pub faults: Vec<String>,
    /// Begin below Kubernetes: machines, etcd, the bootstrap's steps one by one
    #[arg(long)]
    pub from_power_on: bool,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub format: TextOrJson,
    /// Only this cluster: its directory, or the last part of that
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// When to use colours; auto is on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

/// The name for a fault that the seed draws.
pub(crate) const RANDOM_FAULT: &str = "random";

fn fault_names() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(
        simulate::Fault::ALL.iter().map(|fault| fault.name()).chain([RANDOM_FAULT]),
    )
}

#[derive(Args, Debug)]
pub(crate) struct Init {
    /// The directory of a cluster repository
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// Print it, and write nothing
    #[arg(long)]
    pub print: bool,
    /// Write it without asking
    #[arg(long)]
    pub yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Plan {
    /// The directory of a cluster repository
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// How to print the plan
    #[arg(long, value_enum, default_value_t = PlanFormat::Text)]
    pub format: PlanFormat,
    /// The cluster, where there are several: its directory, or the last part of that
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    #[command(flatten)]
    pub part: Part,
    #[command(flatten)]
    pub charts: Charts,
    /// When to use colours; auto is on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

const UP_HELP: &str = "\
Real machines are not driven yet: without --simulate (or `world: simulated` in coldstart.yaml) nothing is done.

Exit codes:
  0  healthy
  1  a step failed
  2  the command line was not understood, or something could not be read or written
  3  nothing to bring up: no Flux objects found
  130  somebody asked to stop (Ctrl-C): nothing is lost, the next run goes on";

#[derive(Args, Debug)]
#[command(after_help = UP_HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
pub(crate) struct Up {
    /// The directory of a cluster repository
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// In a simulated world: nothing real is touched
    #[arg(long)]
    pub simulate: bool,
    /// What the simulated world's luck follows from [default: 0, or that of the world that is there]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Let something go wrong in the simulated world
    #[arg(long = "fault", value_name = "NAME", value_parser = fault_names())]
    pub faults: Vec<String>,
    /// How much faster than life the simulated world goes; 0 is as fast as it can
    #[arg(long, value_name = "FACTOR", default_value_t = 60)]
    pub speed: u32,
    /// Forget the simulated world that is there, and begin with a new one
    #[arg(long)]
    pub fresh: bool,
    /// Do again what changed since it was proved
    #[arg(long)]
    pub yes: bool,
    /// Lines on a terminal, too, in place of the board
    #[arg(long)]
    pub plain: bool,
    /// Draw what every step took, and was expected to take, into this file as SVG
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    /// How to tell what happens
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub format: TextOrJson,
    /// The cluster, where there are several: its directory, or the last part of that
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    #[command(flatten)]
    pub part: Part,
    #[command(flatten)]
    pub state: StateDirectory,
    /// When to use colours; auto is on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

/// Where journals are.
#[derive(Args, Debug)]
pub(crate) struct StateDirectory {
    /// Where the journal is kept [default: $XDG_STATE_HOME/coldstart, or ~/.local/state/coldstart]
    #[arg(long = "state", value_name = "DIRECTORY")]
    pub directory: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Log {
    /// The directory of a cluster repository
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// Tell this run again
    #[arg(long, value_name = "N")]
    pub run: Option<u32>,
    /// Draw what every step of that run took, and was expected to take, into this file as SVG
    #[arg(long, value_name = "FILE", requires = "run")]
    pub timeline: Option<PathBuf>,
    /// How to print it
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub format: TextOrJson,
    /// The cluster, where there are several: its directory, or the last part of that
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    #[command(flatten)]
    pub state: StateDirectory,
    /// When to use colours; auto is on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

/// A part of a plan. Names are those of steps or layers.
#[derive(Args, Debug)]
pub(crate) struct Part {
    /// Leave out what this step or layer needs
    #[arg(long, value_name = "NAME")]
    pub from: Option<String>,
    /// Only this step or layer, and what it needs
    #[arg(long, value_name = "NAME")]
    pub until: Option<String>,
    /// Only these steps or layers
    #[arg(long, value_name = "NAME", conflicts_with_all = ["from", "until"])]
    pub only: Vec<String>,
    /// Take a step or layer as done, and say why
    #[arg(long, value_name = "NAME=REASON", value_parser = skip)]
    pub skip: Vec<(String, String)>,
}

fn skip(text: &str) -> Result<(String, String), String> {
    let parts = text.rsplit_once('=').filter(|(name, reason)| !name.is_empty() && !reason.trim().is_empty());
    let (name, reason) = parts.ok_or("say why: NAME=REASON")?;
    Ok((name.to_owned(), reason.trim().to_owned()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    Text,
    Json,
    Mermaid,
}

/// Whether charts are rendered, and with what.
#[derive(Args, Debug)]
pub(crate) struct Charts {
    /// Render charts that are on this machine (in the repository, in helm's cache) with `helm template`; fetches nothing
    #[arg(long)]
    pub render_charts: bool,
    /// The helm to render with [default: the one on the PATH]
    #[arg(long, value_name = "PATH", requires = "render_charts")]
    pub helm: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    Text,
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// A comment for a pull request
    Markdown,
    // A picture of the text in a terminal, for documents.
    #[value(hide = true)]
    Svg,
}

impl CheckFormat {
    /// Shown beside the lines of a file, so everybody with a line to edit gets a finding; elsewhere one speaks for all that
    /// say the same.
    pub(crate) const fn is_beside_lines(self) -> bool {
        matches!(self, Self::Sarif | Self::Github)
    }
}

/// What most commands print: for people, or for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    Pedantic,
    Info,
    Warning,
    Error,
}

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::Pedantic => Self::Pedantic,
            Level::Info => Self::Info,
            Level::Warning => Self::Warning,
            Level::Error => Self::Error,
        }
    }
}
