//! The text of each section.

use std::fmt::Write as _;

use diagnostic::{Repair, Repairs, Severity};
use graph::{Critical, Impact};
use model::{Cluster, say_seconds};
use report::{
    Api, Boots, BrokenCycle, ByHandChange, Changes, Check, CycleAcross, CycleFound, DependencyRule, Edge, Gap,
    Guarantee, KeyFile, LayerPart, Milestone, Place, Share, Stage, Summary, Tier, TierMember, Version,
};
use run::{Action, Layer, Step};
use source::Sources;

use crate::report::prose::{cell, code, prose};
use crate::report::steps;
use crate::say;
use crate::words::{count, first_few};

/// What is folded until it is asked for, in Markdown that GitHub shows: the only markup in it that is not Markdown.
pub(super) const FOLD: &str = "<details><summary>";
pub(super) const FOLD_TITLE_END: &str = "</summary>";
pub(super) const FOLD_END: &str = "</details>";
/// Names in one line.
pub(super) const NAMED_MAX: usize = 8;
/// Lines of one list.
const LINES_MAX: usize = 200;

pub(super) fn place(at: Option<&Place>) -> String {
    at.map(|at| format!(" ({})", code(&format!("{}:{}", at.path, at.line)))).unwrap_or_default()
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<String> = items.into_iter().collect();
    let mut out = String::new();
    for item in items.iter().take(LINES_MAX) {
        let _ = writeln!(out, "- {item}");
    }
    if items.len() > LINES_MAX {
        let _ = writeln!(out, "- … and {} more", items.len() - LINES_MAX);
    }
    out
}

pub(super) fn summary(it: &Summary<'_>, sources: &dyn Sources) -> String {
    let status = |bad: usize, good: &'static str, poor: &'static str| if bad == 0 { good } else { poor };
    let rows = [
        ("Kustomizations", it.kustomizations, ""),
        ("with `dependsOn`", it.with_depends_on, ""),
        ("with `wait: true`", it.with_wait, ""),
        (
            "with `healthChecks`",
            it.with_health_checks,
            status(it.with_ignored_checks, "", "some are ignored: `wait: true` is set as well"),
        ),
        ("HelmReleases", it.helm_releases, ""),
        ("ResourceSets", it.resource_sets, ""),
        ("parts of the bootstrap", it.bootstrap, ""),
        (
            "missing critical dependencies",
            it.missing_dependencies,
            status(it.missing_dependencies, if it.errors == 0 { "none" } else { "see the errors" }, "**missing**"),
        ),
        ("findings: errors", it.errors, ""),
        ("findings: warnings", it.warnings, ""),
        ("findings: infos", it.infos, ""),
        ("findings that the changes below close", it.closed, ""),
        ("needs that were read", it.needs, ""),
        ("of these guaranteed by the declared order", it.guaranteed, ""),
        ("of these only by the bootstrap", it.by_bootstrap, ""),
        (
            "blind spots",
            it.blind_spots,
            status(it.blind_spots, "everything was read", "`coldstart check --blind-spots` lists them"),
        ),
    ];
    let mut out = format!("**{}**\n\n", prose(&say::headline(&it.headline)));
    if !it.stops.is_empty() {
        let why = it.stops.iter().map(|finding| stop(finding, sources));
        let _ = writeln!(out, "Because:\n\n{}", list(why));
    }
    out.push_str("| category | count | status |\n|---|---|---|\n");
    for (name, number, status) in rows {
        let _ = writeln!(out, "| {name} | {number} | {status} |");
    }
    if let Some(seconds) = it.estimate_seconds {
        let _ = writeln!(out, "\nEstimated: {} after the Kubernetes API answers.", say_seconds(seconds));
    }
    out
}

/// What keeps the cluster from coming up, in a line.
fn stop(finding: &diagnostic::Finding, sources: &dyn Sources) -> String {
    let said = say::finding(finding, sources);
    let at = sources.locate(finding.primary.at.span());
    let at = at.map(|(path, at)| format!(" ({})", code(&format!("{path}:{}", at.line)))).unwrap_or_default();
    format!("{}{at}", prose(&said.message))
}

