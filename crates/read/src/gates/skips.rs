//! Loops over files that go on where a file is not there.

use shell::{Branch, CommandKind, List, PartKind, Simple, Statement, Value, Word};

use super::line::Line;
use super::walk::Walk;
use super::{Skip, tree};

/// `for file in …; do if [ ! -f "$file" ]; then message; continue; fi; …`
pub(super) fn judge(walk: &mut Walk<'_>, variable: &str, words: &[Word], body: &List) {
    let Some(at) = body.statements.iter().find_map(|statement| skipped(walk, variable, statement)) else { return };
    let mut files = Vec::new();
    for word in words {
        match array_of(word).and_then(|name| walk.array(&name)) {
            Some(items) => files.extend(items.iter().map(|item| walk.written(item))),
            None => files.push(walk.written(word)),
        }
    }
    let at = walk.span(at);
    walk.judged.skips.push(Skip { files, at });
}

/// Where a statement leaves out a file that is not there, with no more than a message.
fn skipped(walk: &Walk<'_>, variable: &str, statement: &Statement) -> Option<shell::At> {
    let [command] = &statement.first.commands[..] else { return None };
    let CommandKind::If { branches, otherwise: None } = &command.kind else { return None };
    let [Branch { condition, body }] = &branches[..] else { return None };
    let ([asked], [.., last]) = (&condition.statements[..], &body.statements[..]) else { return None };
    let [test] = &asked.first.commands[..] else { return None };
    let words = tree::test_words(test)?;
    let asks_absence = asked.first.is_negated != words.iter().any(|word| word.is_bare_text("!"));
    let asks_file = words.windows(2).any(|two| two[0].is_bare_text("-f") && names(&two[1], variable));
    let [continues] = &last.first.commands[..] else { return None };
    let is_continue =
        matches!(&continues.kind, CommandKind::Simple(simple) if Line::of(simple).program() == "continue");
    let before = List { statements: body.statements[..body.statements.len() - 1].to_vec() };
    let tells = !before.statements.is_empty() && walk.follower().list(&before).only_tells();
    (asks_absence && asks_file && is_continue && tells && asked.rest.is_empty()).then_some(statement.at)
}

fn names(word: &Word, variable: &str) -> bool {
    let is_it = |parts: &[shell::Part]| matches!(parts, [shell::Part { kind: PartKind::Parameter(parameter), .. }] if parameter.name == variable);
    match &word.parts[..] {
        [shell::Part { kind: PartKind::Double(inner), .. }] => is_it(inner),
        parts => is_it(parts),
    }
}

/// The array that `"${files[@]}"` goes through.
fn array_of(word: &Word) -> Option<String> {
    let [shell::Part { kind: PartKind::Double(inner), .. }] = &word.parts[..] else { return None };
    let [shell::Part { kind: PartKind::Parameter(parameter), .. }] = &inner[..] else { return None };
    let rest = Word { parts: parameter.rest.clone(), at: word.at };
    rest.literal().filter(|rest| rest == "[@]").map(|_| parameter.name.clone())
}

/// The items that an array is given, where it is given them once.
pub(super) fn items<'tree>(
    body: &'tree List,
    functions: impl Iterator<Item = &'tree List>,
    name: &str,
) -> Option<&'tree [Word]> {
    let mut found: Vec<&'tree [Word]> = Vec::new();
    for list in std::iter::once(body).chain(functions) {
        tree::commands_in(list, &mut |command| {
            let CommandKind::Simple(Simple { assignments, .. }) = &command.kind else { return };
            for assignment in assignments.iter().filter(|assignment| assignment.name == name) {
                if let Value::Array(words) = &assignment.value {
                    found.push(words);
                }
            }
        });
    }
    match &found[..] {
        [only] => Some(only),
        _ => None,
    }
}
