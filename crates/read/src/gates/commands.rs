//! The commands of a script, one by one, in functions and substitutions, too.

use shell::{CommandKind, List, Simple};
use source::Span;

use super::line::Line;
use super::{Parsed, tree, units};
use crate::scripts::{Script, Scripts};

/// A command without the programs that only hand it on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// What is expanded in them is not known.
    pub(crate) words: Vec<String>,
    /// Its first word.
    pub(crate) at: Span,
}

/// The commands of what is run of a script before GitOps starts, in the order in which they are written.
pub(crate) fn commands(scripts: &Scripts<'_>, script: &Script) -> Vec<Words> {
    let mut found = Vec::new();
    if script.is_early() {
        for unit in units::units(scripts, script) {
            let parsed = Parsed::of(unit.text);
            let mut simple = Vec::new();
            all(&parsed.script.body, &mut simple);
            found.extend(simple.into_iter().filter_map(|simple| words(&parsed, simple)));
        }
    }
    found.sort_by_key(|command: &Words| command.at);
    found
}

fn words(parsed: &Parsed, simple: &Simple) -> Option<Words> {
    let line = Line::of(simple);
    let at = parsed.text.span(line.words.first()?.1.at);
    let mut words: Vec<String> = line.words.iter().map(|(word, _)| word.clone()).collect();
    line.program().clone_into(&mut words[0]);
    Some(Words { words, at })
}

/// The words of the commands of a text that a shell reads.
pub(crate) fn commands_of_text(text: &str) -> Vec<Vec<String>> {
    let script = shell::parse(text);
    let mut simple = Vec::new();
    all(&script.body, &mut simple);
    let lines = simple.into_iter().map(Line::of).filter(|line| !line.words.is_empty());
    lines.map(|line| line.words.iter().map(|(word, _)| word.clone()).collect()).collect()
}

/// Those of a list, and those of the functions that it defines.
fn all<'tree>(list: &'tree List, found: &mut Vec<&'tree Simple>) {
    tree::simple_in(list, found);
    let mut bodies = Vec::new();
    tree::commands_in(list, &mut |command| {
        if let CommandKind::Function { body, .. } = &command.kind {
            bodies.push(body);
        }
    });
    for body in bodies {
        tree::inner_lists(body, &mut |list| all(list, found));
    }
}