pub(super) fn stages(stages: &[Stage<'_>], sources: &dyn Sources) -> String {
    let mut out = String::new();
    for (index, stage) in stages.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let _ = writeln!(out, "### Stage {}: {}", index + 1, say::report::layer(stage.layer));
        if !stage.machines.is_empty() {
            let _ = write!(out, "\n**Machines**\n\n{}", list(steps::machines(&stage.machines)));
        }
        if !stage.happens.is_empty() {
            let _ = write!(out, "\n**What happens**\n\n{}", happens(&stage.happens));
        }
        if let Some(address) = &stage.address {
            let _ = write!(out, "\n**Address of the API**\n\n{}", list(steps::api_address(address)));
        }
        if !stage.credentials.is_empty() {
            let _ = write!(
                out,
                "\n**Where its credentials are**\n\n{}",
                list(stage.credentials.iter().map(steps::credentials))
            );
        }
        if !stage.steps.is_empty() {
            let _ = write!(out, "\n**How files do it**\n\n{}", list(stage.steps.iter().map(steps::step)));
        }
        if !stage.guarantees.is_empty() || stage.by_containment > 0 {
            let own = (stage.by_containment > 0).then(|| {
                let needs = count(stage.by_containment, "need");
                format!("{needs} of what the same Kustomization, or one above it, applies first")
            });
            let told = stage.guarantees.iter().map(guarantee).chain(own);
            let _ = write!(out, "\n**What is guaranteed**\n\n{}", list(told));
        }
        let gaps = if stage.gaps.is_empty() {
            "none found\n".to_owned()
        } else {
            list(stage.gaps.iter().map(|gap| self::gap(gap, sources)))
        };
        let _ = write!(out, "\n**What is not**\n\n{gaps}");
    }
    out
}

