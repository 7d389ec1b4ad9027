//! `coldstart simulate`.

use std::collections::BTreeMap;

use ::simulate::{Blueprint, Conditions, Counted, Fault, Faults, Machines, Reason, Study};
use diagnostic::Finding;
use draw::say::boots;
use draw::simulation::{BeforeFlux, Lacked, Row, Simulation, Spoken, Times};
use rehearse::{Boots, Explained};

use crate::arguments::{RANDOM_FAULT, Simulate, TextOrJson};
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::open::{open_some, unread};
use crate::progress::Progress;
use crate::timeline::{self, Begins};
use crate::{cluster, output};

const COMMAND: &str = "simulate";

pub(crate) fn run(options: &Simulate) -> Result<Code, Failure> {
    if let Some(path) = &options.timeline {
        if !timeline::holds_boots(path) {
            return Err(Failure::NoPictureOfBoots { path: path.clone() });
        }
        timeline::try_to_write(path)?;
    }
    let progress = Progress::start("booting");
    let reading = open_some(COMMAND, &options.path, options.start.entry.as_deref(), None)?;
    let wanted = match &options.cluster {
        Some(name) => Some(cluster::find(&reading.clusters, name, COMMAND, &options.path)?.name.clone()),
        None => None,
    };
    let mut findings: BTreeMap<String, Vec<Finding>> = BTreeMap::new();
    for finding in ::check::run(&reading, wanted.as_deref()).each().findings {
        findings.entry(finding.cluster.clone()).or_default().push(finding);
    }
    let (rendered, catalogue) = read::rendered::render(&reading.repository).map_err(|error| unread(COMMAND, error))?;
    let faults = faults(&options.faults);
    let mut all = Vec::new();
    let mut timed = Vec::new();
    for cluster in rendered.iter().filter(|cluster| wanted.as_ref().is_none_or(|wanted| cluster.name == *wanted)) {
        let machines = options.from_power_on.then(|| Machines::of(cluster).unwrap_or_default());
        let conditions = Conditions { runs_bootstrap: options.from_power_on, machines, ..Conditions::default() };
        let blueprint = ::simulate::compile(std::slice::from_ref(cluster), &catalogue, &conditions);
        let study = ::simulate::study(&blueprint, options.first_seed, options.seeds, &faults);
        if options.timeline.is_some() {
            let boots = (options.first_seed, options.seeds.min(timeline::TIMED_BOOTS_MAX));
            let known = reading.clusters.iter().find(|known| known.name == *cluster.name);
            let begins = if options.from_power_on { Begins::WithMachines } else { Begins::WithFlux };
            let timed_boots =
                |known| timeline::boots(known, &::graph::analyse(known), &blueprint, boots, &faults, begins);
            timed.extend(known.map(timed_boots));
        }
        let mine = findings.get(&*cluster.name).map(Vec::as_slice).unwrap_or_default();
        all.push(simulation(&cluster.name, &blueprint, &study, &options.faults, mine));
    }
    drop(progress);
    if let Some(path) = &options.timeline {
        timeline::of_boots(path, &timed)?;
    }
    let text = match options.format {
        TextOrJson::Text => draw::simulation::text(&all, options.amount.detail(), output::wants_color(options.color)),
        TextOrJson::Json => draw::simulation::json(&all).map_err(|error| Failure::Json(error.to_string()))?,
    };
    output::print(&text)?;
    let all_converged = all.iter().all(|one| one.converged == one.boots);
    Ok(if all_converged { exit::CLEAN } else { exit::ERRORS_FOUND })
}

fn faults(names: &[String]) -> Faults {
    Faults {
        these: names.iter().filter_map(|name| Fault::named(name)).collect(),
        is_drawn: names.iter().any(|name| name == RANDOM_FAULT),
    }
}

