//! Recipes of make: each line a shell of its own, which make looks at one by one.

use std::ops::Range;

use source::FileId;

use super::Unit;
use super::just::lines;
use crate::gates::{Container, ShellText};

pub(super) fn units(file: FileId, text: &str, parts: &[Range<usize>]) -> Vec<Unit> {
    let container = container_of(text);
    let is_one_shell = text.lines().any(|line| line.starts_with(".ONESHELL"));
    let mut units = Vec::new();
    for range in parts {
        let Some(whole) = text.get(range.clone()) else { continue };
        let heading = whole.find('\n').map_or(whole.len(), |line| line + 1);
        let (begin, body) = (range.start + heading, &whole[heading..]);
        let mut joined = ShellText::new(file);
        for line in lines(body).into_iter().filter(|line| body[line.clone()].starts_with('\t')) {
            let raw = &body[line.clone()];
            let trimmed = raw.trim_start_matches(['@', '-', '+', ' ', '\t']);
            let signs = &raw[..raw.len() - trimmed.len()];
            let mut text = ShellText::new(file);
            let target = if is_one_shell { &mut joined } else { &mut text };
            push(target, trimmed, begin + line.start + signs.len());
            let container = Container { is_ignored: signs.contains('-'), ..container };
            units.extend((!is_one_shell).then_some(Unit { text, container }));
        }
        units.extend((!joined.is_empty()).then_some(Unit { text: joined, container }));
    }
    units
}

/// `SHELL` and `.SHELLFLAGS`.
fn container_of(text: &str) -> Container {
    let mut words: Vec<&str> = Vec::new();
    for line in text.lines() {
        let Some((name, value)) = line.split_once('=') else { continue };
        let name = name.trim_end_matches([':', '?', ' ']);
        if matches!(name, "SHELL" | "export SHELL" | ".SHELLFLAGS") {
            words.extend(value.split_whitespace());
        }
    }
    if words.is_empty() { Container::SH } else { Container::of_command(&words) }
}

/// `$$` is a `$` of the shell, every other one is of make.
fn push(text: &mut ShellText, line: &str, at: usize) {
    let mut done = 0;
    while let Some(sign) = line[done..].find('$').map(|sign| done + sign) {
        text.push(&line[done..sign], at + done);
        let rest = &line[sign + 1..];
        done = sign + 1;
        match rest.chars().next() {
            Some('$') => {
                text.push("$", at + sign);
                done += 1;
            }
            Some(open @ ('(' | '{')) => {
                text.push_unknown(at + sign);
                done += closed(rest, open);
            }
            Some(letter) => {
                text.push_unknown(at + sign);
                done += letter.len_utf8();
            }
            None => {}
        }
    }
    text.push(&line[done..], at + done);
}

/// The bytes up to the bracket that closes the first one.
fn closed(text: &str, open: char) -> usize {
    let close = if open == '(' { ')' } else { '}' };
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        if letter == open {
            depth += 1;
        } else if letter == close {
            depth -= 1;
            if depth == 0 {
                return at + 1;
            }
        }
    }
    text.len()
}
