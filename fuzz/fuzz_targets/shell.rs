//! Any text is read as shell, without a panic and in bounded time; every place lies in the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shell::{Command, CommandKind, List, parse};

fuzz_target!(|text: &str| {
    let script = parse(text);
    assert_eq!(parse(text), script, "same input, same tree");
    for fault in &script.faults {
        assert!(fault.at.start <= fault.at.end && fault.at.end <= text.len());
    }
    for document in &script.documents {
        assert!(text.get(document.at.start..document.at.end).is_some());
    }
    within(text, &script.body);
});

/// Every statement is a part of the text, on whole characters.
fn within(text: &str, list: &List) {
    for statement in &list.statements {
        assert!(text.get(statement.at.start..statement.at.end).is_some());
        for pipeline in statement.pipelines() {
            assert!(statement.at.holds(pipeline.at) && !pipeline.commands.is_empty());
            pipeline.commands.iter().for_each(|command| inside(text, command));
        }
    }
}

fn inside(text: &str, command: &Command) {
    assert!(text.get(command.at.start..command.at.end).is_some());
    match &command.kind {
        CommandKind::Simple(simple) => {
            for word in &simple.words {
                assert!(text.get(word.at.start..word.at.end).is_some());
            }
        }
        CommandKind::Subshell(list) | CommandKind::Group(list) => within(text, list),
        CommandKind::If { branches, otherwise } => {
            for branch in branches {
                within(text, &branch.condition);
                within(text, &branch.body);
            }
            otherwise.iter().for_each(|list| within(text, list));
        }
        CommandKind::Loop { condition, body, .. } => {
            within(text, condition);
            within(text, body);
        }
        CommandKind::For { body, .. } | CommandKind::Count { body, .. } => within(text, body),
        CommandKind::Case { arms, .. } => arms.iter().for_each(|arm| within(text, &arm.body)),
        CommandKind::Function { body, .. } => inside(text, body),
        CommandKind::Test(_) | CommandKind::Arithmetic(_) => {}
    }
}