pub(super) fn not_run(gaps: &[Gap<'_>], sources: &dyn Sources) -> String {
    let told = list(gaps.iter().map(|gap| self::gap(gap, sources)));
    format!("Others make the same machines. Nothing of this is part of the boot.\n\n{told}")
}

fn happens(steps: &[&Step]) -> String {
    let acted: Vec<&&Step> = steps.iter().filter(|step| step.action != Action::Watch).collect();
    let watched = steps.len() - acted.len();
    let one = |step: &&Step| {
        let commands = say::commands(step);
        let by = commands.first().map(|command| format!(": {}", code(command))).unwrap_or_default();
        format!("{}{by}; done when {}", code(&step.key), prose(&say::proof(&step.proof)))
    };
    let mut lines: Vec<String> = acted.iter().map(|step| one(step)).collect();
    if watched > 0 {
        let slowest = steps.iter().filter(|step| step.action == Action::Watch).max_by_key(|step| step.expected);
        let slow = slowest.map(|step| {
            format!("; the slowest is {}, about {}", code(&step.key), say_seconds(step.expected.as_secs()))
        });
        let is_api = steps.iter().all(|step| step.layer == Layer::Api);
        let by = if is_api {
            "the control planes bring up the API server".to_owned()
        } else {
            format!("Flux and others bring up {}", count(watched, "component"))
        };
        lines.push(format!("{by}{}", slow.unwrap_or_default()));
    }
    list(lines)
}

fn guarantee(it: &Guarantee) -> String {
    let needs = first_few(&it.needs, 3);
    let by = match it.ties.as_slice() {
        _ if it.is_by_bootstrap => "the bootstrap provides it before Flux starts".to_owned(),
        [] => "what applies both orders the two".to_owned(),
        ties => {
            let one = |tie: &report::Tied| {
                format!("{} depends on {}{}", code(&tie.from.path()), code(&tie.to.path()), place(tie.at.as_ref()))
            };
            ties.iter().map(one).collect::<Vec<_>>().join(", ")
        }
    };
    format!("{} needs {} of {}: {by}", code(&it.of.to_string()), prose(&needs), code(&it.by.to_string()))
}

fn gap(gap: &Gap<'_>, sources: &dyn Sources) -> String {
    let said = say::finding(gap.finding, sources);
    let at = sources.locate(gap.finding.primary.at.span());
    let at = at.map(|(path, at)| format!(" ({})", code(&format!("{path}:{}", at.line)))).unwrap_or_default();
    let cost = if said.cost.is_empty() { String::new() } else { format!(" Cost: {}.", prose(&said.cost)) };
    let change = match (gap.change, &said.fix) {
        (Some(change), _) => format!(" Closed by change {}.", change + 1),
        (None, Some(fix)) => format!(" Fix: {}.", prose(fix)),
        (None, None) => String::new(),
    };
    format!("{} {}: {}{at}.{cost}{change}", gap.finding.severity, code(gap.finding.rule.id), prose(&said.message))
}

pub(super) fn changes(it: &Changes<'_>, sources: &dyn Sources) -> String {
    let repairs: &Repairs = it.repairs;
    let mut out = String::new();
    let mut order: Vec<(usize, &Repair)> = repairs.made.iter().enumerate().collect();
    let worst = |repair: &Repair| repair.closes.iter().map(|told| told.severity).max().unwrap_or(Severity::Pedantic);
    order.sort_by_key(|(at, repair)| (std::cmp::Reverse(worst(repair)), *at));
    if !order.is_empty() || !it.by_hand.is_empty() {
        out.push_str("| | priority | change | closes | risk | rollback |\n|---|---|---|---|---|---|\n");
    }
    let mut rows: Vec<(Severity, String)> = Vec::new();
    for (at, repair) in &order {
        let risk = if repair.is_unsafe() { "changes a running cluster" } else { "low" };
        let effect = say::risks(repair).first().map(|risk| format!(": {}", cell(&prose(risk)))).unwrap_or_default();
        let row = format!(
            "| {} | {} | {} | {} | {risk}{effect} | {} |",
            at + 1,
            say::report::priority(worst(repair)),
            cell(&prose(&say::repair(repair))),
            count(repair.closes.len(), "finding"),
            cell(&code(&crate::repairs::rollback(&repair.files))),
        );
        rows.push((worst(repair), row));
    }
    rows.extend(it.by_hand.iter().map(|one| (one.finding.severity, by_hand(one, sources))));
    rows.sort_by_key(|(severity, _)| std::cmp::Reverse(*severity));
    for (_, row) in rows {
        out.push_str(&row);
        out.push('\n');
    }
    for (at, repair) in &order {
        let diff: String = repair
            .files
            .iter()
            .map(|changed| crate::diff::unified(changed, crate::paint::Paint { color: false }))
            .collect();
        let fence = "`".repeat(longest_ticks(&diff).max(2) + 1);
        let _ = write!(out, "\n{FOLD}change {}{FOLD_TITLE_END}\n\n{fence}diff\n{diff}{fence}\n\n{FOLD_END}\n", at + 1);
    }
    let left: Vec<String> = it
        .left
        .iter()
        .map(|left| {
            let because = say::why_left(left, sources);
            format!(
                "{}: {}; not changed because {}",
                code(left.finding.rule),
                prose(&say::repair_told(&left.finding)),
                prose(&because)
            )
        })
        .collect();
    if !left.is_empty() {
        let _ = write!(out, "{}Left as it is:\n\n{}", if out.is_empty() { "" } else { "\n" }, list(left));
    }
    out
}

/// What a person has to write or to move in the boot.
fn by_hand(one: &ByHandChange<'_>, sources: &dyn Sources) -> String {
    let finding = one.finding;
    let fix = say::finding(finding, sources).fix.unwrap_or_default();
    let path = sources.locate(finding.primary.at.span()).map(|(path, _)| path.to_owned()).unwrap_or_default();
    let risk = finding.fix.as_ref().map_or("", |fix| say::report::risk(&fix.advice));
    format!(
        "| by hand | {} | {} | {} | {risk} | {} |",
        say::report::priority(finding.severity),
        cell(&prose(&format!("`{}`: {fix}", finding.component.path()))),
        code(finding.rule.id),
        cell(&code(&format!("git restore {}", crate::shell::word(&path)))),
    )
}

fn longest_ticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

pub(super) fn tiers(tiers: &[Tier]) -> String {
    let mut out = String::new();
    for (at, tier) in tiers.iter().enumerate() {
        let title = if at == 0 { "no declared dependency" } else { "waits for the tiers above" };
        let _ = writeln!(out, "{}**Tier {at}**: {title}\n", if at == 0 { "" } else { "\n" });
        for area in &tier.areas {
            let members: Vec<String> = area.members.iter().map(member).collect();
            let namespace = if area.namespace.is_empty() { "no namespace" } else { &area.namespace };
            let _ = writeln!(out, "- {}: {}", code(namespace), members.join(", "));
        }
    }
    out
}

fn member(it: &TierMember) -> String {
    let own = it.object.namespace.as_str();
    let name = |object: &model::ObjectRef| {
        if object.namespace == own { object.name.to_string() } else { object.path() }
    };
    let mut after: Vec<String> = it
        .depends_on
        .iter()
        .map(|(object, exists)| format!("{}{}", code(&name(object)), if *exists { " (exists)" } else { "" }))
        .collect();
    after.extend(it.unknown.iter().map(|object| format!("{} (not found)", code(&name(object)))));
    let arrow = if after.is_empty() { String::new() } else { format!(" → {}", after.join(" + ")) };
    let mut conditions = Vec::new();
    if it.waits {
        conditions.push("wait: true");
    }
    if it.suspended {
        conditions.push("suspended");
    }
    let conditions = if conditions.is_empty() { String::new() } else { format!(" \\[{}\\]", conditions.join(", ")) };
    format!("{}{arrow}{conditions}", code(&it.object.name))
}

/// What comes after what: arrows lead from what comes first.
pub(super) fn mermaid(edges: &[Edge]) -> String {
    let mut names: Vec<&str> = edges.iter().flat_map(|edge| [edge.to.as_str(), edge.from.as_str()]).collect();
    names.sort_unstable();
    names.dedup();
    let id = |name: &str| names.binary_search(&name).map_or_else(|_| String::new(), |at| format!("n{at}"));
    let mut out = "```mermaid\ngraph TD\n".to_owned();
    for name in &names {
        let plain: String = name.chars().filter(|c| c.is_alphanumeric() || "-_./: ".contains(*c)).collect();
        let _ = writeln!(out, "  {}[\"{plain}\"]", id(name));
    }
    for edge in edges {
        let _ = writeln!(out, "  {} --> {}", id(&edge.to), id(&edge.from));
    }
    out + "```\n"
}

pub(super) fn layers(parts: &[LayerPart<'_>]) -> String {
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        let _ = writeln!(
            out,
            "{}### Layer {}: {}\n",
            if at == 0 { "" } else { "\n" },
            at + 1,
            say::report::layer(part.layer)
        );
        let members: Vec<String> = part
            .members
            .iter()
            .map(|member| {
                let address = member.address.as_ref().map(|address| format!(" {}", prose(address))).unwrap_or_default();
                format!("{}{address}", code(&member.name))
            })
            .collect();
        let members = each_once(members);
        let own = say::report::talos_parts(part.layer).filter(|_| part.is_talos);
        match (own, members.is_empty()) {
            (Some(own), true) => drop(writeln!(out, "- **Consists of**: {own}")),
            (Some(own), false) => drop(writeln!(out, "- **Consists of**: {own} on {}", first_few(&members, 40))),
            (None, false) => drop(writeln!(out, "- **Consists of**: {}", first_few(&members, 40))),
            (None, true) => {}
        }
        let after: Vec<String> = part.after.iter().map(|layer| say::report::layer(*layer).to_lowercase()).collect();
        if !after.is_empty() {
            let _ = writeln!(out, "- **Needs**: {}", after.join(", "));
        }
        let mut commands: Vec<String> = part.steps.iter().flat_map(|step| say::commands(step)).collect();
        if commands.is_empty() {
            commands
                .extend(part.resources.iter().map(|(at, what)| say::report::applied_again(at, what, part.uses_tofu)));
        }
        let recovery = if part.layer == Layer::GitOps && commands.is_empty() {
            "Flux applies it again: `flux reconcile kustomization NAME -n NAMESPACE --with-source`".to_owned()
        } else {
            first_few(&each_once(commands.iter().map(|command| code(command)).collect()), NAMED_MAX)
        };
        if !recovery.is_empty() {
            let _ = writeln!(out, "- **Recovery**: {recovery}");
        }
        let nodes: Vec<String> = part.nodes.iter().map(say::report::node_recovery).collect();
        if !nodes.is_empty() {
            let _ = writeln!(out, "- **Recovery of one node**: {}", nodes.join("; "));
        }
    }
    out
}

pub(super) fn each_once(names: Vec<String>) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    for name in names {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    known
}

pub(super) fn apis(apis: &[Api]) -> String {
    let mut out = "| directory | what it is for | providers | reads the state of |\n|---|---|---|---|\n".to_owned();
    for api in apis {
        let providers: Vec<String> = api.providers.iter().map(|name| code(name)).collect();
        let reads: Vec<String> = api.reads.iter().map(|name| code(name)).collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            code(&api.directory),
            say::report::terraform(api.purpose),
            providers.join(", "),
            reads.join(", ")
        );
    }
    out
}

