//! The report for a terminal: what was read, a diagnostic for each finding, and the sum of it all.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use check::{ClusterSummary, Report, Severity};
use model::BlindSpot;

use crate::clean::clean;
use crate::left_out;
use crate::merge::{Merged, merge};
use crate::paint::Paint;
use crate::snippet::{self, Look};
use crate::sources::Sources;
use crate::words::{count, first_few, shorten};

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
    /// Of every severity only this many, each of another rule: a taste of the whole, for pictures.
    pub sample: Option<usize>,
}

/// The whole report.
pub fn report(report: &Report, sources: &impl Sources, options: &TextOptions) -> String {
    let paint = Paint { color: options.color };
    let look = Look { color: options.color, width: options.width };
    let merged = merge(&report.findings);
    let mut out = header(&report.clusters, paint);
    out.push('\n');
    let (wanted, left_out) = wanted(&merged, options);
    for one in wanted {
        let clusters = clusters_of(one, report.clusters.len());
        out.push('\n');
        out.push_str(&snippet::finding(one.finding, clusters.as_deref(), sources, look));
    }
    if left_out > 0 {
        let _ = writeln!(out, "\n{}", paint.dim(&format!("… and {left_out} more")));
    }
    if options.blind_spots {
        out.push_str(&blind_spots(&report.blind_spots, sources, paint));
    }
    out.push('\n');
    out.push_str(&summary(report, &merged, options.min_severity, paint));
    if !options.blind_spots {
        out.push_str(&not_seen(&report.blind_spots, paint));
    }
    out
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
            let fresh = rules.len() < per_severity && !rules.contains(&one.finding.rule);
            if fresh {
                rules.push(one.finding.rule);
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
    let mut reasons: Vec<(usize, &str)> = by_reason(blind).into_iter().map(|(why, spots)| (spots.len(), why)).collect();
    reasons.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let named = reasons.iter().take(REASONS_NAMED_MAX);
    let said: Vec<String> =
        named.map(|(number, why)| agree(*number, &shorten(&clean(why), REASON_CHARS_MAX))).collect();
    let rest: usize = reasons.iter().skip(REASONS_NAMED_MAX).map(|(number, _)| number).sum();
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let hint = paint.dim("(coldstart check --blind-spots)");
    format!("not seen: {}{more} {hint}\n", said.join(", "))
}

/// A number before a clause: `1 is larger`, `2 are larger`.
fn agree(number: usize, clause: &str) -> String {
    match (number, clause.split_once(' ')) {
        (2.., Some(("is", rest))) => format!("{number} are {rest}"),
        (2.., Some(("has", rest))) => format!("{number} have {rest}"),
        (2.., Some(("comes", rest))) => format!("{number} come {rest}"),
        _ => format!("{number} {clause}"),
    }
}

/// Every blind spot with its place, by reason.
fn blind_spots(blind: &[BlindSpot], sources: &impl Sources, paint: Paint) -> String {
    let mut out = String::new();
    for (why, spots) in by_reason(blind) {
        let _ = writeln!(out, "\n{} {}", paint.bold("not seen:"), clean(why));
        for spot in spots {
            let place = sources.locate(spot.at).map(|(path, at)| format!("{}:{}:{}", clean(path), at.line, at.column));
            let place = place.map(|place| format!("  {}", paint.dim(&place))).unwrap_or_default();
            let _ = writeln!(out, "  {}{place}", clean(&spot.what));
        }
    }
    if blind.is_empty() {
        let _ = writeln!(out, "\n{} nothing: everything was read", paint.bold("not seen:"));
    }
    out
}

/// Blind spots by reason, each told once however many clusters have it.
fn by_reason(blind: &[BlindSpot]) -> BTreeMap<&str, Vec<&BlindSpot>> {
    let mut reasons: BTreeMap<&str, BTreeMap<(&str, yaml::Span), &BlindSpot>> = BTreeMap::new();
    for spot in blind {
        reasons.entry(&spot.why).or_default().entry((&spot.what, spot.at)).or_insert(spot);
    }
    reasons.into_iter().map(|(why, spots)| (why, spots.into_values().collect())).collect()
}
