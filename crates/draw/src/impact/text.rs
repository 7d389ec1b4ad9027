//! For a terminal: one screen, unless all of it is asked for.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use graph::{Affected, Loss, Onset};
use model::{Cluster, ComponentId};
use source::Sources;

use super::tree::{Row, lines};
use super::{Answer, CriticalOf, MachineLoss, Told, What};
use crate::clean::clean;
use crate::paint::Paint;
use crate::say;
use crate::text::Detail;
use crate::words::{count, first_few};

/// Rows of one moment; the rest is counted.
const ROWS_MAX: usize = 8;
/// Names in one line.
const NAMED_MAX: usize = 6;
/// Steps of the way back.
const ORDER_MAX: usize = 8;

/// The answer to one question.
pub fn text(told: &Told<'_>, sources: &impl Sources, detail: Detail, color: bool) -> String {
    let view = View { paint: Paint { color }, detail };
    match told {
        Told::Answers(answers) => {
            answers.iter().map(|answer| view.answer(answer, sources)).collect::<Vec<_>>().join("\n")
        }
        Told::Critical(all) => all.iter().map(|of| view.critical(of)).collect::<Vec<_>>().join("\n"),
        Told::Machine(machine) => view.machine(machine),
    }
}

struct View {
    paint: Paint,
    detail: Detail,
}

impl View {
    fn rows_max(&self) -> usize {
        if self.detail == Detail::Everything { usize::MAX } else { ROWS_MAX }
    }

    fn answer(&self, answer: &Answer<'_>, sources: &impl Sources) -> String {
        let mut out = self.heading(answer, sources);
        if self.detail == Detail::Headline {
            return out;
        }
        let mut shown: Option<BTreeSet<(ComponentId, Onset)>> = None;
        for loss in &answer.losses {
            let affected = answer.impact.running.get(loss).map(Vec::as_slice).unwrap_or_default();
            let these = affected.iter().map(|it| (it.id, it.onset)).collect();
            out.push_str(&self.loss(answer, *loss, affected, shown.as_ref() == Some(&these)));
            shown.get_or_insert(these);
        }
        out.push_str(&self.cold_start(answer));
        out.push_str(&self.order(answer));
        out
    }

    fn heading(&self, answer: &Answer<'_>, sources: &impl Sources) -> String {
        let cluster = answer.cluster;
        let place = |id: ComponentId| {
            let at = sources.locate(cluster.component(id).at);
            at.map(|(path, at)| format!("  {}:{}", clean(path), at.line)).unwrap_or_default()
        };
        let mut out = match &answer.what {
            What::Component(id) => format!("{}{}", self.bold(&object(cluster, *id)), self.paint.dim(&place(*id))),
            What::Object { object: it, by } => {
                format!("{} of {}", self.bold(&clean(&it.to_string())), object(cluster, *by))
            }
            What::Version { id, from, to } => {
                let from = from.as_deref().map(|from| format!("from {} ", clean(from))).unwrap_or_default();
                format!("{} {from}to {}{}", self.bold(&object(cluster, *id)), clean(to), self.paint.dim(&place(*id)))
            }
            What::Files { files, components, are_removed } => {
                let names: Vec<String> = components.iter().map(|id| object(cluster, *id)).collect();
                let verb = if *are_removed { "no longer has" } else { "changes" };
                let files: Vec<String> = files.iter().map(|file| clean(file).into_owned()).collect();
                let of = self.bold(&first_few(&files, NAMED_MAX));
                if names.is_empty() {
                    format!("{of}: nothing of the cluster is made of it")
                } else {
                    format!("{of} {verb} {}", first_few(&names, NAMED_MAX))
                }
            }
        };
        let _ = writeln!(out, " · {}", clean(&cluster.name));
        let critical: Vec<String> = answer.critical().iter().map(|id| short(cluster, *id)).collect();
        if !critical.is_empty() {
            let said = format!("critical services among it: {}", first_few(&critical, NAMED_MAX));
            let _ = writeln!(out, "{}", self.paint.poor(&said));
        }
        out
    }

    fn bold(&self, text: &str) -> String {
        self.paint.bold(text)
    }

    fn loss(&self, answer: &Answer<'_>, loss: Loss, affected: &[Affected], is_shown: bool) -> String {
        let mut title = format!("\n{}", self.bold(say::impact::loss(loss)));
        if loss == Loss::Pruned {
            let _ = write!(title, ": {}", say::impact::pruned(answer.impact.is_pruned));
            if answer.impact.is_pruned != Some(true) {
                return title + "\n";
            }
        }
        if affected.is_empty() {
            return format!("{title}: nothing else stops\n");
        }
        if is_shown {
            let how = if loss.passes() { "the same, until its pods run again" } else { "the same" };
            return format!("{title}: {how}\n");
        }
        let while_it_lasts = if loss.passes() { ", until its pods run again" } else { "" };
        let mut out = format!("{title}: {}{while_it_lasts}\n", count(affected.len(), "component"));
        for onset in Onset::ALL {
            let these: Vec<&Affected> = affected.iter().filter(|it| it.onset == onset).collect();
            if these.is_empty() {
                continue;
            }
            let rows: Vec<Row> = these
                .iter()
                .map(|it| Row { id: it.id, from: Some(it.from), says: say::impact::cause(answer.cluster, it) })
                .collect();
            let _ = writeln!(out, "  {} {}", say::impact::onset(onset), self.paint.dim(&format!("· {}", these.len())));
            out.push_str(&self.rows(answer.cluster, &rows));
        }
        out
    }