pub(super) fn rules(hard: &[DependencyRule], soft: &[DependencyRule]) -> String {
    let one = |rule: &DependencyRule, verb: &str| {
        let names: Vec<String> = rule.dependents.iter().map(|object| code(&object.path())).collect();
        format!(
            "{} of {}: {} {verb} it: {}",
            prose(&say::report::subject(&rule.subject)),
            code(&rule.by.to_string()),
            count(names.len(), "component"),
            first_few(&names, NAMED_MAX)
        )
    };
    let mut out = String::new();
    if !hard.is_empty() {
        let _ =
            write!(out, "### Hard: nothing comes up without\n\n{}", list(hard.iter().map(|rule| one(rule, "need"))));
    }
    if !soft.is_empty() {
        let _ = write!(
            out,
            "{}### Soft: comes up without, and lacks something\n\n{}",
            if hard.is_empty() { "" } else { "\n" },
            list(soft.iter().map(|rule| one(rule, "use")))
        );
    }
    out
}

pub(super) fn critical(cluster: &Cluster, all: &[(Critical, Impact)]) -> String {
    let mut out = "| service | at once | when pods start | at the next reconcile | at the next cold start | what it takes down |\n|---|---|---|---|---|---|\n".to_owned();
    for (service, impact) in all {
        let names: Vec<String> = crate::impact::taken_down(cluster, impact).iter().map(|name| code(name)).collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            code(&cluster.component(service.id).object.to_string()),
            service.at_once,
            service.pod_start,
            service.reconcile,
            service.cold_start,
            first_few(&names, NAMED_MAX)
        );
    }
    out + "\n`coldstart impact NAME` shows each with the reasons.\n"
}

