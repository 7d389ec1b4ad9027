//! The words of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use diagnostic::Severity;
use draw::text::Detail;

/// Know how a Kubernetes cluster comes up, before it has to.
#[derive(Debug, Parser)]
#[command(name = "coldstart", version = crate::version::TEXT, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Report what will go wrong at the next cold start, what it costs, and which line to edit
    Check(Check),
    /// Show the edits that close what `check` reports, each proved by checking again; --write makes them
    Fix(Fix),
    /// Show the order in which a cluster comes up
    Graph(Graph),
    /// Show what stops when something is down, restarted, upgraded or deleted, and when
    Impact(Impact),
    /// Write a coldstart.yaml with the machines, addresses and Terraform directories found in the repository
    Init(Init),
    /// Show what a cold start would do, step by step, and what each step waits for
    Plan(Plan),
    /// Manage sealing keys outside the cluster, seal values, and verify that everything opens
    #[cfg(feature = "seal")]
    Seal(crate::seal::arguments::Seal),
    /// Write the analysis of a cluster as a document: stages, guarantees, gaps, changes, tiers, layers, recovery
    Report(Report),
    /// Boot the repository many times in a simulated world: how often it comes up, how long it takes, why it fails
    Simulate(Simulate),
    /// Show whether a live cluster is healthy, layer by layer, and the root of what is not; only reads
    #[cfg(feature = "live")]
    Status(crate::status::arguments::Status),
    /// Bring a cluster up step by step, verifying each step; resumable after a crash
    Up(Up),
    /// List earlier runs of `up`, or show one of them again
    Log(Log),
    /// Print a shell completion script
    Completions(Completions),
    /// Print the manual page, or write the manual pages of all commands
    Man(Man),
    /// Print the version, and the commit it was built from
    Version,
}

const CHECK_HELP: &str = "\
Reads files, runs nothing of the repository, uses no network. With --render-charts it runs helm, offline.

Exit codes:
  0  no errors (there may be warnings; --fail-on changes which severity counts)
  1  at least one finding of severity error
  2  the command line was not understood, or the path could not be read
  3  nothing to check: no Flux objects found";

#[derive(Args, Clone, Debug)]
#[command(after_help = CHECK_HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
pub(crate) struct Check {
    /// The directory of a cluster repository
    #[arg(default_value = ".")]
    pub path: PathBuf,
    #[command(flatten)]
    pub start: Start,
    /// How to print the report
    #[arg(long, short = 'o', value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
    /// Least severity to report [default: warning, or what coldstart.yaml says]
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub min_severity: Option<Level>,
    /// Report everything: the same as --min-severity pedantic
    #[arg(long, conflicts_with = "min_severity")]
    pub pedantic: bool,
    /// Only this cluster: its directory, or the last part of its path
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// The least severity that makes the exit code 1
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Error)]
    pub fail_on: FailOn,
    #[command(flatten)]
    pub amount: Amount,
    /// Check again whenever a file changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["write_baseline", "explain", "list_rules"])]
    pub watch: bool,
    /// Report findings individually instead of grouped
    #[arg(long)]
    pub each: bool,
    /// Show the edits that close the findings instead: the same as `coldstart fix`, which also makes them
    #[arg(long, conflicts_with_all = ["watch", "write_baseline", "since", "baseline", "explain", "list_rules", "render_charts", "quiet"])]
    pub fix: bool,
    /// With --fix, and for the edits in json and sarif: also those after which a running cluster behaves differently
    #[arg(long = "unsafe")]
    pub with_unsafe: bool,
    /// List everything that could not be read, and why
    #[arg(long)]
    pub blind_spots: bool,
    /// Leave out the findings in this file, and only count them
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write all findings of the wanted severity to the baseline; later runs report only new ones
    #[arg(long, conflicts_with = "since")]
    pub write_baseline: bool,
    /// Report only what is new since this Git revision: a commit, a branch, a tag
    #[arg(long, value_name = "REV")]
    pub since: Option<String>,
    #[command(flatten)]
    pub charts: Charts,
    /// Print the manual page of a rule, and check nothing
    #[arg(long, value_name = "RULE")]
    pub explain: Option<String>,
    /// List all rules with a line each, and check nothing
    #[arg(long, conflicts_with = "explain")]
    pub list_rules: bool,
    /// When to use colours; auto means on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