fn simulation(
    cluster: &str,
    blueprint: &Blueprint,
    study: &Study,
    faults: &[String],
    findings: &[Finding],
) -> Simulation {
    let seconds = |percent: usize| study.percentile(percent).map(|millis| millis / 1000);
    let rows = Rows(Boots::new(blueprint, findings));
    Simulation {
        cluster: cluster.to_owned(),
        boots: study.boots,
        first_seed: study.first_seed,
        faults: faults.to_vec(),
        converged: study.converged,
        unfinished: study.unfinished,
        out_of_time: study.out_of_time,
        time: seconds(50).zip(seconds(95)).zip(seconds(100)).map(|((p50, p95), worst)| Times {
            p50_seconds: p50,
            p95_seconds: p95,
            worst_seconds: worst,
        }),
        before_flux: blueprint.has_steps().then(|| rows.before_flux(study)),
        causes: rows.causes(study),
        retried: rows.retried(study),
        lost: rows.lost(study),
        assumed: blueprint
            .assumed
            .iter()
            .cloned()
            .chain(blueprint.assumes_lenient.then(|| boots::LENIENT_FLUX.to_owned()))
            .collect(),
    }
}

/// What happened, each with the finding that speaks of it.
struct Rows<'a>(Boots<'a>);

impl Rows<'_> {
    fn say(&self, reason: Reason, turns: bool) -> String {
        boots::died_of(reason.named(self.0.blueprint).as_ref(), turns)
    }

    fn before_flux(&self, study: &Study) -> BeforeFlux {
        let boots = |of: &[(Reason, u64, u64)]| of.iter().map(|(_, boots, _)| boots).sum();
        let lacked = study.started_without.iter().map(|(reason, boots, seed)| Lacked {
            says: boots::lacked(reason.named(self.0.blueprint).as_ref()),
            boots: *boots,
            seed: *seed,
        });
        let mut lacked: Vec<Lacked> = lacked.collect();
        lacked.sort_by_key(|row| std::cmp::Reverse(row.boots));
        BeforeFlux { stopped: boots(&study.bootstrap_failed), incomplete: boots(&study.started_without), lacked }
    }

    fn causes(&self, study: &Study) -> Vec<Row> {
        let bootstrap = study.bootstrap_failed.iter().map(|(reason, boots, seed)| Row {
            component: boots::BOOTSTRAP.to_owned(),
            boots: *boots,
            says: boots::bootstrap_failed(reason.named(self.0.blueprint).as_ref()),
            fact: None,
            blocks: None,
            cost_seconds: None,
            finding: None,
            seed: *seed,
        });
        bootstrap.chain(study.causes.iter().map(|cause| self.cause(cause))).collect()
    }

    fn cause(&self, cause: &Counted) -> Row {
        let explained = self.0.cause(cause);
        let fact = explained.fact;
        Row {
            says: self.say(cause.reason, !cause.circle.is_empty()),
            fact: fact.map(|fact| self.say(fact, cause.turns)),
            blocks: Some(cause.blocks),
            ..row(explained, cause.boots, cause.seed)
        }
    }

    fn retried(&self, study: &Study) -> Vec<Row> {
        let all: BTreeMap<_, _> = study.retried.iter().map(|it| (it.id, it)).collect();
        let retried = study.retried.iter().map(|it| Row {
            says: self.say(it.reason, false),
            cost_seconds: Some((it.median / 1000, it.worst / 1000)),
            ..row(self.0.retried(it, &all), it.boots, it.seed)
        });
        retried.collect()
    }

    fn lost(&self, study: &Study) -> Vec<Row> {
        let lost = study.lost.iter().map(|it| {
            let left_out = (it.id != it.of).then(|| self.0.blueprint.thing(it.id).object());
            Row { says: boots::lost(left_out.as_ref()), ..row(self.0.lost(it), it.boots, it.seed) }
        });
        lost.collect()
    }
}

fn row(explained: Explained, boots: u64, seed: u64) -> Row {
    let finding = explained.finding.map(|finding| Spoken {
        rule: finding.rule.id,
        severity: finding.severity.word(),
        component: finding.component.to_string(),
    });
    Row {
        component: explained.component.as_ref().map(ToString::to_string).unwrap_or_default(),
        boots,
        says: String::new(),
        fact: None,
        blocks: None,
        cost_seconds: None,
        finding,
        seed,
    }
}