pub(super) fn cycles(found: &[CycleFound], across: &[CycleAcross], broken: &[BrokenCycle]) -> String {
    let mut out = String::new();
    if !found.is_empty() {
        let one = |cycle: &CycleFound| {
            let mut names: Vec<String> = cycle.components.iter().map(|object| code(&object.to_string())).collect();
            names.extend(names.first().cloned());
            names.join(" → ")
        };
        let _ = write!(out, "### Found: never come up\n\n{}", list(found.iter().map(one)));
    }
    if !across.is_empty() {
        let one = |it: &CycleAcross| {
            format!(
                "{}{} → {} → {} → {0}",
                code(&it.step.path()),
                place(it.at.as_ref()),
                code(&it.needs),
                code(&it.start),
            )
        };
        let gap = if out.is_empty() { "" } else { "\n" };
        let _ = write!(
            out,
            "{gap}### Across tools: each needs the next before it runs\n\n{}",
            list(across.iter().map(one))
        );
    }
    if !broken.is_empty() {
        let one = |it: &BrokenCycle| {
            let turns = if it.is_cycle { ", and Flux applies that after it" } else { "" };
            format!(
                "{} needs {} of {}, which the bootstrap installs{turns}",
                code(&it.of.to_string()),
                prose(&first_few(&it.needs, 3)),
                code(&it.by.to_string())
            )
        };
        let _ = write!(
            out,
            "{}### In time only because of the bootstrap\n\n{}",
            if found.is_empty() && across.is_empty() { "" } else { "\n" },
            list(broken.iter().map(one))
        );
    }
    out
}

