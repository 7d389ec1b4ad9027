//! Boots per second: `cargo run --release -p coldstart-simulate --example boots -- PATH [BOOTS]`. Wall time is asked here and
//! nowhere in the library.

#![allow(clippy::print_stdout, reason = "an example for people")]

use std::path::PathBuf;
use std::time::Instant;

use coldstart_simulate::{Conditions, Faults, compile, study};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().unwrap_or_else(|| "examples/homelab".to_owned()));
    let boots = arguments.next().and_then(|boots| boots.parse().ok()).unwrap_or(10_000);
    let Ok(repository) = read::Repository::open(&path) else { return println!("cannot read {}", path.display()) };
    let Ok((clusters, catalogue)) = read::rendered::render(&repository) else { return println!("cannot render") };
    for cluster in clusters {
        let began = Instant::now();
        let blueprint = compile(std::slice::from_ref(&cluster), &catalogue, &Conditions::default());
        let compiled = began.elapsed();
        let began = Instant::now();
        let study = study(&blueprint, 0, boots, &Faults::default());
        let took = began.elapsed();
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let (per_second, events) = (boots as f64 / took.as_secs_f64(), study.events as f64 / boots as f64);
        println!(
            "{}: {} components, {events:.0} events a boot, {per_second:.0} boots a second, {} of {boots} converged, compiled in {:.1} ms",
            if cluster.name.is_empty() { "." } else { &cluster.name },
            blueprint.components(),
            study.converged,
            compiled.as_secs_f64() * 1000.0,
        );
    }
}
