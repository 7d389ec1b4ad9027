//! A run as a board, as lines and as a picture.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use coldstart_draw::board::{Board, COLUMNS_MIN};
use coldstart_draw::story::Teller;
use coldstart_draw::timeline;
use model::{ObjectRef, Obstacle, Subject, Trace};
use run::{
    Action, Bar, Effect, Event, Hindrance, Input, Layer, LeftOut, Limits, Line, Look, Machine, NeedReason, Plan, Proof,
    Step, StepId, StepNeed, Timeline, TryFailure, remaining,
};

const LIMITS: Limits = Limits { timeout: Duration::from_mins(10), attempts: 1, pause: Duration::from_secs(15) };

fn step(key: &str, layer: Layer, needs: &[u32]) -> Step {
    Step {
        key: format!("{}/{key}", layer.name()),
        layer,
        action: Action::Install { release: key.to_owned() },
        needs: needs.iter().map(|need| StepNeed { step: StepId(*need), why: NeedReason::Declared }).collect(),
        proof: Proof::ReleaseHealthy { release: key.to_owned() },
        limits: LIMITS,
        once: false,
        danger: None,
        expected: Duration::from_mins(1),
        by_hand: run::ByHand::default(),
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
    let subject = Subject::Object(ObjectRef::new("Deployment", "a", "b"));
    let secret = Subject::Object(ObjectRef::new("Secret", "a", "\u{202e}c"));
    let chain = vec![
        Obstacle::Said { text: "Deployment a/b not ready".to_owned() },
        Obstacle::WaitsFor { subject, on: secret },
    ];
    let why = Hindrance::Obstacles(Trace { chain, turns: false });
    say(machine.step(Input::Looked(StepId(1), Look::UnderWay(Some(why))), seconds(20)));
    say(machine.step(Input::Looked(StepId(2), Look::Absent), seconds(20)));
    let said = |text: &str| Obstacle::Said { text: text.to_owned() };
    let refused = Hindrance::Obstacles(Trace { chain: vec![said("refused\nby"), said("everybody")], turns: false });
    say(machine.step(Input::Acted(StepId(2), Err(refused)), seconds(30)));
    (machine, lines)
}

#[test]
fn the_board_fits_every_terminal_and_never_jumps() {
    let plan = plan();
    let (machine, _) = half_way(&plan);
    let fresh = Machine::new(&plan, BTreeMap::new(), BTreeSet::new());
    for columns in COLUMNS_MIN..200 {
        let board = Board { columns, rows: 40, color: false, mark: "simulated, seed 0".to_owned(), is_over: false };
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
    let board = Board { columns: 90, rows: 40, color: false, mark: "simulated, seed 0".to_owned(), is_over: false };
    let text = board.lines(&plan, &machine, Duration::from_secs(30)).join("\n");
    assert!(text.starts_with("simulated, seed 0 · 0:00:30 · 1 of 4 steps completed · about 40 s left"), "{text}");
    assert!(text.contains("20 s  bootstrap/very-long-name"), "{text}");
    // Begun at 10 s, expected to take 60; the failed one and the one behind it are not waited for.
    assert_eq!(remaining(&plan, &machine, Duration::from_secs(30)), Duration::from_secs(40));
    assert_eq!(remaining(&plan, &machine, Duration::from_mins(5)), Duration::ZERO);
}

#[test]
fn a_bar_without_colours_tells_what_is_proved_from_what_runs_and_what_failed() {
    let plan = plan();
    let (machine, _) = half_way(&plan);
    let board = Board { columns: 90, rows: 40, color: false, mark: String::new(), is_over: false };
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
        let board = Board { columns: 90, rows, color: false, mark: "simulated, seed 0".to_owned(), is_over: false };
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
    let end = told.split_once("incomplete").map(|(_, end)| end).unwrap_or_default();
    assert!(end.contains("← refused␊by\n") && end.contains("← everybody\n"), "{told}");
    assert!(end.contains("blocks 1 step: flux/flux"), "{told}");
}

/// The words of a journal of version 1 are told as they are.
#[test]
fn old_words_are_told_again_word_for_word() {
    let at = |event| Line::new(Duration::from_secs(5), event);
    let mut teller = Teller::new(false);
    let left = LeftOut::Said { text: "--skip a: by hand".to_owned() };
    let by = Hindrance::said("not completed within 10 min: b waits for c ← c is not ready yet");
    let lines = [
        at(Event::Left { step: "a".to_owned(), why: left }),
        at(Event::Failed { step: "b".to_owned(), why: TryFailure::Hindered { by }, left_out: None }),
        at(Event::Ended { outcome: run::Outcome::Failed }),
    ];
    let told: String = lines.iter().filter_map(|line| teller.tell(line)).collect();
    assert!(told.contains("b failed: not completed within 10 min: b waits for c ← c is not ready yet\n"), "{told}");
    assert!(told.contains("1 left out (--skip a: by hand)"), "{told}");
}

/// Programs get the fields, and people who read along the words that they always got.
#[test]
fn json_has_a_reason_with_fields_and_in_words() {
    let store = Subject::Object(ObjectRef::new("SecretStore", "apps", "own"));
    let chain = vec![
        Obstacle::DependencyNotReady { dependency: ObjectRef::new("Kustomization", "apps", "stores") },
        Obstacle::NotReady { subject: store },
    ];
    let last = Some(Hindrance::Obstacles(Trace { chain, turns: false }));
    let need = run::LeftNeed {
        step: "c".to_owned(),
        why: LeftOut::Skipped { name: "c".to_owned(), reason: "later".to_owned() },
        more: 1,
    };
    let why = TryFailure::TooLate { limit_seconds: 600, last };
    let event = Event::Failed { step: "a".to_owned(), why, left_out: Some(need) };
    let json = coldstart_draw::story::json(&Line::new(Duration::from_secs(5), event), true).unwrap_or_default();
    assert_eq!(
        json,
        concat!(
            r#"{"at":5000,"event":"failed","step":"a","why":{"failed":"too-late","limit_seconds":600,"#,
            r#""last":{"because":"obstacles","chain":[{"obstacle":"dependency-not-ready","dependency":"#,
            r#"{"kind":"Kustomization","namespace":"apps","name":"stores"}},{"obstacle":"not-ready","subject":"#,
            r#"{"is":"object","kind":"SecretStore","namespace":"apps","name":"own"}}],"turns":false}},"#,
            r#""left_out":{"step":"c","why":{"left":"skipped","name":"c","reason":"later"},"more":1},"#,
            r#""reason":"not completed within 10 min: DependencyNotReady: dependency 'apps/stores' is not ready ← "#,
            r#"SecretStore apps/own is not ready yet; it needs steps that were left out: c (--skip c: later) and 1 more","#,
            r#""simulated":true}"#,
            "
"
        )
    );
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
        assert!(text.lines().all(|line| line.chars().count() <= columns.max(60)), "{columns}: {text}");
    }
}

#[test]
fn a_timeline_of_many_steps_is_two_screens_high_and_draws_what_was_expected_from_the_real_start() {
    const SCREENS_PIXELS: u64 = 2 * 900;
    let bar = |number: u64| Bar {
        step: StepId(0),
        key: format!("gitops/app-{number}"),
        layer: Layer::GitOps,
        from: Duration::from_secs(number),
        until: Some(Duration::from_secs(number + number % 5)),
        expected_from: Duration::ZERO,
        expected_until: Duration::from_secs(10),
        is_critical: number == 7,
    };
    let of = |bars: Vec<Bar>| Timeline {
        is_simulated: true,
        bars,
        absent: 0,
        took: Duration::from_secs(400),
        expected: Duration::from_secs(400),
    };
    let svg = timeline::svg(&of((0..300).map(bar).collect()), "home");
    let height: u64 = svg.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    assert!(height <= SCREENS_PIXELS, "{height} px");
    assert!(svg.contains(">app-7 2 s<") && svg.contains("steps of up to"), "{svg}");
    // Rows of no time are folded whatever there is room for.
    let few = timeline::svg(&of(vec![bar(5), bar(6), bar(10)]), "home");
    assert!(few.contains(">2 steps of 0 s: app-5, app-10<") && few.contains(">app-6 1 s<"), "{few}");
    // The bar and the line below it begin in the same place.
    let from = few.split("<rect x=\"").last().unwrap().split('"').next().unwrap();
    assert!(few.contains(&format!("<path d=\"M{from} ")), "{few}");
}

#[test]
fn a_board_that_is_over_has_no_empty_lines() {
    let plan = plan();
    let (machine, _) = half_way(&plan);
    let board = Board { columns: 60, rows: 40, color: false, mark: "simulated, seed 0".to_owned(), is_over: true };
    let lines = board.lines(&plan, &machine, Duration::from_secs(30));
    assert!(lines.iter().all(|line| !line.is_empty() && line.chars().count() < 60), "{lines:?}");
}
