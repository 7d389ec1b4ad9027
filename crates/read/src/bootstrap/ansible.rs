//! Charts that Ansible installs, or of which it takes a part, before Flux starts: every `chart_ref` in its files.
//!
//! Reads line by line and runs no play: whether a task applies all of a chart or only its CRDs is not known, nor on which of several
//! clusters.

use source::{Span, to_u32};

use crate::helmfile::last_part;
use crate::naming::is_ansible;
use crate::repository::Repository;
use crate::terraform::ProvidedChart;

/// The argument of `kubernetes.core.helm` and `kubernetes.core.helm_template` that names the chart.
const ARGUMENT: &str = "chart_ref:";

pub(super) fn charts(repository: &Repository) -> Vec<ProvidedChart> {
    let files = repository.paths().filter(|path| is_ansible(path)).filter_map(|path| repository.id(path));
    let mut found = Vec::new();
    for id in files {
        let Some(text) = repository.source(id).map(source::Source::text) else { continue };
        for (start, name) in charts_in(text) {
            found.push(ProvidedChart {
                name: name.to_owned(),
                at: Span::new(id, to_u32(start), to_u32(start + name.len())),
            });
        }
    }
    found
}

/// The last part of each chart's name, and where it begins.
fn charts_in(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices(ARGUMENT).filter_map(|(at, _)| {
        let begin = text[..at].rfind('\n').map_or(0, |before| before + 1);
        let written = text[at + ARGUMENT.len()..].lines().next()?;
        let chart = written.split(" #").next()?.trim().trim_matches(['"', '\'']);
        let name = last_part(chart).filter(|name| !name.contains(['{', '}', '$', ' ']))?;
        let is_comment = text[begin..at].trim_start().starts_with('#');
        let start = at + ARGUMENT.len() + written.rfind(name)?;
        (!is_comment).then_some((start, name))
    })
}

#[cfg(test)]
mod tests {
    use super::charts_in;

    #[test]
    fn the_last_part_of_a_chart_is_its_name() {
        let text = "- kubernetes.core.helm:\n    chart_ref: oci://ghcr.io/o/charts/grafana-operator\n    # chart_ref: o/old\n    chart_ref: \"{{ repo }}/cilium\" # the network\n    chart_ref: \"{{ chart }}\"\n";
        let found: Vec<&str> = charts_in(text).map(|(_, name)| name).collect();
        assert_eq!(found, ["grafana-operator", "cilium"]);
        assert!(charts_in(text).all(|(start, name)| text[start..].starts_with(name)));
    }
}