const FIX_HELP: &str = "\
Prints a diff and writes nothing, unless --write, --interactive or --commit is given. Before anything is shown, the
repository is checked again with the edits: one that leaves its finding, or brings another, is left out.

Exit codes:
  0  the edits were shown or made, or there are none
  2  the command line was not understood, the path could not be read, or the files could not be written
  3  nothing to check: no Flux objects found";

#[derive(Args, Clone, Debug)]
#[command(after_help = FIX_HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
pub(crate) struct Fix {
    /// The directory of a cluster repository
    #[arg(default_value = ".")]
    pub path: PathBuf,
    #[command(flatten)]
    pub start: Start,
    /// Make the edits: all of them, or none if one file can't be written
    #[arg(long)]
    pub write: bool,
    /// Ask for each fix, then make the chosen ones
    #[arg(long, short, conflicts_with = "format")]
    pub interactive: bool,
    /// Make the edits, with a Git commit for each cause
    #[arg(long)]
    pub commit: bool,
    /// Also edits after which a running cluster behaves differently, such as `wait: true`
    #[arg(long = "unsafe")]
    pub with_unsafe: bool,
    /// Only findings of this rule (repeatable)
    #[arg(long = "rule", value_name = "RULE")]
    pub rules: Vec<String>,
    /// Only findings in this file or directory, from the root of the repository (repeatable)
    #[arg(long = "path", value_name = "PATH", id = "only")]
    pub only: Vec<String>,
    /// Only this cluster: its directory, or the last part of its path
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// Least severity to fix [default: warning, or what coldstart.yaml says]
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub min_severity: Option<Level>,
    /// List every finding that is not fixed, and why
    #[arg(long, short)]
    pub verbose: bool,
    /// How to print the edits
    #[arg(long, short = 'o', value_enum, default_value_t = FixFormat::Text)]
    pub format: FixFormat,
    /// With --format github-review: only edits on lines that the change since this Git revision shows
    #[arg(long, value_name = "REV", required_if_eq("format", "github-review"), conflicts_with_all = ["write", "commit", "interactive"])]
    pub since: Option<String>,
    /// With --format github-review: leave out suggestions whose marker is a line of this file
    #[arg(long, value_name = "FILE", requires = "since")]
    pub posted: Option<PathBuf>,
    /// When to use colours; auto means on a terminal, unless NO_COLOR is set
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
    /// Write the manual pages of all commands to this directory
    #[arg(long, value_name = "DIRECTORY")]
    pub out: Option<PathBuf>,
}

/// How much of a report to print.
#[derive(Args, Clone, Debug)]
pub(crate) struct Amount {
    /// Print only the headline and the counts
    #[arg(long, short)]
    pub quiet: bool,
    /// Show everything in full instead of two screens
    #[arg(long, short, conflicts_with = "quiet")]
    pub verbose: bool,
}

impl Amount {
    pub(crate) fn detail(&self) -> Detail {
        match self {
            Self { quiet: true, .. } => Detail::Headline,
            Self { verbose: true, .. } => Detail::Everything,
            Self { .. } => Detail::Screens,
        }
    }
}

