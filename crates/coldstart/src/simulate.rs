//! `coldstart simulate`.

use std::collections::BTreeSet;

use ::check::{Finding, Symptom};
use ::simulate::{Blueprint, Conditions, Counted, Fault, Faults, Id, Machines, Reason, Study};
use draw::simulation::{Row, Simulation, Spoken, Times};
use model::ObjectRef;

use crate::arguments::{RANDOM_FAULT, Simulate, TextOrJson};
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::open::{open_some, unread};
use crate::progress::Progress;
use crate::{cluster, output};

const COMMAND: &str = "simulate";

pub(crate) fn run(options: &Simulate) -> Result<Code, Failure> {
    let progress = Progress::start("booting");
    let reading = open_some(COMMAND, &options.path, None)?;
    let wanted = match &options.cluster {
        Some(name) => Some(cluster::find(&reading.clusters, name, COMMAND, &options.path)?.name.clone()),
        None => None,
    };
    let findings = ::check::run(&reading, wanted.as_deref()).each().findings;
    let (rendered, catalogue) = read::rendered::render(&reading.repository).map_err(|error| unread(COMMAND, error))?;
    let machines = options.from_power_on.then(Machines::default);
    let conditions = Conditions { runs_bootstrap: options.from_power_on, machines, ..Conditions::default() };
    let faults = faults(&options.faults);
    let mut all = Vec::new();
    for cluster in rendered.iter().filter(|cluster| wanted.as_ref().is_none_or(|wanted| cluster.name == *wanted)) {
        let blueprint = ::simulate::compile(std::slice::from_ref(cluster), &catalogue, &conditions);
        let study = ::simulate::study(&blueprint, options.first_seed, options.seeds, &faults);
        let mine: Vec<Finding> = findings.iter().filter(|finding| finding.cluster == cluster.name).cloned().collect();
        all.push(simulation(&cluster.name, &blueprint, &study, &options.faults, &mine));
    }
    drop(progress);
    let text = match options.format {
        TextOrJson::Text => draw::simulation::text(&all, output::wants_color(options.color)),
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
    let rows = Rows { blueprint, findings };
    Simulation {
        cluster: cluster.to_owned(),
        boots: study.boots,
        first_seed: study.first_seed,
        faults: faults.to_vec(),
        converged: study.converged,
        time: seconds(50).zip(seconds(95)).zip(seconds(100)).map(|((p50, p95), worst)| Times {
            p50_seconds: p50,
            p95_seconds: p95,
            worst_seconds: worst,
        }),
        causes: rows.causes(study),
        retried: rows.retried(study),
        lost: rows.lost(study),
        assumed: blueprint.assumed.clone(),
    }
}

/// What happened, each with the finding that speaks of it.
struct Rows<'a> {
    blueprint: &'a Blueprint,
    findings: &'a [Finding],
}

/// What is asked of the findings.
struct Question<'a> {
    /// Begins with the component that it is about.
    near: &'a [Id],
    /// What was seen, and a word of what is missed; the most telling first.
    seen: Vec<(Symptom, Option<String>)>,
    /// From what the controller says down to the fact, where that is known.
    chain: &'a [Reason],
}

/// One finding speaks for everybody with the same store, or behind the same webhook.
const SPEAK_FOR_SEVERAL: [&str; 2] = ["late-store", "webhook-race"];

