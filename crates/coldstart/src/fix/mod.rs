//! `coldstart fix`.

mod commit;
mod files;
pub(crate) mod proof;
mod review;
mod unended;

use ::check::{Policy, rules};
use diagnostic::{Finding, Fingerprint, Repairs, Report, Severity};
use draw::repairs::RepairsText;
use edit::Journal;
use fix::Wish;
use model::nearest;
use read::Reading;

use crate::arguments::{Check, CheckFormat, Fix, FixFormat, Level};
use crate::confirm::somebody;
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::fix::proof::{Proof, settled};
use crate::fix::unended::Unended;
use crate::open::{is_empty, nothing, open_then};
use crate::progress::Progress;
use crate::{cluster, output};

const COMMAND: &str = "fix";

/// `coldstart check --fix`: the same, with the options that both have.
pub(crate) fn of_check(options: &Check) -> Result<Code, Failure> {
    let format = match options.format {
        CheckFormat::Json => FixFormat::Json,
        CheckFormat::Text => FixFormat::Text,
        CheckFormat::Sarif | CheckFormat::Github | CheckFormat::Markdown | CheckFormat::Svg => {
            return Err(Failure::FixFormat);
        }
    };
    run(&Fix {
        path: options.path.clone(),
        start: options.start.clone(),
        write: false,
        interactive: false,
        commit: false,
        with_unsafe: options.with_unsafe,
        rules: Vec::new(),
        only: Vec::new(),
        cluster: options.cluster.clone(),
        min_severity: if options.pedantic { Some(Level::Pedantic) } else { options.min_severity },
        verbose: options.amount.verbose,
        format,
        since: None,
        posted: None,
        color: options.color,
    })
}

pub(crate) fn run(options: &Fix) -> Result<Code, Failure> {
    options.rules.iter().try_for_each(|rule| is_rule(rule))?;
    if options.since.is_some() && options.format != FixFormat::GithubReview {
        return Err(Failure::SinceFormat);
    }
    undo(options)?;
    let progress = Progress::start("checking");
    let entry = options.start.entry.as_deref();
    let (reading, analyses) = open_then(COMMAND, &options.path, entry, None, ::graph::analyse)?;
    if is_empty(&reading) {
        return Err(nothing(COMMAND, &options.path, &reading));
    }
    let only = match &options.cluster {
        Some(name) => Some(cluster::find(&reading.clusters, name, COMMAND, &options.path)?.name.clone()),
        None => None,
    };
    let policy = Policy::of(&reading.settings).map_err(|source| Failure::Settings { command: COMMAND, source })?;
    let report = settled(&reading, &analyses, &policy);
    let session = Session { options, reading: &reading, policy: &policy, report: &report, only };
    let repairs = session.repairs(None)?;
    drop(progress);
    let repairs = if options.interactive { session.ask(&repairs)? } else { repairs };
    // What is said to be fixed is.
    if options.write || options.commit || options.interactive {
        session.make(&repairs)?;
    }
    if !options.interactive {
        session.print(&repairs)?;
    }
    if options.commit {
        commit::told(&repairs)?;
    }
    Ok(exit::CLEAN)
}

/// What an earlier run left half done is not what is to be fixed.
fn undo(options: &Fix) -> Result<(), Failure> {
    let is_writing = options.write || options.commit || options.interactive;
    if let Some(series) = Unended::of(&options.path) {
        output::remark(&draw::say::stopped_commits(&series.start, series.commits));
        if is_writing {
            series.forget();
        }
    }
    let Some(journal) = files::journal(&options.path).filter(Journal::is_open) else { return Ok(()) };
    if !is_writing {
        return Err(Failure::Stopped);
    }
    let restored = journal.undo().map_err(Failure::NotUndone)?;
    output::remark(&draw::say::undone(restored.len()));
    Ok(())
}

fn is_rule(name: &str) -> Result<(), Failure> {
    if rules::find(name).is_some() {
        return Ok(());
    }
    let rules: Vec<&'static str> = rules::all().iter().map(|rule| rule.id).collect();
    let nearest = nearest(name, rules.iter().copied());
    Err(Failure::UnknownRule { name: name.to_owned(), nearest, rules })
}

struct Session<'a> {
    options: &'a Fix,
    reading: &'a Reading,
    policy: &'a Policy,
    report: &'a Report,
    only: Option<String>,
}

