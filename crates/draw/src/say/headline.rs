//! The first line of a report: would this come up today, and what would it cost.

use std::path::Path;

use diagnostic::Headline;
use model::say_seconds;

use crate::words::{agree, count, first_few};

/// One or two sentences.
pub fn headline(headline: &Headline) -> String {
    if headline.components == 0 && headline.blocked == 0 && headline.clusters > 0 {
        let stopped = stopped_by(headline).map(|stopped| format!(" {stopped}")).unwrap_or_default();
        return format!("Nothing that Flux applies was found: only what comes before GitOps was checked.{stopped}");
    }
    let mut said = vec![format!("Rebuilt today: {}.", outlook(headline))];
    said.extend(stopped_by(headline));
    said.extend(races(headline));
    said.join(" ")
}

fn outlook(headline: &Headline) -> String {
    let several = headline.clusters > 1;
    if let Some(seconds) = headline.seconds {
        let about = about(seconds);
        let clusters = match headline.clusters {
            2 => "both clusters come".to_owned(),
            3.. => format!("all {} clusters come", headline.clusters),
            _ => return format!("comes up, in about {about} (estimate)"),
        };
        return format!("{clusters} up, the slowest in about {about} (estimate)");
    }
    if headline.blocked > 0 && headline.blocked == headline.components {
        return "nothing comes up".to_owned();
    }
    match headline.clusters_blocked {
        blocked if several && blocked == headline.clusters => {
            format!("none of the {blocked} clusters comes up completely")
        }
        blocked @ 1.. if several => {
            let verb = agree(blocked, "does", "do");
            format!("{blocked} of {} clusters {verb} not come up", headline.clusters)
        }
        _ => "does not come up".to_owned(),
    }
}

fn stopped_by(headline: &Headline) -> Option<String> {
    let Headline { causes, blocked, components, .. } = *headline;
    let of_all = format!("{blocked} of {}", count(components, "component"));
    match (causes, blocked) {
        (0, 0) => None,
        (0, _) => Some(format!("{of_all} {} blocked by findings that are left out here.", agree(blocked, "is", "are"))),
        (_, 0) => Some(format!("{}.", count(causes, "error"))),
        _ => Some(format!("{} {} {of_all}.", count(causes, "cause"), agree(causes, "blocks", "block"))),
    }
}

/// What is decided by who comes first.
fn races(headline: &Headline) -> Option<String> {
    let Headline { stalls, silent, slow, slowest_seconds, .. } = *headline;
    let mut parts = Vec::new();
    if stalls > 0 {
        parts.push((stalls, format!("{} until you act", agree(stalls, "stops a component", "stop components"))));
    }
    if silent > 0 {
        parts.push((silent, format!("{} something out without a word", agree(silent, "leaves", "leave"))));
    }
    if slow > 0 {
        let each = agree(slow, "", " each");
        parts.push((slow, format!("{} up to {}{each}", agree(slow, "costs", "cost"), say_seconds(slowest_seconds))));
    }
    let races = format!("{} that may be lost", count(stalls + silent + slow, "race"));
    match parts.as_slice() {
        [] => None,
        [(_, does)] => Some(format!("{races} {does}.")),
        several => {
            let several: Vec<String> = several.iter().map(|(number, does)| format!("{number} {does}")).collect();
            Some(format!("{races}: {}.", several.join("; ")))
        }
    }
}

/// Whole minutes: an estimate has no seconds.
fn about(seconds: u64) -> String {
    if seconds < 60 { say_seconds(seconds) } else { say_seconds((seconds + 30) / 60 * 60) }
}

/// What a finding keeps from coming up, behind what it costs; nothing where it is only the component itself.
pub(super) fn blocks(blocks: usize) -> Option<String> {
    let others = blocks.saturating_sub(1);
    (others > 0).then(|| format!("blocks {}", count(others, "other component")))
}

/// Below a report that is made again.
pub const WATCHING: &str = "watching for changes: Ctrl-C stops";

/// What is read instead of a directory that is only a part.
pub fn part_of(root: &Path) -> String {
    format!("reading {}: the directory given is a part of that repository", root.display())
}

/// What is shown where only a part was asked for.
pub fn only_below(part: &str) -> String {
    format!("only findings in {part} are shown; the headline is of all")
}

/// Places of other clusters that a note names.
const PLACES_NAMED_MAX: usize = 4;

/// Where other clusters have the same in a file of their own.
pub(crate) fn elsewhere(places: &[String]) -> Option<String> {
    (!places.is_empty()).then(|| format!("the same in {}", first_few(places, PLACES_NAMED_MAX)))
}

#[cfg(test)]
mod tests {
    use diagnostic::Headline;

    use super::headline;

    #[test]
    fn what_stops_a_rebuild_is_said_first() {
        let stopped = Headline {
            clusters: 1,
            clusters_blocked: 1,
            components: 77,
            blocked: 41,
            causes: 1,
            slow: 3,
            slowest_seconds: 3600,
            ..Headline::default()
        };
        assert_eq!(
            headline(&stopped),
            "Rebuilt today: does not come up. 1 cause blocks 41 of 77 components. 3 races that may be lost cost up to 1 h each."
        );
        let all = Headline { blocked: 77, causes: 2, slow: 0, ..stopped };
        assert_eq!(headline(&all), "Rebuilt today: nothing comes up. 2 causes block 77 of 77 components.");
        let some = Headline { clusters: 5, clusters_blocked: 2, slow: 0, ..stopped };
        assert!(headline(&some).starts_with("Rebuilt today: 2 of 5 clusters do not come up. 1 cause blocks"));
        let known = Headline { causes: 0, slow: 0, ..stopped };
        assert!(headline(&known).ends_with("41 of 77 components are blocked by findings that are left out here."));
    }

    #[test]
    fn a_sound_repository_has_its_estimate_and_its_races() {
        let sound =
            Headline { clusters: 1, components: 77, seconds: Some(774), stalls: 1, silent: 2, ..Headline::default() };
        assert_eq!(
            headline(&sound),
            "Rebuilt today: comes up, in about 13 min (estimate). 3 races that may be lost: 1 stops a component until you act; \
             2 leave something out without a word."
        );
        let several = Headline { clusters: 3, seconds: Some(40), stalls: 0, silent: 0, ..sound };
        assert_eq!(headline(&several), "Rebuilt today: all 3 clusters come up, the slowest in about 40 s (estimate).");
    }
}
