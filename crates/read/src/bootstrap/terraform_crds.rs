//! The CRDs of charts that Terraform installs, as far as the catalogue knows the charts.

use std::collections::BTreeSet;

use catalogue::Catalogue;

use crate::remote_crds::FetchedCrd;
use crate::terraform::Provided;

/// What is fetched by address, and after it what comes with a chart of Terraform.
pub(super) fn of(provided: &Provided, catalogue: &Catalogue, mut fetched: Vec<FetchedCrd>) -> Vec<FetchedCrd> {
    let mut seen = BTreeSet::new();
    for chart in &provided.charts {
        let Some(known) = catalogue.by_chart(&chart.name) else { continue };
        // Its values are not read. They usually switch CRDs on, as those of any bootstrap do.
        for kind in known.crds.iter().flat_map(|crds| &crds.kinds) {
            if seen.insert((kind, chart.at)) {
                fetched.push(FetchedCrd { kind: kind.clone(), at: chart.at });
            }
        }
    }
    fetched
}
