//! A few hundred of the hundred thousand that `cargo xtask simulate` runs.

use coldstart_trial::{Defect, Trial, cluster, prepare, trial};

#[test]
fn every_run_ends_healthy_or_in_the_right_named_cause() {
    let summary = trial(Trial { first: 0, seeds: 400, clusters: 40 }, || ()).unwrap();
    assert!(summary.wrong.is_empty(), "{:#?}", summary.wrong);
    let all = summary.total();
    assert_eq!(all.runs + summary.refused, 400);
    // Neither way out is an empty word.
    assert!(all.healthy > 100 && all.failed > 100, "{all:?}");
    assert!(summary.counts.len() > 12, "{:?}", summary.counts.keys());
    let without = &summary.counts["no fault"];
    assert!(without.runs > 50 && without.failed == 0, "{without:?}");
}

#[test]
fn clusters_are_sound_by_the_standards_of_check_unless_something_was_planted() {
    for number in 0..40 {
        let prepared = prepare(cluster(number), true).unwrap();
        match prepared.cluster.defect {
            None => assert!(prepared.findings.is_empty(), "cluster {number}: {:?}", prepared.findings),
            // Losing these races costs seconds, or nothing.
            Some(Defect::NoOrder | Defect::NoWait) => {}
            Some(defect) => assert!(!prepared.findings.is_empty(), "cluster {number}: {defect:?} is not found"),
        }
    }
}

#[test]
fn clusters_differ_and_the_same_number_is_the_same_bytes() {
    let mut sizes = std::collections::BTreeSet::new();
    let mut defects = std::collections::BTreeSet::new();
    for number in 0..300 {
        let one = cluster(number);
        assert_eq!(one.files, cluster(number).files);
        assert_ne!(one.files, cluster(number + 1).files);
        sizes.insert(one.files.keys().filter(|path| path.ends_with("/ks.yaml")).count());
        defects.extend(one.defect);
    }
    assert!(sizes.len() > 20, "{sizes:?}");
    assert_eq!(defects.len(), Defect::ALL.len(), "{defects:?}");
}