/// Where a cluster begins.
#[derive(Args, Clone, Debug)]
pub(crate) struct Start {
    /// The directory that Flux applies first, from the root of the repository [default: found by itself]
    #[arg(long, value_name = "PATH")]
    pub entry: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Graph {
    /// The directory of a cluster repository
    #[arg(default_value = ".")]
    pub path: PathBuf,
    #[command(flatten)]
    pub start: Start,
    /// Print only the headline of each cluster, and what never comes up
    #[arg(long, short)]
    pub quiet: bool,
    /// How to print the graph
    #[arg(long, short = 'o', value_enum, default_value_t = GraphFormat::Text)]
    pub format: GraphFormat,
    #[command(flatten)]
    pub picture: PictureOptions,
    /// What a change does to the order, instead of the graph: between two Git revisions
    #[arg(long, value_name = "BASE..HEAD", value_parser = revisions, conflicts_with_all = ["focus", "depth", "only", "collapse", "lanes", "releases", "quiet", "render_charts"])]
    pub diff: Option<(String, String)>,
    /// With --diff: exit with 1 where the order changes
    #[arg(long, requires = "diff")]
    pub exit_code: bool,
    /// Only this cluster: its directory, or the last part of its path
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    #[command(flatten)]
    pub charts: Charts,
    /// When to use colours; auto means on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    Text,
    Json,
    /// A picture
    Svg,
    /// A page to explore, in one file
    Html,
    /// A flowchart for Markdown, of at most 500 arrows
    Mermaid,
    /// For Graphviz
    Dot,
    /// With --diff: a comment for a pull request
    Markdown,
}

/// What of the graph is drawn.
#[derive(Args, Debug)]
pub(crate) struct PictureOptions {
    /// In pictures: only what is near to this component (repeatable)
    #[arg(long, value_name = "OF")]
    pub focus: Vec<String>,
    /// With --focus: how many arrows away
    #[arg(long, value_name = "N", default_value_t = 2, requires = "focus")]
    pub depth: usize,
    /// In pictures: only orders that are missing, and cycles
    #[arg(long, value_enum, value_name = "WHAT")]
    pub only: Option<GraphOnly>,
    /// In pictures: one box for all of a namespace, or of a tier
    #[arg(long, value_enum, value_name = "INTO")]
    pub collapse: Option<GraphCollapse>,
    /// In pictures: what stands together
    #[arg(long, value_enum, value_name = "BY", default_value_t = GraphLanes::Stage)]
    pub lanes: GraphLanes,
    /// In pictures: a box for every release, also beside a Kustomization that applies little else
    #[arg(long)]
    pub releases: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphOnly {
    Missing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphCollapse {
    Namespace,
    Tier,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphLanes {
    Stage,
    Namespace,
}

const IMPACT_HELP: &str = "\
OF is a component (namespace/name, Kind/name, Kind/namespace/name or a name), an object that a component
applies, a file of the repository, a release with another version (NAME@VERSION), or a machine.

Exit codes:
  0  answered
  2  the command line was not understood, or nothing is called that
  3  nothing to ask about: no Flux objects found";

#[derive(Args, Debug)]
#[command(after_help = IMPACT_HELP)]
pub(crate) struct Impact {
    /// What is lost; with --critical or --from-git, the directory of a cluster repository
    #[arg(value_name = "OF")]
    pub of: Option<String>,
    /// The directory of a cluster repository
    #[arg(default_value = ".")]
    pub path: PathBuf,
    #[command(flatten)]
    pub start: Start,
    /// List the services that must not be disrupted, with what each takes down
    #[arg(long, conflicts_with = "from_git")]
    pub critical: bool,
    /// What the files that changed between two Git revisions make, change and remove
    #[arg(long, value_name = "BASE..HEAD", value_parser = revisions)]
    pub from_git: Option<(String, String)>,
    #[command(flatten)]
    pub amount: Amount,
    /// How to print the answer
    #[arg(long, short = 'o', value_enum, default_value_t = ImpactFormat::Text)]
    pub format: ImpactFormat,
    /// Only this cluster: its directory, or the last part of its path
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    #[command(flatten)]
    pub charts: Charts,
    /// When to use colours; auto means on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

fn revisions(text: &str) -> Result<(String, String), String> {
    let (base, head) = text.split_once("..").ok_or("two revisions: BASE..HEAD")?;
    let head = head.trim_start_matches('.');
    if base.is_empty() {
        return Err("two revisions: BASE..HEAD".to_owned());
    }
    Ok((base.to_owned(), if head.is_empty() { "HEAD" } else { head }.to_owned()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImpactFormat {
    Text,
    Json,
    /// A comment for a pull request
    Markdown,
}

const REPORT_HELP: &str = "\
Exit codes:
  0  written, or the file is as it would be written
  1  with --check: the file differs, and the difference is printed
  2  the command line was not understood, or something could not be read or written
  3  nothing to report: no Flux objects found";

#[derive(Args, Debug)]
#[command(after_help = REPORT_HELP)]
pub(crate) struct Report {
    /// The directory of a cluster repository
    #[arg(default_value = ".")]
    pub path: PathBuf,
    #[command(flatten)]
    pub start: Start,
    /// Only this stage
    #[arg(long, value_name = "STAGE", value_parser = stage_names())]
    pub stage: Option<String>,
    /// Write it to this file
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub out: Option<PathBuf>,
    /// Compare it with this file, and print the difference
    #[arg(long, value_name = "FILE")]
    pub check: Option<PathBuf>,
    /// Simulate this many boots, now and after the changes: how reliable it is, and when what is ready
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub boots: Option<u64>,
    /// How to write it
    #[arg(long, short = 'o', value_enum, default_value_t = ReportFormat::Markdown)]
    pub format: ReportFormat,
    /// Only this cluster: its directory, or the last part of its path
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
}

fn stage_names() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(run::Layer::ALL.iter().map(|layer| layer.name()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Markdown,
    Json,
    /// One page with pictures, to read and to print
    Html,
}

const SIMULATE_HELP: &str = "\
Nothing real is touched: a virtual clock, the objects that the files render to, the catalogue's
start-up times, and random variation from a seed. The same seeds give the same output.

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
    #[command(flatten)]
    pub start: Start,
    /// Number of boots
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub seeds: u64,
    /// Seed of the first boot; the others count up from it
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=u64::MAX / 2))]
    pub first_seed: u64,
    /// Inject this fault into every boot (repeatable); `random` picks one by seed
    #[arg(long = "fault", value_name = "NAME", value_parser = fault_names())]
    pub faults: Vec<String>,
    /// Begin with powered-off machines: Talos, etcd, the steps of the bootstrap one by one
    #[arg(long)]
    pub from_power_on: bool,
    /// Write when each component is ready in the first 200 boots to this file: .html, or .json for Perfetto
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    #[command(flatten)]
    pub amount: Amount,
    /// How to print the result
    #[arg(long, short = 'o', value_enum, default_value_t = TextOrJson::Text)]
    pub format: TextOrJson,
    /// Only this cluster: its directory, or the last part of its path
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// When to use colours; auto means on a terminal, unless NO_COLOR is set
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
    /// Print the file instead of writing it
    #[arg(long)]
    pub print: bool,
    /// Write the file without asking
    #[arg(long)]
    pub yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Plan {
    /// The directory of a cluster repository
    #[arg(default_value = ".")]
    pub path: PathBuf,
    #[command(flatten)]
    pub start: Start,
    /// Print only the headline
    #[arg(long, short)]
    pub quiet: bool,
    /// How to print the plan
    #[arg(long, short = 'o', value_enum, default_value_t = PlanFormat::Text)]
    pub format: PlanFormat,
    /// The cluster, where there are several: its directory, or the last part of its path
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    #[command(flatten)]
    pub part: Part,
    #[command(flatten)]
    pub charts: Charts,
    /// When to use colours; auto means on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

const UP_HELP: &str = "\
Real machines are not supported yet: without --simulate (or `world: simulated` in coldstart.yaml) nothing is done.

Exit codes:
  0  healthy
  1  a step failed
  2  the command line was not understood, or something could not be read or written
  3  nothing to bring up: no Flux objects found
  130  interrupted (Ctrl-C): nothing is lost, the next run continues";

#[derive(Args, Debug)]
#[command(after_help = UP_HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
pub(crate) struct Up {
    /// The directory of a cluster repository
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// Run in a simulated world: nothing real is touched
    #[arg(long)]
    pub simulate: bool,
    /// Random seed for the simulation [default: that of the existing simulated world, or 0]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Inject this fault into the simulation (repeatable)
    #[arg(long = "fault", value_name = "NAME", value_parser = fault_names())]
    pub faults: Vec<String>,
    /// Simulation speed relative to real time; 0 is as fast as possible
    #[arg(long, value_name = "FACTOR", default_value_t = 60)]
    pub speed: u32,
    /// Discard the existing simulated world, and begin with a new one
    #[arg(long)]
    pub fresh: bool,
    /// Do steps again that changed since they were completed, without asking
    #[arg(long)]
    pub yes: bool,
    /// Print only the beginning, failures and the end
    #[arg(long, short, conflicts_with = "plain")]
    pub quiet: bool,
    /// Print plain lines instead of the live board
    #[arg(long)]
    pub plain: bool,
    /// Write what every step took, and was expected to take, to this file: .svg, .html, or .json for Perfetto
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    /// How to tell what happens
    #[arg(long, short = 'o', value_enum, default_value_t = TextOrJson::Text)]
    pub format: TextOrJson,
    /// The cluster, where there are several: its directory, or the last part of its path
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    #[command(flatten)]
    pub part: Part,
    #[command(flatten)]
    pub state: StateDirectory,
    /// When to use colours; auto means on a terminal, unless NO_COLOR is set
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
    /// Show this run again
    #[arg(long, value_name = "N")]
    pub run: Option<u32>,
    /// Of a world that --fresh put away: the number that is listed before its runs
    #[arg(long, value_name = "N", requires = "run")]
    pub world: Option<u32>,
    /// Remove journals of worlds that --fresh put away, but for the newest N
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "5", conflicts_with = "run")]
    pub prune: Option<usize>,
    /// Write the times of that run to this file: .svg, .html, or .json for Perfetto
    #[arg(long, value_name = "FILE", requires = "run")]
    pub timeline: Option<PathBuf>,
    /// How to print it
    #[arg(long, short = 'o', value_enum, default_value_t = TextOrJson::Text)]
    pub format: TextOrJson,
    /// The cluster, where there are several: its directory, or the last part of its path
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    #[command(flatten)]
    pub state: StateDirectory,
    /// When to use colours; auto means on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

/// A part of a plan. Names are those of steps or layers.
#[derive(Args, Debug)]
pub(crate) struct Part {
    /// Leave out everything that this step or layer needs: it is assumed to be done
    #[arg(long, value_name = "NAME")]
    pub from: Option<String>,
    /// Only this step or layer, and what it needs
    #[arg(long, value_name = "NAME")]
    pub until: Option<String>,
    /// Only these steps or layers
    #[arg(long, value_name = "NAME", conflicts_with_all = ["from", "until"])]
    pub only: Vec<String>,
    /// Treat a step or layer as done, and give the reason
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
#[derive(Args, Clone, Debug)]
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
    /// Carries the edits that close findings.
    pub(crate) const fn has_edits(self) -> bool {
        matches!(self, Self::Json | Self::Sarif)
    }

    /// Shown beside the lines of a file, so every component with a line to edit gets a finding; elsewhere one speaks for all that
    /// say the same.
    pub(crate) const fn is_beside_lines(self) -> bool {
        matches!(self, Self::Sarif | Self::Github)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FixFormat {
    /// A patch, with the reason, the risk and the way back
    Text,
    Json,
    /// The body of a review of a pull request, with suggestions
    GithubReview,
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

/// Which findings make `check` fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Error,
    Warning,
    Info,
    /// Findings never do
    Never,
}

impl FailOn {
    /// The least severity that counts.
    pub(crate) fn severity(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Info => Some(Severity::Info),
            Self::Never => None,
        }
    }
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
