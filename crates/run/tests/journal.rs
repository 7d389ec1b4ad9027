//! The journal as a file: torn, damaged, busy, foreign.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

use std::fs;
use std::time::Duration;

use coldstart_run::{Event, FileTape, Found, Journal, JournalError, Kept, Line, Outcome, Where};

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
            Event::Began { run: 1, steps: 2, world: Where::Simulated { seed: 7, faults: Vec::new() } },
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
