//! A run as a board, as lines and as a picture.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use coldstart_draw::board::{Board, COLUMNS_MIN};
use coldstart_draw::story::Teller;
use coldstart_draw::timeline;
use run::{
    Action, Effect, Input, Layer, Limits, Line, Look, Machine, Need, Plan, Proof, Step, StepId, Timeline, remaining,
};

const LIMITS: Limits = Limits { timeout: Duration::from_mins(10), attempts: 1, pause: Duration::from_secs(15) };

fn step(key: &str, layer: Layer, needs: &[u32]) -> Step {
    Step {
        key: format!("{}/{key}", layer.name()),
        layer,
        action: Action::Install { release: key.to_owned() },
        needs: needs.iter().map(|need| Need { step: StepId(*need), why: "so".to_owned() }).collect(),
        proof: Proof::ReleaseHealthy { release: key.to_owned() },
        limits: LIMITS,
        once: false,
        danger: None,
        expected: Duration::from_mins(1),
        hash: String::new(),
    }
}

/// One is there, one is under way for a long reason, one fails and blocks another.
fn plan() -> Plan {
    let hostile = "na\u{1b}[2Jme\n<script>&";
    Plan {
        steps: vec![
            step("cilium", Layer::Network, &[]),
            step(&"very-long-name".repeat(20), Layer::Bootstrap, &[0]),
            step(hostile, Layer::Bootstrap, &[0]),
            step("flux", Layer::Flux, &[2]),
        ],
        notes: Vec::new(),
    }
}

/// The machine after half a minute, and everything it told.
fn half_way(plan: &Plan) -> (Machine<'_>, Vec<Line>) {
    let mut machine = Machine::new(plan, BTreeMap::new(), BTreeSet::new());
    let mut lines = Vec::new();
    let mut say = |effects: Vec<Effect>| {
        lines.extend(effects.into_iter().filter_map(|effect| match effect {
            Effect::Tell(line) => Some(line),
            _ => None,
        }));
    };
    let seconds = Duration::from_secs;
    say(machine.step(Input::Begin, seconds(0)));
    say(machine.step(Input::Looked(StepId(0), Look::Done), seconds(10)));
    let why = "Deployment a/b not ready ← Deployment a/b waits for Secret a/\u{202e}c".to_owned();
    say(machine.step(Input::Looked(StepId(1), Look::UnderWay(why)), seconds(20)));
    say(machine.step(Input::Looked(StepId(2), Look::Absent), seconds(20)));
    say(machine.step(Input::Acted(StepId(2), Err("refused\nby ← everybody".to_owned())), seconds(30)));
    (machine, lines)
}

#[test]
fn the_board_fits_every_terminal_and_never_jumps() {
    let plan = plan();
    let (machine, _) = half_way(&plan);
    let fresh = Machine::new(&plan, BTreeMap::new(), BTreeSet::new());
    for columns in COLUMNS_MIN..200 {
        let board = Board { columns, rows: 40, color: false, mark: "simulated, seed 0".to_owned() };
        let lines = board.lines(&plan, &machine, Duration::from_secs(30));
        assert_eq!(lines.len(), board.lines(&plan, &fresh, Duration::ZERO).len());
        for line in lines {
            assert!(line.chars().count() < columns, "{columns} columns: {line}");
            assert!(!line.contains(['\n', '\u{1b}', '\u{202e}']), "{line:?}");
        }
    }
}

#[test]
fn the_board_says_what_is_waited_for_and_how_long_it_may_take() {
    let plan = plan();
    let (machine, _) = half_way(&plan);
    let board = Board { columns: 90, rows: 40, color: false, mark: "simulated, seed 0".to_owned() };
    let text = board.lines(&plan, &machine, Duration::from_secs(30)).join("\n");
    assert!(text.starts_with("simulated, seed 0 · 0:00:30 · 1 of 4 steps proved · about 40 s left"), "{text}");
    assert!(text.contains("20 s  bootstrap/very-long-name"), "{text}");
    // Begun at 10 s, expected to take 60; the failed one and the one behind it are not waited for.
    assert_eq!(remaining(&plan, &machine, Duration::from_secs(30)), Duration::from_secs(40));
    assert_eq!(remaining(&plan, &machine, Duration::from_mins(5)), Duration::ZERO);
}

#[test]
fn a_bar_without_colours_tells_what_is_proved_from_what_runs_and_what_failed() {
    let plan = plan();
    let (machine, _) = half_way(&plan);
    let board = Board { columns: 90, rows: 40, color: false, mark: String::new() };
    let lines = board.lines(&plan, &machine, Duration::from_secs(30));
    let of =
        |layer: &str| lines.iter().find(|line| line.starts_with(&format!("  {layer}"))).cloned().unwrap_or_default();
    assert!(of("network").contains("━━") && !of("network").contains(['╍', '×', '─']), "{lines:?}");
    assert!(of("bootstrap").contains("××") && of("bootstrap").contains("╍╍"), "{lines:?}");
    assert!(!of("bootstrap").contains('━'), "{lines:?}");
}

#[test]
fn in_a_low_terminal_waits_go_first_and_then_what_is_done() {
    let plan = plan();
    let (machine, _) = half_way(&plan);
    let lines = |rows: usize| {
        let board = Board { columns: 90, rows, color: false, mark: "simulated, seed 0".to_owned() };
        board.lines(&plan, &machine, Duration::from_secs(30))
    };
    let has = |rows: usize, layer: &str| lines(rows).iter().any(|line| line.starts_with(&format!("  {layer}")));
    assert!(has(5, "network") && has(5, "bootstrap") && has(5, "flux"), "{:?}", lines(5));
    assert!(!has(4, "network") && has(4, "bootstrap") && has(4, "flux"), "{:?}", lines(4));
    for rows in 2..12 {
        assert!(lines(rows).len() < rows && lines(rows)[0].starts_with("simulated"), "{:?}", lines(rows));
    }
}

#[test]
fn failures_are_told_down_to_the_fact_and_with_what_they_block() {
    let plan = plan();
    let (mut machine, mut lines) = half_way(&plan);
    let effects = machine.step(Input::Looked(StepId(1), Look::Done), Duration::from_secs(40));
    lines.extend(effects.into_iter().filter_map(|effect| match effect {
        Effect::Tell(line) => Some(line),
        _ => None,
    }));
    let mut teller = Teller::new(false);
    let told: String = lines.iter().filter_map(|line| teller.tell(line)).collect();
    let end = told.split_once("not everything is proved").map(|(_, end)| end).unwrap_or_default();
    assert!(end.contains("← refused␊by\n") && end.contains("← everybody\n"), "{told}");
    assert!(end.contains("blocks 1 step: flux/flux"), "{told}");
}

#[test]
fn the_picture_holds_whatever_names_there_are() {
    let plan = plan();
    let (_, lines) = half_way(&plan);
    let timeline = Timeline::new(&plan, &lines);
    assert_eq!((timeline.bars.len(), timeline.absent), (3, 1));
    let svg = timeline::svg(&timeline, "<home>");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(!svg.contains("<script>") && !svg.contains("<home>") && !svg.contains('\u{1b}'), "{svg}");
    for columns in [20, 60, 100, 300] {
        let text = timeline::text(&timeline, Some(columns), false);
        assert!(text.lines().skip(1).all(|line| line.chars().count() <= columns.max(70)), "{columns}: {text}");
    }
}
