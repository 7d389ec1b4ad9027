//! A comment on a pull request: the counts, and what stops, folded.

use std::fmt::Write as _;

use graph::{Affected, Onset};
use model::ComponentId;

use super::text::{object, short};
use super::{Answer, CriticalOf, Told, What};
use crate::markdown::inline;
use crate::say;
use crate::words::{count, first_few};

/// Rows of a table.
const ROWS_MAX: usize = 50;
const NAMED_MAX: usize = 10;

/// The answer to one question.
pub fn markdown(told: &Told<'_>) -> String {
    match told {
        Told::Answers(answers) => {
            let mut out = "### coldstart: impact\n".to_owned();
            if answers.is_empty() {
                out.push_str("\nnothing of a cluster changes\n");
            }
            for it in answers {
                out.push_str(&answer(it));
            }
            out
        }
        Told::Critical(all) => all.iter().map(critical).collect::<Vec<_>>().join("\n"),
        Told::Machine(machine) => {
            let mut out = format!("### coldstart: machine {}\n\n", inline(&machine.name));
            for line in super::machine_lines(machine) {
                let _ = writeln!(out, "- {}", inline(&line));
            }
            out
        }
    }
}

fn answer(answer: &Answer<'_>) -> String {
    let cluster = answer.cluster;
    let name = |id: ComponentId| inline(&object(cluster, id));
    let what = match &answer.what {
        What::Component(id) => name(*id),
        What::Object { object, by } => format!("{} of {}", inline(&object.to_string()), name(*by)),
        What::Version { id, to, .. } => format!("{} to {}", name(*id), inline(to)),
        What::Files { components, are_removed, files } => {
            let names: Vec<String> = components.iter().map(|id| name(*id)).collect();
            let verb = if *are_removed { "removes" } else { "changes" };
            if names.is_empty() {
                format!(
                    "{}: nothing of the cluster is made of it",
                    first_few(&files.iter().map(|file| inline(file)).collect::<Vec<_>>(), NAMED_MAX)
                )
            } else {
                format!("{verb} {}", first_few(&names, NAMED_MAX))
            }
        }
    };
    let mut out = format!("\n**{what}** ({})\n", inline(&cluster.name));
    let critical: Vec<String> = answer.critical().iter().map(|id| inline(&short(cluster, *id))).collect();
    if !critical.is_empty() {
        let _ = writeln!(out, "\n:warning: critical services among it: {}", first_few(&critical, NAMED_MAX));
    }
    for loss in &answer.losses {
        let affected = answer.impact.running.get(loss).map(Vec::as_slice).unwrap_or_default();
        if !affected.is_empty() {
            out.push_str(&table(answer, say::impact::loss(*loss), affected));
        }
    }
    let lost = answer.cold_start();
    if !lost.is_empty() {
        let title = format!("if it does not come up at the next cold start: {}", count(lost.len(), "component"));
        let _ = write!(
            out,
            "\n<details><summary>{title}</summary>\n\n| component | what becomes of it | why |\n|---|---|---|\n"
        );
        for (id, fate, why) in lost.iter().take(ROWS_MAX) {
            let why = inline(&say::impact::missing(cluster, *why));
            let _ = writeln!(out, "| {} | {} | {why} |", name(*id), say::impact::fate(*fate));
        }
        out.push_str(&rest(lost.len()));
        out.push_str("\n</details>\n");
    }
    out
}

fn table(answer: &Answer<'_>, title: &str, affected: &[Affected]) -> String {
    let of = |onset: Onset| affected.iter().filter(|it| it.onset == onset).count();
    let counts: Vec<String> = Onset::ALL
        .into_iter()
        .filter(|onset| of(*onset) > 0)
        .map(|onset| format!("{} {}", of(onset), say::impact::onset(onset)))
        .collect();
    let mut out = format!(
        "\n<details><summary>{title}: {}</summary>\n\n| component | when | why |\n|---|---|---|\n",
        counts.join(", ")
    );
    for it in affected.iter().take(ROWS_MAX) {
        let name = inline(&object(answer.cluster, it.id));
        let why = inline(&say::impact::cause(answer.cluster, it));
        let _ = writeln!(out, "| {name} | {} | {why} |", say::impact::onset(it.onset));
    }
    out + &rest(affected.len()) + "\n</details>\n"
}

fn rest(all: usize) -> String {
    if all > ROWS_MAX { format!("| … and {} more | | |\n", all - ROWS_MAX) } else { String::new() }
}

fn critical(of: &CriticalOf<'_>) -> String {
    let mut out = format!(
        "### Critical services of {}\n\n| service | at once | when pods start | at the next reconcile | at the next cold start | what it takes down |\n|---|---|---|---|---|---|\n",
        inline(&of.cluster.name)
    );
    for (service, impact) in of.services.iter().zip(&of.impacts) {
        let names: Vec<String> = super::taken_down(of.cluster, impact).iter().map(|name| inline(name)).collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            inline(&object(of.cluster, service.id)),
            service.at_once,
            service.pod_start,
            service.reconcile,
            service.cold_start,
            first_few(&names, NAMED_MAX)
        );
    }
    out
}
