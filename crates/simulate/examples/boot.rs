//! One boot of a repository, event by event: `cargo run -p coldstart-simulate --example boot -- PATH [SEED]`.

#![allow(clippy::print_stdout, reason = "an example for people")]

use std::path::PathBuf;

fn say(reason: coldstart_simulate::Reason, of: &coldstart_simulate::Blueprint) -> String {
    reason.named(of).as_ref().map(draw::say::obstacle).unwrap_or_default()
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().unwrap_or_else(|| ".".to_owned()));
    let seed = arguments.next().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let Ok(repository) = read::Repository::open(&path) else { return println!("cannot read {}", path.display()) };
    let Ok((clusters, catalogue)) = read::rendered::render(&repository) else { return println!("cannot render") };
    for cluster in clusters {
        let blueprint = coldstart_simulate::compile(
            std::slice::from_ref(&cluster),
            &catalogue,
            &coldstart_simulate::Conditions::default(),
        );
        let mut world = coldstart_simulate::World::new(&blueprint);
        let (outcome, events) = world.boot_traced(seed, &[]);
        for event in events {
            let thing = event.thing.map(|id| blueprint.thing(id).object().to_string()).unwrap_or_default();
            let at = event.at / 1000;
            match event.what {
                coldstart_simulate::What::Failed(reason) | coldstart_simulate::What::Waits(reason) => {
                    println!("{at:6} {thing}: {}", say(reason, &blueprint));
                }
                what => println!("{at:6} {thing}: {what:?}"),
            }
        }
        println!("{}: {:?} at {} s, {} events", cluster.name, outcome.verdict, outcome.at / 1000, outcome.events);
        println!("assumed: {:?}", blueprint.assumed);
        for cause in &outcome.causes {
            let circle = if cause.circle.is_empty() { "" } else { " (a circle)" };
            let why = say(cause.reason, &blueprint);
            println!("  {}: {why}{circle}, {} not ready", blueprint.thing(cause.id).object(), cause.blocks);
        }
        for id in &outcome.waiting {
            println!("  waiting: {}", blueprint.thing(*id).object());
        }
    }
}
