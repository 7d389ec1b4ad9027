//! `coldstart status --watch`: the same screen again whenever something changes, until you stop it.

#![expect(clippy::disallowed_methods, reason = "one watches in real time")]

use std::time::{Duration, Instant};

use observe::Cluster;

use super::arguments::Status as Options;
use super::{accepted, judged, told};
use crate::exit::Code;
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;

/// Changes come in groups: so long they are gathered.
const GATHERED: Duration = Duration::from_millis(100);
/// Ages grow, also where nothing changes.
const AGED: Duration = Duration::from_secs(5);

pub(crate) fn run(options: &Options, cluster: &mut Cluster) -> Result<Code, Failure> {
    let progress = Progress::start(super::LOOKING);
    cluster.look();
    drop(progress);
    // A cluster that does not know us will not know us later; one that does not answer may come up.
    accepted(cluster)?;
    let mut last = String::new();
    loop {
        let now = cluster.now();
        let text = told(options, &judged(&cluster.facts(), now))?;
        if text != last {
            draw(&text)?;
            last = text;
        }
        if cluster.follow(AGED) {
            gather(cluster);
        }
    }
}

fn gather(cluster: &mut Cluster) {
    let started = Instant::now();
    while let Some(left) = GATHERED.checked_sub(started.elapsed()) {
        cluster.follow(left);
    }
}

/// Over what was there, line by line, so that nothing flickers; elsewhere one after the other.
fn draw(text: &str) -> Result<(), Failure> {
    const TOP: &str = "\u{1b}[H";
    const TO_END_OF_LINE: &str = "\u{1b}[K";
    const TO_END_OF_SCREEN: &str = "\u{1b}[J";
    let Some((_, rows)) = output::size().filter(|_| !output::is_dumb()) else {
        output::print(text)?;
        return Ok(());
    };
    let lines: Vec<&str> = text.lines().take(rows.saturating_sub(1)).collect();
    let line_end = format!("{TO_END_OF_LINE}\n");
    output::print(&format!("{TOP}{}{line_end}{TO_END_OF_SCREEN}", lines.join(&line_end)))?;
    Ok(())
}