impl Rows<'_> {
    fn causes(&self, study: &Study) -> Vec<Row> {
        let bootstrap = study.bootstrap_failed.iter().map(|(reason, boots, seed)| Row {
            component: "the bootstrap".to_owned(),
            boots: *boots,
            says: format!("{}: it stops, and Flux is never started", reason.say(self.blueprint)),
            fact: None,
            blocks: None,
            cost_seconds: None,
            finding: None,
            seed: *seed,
        });
        bootstrap.chain(study.causes.iter().map(|cause| self.cause(cause))).collect()
    }

    fn cause(&self, cause: &Counted) -> Row {
        let is_circle = !cause.circle.is_empty();
        let members = cause.circle.iter().filter(|member| **member != cause.id);
        let near: Vec<Id> = std::iter::once(cause.id).chain(members.copied()).collect();
        // Pods that only take long were too late for somebody who has given up: that is no fact behind it.
        let passes = matches!(cause.chain.last(), Some(Reason::Starts(..) | Reason::UnderWay(_)));
        let question = Question {
            near: &near,
            seen: if is_circle { vec![(Symptom::Circle, None)] } else { self.seen(cause.reason, cause.turns) },
            chain: if is_circle || passes { &[] } else { &cause.chain },
        };
        let say_turn = |turns: bool| if turns { ", which waits for it in turn" } else { "" };
        let fact = question.chain.get(1..).and_then(<[Reason]>::last);
        Row {
            says: format!("{}{}", cause.reason.say(self.blueprint), say_turn(is_circle)),
            fact: fact.map(|fact| format!("{}{}", fact.say(self.blueprint), say_turn(cause.turns))),
            blocks: Some(cause.blocks),
            ..self.row(&question, cause.boots, cause.seed)
        }
    }

    fn retried(&self, study: &Study) -> Vec<Row> {
        let retried = study.retried.iter().map(|it| {
            // A Kustomization that waited for a release in vain has the release's reason.
            let of = it.reason.about().and_then(|about| study.retried.iter().find(|other| other.id == about));
            let reason = of.map_or(it.reason, |other| other.reason);
            let near: Vec<Id> = of.map(|other| other.id).into_iter().chain([it.id]).collect();
            let row =
                self.row(&Question { near: &near, seen: self.seen(reason, false), chain: &[] }, it.boots, it.seed);
            Row {
                component: self.blueprint.thing(it.id).object().to_string(),
                says: it.reason.say(self.blueprint),
                cost_seconds: Some((it.median / 1000, it.worst / 1000)),
                ..row
            }
        });
        retried.collect()
    }

    /// `turns` where what it comes down to waits for it.
    fn seen(&self, reason: Reason, turns: bool) -> Vec<(Symptom, Option<String>)> {
        let first = symptom(reason).map(|symptom| (symptom, self.about(reason)));
        // Whoever comes before its store comes before the kinds of the store's operator.
        let is_secret = |id: Id| self.blueprint.thing(id).group() == "external-secrets.io";
        let is_storeless = matches!(reason, Reason::NoMatch(id) if is_secret(id));
        let store = is_storeless.then(|| (Symptom::NotHealthy, Some("secret store".to_owned())));
        let circle = turns.then(|| (Symptom::Circle, self.about(reason)));
        first.into_iter().chain(store).chain(circle).collect()
    }

    /// A word of what is missed.
    fn about(&self, reason: Reason) -> Option<String> {
        let thing = self.blueprint.thing(reason.about()?);
        match reason {
            Reason::NoMatch(_) | Reason::WebhookDown(..) => Some(thing.group().to_owned()),
            Reason::ValuesNotFound(_) | Reason::VariablesNotFound(_) => Some(thing.name.to_string()),
            Reason::NamespaceNotFound(_) => Some(thing.namespace.to_string()),
            _ => None,
        }
    }

    fn lost(&self, study: &Study) -> Vec<Row> {
        let lost = study.lost.iter().map(|it| {
            let what = self.blueprint.thing(it.id);
            let says = if it.id == it.of {
                "built without variables that came later".to_owned()
            } else {
                format!("its chart was rendered without {}, whose kind was not known then", what.object())
            };
            let question = Question { near: &[it.of], seen: vec![(Symptom::LeftOut, None)], chain: &[] };
            Row { says, ..self.row(&question, it.boots, it.seed) }
        });
        lost.collect()
    }

    fn row(&self, question: &Question<'_>, boots: u64, seed: u64) -> Row {
        let objects: Vec<ObjectRef> = question.near.iter().flat_map(|id| self.blueprint.near(*id)).collect();
        let (all, of_chain) = (self.speaking(&[]), self.speaking(question.chain));
        let found = question.seen.iter().find_map(|(symptom, about)| {
            // Where a finding must know what is missed, it may blame somebody who should have brought it and does not.
            let speaking = if about.is_some() { &all } else { &of_chain };
            symptom.finding(speaking, &objects, about.as_deref())
        });
        let finding = found.map(|finding| Spoken {
            rule: finding.rule,
            severity: finding.severity.word(),
            component: finding.component.to_string(),
        });
        Row {
            component: objects.first().map(ToString::to_string).unwrap_or_default(),
            boots,
            says: String::new(),
            fact: None,
            blocks: None,
            cost_seconds: None,
            finding,
            seed,
        }
    }

    /// The findings that may speak of what a chain came down to, each for one component. One about a provider that the chain
    /// does not name is about something else; a chain of one came right behind its end, and names nobody.
    fn speaking(&self, chain: &[Reason]) -> Vec<Finding> {
        let named = self.named(chain);
        let may_be =
            |provider: Option<&ObjectRef>| chain.len() < 2 || provider.is_none_or(|provider| named.contains(provider));
        let mut all = Vec::new();
        for finding in self.findings {
            let alone = Finding { also: Vec::new(), ..finding.clone() };
            let speaks_for_several = SPEAK_FOR_SEVERAL.contains(&finding.rule);
            for also in finding.also.iter().filter(|also| speaks_for_several || may_be(also.provider.as_ref())) {
                let (component, provider) = (also.component.clone(), also.provider.clone());
                all.push(Finding { component, provider, ..alone.clone() });
            }
            if may_be(finding.provider.as_ref()) {
                all.push(alone);
            }
        }
        all
    }

    /// Everything that a chain names, and who makes it.
    fn named(&self, chain: &[Reason]) -> BTreeSet<ObjectRef> {
        const MAKERS_MAX: usize = 3;
        let ids = chain.iter().flat_map(|reason| reason.names());
        let with_makers = ids.flat_map(|id| {
            std::iter::successors(Some(id), |id| self.blueprint.maker(*id)).take(1 + MAKERS_MAX).collect::<Vec<Id>>()
        });
        with_makers.map(|id| self.blueprint.thing(id).object()).collect()
    }
}

fn symptom(reason: Reason) -> Option<Symptom> {
    Some(match reason {
        Reason::DependencyNotReady(_) => Symptom::DependencyNotReady,
        Reason::DependencyNotFound(_) => Symptom::DependencyNotFound,
        Reason::SourceNotFound(_) => Symptom::SourceNotFound,
        Reason::BuildFailed(_) => Symptom::BuildFailed,
        Reason::VariablesNotFound(_) => Symptom::VariablesNotFound,
        Reason::UndefinedVariable(_) => Symptom::UndefinedVariable,
        Reason::NoMatch(_) => Symptom::UnknownKind,
        Reason::NamespaceNotFound(_) => Symptom::NamespaceNotFound,
        Reason::WebhookDown(..) => Symptom::WebhookDown,
        Reason::HealthTimeout(_) | Reason::HealthStalled(_) => Symptom::NotHealthy,
        Reason::ValuesNotFound(_) => Symptom::ValuesNotFound,
        Reason::InstallTimeout(_) => Symptom::InstallFailed,
        Reason::NoSealingKey => Symptom::Unsealable,
        _ => return None,
    })
}