pub(super) fn key_files(files: &[KeyFile]) -> String {
    let mut roles: Vec<report::KeyFileRole> = files.iter().map(|file| file.role).collect();
    roles.dedup();
    let one = |role: report::KeyFileRole| {
        let paths: Vec<String> = files.iter().filter(|file| file.role == role).map(|file| code(&file.path)).collect();
        format!("**{}**: {}", say::report::key_file(role), first_few(&paths, NAMED_MAX * 2))
    };
    list(roles.into_iter().map(one))
}

pub(super) fn versions(versions: &[Version]) -> String {
    let mut out = "| component | chart | version | installed by | where |\n|---|---|---|---|---|\n".to_owned();
    for it in versions {
        let by = if it.by_bootstrap { "bootstrap" } else { "Flux" };
        let at = it.at.as_ref().map(|at| code(&format!("{}:{}", at.path, at.line))).unwrap_or_default();
        let chart = it.chart.as_deref().map(code).unwrap_or_default();
        let _ = writeln!(out, "| {} | {chart} | {} | {by} | {at} |", code(&it.name), code(&it.version));
    }
    out
}

pub(super) fn timeline(milestones: &[Milestone]) -> String {
    let has_boots = milestones.iter().any(|it| it.median_seconds.is_some());
    let (head, rule) = if has_boots { (" median of boots |", "---|") } else { ("", "") };
    let mut out = format!("| time | component | stage |{head}\n|---|---|---|{rule}\n");
    for it in milestones.iter().take(LINES_MAX) {
        let median = match (has_boots, it.median_seconds) {
            (false, _) => String::new(),
            (true, None) => " |".to_owned(),
            (true, Some(seconds)) => format!(" {} |", say_seconds(seconds)),
        };
        let _ = writeln!(
            out,
            "| T+{} | {} | {} |{median}",
            say_seconds(it.at_seconds),
            code(&it.name),
            say::report::layer(it.layer)
        );
    }
    if has_boots {
        out.push_str(
            "\nMedians are of simulated boots, counted from the moment at which the Kubernetes API answers.\n",
        );
    }
    out
}

pub(super) fn reliability(boots: &Boots) -> String {
    let row = |name: &str, share: Share| {
        let percent = (share.converged * 100).checked_div(share.boots).unwrap_or(0);
        let median = share.median_seconds.map(say_seconds).unwrap_or_default();
        format!("| {name} | {} of {} ({percent} %) | {median} |\n", share.converged, share.boots)
    };
    let after = boots.after.map(|after| row("after the changes", after)).unwrap_or_default();
    format!("| | simulated boots that come up | median |\n|---|---|---|\n{}{after}", row("now", boots.now))
}

pub(super) fn verification(checks: &[Check]) -> String {
    let mut out = "```bash\n".to_owned();
    for check in checks {
        let (what, command) = say::report::check(check);
        let _ = writeln!(out, "# {}\n{}", crate::clean(&what), crate::clean(&command));
    }
    out + "```\n"
}
