//! Waiting for objects that controllers are only about to create.

use model::{Wait, Waiter, Which};
use shell::{At, Statement};

use super::line::Line;
use super::walk::{Following, Walk};
use super::{tree, waits};

/// The command straight before, if what is waited for is pods by a selector and that command makes what makes them.
pub(super) fn just_applied(walk: &Walk<'_>, wait: &Wait, following: &Following<'_>) -> Option<At> {
    let on = wait.on.as_ref().filter(|_| wait.by == Waiter::KubectlWait)?;
    let are_pods = matches!(on.kind.as_str(), "pod" | "pods" | "po");
    let is_waited = !on.condition.starts_with("delete") && !on.condition.starts_with("create");
    let is_open = matches!(&on.which, Which::Selected(_) | Which::All);
    if !(are_pods && is_waited && is_open) {
        return None;
    }
    let last = following.before.iter().rev().find(|statement| !only_prints(walk, statement))?;
    let mut found = Vec::new();
    for command in last.pipelines().flat_map(|pipeline| &pipeline.commands) {
        if let shell::CommandKind::Simple(simple) = &command.kind {
            found.push(simple);
        }
    }
    let makes = |line: &Line<'_>| {
        line.program() == "kubectl"
            && matches!(waits::kubectl_words(line)[..], ["apply" | "create" | "replace", ..])
            && line.has(&["-f", "--filename", "-k", "--kustomize"])
    };
    let is_alone = last.rest.is_empty() && !found.is_empty();
    (is_alone && found.into_iter().map(Line::of).any(|line| makes(&line))).then_some(last.at)
}

/// Whether a statement takes no time and makes nothing.
fn only_prints(walk: &Walk<'_>, statement: &Statement) -> bool {
    let list = shell::List { statements: vec![statement.clone()] };
    let mut found = Vec::new();
    tree::simple_in(&list, &mut found);
    walk.follower().list(&list).only_tells()
        && found
            .into_iter()
            .all(|simple| matches!(Line::of(simple).program(), "" | "echo" | "printf" | "export" | "local"))
}
