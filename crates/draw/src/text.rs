//! The report for a terminal: what was read, a diagnostic for each finding, and the sum of it all.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use diagnostic::{ClusterSummary, Headline, Report, Severity};
use model::BlindSpot;
use source::Sources;

use crate::clean::clean;
use crate::left_out;
use crate::merge::{Merged, said};
use crate::paint::Paint;
use crate::say;
use crate::say::clause::Clause;
use crate::say::unseen;
use crate::snippet::{self, Look};
use crate::words::{count, first_few, shorten, width, wrap};

/// Two screens. The first finding is shown in full however long it is.
const LINES_MAX: usize = 80;
/// Findings that have at least a line of their own, if there are so many.
const BRIEF_LINES: usize = 12;
/// Where no terminal says how wide a line may be.
const COLUMNS_DEFAULT: usize = 120;
/// What is shown of a message, however narrow the terminal.
const MESSAGE_COLUMNS_MIN: usize = 40;

/// Clusters named in one line.
const CLUSTERS_NAMED_MAX: usize = 6;
/// Clusters that get a summary line of their own.
const CLUSTERS_SUMMED_MAX: usize = 12;
/// Steps of a critical path that are named before the last.
const STEPS_NAMED_MAX: usize = 6;
/// Reasons for not seeing something that are given in the last line.
const REASONS_NAMED_MAX: usize = 4;
/// What is shown of a reason there.
const REASON_CHARS_MAX: usize = 64;

/// How a report is to look, and how much of it is wanted.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    pub color: bool,
    /// Columns of the terminal; without, nothing is wrapped.
    pub width: Option<usize>,
    pub min_severity: Severity,
    /// List every blind spot instead of counting them.
    pub blind_spots: bool,
    pub detail: Detail,
    /// Of every severity only this many, each of another rule: a taste of the whole, for pictures.
    pub sample: Option<usize>,
}

/// How much of a report is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The headline and the counts.
    Headline,
    /// Two screens: what matters most in full, then a line each, and the rest counted.
    Screens,
    /// Every finding in full.
    Everything,
}

/// The whole report.
pub fn report(report: &Report, sources: &impl Sources, options: &TextOptions) -> String {
    let paint = Paint { color: options.color };
    let causes = diagnostic::causes(&report.findings);
    let mut out = headline(&Headline::new(report, &causes), options);
    let merged = said(&causes, sources);
    let sum = wrapped(&summary(report, &merged, options.min_severity, paint), options.width);
    if options.detail == Detail::Headline {
        return out + &sum;
    }
    out.push_str(&wrapped(&header(&report.clusters, paint), options.width));
    let mut foot = format!("\n{sum}");
    if !options.blind_spots {
        foot.push_str(&wrapped(&not_seen(&report.blind_spots, paint), options.width));
    }
    let room = LINES_MAX.saturating_sub(out.lines().count() + foot.lines().count());
    let (wanted, left_out) = wanted(&merged, options);
    out.push_str(&findings(&wanted, left_out, room, report.clusters.len(), sources, options));
    if options.blind_spots {
        out.push_str(&blind_spots(&report.blind_spots, sources, paint));
    }
    out + &foot
}

/// The first line, as wide as the terminal.
fn headline(headline: &Headline, options: &TextOptions) -> String {
    let paint = Paint { color: options.color };
    let text = say::headline(headline);
    let painted = wrapped(&text, options.width);
    let painted = painted.lines().map(|line| if headline.comes_up() { paint.good(line) } else { paint.bad(line) });
    painted.map(|line| line + "\n").collect()
}

/// Lines that are no longer than the terminal is wide, each with its end.
fn wrapped(text: &str, width: Option<usize>) -> String {
    let lines = text.lines().flat_map(|line| width.map_or_else(|| vec![line.to_owned()], |width| wrap(line, width)));
    lines.map(|line| line + "\n").collect()
}