    fn rows(&self, cluster: &Cluster, rows: &[Row]) -> String {
        let mut out = String::new();
        let lines = lines(rows);
        for line in lines.iter().take(self.rows_max()) {
            let name = self.paint.name(&object(cluster, line.row.id));
            let says = self.paint.dim(&clean(&line.row.says));
            let _ = writeln!(out, "  {}{name}  {says}", line.branches);
        }
        if lines.len() > self.rows_max() {
            let _ = writeln!(out, "  {}", self.paint.dim(&format!("… and {} more", lines.len() - self.rows_max())));
        }
        out
    }

    fn cold_start(&self, answer: &Answer<'_>) -> String {
        let lost = answer.cold_start();
        let title = self.bold("if it does not come up at the next cold start");
        if lost.is_empty() {
            return format!("\n{title}: everything else does\n");
        }
        let rows: Vec<Row> = lost
            .iter()
            .map(|(id, fate, why)| {
                let says = say::impact::missing(answer.cluster, *why);
                Row { id: *id, from: provider(*why), says: format!("{}: {says}", say::impact::fate(*fate)) }
            })
            .collect();
        format!("\n{title}: {}\n{}", count(lost.len(), "component"), self.rows(answer.cluster, &rows))
    }

    fn order(&self, answer: &Answer<'_>) -> String {
        let order = &answer.impact.order;
        if order.len() < 2 || !answer.losses.contains(&Loss::Down) {
            return String::new();
        }
        let max = if self.detail == Detail::Everything { usize::MAX } else { ORDER_MAX };
        let mut out = format!("\n{}\n", self.bold("to bring all of it back, in this order"));
        for (index, id) in order.iter().take(max).enumerate() {
            let _ = writeln!(out, "{:>4}. {}", index + 1, self.paint.name(&object(answer.cluster, *id)));
        }
        if order.len() > max {
            let _ = writeln!(out, "      {}", self.paint.dim(&format!("… and {} more", order.len() - max)));
        }
        out
    }

    fn critical(&self, of: &CriticalOf<'_>) -> String {
        let mut out = format!("{}\n", self.bold(&clean(&of.cluster.name)));
        if of.services.is_empty() {
            out.push_str("no service stops three others or more\n");
        }
        let max = if self.detail == Detail::Everything { usize::MAX } else { ROWS_MAX * 2 };
        for (index, (service, impact)) in of.services.iter().zip(&of.impacts).take(max).enumerate() {
            let name = self.paint.name(&object(of.cluster, service.id));
            let counts = super::critical_counts(service);
            let _ = writeln!(out, "{:>4}. {name}  {}", index + 1, counts);
            if self.detail == Detail::Headline {
                continue;
            }
            let names = super::taken_down(of.cluster, impact);
            if !names.is_empty() {
                let _ = writeln!(out, "      {}", self.paint.dim(&first_few(&names, NAMED_MAX)));
            }
        }
        if of.services.len() > max {
            let _ = writeln!(out, "      {}", self.paint.dim(&format!("… and {} more", of.services.len() - max)));
        }
        out
    }

    fn machine(&self, machine: &MachineLoss) -> String {
        let mut out = format!("{}\n", self.bold(&format!("machine {}", clean(&machine.name))));
        for line in super::machine_lines(machine) {
            let _ = writeln!(out, "  {line}");
        }
        out
    }
}

/// `Kind namespace/name`, harmless.
pub(super) fn object(cluster: &Cluster, id: ComponentId) -> String {
    clean(&cluster.component(id).object.to_string()).into_owned()
}

/// `namespace/name`, harmless.
pub(super) fn short(cluster: &Cluster, id: ComponentId) -> String {
    clean(&cluster.component(id).object.path()).into_owned()
}

/// What a component is missing that from.
pub(super) fn provider(why: graph::Missing) -> Option<ComponentId> {
    use graph::Missing;
    match why {
        Missing::Itself => None,
        Missing::Tie { to } => Some(to),
        Missing::Parent { by } | Missing::Need { by, .. } | Missing::Network { by } | Missing::Bootstrap { by } => {
            Some(by)
        }
        Missing::Gate { on } => Some(on),
    }
}
