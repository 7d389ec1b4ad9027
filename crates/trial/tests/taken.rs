//! What `impact` says of the next cold start is what the simulated world shows.

use std::fmt::Write as _;
use std::path::Path;

use coldstart_trial::{Taking, cluster, prepare_read, take_each};
use simulate::{Conditions, Machines};

const CLUSTERS: u64 = 200;

fn told(name: &str, taking: &Taking) -> String {
    let mut out = String::new();
    for (of, need) in &taking.hindered {
        let _ = writeln!(out, "{name}: {of} comes up in the world, and not in the graph: {need:?}");
    }
    for it in &taking.otherwise {
        let (graph, world) = if it.is_done_by_graph { ("done", "not") } else { ("not done", "done") };
        let _ = writeln!(out, "{name}: without {}, {} is {graph} by the graph, {world} in the world", it.taken, it.of);
    }
    out
}

#[test]
fn the_examples_lose_at_a_cold_start_what_impact_says() {
    for (example, stops) in [("homelab", true), ("homelab-broken", true)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
        let reading = read::read(&path).unwrap();
        let (rendered, catalogue) = read::rendered::render(&reading.repository).unwrap();
        let conditions =
            Conditions { runs_bootstrap: true, machines: Some(Machines::default()), ..Conditions::default() };
        let blueprint = simulate::compile(&rendered, &catalogue, &conditions);
        let taking = take_each(&reading.clusters[0], &blueprint);
        let wrong = told(example, &taking);
        assert!(wrong.is_empty(), "{wrong}");
        assert_eq!(taking.stopped > taking.taken, stops);
    }
}

#[test]
fn generated_clusters_lose_at_a_cold_start_what_impact_says() {
    let numbers: Vec<u64> = (0..CLUSTERS).collect();
    let takings = repository::parallel::map(&numbers, |number| {
        let (read, blueprint) = prepare_read(&cluster(*number)).unwrap();
        take_each(&read, &blueprint)
    });
    let (mut found, mut taken, mut stopped) = (String::new(), 0, 0);
    for (number, taking) in numbers.iter().zip(&takings) {
        taken += taking.taken;
        stopped += taking.stopped;
        found += &told(&format!("cluster {number}"), taking);
    }
    assert!(found.is_empty(), "{found}");
    assert!(taken > 5_000 && stopped > taken, "{taken} taken, {stopped} stopped");
}