/// The findings as far as there is room for them.
fn findings(
    wanted: &[&Merged<'_>],
    mut left_out: usize,
    room: usize,
    clusters: usize,
    sources: &impl Sources,
    options: &TextOptions,
) -> String {
    let paint = Paint { color: options.color };
    let look = Look { color: options.color, width: options.width };
    let is_limited = options.detail == Detail::Screens;
    let (mut out, mut used, mut in_full) = (String::new(), 0, 0);
    for one in wanted {
        let text = format!("\n{}", snippet::finding(one, clusters_of(one, clusters).as_deref(), sources, look));
        let lines = text.lines().count();
        // Each of the others has its line, and what has none is counted.
        let others = (wanted.len() - in_full - 1).min(BRIEF_LINES) + 2;
        if is_limited && in_full > 0 && used + lines + others > room {
            break;
        }
        (used, in_full) = (used + lines, in_full + 1);
        out.push_str(&text);
    }
    let rest = &wanted[in_full..];
    let brief = room.saturating_sub(used + 3).max(BRIEF_LINES).min(rest.len());
    if brief > 0 {
        out.push('\n');
    }
    for one in &rest[..brief] {
        let _ = writeln!(out, "{}", one_line(one, sources, options));
    }
    left_out += rest.len() - brief;
    let hint = paint.dim("(coldstart check -v)");
    match (left_out, rest.len()) {
        (0, 0) => {}
        (0, _) => {
            let _ = writeln!(out, "… with their lines and what to do: {hint}");
        }
        _ => {
            let _ = writeln!(out, "{}… and {left_out} more {hint}", if brief == 0 { "\n" } else { "" });
        }
    }
    out
}

/// `error[slow-retry]: what is wrong  path:8`, the place where there is room for it.
fn one_line(one: &Merged<'_>, sources: &impl Sources, options: &TextOptions) -> String {
    let paint = Paint { color: options.color };
    let severity = one.finding.severity;
    let title = format!("{severity}[{}]", one.finding.rule.id);
    let room = options.width.unwrap_or(COLUMNS_DEFAULT).saturating_sub(title.len() + 3).max(MESSAGE_COLUMNS_MIN);
    let text = shorten(&clean(&one.said.message), room);
    let place = sources.locate(one.finding.primary.at.span());
    let place = place.map(|(path, at)| format!("  {}:{}", clean(path), at.line));
    let place = place.filter(|place| width(&text) + width(place) <= room).unwrap_or_default();
    format!("{}: {text}{}", paint.severity(severity, &title), paint.dim(&place))
}

/// The findings to show, and how many more there would have been.
fn wanted<'a, 'b>(merged: &'b [Merged<'a>], options: &TextOptions) -> (Vec<&'b Merged<'a>>, usize) {
    let severe: Vec<&Merged<'a>> = merged.iter().filter(|one| one.finding.severity >= options.min_severity).collect();
    let Some(per_severity) = options.sample else { return (severe, 0) };
    let all = severe.len();
    let mut shown: BTreeMap<Severity, Vec<&str>> = BTreeMap::new();
    let sample: Vec<&Merged<'a>> = severe
        .into_iter()
        .filter(|one| {
            let rules = shown.entry(one.finding.severity).or_default();
            let fresh = rules.len() < per_severity && !rules.contains(&one.finding.rule.id);
            if fresh {
                rules.push(one.finding.rule.id);
            }
            fresh
        })
        .collect();
    let left_out = all - sample.len();
    (sample, left_out)
}

/// Which clusters a finding is of, where there is more than one to choose from.
fn clusters_of(merged: &Merged<'_>, all: usize) -> Option<String> {
    let names: Vec<String> = merged.clusters.iter().map(|name| (*name).to_owned()).collect();
    match names.len() {
        _ if all < 2 => None,
        1 => names.into_iter().next(),
        some if some == all => Some(format!("all {all}: {}", first_few(&names, CLUSTERS_NAMED_MAX))),
        some => Some(format!("{some} of {all}: {}", first_few(&names, CLUSTERS_NAMED_MAX))),
    }
}

/// `read   flux 96 kustomizations, 88 helmreleases · 1 cluster: kubernetes/flux/cluster`.
fn header(clusters: &[ClusterSummary], paint: Paint) -> String {
    let sum = |of: fn(&ClusterSummary) -> usize| clusters.iter().map(of).sum::<usize>();
    let mut read = vec![
        count(sum(|cluster| cluster.kustomizations), "kustomization"),
        count(sum(|cluster| cluster.helm_releases), "helmrelease"),
    ];
    if let sets @ 1.. = sum(|cluster| cluster.resource_sets) {
        read.push(count(sets, "resourceset"));
    }
    let mut parts = vec![format!("flux {}", read.join(", "))];
    if let charts @ 1.. = sum(|cluster| cluster.rendered_charts) {
        parts.push(format!("{} rendered", count(charts, "chart")));
    }
    if let releases @ 1.. = clusters.iter().map(|cluster| cluster.bootstrap_releases).max().unwrap_or(0) {
        parts.push(format!("bootstrap {}", count(releases, "release")));
    }
    let names: Vec<String> = clusters.iter().map(|cluster| clean(&cluster.name).into_owned()).collect();
    let which = paint.name(&first_few(&names, CLUSTERS_NAMED_MAX));
    parts.push(format!("{}: {which}", count(names.len(), "cluster")));
    format!("{}   {}", paint.bold("read"), parts.join(&paint.dim(" · ")))
}