impl Session<'_> {
    /// The edits that close what is wanted, or what was chosen of that, proved.
    fn repairs(&self, chosen: Option<&[Fingerprint]>) -> Result<Repairs, Failure> {
        let closes = |finding: &Finding, reading: &Reading| match chosen {
            Some(chosen) => chosen.contains(&Fingerprint::of(finding, &reading.repository)),
            None => self.is_wanted(finding, reading),
        };
        // What was not chosen was shown, and is not wanted.
        let may_add = |_: &Finding, _: &Reading| chosen.is_none();
        let wish = Wish { closes: &closes, with_unsafe: self.options.with_unsafe, may_add: &may_add };
        let Self { reading, policy, .. } = *self;
        let entry = self.options.start.entry.as_deref();
        Proof { command: COMMAND, reading, entry, policy }.repairs(&self.report.findings, &wish)
    }

    fn is_wanted(&self, finding: &Finding, reading: &Reading) -> bool {
        let Fix { rules, only, .. } = self.options;
        let place = reading.repository.locate(finding.primary.at.span()).map(|(path, _)| path);
        let is_below = |wanted: &String| {
            let wanted = repository::path::within(wanted);
            place.is_some_and(|path| path == wanted || repository::path::is_below(path, &wanted))
        };
        finding.severity >= self.min_severity()
            && (rules.is_empty() || rules.iter().any(|rule| rule == finding.rule.id))
            && (only.is_empty() || only.iter().any(is_below))
            && self.only.as_ref().is_none_or(|name| finding.cluster == *name)
    }

    fn min_severity(&self) -> Severity {
        let said = self.options.min_severity.map(Severity::from).or(self.policy.min_severity);
        said.unwrap_or(Severity::Warning)
    }

    fn text(&self, is_written: bool) -> RepairsText {
        let (color, width) = (output::wants_color(self.options.color), output::columns());
        RepairsText { color, width, is_written, with_left: self.options.verbose }
    }

    fn print(&self, repairs: &Repairs) -> Result<(), Failure> {
        let sources = &self.reading.repository;
        let is_written = self.options.write || self.options.commit;
        let text = match self.options.format {
            FixFormat::Text => Ok(draw::repairs::text(repairs, sources, self.text(is_written))),
            FixFormat::Json => draw::repairs::json(repairs, sources),
            FixFormat::GithubReview => draw::review::review(repairs, &self.change(repairs)?).map(|reviewed| {
                output::remark(&reviewed.said);
                reviewed.json.unwrap_or_default()
            }),
        };
        output::print(&text.map_err(|error| Failure::Json(error.to_string()))?)?;
        Ok(())
    }

    /// The change that is reviewed. Lines are those of the last commit, so a file to edit must be as it is there.
    fn change(&self, repairs: &Repairs) -> Result<draw::review::Change, Failure> {
        let root = self.reading.repository.root();
        files::refuse_dirty(root, repairs)?;
        let revision = self.options.since.as_deref().unwrap_or_default();
        review::change(root, revision, self.options.posted.as_deref())
    }

    /// Asks for each repair; those that are wanted are proved once more without the others.
    fn ask(&self, repairs: &Repairs) -> Result<Repairs, Failure> {
        let mut answers = somebody().ok_or(Failure::NobodyToAsk)?;
        let mut chosen = Vec::new();
        let all = repairs.made.len();
        for (at, repair) in repairs.made.iter().enumerate() {
            output::print(&draw::repairs::shown(repair, (at + 1, all), self.text(false)))?;
            output::print("make this edit? [y/N/q] ")?;
            let mut line = String::new();
            answers.read_line(&mut line)?;
            match line.trim() {
                "y" | "Y" | "yes" => chosen.extend(repair.closes.iter().map(|told| told.fingerprint.clone())),
                "q" | "Q" => break,
                _ => {}
            }
        }
        if chosen.is_empty() {
            return Err(Failure::No);
        }
        self.repairs(Some(&chosen))
    }

    fn make(&self, repairs: &Repairs) -> Result<(), Failure> {
        if repairs.made.is_empty() {
            return Ok(());
        }
        let root = self.reading.repository.root();
        files::refuse_dirty(root, repairs)?;
        files::refuse_ignored(root, repairs)?;
        if self.options.commit {
            return commit::each(root, repairs);
        }
        files::write_all(root, repairs)
    }
}
