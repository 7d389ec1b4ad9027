//! The journal as a file: torn, damaged, busy, foreign.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

use std::fs;
use std::time::Duration;

use coldstart_run::{
    Event, FileTape, Found, Hindrance, Journal, JournalError, Kept, LeftNeed, LeftOut, Line, Outcome, TryFailure, Where,
};
use model::{ObjectRef, Obstacle, Subject, Trace};

fn proved(step: &str) -> Line {
    let event = Event::Proved { step: step.to_owned(), hash: "0011".to_owned(), found: Found::Done };
    Line::new(Duration::from_millis(1_500), event)
}

fn write(path: &std::path::Path, lines: &[Line]) {
    let (tape, kept) = FileTape::open(path).unwrap();
    let mut journal = Journal::new(tape, &kept).unwrap();
    for line in lines {
        journal.keep(line).unwrap();
    }
}

#[test]
fn what_was_kept_is_read_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("deeper/journal");
    let lines = [
        Line::new(
            Duration::ZERO,
            Event::Began { run: 1, steps: 2, world: Where::Simulated { seed: 7, faults: Vec::new() }, date: None },
        ),
        proved("a"),
        Line::new(Duration::from_secs(2), Event::Ended { outcome: Outcome::Healthy }),
    ];
    write(&path, &lines);
    let kept = FileTape::peek(&path).unwrap();
    assert_eq!(kept.lines, lines);
    let past = kept.past();
    assert_eq!((past.runs.len(), past.runs[0].outcome, past.next_run()), (1, Some(Outcome::Healthy), 2));
}

#[test]
fn reasons_are_read_back_with_all_their_fields() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let store = Subject::Object(ObjectRef::new("SecretStore", "apps", "own"));
    let secret = ObjectRef::new("Secret", "apps", "token");
    let chain = vec![
        Obstacle::HealthTimeout { on: store.clone() },
        Obstacle::WaitsFor { subject: store, on: Subject::Given { capability: "cluster-dns".into(), name: "".into() } },
        Obstacle::ValuesNotFound { object: secret },
    ];
    let hindrance = Hindrance::Obstacles(Trace { chain, turns: true });
    let skipped = LeftOut::Skipped { name: "b".to_owned(), reason: "by hand".to_owned() };
    let events = [
        Event::Left { step: "b".to_owned(), why: skipped.clone() },
        Event::Tried { step: "a".to_owned(), attempt: 1, why: TryFailure::GoneAgain, again_at: 20 },
        Event::Tried {
            step: "a".to_owned(),
            attempt: 2,
            why: TryFailure::Hindered { by: Hindrance::NoRelease { release: "x/y".to_owned() } },
            again_at: 30,
        },
        Event::Failed {
            step: "a".to_owned(),
            why: TryFailure::TooLate { limit_seconds: 600, last: Some(hindrance) },
            left_out: Some(LeftNeed { step: "b".to_owned(), why: skipped, more: 2 }),
        },
    ];
    let lines = events.map(|event| Line::new(Duration::from_secs(1), event));
    write(&path, &lines);
    assert_eq!(FileTape::peek(&path).unwrap().lines, lines);
}

/// Before version 2, reasons were words.
#[test]
fn a_journal_of_version_1_is_read_and_gone_on_with() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let old = [
        r#"{"journal":"coldstart","version":1}"#,
        r#"{"at":0,"event":"left","step":"a","reason":"--skip a: by hand"}"#,
        r#"{"at":0,"event":"started","step":"b","attempt":1}"#,
        r#"{"at":5,"event":"tried","step":"b","attempt":1,"reason":"refused","again_at":20}"#,
        r#"{"at":9,"event":"failed","step":"b","reason":"not completed within 10 min: b waits for c"}"#,
    ];
    let framed = old.map(|json| format!("{:08x} {json}\n", crc32fast::hash(json.as_bytes())));
    fs::write(&path, framed.concat()).unwrap();
    let said = |text: &str| TryFailure::Hindered { by: Hindrance::said(text) };
    let (step, left_out) = ("b".to_owned(), None);
    let why = said("not completed within 10 min: b waits for c");
    let read = [
        Event::Left { step: "a".to_owned(), why: LeftOut::Said { text: "--skip a: by hand".to_owned() } },
        Event::Started { step: step.clone(), attempt: 1 },
        Event::Tried { step: step.clone(), attempt: 1, why: said("refused"), again_at: 20 },
        Event::Failed { step, why, left_out },
    ];
    let events: Vec<Event> = FileTape::peek(&path).unwrap().lines.into_iter().map(|line| line.event).collect();
    assert_eq!(events, read);
    write(&path, &[proved("b")]);
    let lines = FileTape::peek(&path).unwrap().lines;
    assert_eq!((lines.len(), lines.last()), (5, Some(&proved("b"))));
}

#[test]
fn a_torn_last_line_is_cut_off_wherever_it_was_torn() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    write(&path, &[proved("a"), proved("b")]);
    let whole = fs::read(&path).unwrap();
    let first_two = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0 + 1;
    for length in first_two..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let (tape, kept) = FileTape::open(&path).unwrap();
        assert_eq!(kept.lines, [proved("a")], "cut at {length}");
        Journal::new(tape, &kept).unwrap().keep(&proved("c")).unwrap();
        assert_eq!(FileTape::peek(&path).unwrap().lines, [proved("a"), proved("c")]);
    }
    // Also when nothing but a part of the first line is there.
    for length in 0..12 {
        fs::write(&path, &whole[..length]).unwrap();
        write(&path, &[proved("d")]);
        assert_eq!(FileTape::peek(&path).unwrap().lines, [proved("d")], "cut at {length}");
    }
}

#[test]
fn a_damaged_line_in_the_middle_is_refused_and_nothing_is_touched() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    write(&path, &[proved("a"), proved("b")]);
    let text = fs::read_to_string(&path).unwrap().replacen("\"a\"", "\"x\"", 1);
    fs::write(&path, &text).unwrap();
    assert!(matches!(FileTape::open(&path), Err(JournalError::Damaged { line: 2 })));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn any_flipped_bit_before_the_last_line_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    write(&path, &[proved("a"), proved("b")]);
    let whole = fs::read(&path).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap();
    for at in 0..8 * last {
        let mut bytes = whole.clone();
        bytes[at / 8] ^= 1 << (at % 8);
        fs::write(&path, &bytes).unwrap();
        assert!(FileTape::open(&path).is_err(), "bit {at}");
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn a_foreign_file_is_refused_and_nothing_is_touched() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    for text in ["hello\n", "hello", "{\"journal\":\"coldstart\",\"version\":2}\n", "\u{0}\u{1}"] {
        fs::write(&path, text).unwrap();
        assert!(matches!(FileTape::open(&path), Err(JournalError::Unknown)), "{text:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn two_writers_at_once_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let (_held, _) = FileTape::open(&path).unwrap();
    assert!(matches!(FileTape::open(&path), Err(JournalError::Busy { .. })));
}

#[test]
fn no_journal_is_an_empty_one() {
    assert!(Kept::read(b"").unwrap().lines.is_empty());
    let directory = tempfile::tempdir().unwrap();
    assert!(FileTape::peek(&directory.path().join("none")).unwrap().lines.is_empty());
}