fn summary(report: &Report, merged: &[Merged<'_>], min_severity: Severity, paint: Paint) -> String {
    let mut out = String::new();
    let dot = paint.dim(" · ");
    let mut counts = vec![counts(merged, min_severity, paint)];
    counts.extend(left_out::counts(&report.left_out));
    let counts = counts.join(&dot);
    match report.clusters.as_slice() {
        [only] => {
            let order = order(only, paint);
            let _ = writeln!(out, "{order}{dot}{counts}");
        }
        several => {
            for cluster in several.iter().take(CLUSTERS_SUMMED_MAX) {
                let _ = writeln!(out, "{}: {}", paint.name(&clean(&cluster.name)), order(cluster, paint));
            }
            if let more @ 1.. = several.len().saturating_sub(CLUSTERS_SUMMED_MAX) {
                let _ = writeln!(out, "and {} (coldstart check --cluster NAME)", count(more, "more cluster"));
            }
            let _ = writeln!(out, "{counts}");
        }
    }
    if let Some(stale) = left_out::stale(&report.left_out) {
        let _ = writeln!(out, "{stale} {}", paint.dim("(coldstart check --write-baseline)"));
    }
    out
}

/// `7 tiers · critical path 5: cilium → coredns → …`.
fn order(cluster: &ClusterSummary, paint: Paint) -> String {
    let tiers = count(cluster.tiers, "tier");
    let mut names: Vec<_> = cluster.critical_path.iter().map(|object| clean(&object.name)).collect();
    // A Kustomization and the release of the same name in it are one step to a reader.
    names.dedup();
    let Some((last, before)) = names.split_last() else { return tiers };
    let mut path = before.iter().take(STEPS_NAMED_MAX).map(AsRef::as_ref).collect::<Vec<&str>>();
    if before.len() > STEPS_NAMED_MAX {
        path.push("…");
    }
    path.push(last);
    let arrow = paint.dim(" → ");
    format!("{tiers}{}critical path {}: {}", paint.dim(" · "), names.len(), path.join(&arrow))
}

/// `3 errors, 6 warnings, 14 infos (--min-severity info)`.
pub(crate) fn counts(merged: &[Merged<'_>], min_severity: Severity, paint: Paint) -> String {
    let mut by_severity: BTreeMap<Severity, usize> = BTreeMap::new();
    for one in merged {
        *by_severity.entry(one.finding.severity).or_default() += 1;
    }
    let mut parts = Vec::new();
    for severity in Severity::ALL.into_iter().rev() {
        let number = by_severity.get(&severity).copied().unwrap_or(0);
        if number == 0 && severity < Severity::Warning {
            continue;
        }
        let text = match severity {
            Severity::Pedantic => format!("{number} pedantic"),
            _ => count(number, severity.word()),
        };
        let hidden = if severity < min_severity && number > 0 {
            let hint = if severity == Severity::Pedantic {
                "--pedantic".to_owned()
            } else {
                format!("--min-severity {severity}")
            };
            paint.dim(&format!(" ({hint})"))
        } else {
            String::new()
        };
        let text = if number > 0 && severity >= min_severity { paint.severity(severity, &text) } else { text };
        parts.push(text + &hidden);
    }
    parts.join(", ")
}

/// `not seen: 2 would be fetched over the network, 1 is larger than 16 MiB (coldstart check --blind-spots)`.
fn not_seen(blind: &[BlindSpot], paint: Paint) -> String {
    if blind.is_empty() {
        return String::new();
    }
    let mut reasons: Vec<(String, Reason<'_>)> = by_reason(blind).into_iter().collect();
    reasons.sort_by(|(why, a), (other, b)| b.spots.len().cmp(&a.spots.len()).then_with(|| why.cmp(other)));
    let named = reasons.iter().take(REASONS_NAMED_MAX);
    let counted = |reason: &Reason<'_>| {
        let number = reason.spots.len();
        format!("{number} {}", reason.clause.cut(number, REASON_CHARS_MAX))
    };
    let said: Vec<String> = named.map(|(_, reason)| counted(reason)).collect();
    let rest: usize = reasons.iter().skip(REASONS_NAMED_MAX).map(|(_, reason)| reason.spots.len()).sum();
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let hint = paint.dim("(coldstart check --blind-spots)");
    format!("not seen: {}{more} {hint}\n", said.join(", "))
}

/// Every blind spot with its place, by reason.
fn blind_spots(blind: &[BlindSpot], sources: &impl Sources, paint: Paint) -> String {
    let mut out = String::new();
    for (why, reason) in by_reason(blind) {
        let _ = writeln!(out, "\n{} {}", paint.bold("not seen:"), clean(&why));
        for (what, at) in reason.spots {
            let place = sources.locate(at).map(|(path, at)| format!("{}:{}:{}", clean(path), at.line, at.column));
            let place = place.map(|place| format!("  {}", paint.dim(&place))).unwrap_or_default();
            let _ = writeln!(out, "  {}{place}", clean(&what));
        }
    }
    if blind.is_empty() {
        let _ = writeln!(out, "\n{} nothing: everything was read", paint.bold("not seen:"));
    }
    out
}

/// Blind spots that have one reason: what was not seen, and where.
struct Reason<'a> {
    clause: Clause,
    spots: BTreeSet<(Cow<'a, str>, source::Span)>,
}

/// Blind spots by reason, each told once however many clusters have it.
fn by_reason(blind: &[BlindSpot]) -> BTreeMap<String, Reason<'_>> {
    let mut reasons: BTreeMap<String, Reason<'_>> = BTreeMap::new();
    for spot in blind {
        let clause = unseen::clause(&spot.why);
        let reason = reasons.entry(clause.said(1)).or_insert_with(|| Reason { clause, spots: BTreeSet::new() });
        reason.spots.insert((unseen::what(&spot.what), spot.at));
    }
    reasons
}
