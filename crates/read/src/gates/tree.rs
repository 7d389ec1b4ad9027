//! Ways through a tree of statements.

use shell::{Command, CommandKind, List, Part, PartKind, Pipeline, Simple, Statement, Value, Word};

use super::line::all_simple;

/// Every simple command of a list, also in substitutions, not in functions that it defines.
pub(super) fn simple_in<'tree>(list: &'tree List, found: &mut Vec<&'tree Simple>) {
    commands_in(list, &mut |command| simple_of(command, found));
}

/// Every simple command that a list of pipelines or a test names by itself.
fn simple_of<'tree>(command: &'tree Command, found: &mut Vec<&'tree Simple>) {
    match &command.kind {
        CommandKind::Simple(simple) => {
            found.push(simple);
            words_of(simple).for_each(|word| all_simple(&word.parts, found));
        }
        CommandKind::Test(words) => words.iter().for_each(|word| all_simple(&word.parts, found)),
        CommandKind::For { words: Some(words), .. } => words.iter().for_each(|word| all_simple(&word.parts, found)),
        _ => {}
    }
}

/// The words of a test.
pub(super) fn test_words(command: &Command) -> Option<&[Word]> {
    match &command.kind {
        CommandKind::Test(words) => Some(words),
        CommandKind::Simple(simple) => {
            let first = simple.words.first()?;
            (first.is_bare_text("[") || first.is_bare_text("test")).then_some(&simple.words)
        }
        _ => None,
    }
}

/// The words of a command and of its assignments.
pub(super) fn words_of(simple: &Simple) -> impl Iterator<Item = &Word> {
    let values = simple.assignments.iter().flat_map(|assignment| match &assignment.value {
        Value::Word(word) => std::slice::from_ref(word),
        Value::Array(words) => words,
    });
    values.chain(&simple.words)
}

/// Calls for every command of a list, from the outside in, not for those in functions.
pub(super) fn commands_in<'tree>(list: &'tree List, call: &mut dyn FnMut(&'tree Command)) {
    for pipeline in list.statements.iter().flat_map(Statement::pipelines) {
        for command in &pipeline.commands {
            call(command);
            inner_lists(command, &mut |inner| commands_in(inner, call));
        }
    }
}

/// The lists that a command holds, its function left out.
pub(super) fn inner_lists<'tree>(command: &'tree Command, call: &mut dyn FnMut(&'tree List)) {
    match &command.kind {
        CommandKind::Subshell(list) | CommandKind::Group(list) => call(list),
        CommandKind::If { branches, otherwise } => {
            for branch in branches {
                call(&branch.condition);
                call(&branch.body);
            }
            otherwise.iter().for_each(call);
        }
        CommandKind::Loop { condition, body, .. } => {
            call(condition);
            call(body);
        }
        CommandKind::For { body, .. } | CommandKind::Count { body, .. } => call(body),
        CommandKind::Case { arms, .. } => arms.iter().for_each(|arm| call(&arm.body)),
        CommandKind::Simple(_) | CommandKind::Function { .. } | CommandKind::Test(_) | CommandKind::Arithmetic(_) => {}
    }
}

/// The names of the parameters that are read in a list, those in texts of arithmetic among them.
pub(super) fn names_read(list: &List) -> Vec<String> {
    let mut names = Vec::new();
    commands_in(list, &mut |command| names_of(command, &mut names));
    names
}

pub(super) fn names_read_in(pipeline: &Pipeline) -> Vec<String> {
    let mut names = Vec::new();
    for command in &pipeline.commands {
        names_of(command, &mut names);
        inner_lists(command, &mut |list| names.extend(names_read(list)));
    }
    names
}

fn names_of(command: &Command, names: &mut Vec<String>) {
    match &command.kind {
        CommandKind::Simple(simple) => words_of(simple).for_each(|word| names_in(&word.parts, names)),
        CommandKind::Test(words) => words.iter().for_each(|word| names_in(&word.parts, names)),
        CommandKind::Arithmetic(text) => names.extend(arithmetic_names(text)),
        CommandKind::Case { subject, .. } => names_in(&subject.parts, names),
        CommandKind::Count { header, .. } => names.extend(arithmetic_names(header)),
        CommandKind::For { words: Some(words), .. } => words.iter().for_each(|word| names_in(&word.parts, names)),
        _ => {}
    }
}

fn names_in(parts: &[Part], names: &mut Vec<String>) {
    for part in parts {
        match &part.kind {
            PartKind::Parameter(parameter) => {
                names.push(parameter.name.clone());
                names_in(&parameter.rest, names);
            }
            PartKind::Double(inner) => names_in(inner, names),
            PartKind::Arithmetic(text) => names.extend(arithmetic_names(text)),
            PartKind::Substitution(list) | PartKind::Process(list) => names.extend(names_read(list)),
            PartKind::Literal(_) | PartKind::Quoted(_) => {}
        }
    }
}

/// The names in a text of arithmetic.
pub(super) fn arithmetic_names(text: &str) -> impl Iterator<Item = String> {
    let names = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    names.filter(|name| name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')).map(str::to_owned)
}

/// The names that a list sets.
pub(super) fn names_set(list: &List) -> Vec<String> {
    let mut names = Vec::new();
    commands_in(list, &mut |command| match &command.kind {
        CommandKind::Simple(simple) => {
            names.extend(simple.assignments.iter().map(|assignment| assignment.name.clone()));
            if simple.words.first().is_some_and(|word| word.is_bare_text("let")) {
                let texts = simple.words.iter().skip(1).filter_map(Word::literal);
                names.extend(texts.flat_map(|text| arithmetic_names(&text).collect::<Vec<_>>()));
            }
        }
        CommandKind::Arithmetic(text) if text.contains("++") || text.contains("--") || text.contains('=') => {
            names.extend(arithmetic_names(text));
        }
        _ => {}
    });
    names
}
