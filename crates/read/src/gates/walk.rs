//! Through a text, command by command, with what would stop it at each.

use std::collections::BTreeMap;

use model::{Ends, GateDefect, Toothless, Wait, Waiter};
use shell::{At, Command, CommandKind, List, Part, PartKind, Pipeline, Simple, Statement, Word};

use super::effect::{self, Follower};
use super::library::{Library, Parsed};
use super::line::Line;
use super::text::ShellText;
use super::{Container, Gate, GateFault, Judged, conditions, deeds, existence, handlers, loops, skips, tree, waits};

/// Where a command stands.
#[expect(clippy::struct_excessive_bools, reason = "each is true of a place by itself")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Whether `set -e` looks at it.
    pub(super) errexit: bool,
    /// Whether how it ends is how the whole text, or its function, ends.
    pub(super) is_last: bool,
    /// Whether it is asked for: a condition, or something whose output is taken.
    pub(super) is_asked: bool,
    /// Whether something is done if it fails: `if ! …`.
    pub(super) is_negated: bool,
    /// Whether it is an earlier command of a pipeline without pipefail.
    pub(super) is_piped: bool,
    /// Whether something outside ends it.
    pub(super) is_bounded: bool,
    /// Whether it stands in a loop.
    pub(super) is_repeated: bool,
    /// Whether it is run only sometimes: in a branch, in a loop over what may be nothing.
    pub(super) is_conditional: bool,
    /// Whether it stands in a function.
    pub(super) is_in_function: bool,
    /// Whether a loop runs until it succeeds.
    pub(super) is_retried: bool,
    /// Whether what it prints is only shown.
    pub(super) is_told: bool,
    /// In how many quotes of other commands its text stands.
    pub(super) depth: usize,
}

impl Place {
    pub(super) fn asked(self) -> Self {
        Self { errexit: false, is_last: false, is_asked: true, ..self }
    }

    /// In a part that is run only sometimes.
    fn sometimes(self) -> Self {
        Self { is_conditional: true, ..self }
    }
}

/// What follows a statement in its list, and what follows that list.
#[derive(Clone, Copy)]
pub(super) struct Following<'a> {
    /// What comes before it in its list.
    pub(super) before: &'a [Statement],
    pub(super) statements: &'a [Statement],
    pub(super) outer: Option<&'a Following<'a>>,
}

impl Following<'_> {
    pub(super) const NOTHING: Self = Self { before: &[], statements: &[], outer: None };

    /// Whether nothing at all follows.
    pub(super) fn is_empty(&self) -> bool {
        self.statements.is_empty() && self.outer.is_none_or(Self::is_empty)
    }
}

/// How deep texts may stand in quotes of each other.
const QUOTED_DEPTH_MAX: usize = 3;

pub(super) struct Walk<'all> {
    pub(super) text: &'all ShellText,
    script: &'all shell::Script,
    pub(super) library: Library<'all>,
    pub(super) container: Container,
    pub(super) judged: Judged,
}

impl<'all> Walk<'all> {
    pub(super) fn of(parsed: &'all Parsed, container: Container, sourced: &[&'all Parsed]) -> Self {
        let library = Library::of(sourced, parsed);
        let mut walk =
            Self { text: &parsed.text, script: &parsed.script, library, container, judged: Judged::default() };
        for other in sourced {
            walk.take_settings(&other.script.body);
        }
        walk
    }

    pub(super) fn judged(mut self) -> Judged {
        let script = self.script;
        self.judged.unread = script.faults.iter().map(|fault| self.text.span(fault.at)).collect();
        let place = Place {
            errexit: false,
            is_last: !self.container.is_ignored,
            is_asked: false,
            is_negated: false,
            is_piped: false,
            is_bounded: false,
            is_repeated: false,
            is_conditional: false,
            is_in_function: false,
            is_retried: false,
            is_told: false,
            depth: 0,
        };
        self.list(&script.body, place, None);
        if self.container.is_ignored {
            self.ignore();
        }
        self.judged
    }

    /// `set -e` of a text that is sourced.
    fn take_settings(&mut self, list: &List) {
        for command in list.statements.iter().flat_map(|statement| &statement.first.commands) {
            if let CommandKind::Simple(simple) = &command.kind {
                self.take_setting(&Line::of(simple));
            }
        }
    }

    fn take_setting(&mut self, line: &Line<'_>) {
        if line.program() != "set" {
            return;
        }
        for (at, (word, _)) in line.words.iter().enumerate().skip(1) {
            self.container.set(word, line.words.get(at + 1).map(|(next, _)| next.as_str()));
        }
    }

    /// A text whose failure its container does not look at.
    fn ignore(&mut self) {
        let gates = self.judged.gates.clone();
        self.judged.faults.retain(|fault| !matches!(fault.defect, GateDefect::Toothless { .. }));
        for gate in gates {
            self.fault(GateDefect::Toothless { wait: gate.wait, why: Toothless::Ignored }, gate.at, Vec::new());
        }
    }

    pub(super) fn follower(&self) -> Follower<'_> {
        Follower { library: &self.library, errexit: self.container.errexit }
    }

    /// All that the text runs, its functions left out.
    pub(super) fn body(&self) -> &'all shell::List {
        &self.script.body
    }

    /// A part of the text as it is written.
    pub(super) fn raw(&self, at: At) -> &'all str {
        self.text.as_str().get(at.start..at.end).unwrap_or_default()
    }

    /// A word as it is written, with its place.
    pub(super) fn written(&self, word: &Word) -> (String, source::Span) {
        (self.raw(word.at).replace(['"', '\''], ""), self.span(word.at))
    }

    /// The items of an array, where the text gives them once.
    pub(super) fn array(&self, name: &str) -> Option<&'all [Word]> {
        skips::items(self.body(), self.library.bodies(), name)
    }

    /// Whether a handler notes the failure in a variable that is read elsewhere: what comes of it is decided there.
    pub(super) fn notes_failure(&self, handler: &shell::List) -> bool {
        let (set, inside) = (tree::names_set(handler), tree::names_read(handler));
        let mut everywhere = tree::names_read(self.body());
        self.library.bodies().for_each(|list| everywhere.extend(tree::names_read(list)));
        let count = |names: &[String], name: &String| names.iter().filter(|other| *other == name).count();
        set.iter().any(|name| count(&everywhere, name) > count(&inside, name))
    }

    pub(super) fn span(&self, at: At) -> source::Span {
        self.text.span(at)
    }

    pub(super) fn fault(&mut self, defect: GateDefect, at: source::Span, shown: Vec<source::Span>) {
        if !self.judged.faults.iter().any(|fault| fault.at == at && fault.defect == defect) {
            self.judged.faults.push(GateFault { defect, at, shown });
        }
    }

    pub(super) fn list(&mut self, list: &List, place: Place, outer: Option<&Following<'_>>) {
        for (at, statement) in list.statements.iter().enumerate() {
            let (before, rest) = (&list.statements[..at], &list.statements[at + 1..]);
            let following = Following { before, statements: rest, outer };
            let is_last = place.is_last && at + 1 == list.statements.len();
            let errexit = !place.is_asked && self.container.errexit;
            self.statement(statement, Place { errexit, is_last, ..place }, &following);
        }
    }

    fn statement(&mut self, statement: &Statement, place: Place, following: &Following<'_>) {
        if statement.is_background {
            statement.pipelines().for_each(|pipeline| self.pipeline(pipeline, place.asked(), following));
            return;
        }
        handlers::judge(self, statement, place, following);
        deeds::judge_dead_handler(self, statement, place, following);
        let count = statement.rest.len();
        for (at, pipeline) in statement.pipelines().enumerate() {
            let is_tail = at == count;
            let place = if is_tail {
                // After `||` and `&&` it is run only sometimes, but then it decides.
                Place { is_conditional: place.is_conditional || at > 0, ..place }
            } else {
                place.asked()
            };
            self.pipeline(pipeline, place, following);
        }
    }

    pub(super) fn pipeline(&mut self, pipeline: &Pipeline, place: Place, following: &Following<'_>) {
        let place = if pipeline.is_negated { Place { is_negated: true, ..place.asked() } } else { place };
        conditions::judge_pipeline(self, pipeline, place);
        deeds::judge_generated(self, pipeline, place);
        let count = pipeline.commands.len();
        for (at, command) in pipeline.commands.iter().enumerate() {
            let is_lost = at + 1 < count && !self.container.pipefail;
            let place = Place { is_piped: is_lost, ..place };
            self.command(command, place, following);
        }
    }

    fn command(&mut self, command: &Command, place: Place, following: &Following<'_>) {
        let outer = Some(following);
        deeds::judge_written(self, command, place, following);
        match &command.kind {
            CommandKind::Simple(simple) => self.simple(simple, command.at, place, following),
            CommandKind::Subshell(list) | CommandKind::Group(list) => self.list(list, place, outer),
            CommandKind::If { branches, otherwise } => {
                for (at, branch) in branches.iter().enumerate() {
                    self.list(&branch.condition, place.asked(), None);
                    let is_usual = at == 0 && self.is_usual(&branch.condition);
                    self.list(&branch.body, if is_usual { place } else { place.sometimes() }, outer);
                }
                if let Some(list) = otherwise {
                    self.list(list, place.sometimes(), outer);
                }
                handlers::judge_if(self, branches, otherwise.as_ref(), place);
            }
            CommandKind::Loop { is_until, condition, body } => {
                loops::judge(self, &loops::Around { command, is_until: *is_until, condition, body }, place, following);
                let is_retried = *is_until && !place.is_asked;
                self.list(condition, Place { is_repeated: true, is_retried, ..place.asked() }, None);
                self.list(body, Place { is_last: false, is_repeated: true, ..place }, None);
            }
            CommandKind::For { variable, words, body } => {
                skips::judge(self, variable, words.as_deref().unwrap_or_default(), body);
                words.iter().flatten().for_each(|word| self.substituted(&word.parts, place));
                loops::judge_counted(self, command, body, place, following);
                self.list(body, Place { is_last: false, is_repeated: true, ..place.sometimes() }, None);
            }
            CommandKind::Count { body, .. } => {
                loops::judge_counted(self, command, body, place, following);
                self.list(body, Place { is_last: false, is_repeated: true, ..place }, None);
            }
            CommandKind::Case { subject, arms } => {
                self.substituted(&subject.parts, place);
                for arm in arms {
                    self.list(&arm.body, place.sometimes(), outer);
                }
            }
            CommandKind::Function { body, .. } => {
                let inner = Place {
                    is_last: true,
                    is_asked: false,
                    is_piped: false,
                    is_repeated: false,
                    is_conditional: false,
                    is_in_function: true,
                    ..place
                };
                self.command(body, inner, &Following::NOTHING);
            }
            CommandKind::Test(words) => words.iter().for_each(|word| self.substituted(&word.parts, place)),
            CommandKind::Arithmetic(_) => {}
        }
    }

    /// Whether a branch is run by a text that is given no arguments: by the first value that it gives its variables. Or unless nodes are
    /// already as it would wait for.
    fn is_usual(&self, condition: &List) -> bool {
        let waits_for_nodes = || {
            let [statement] = &condition.statements[..] else { return false };
            let line = statement.first.commands.last().and_then(|command| match &command.kind {
                CommandKind::Simple(simple) => Some(Line::of(simple)),
                _ => None,
            });
            let wait = line.and_then(|line| waits::wait(&line)).and_then(|wait| wait.on);
            statement.first.is_negated
                && statement.rest.is_empty()
                && wait.is_some_and(|on| matches!(on.kind.as_str(), "node" | "nodes" | "no"))
        };
        effect::holds(condition, &self.first_values()) || waits_for_nodes()
    }

    /// What the text gives its variables first, outside of branches and loops.
    fn first_values(&self) -> BTreeMap<String, String> {
        let mut values = BTreeMap::new();
        let commands = self.script.body.statements.iter().filter(|statement| statement.rest.is_empty());
        for command in commands.flat_map(|statement| &statement.first.commands) {
            let CommandKind::Simple(simple) = &command.kind else { continue };
            for assignment in simple.assignments.iter().filter(|_| simple.words.is_empty()) {
                if let shell::Value::Word(word) = &assignment.value
                    && let Some(text) = word.literal()
                {
                    values.entry(assignment.name.clone()).or_insert(text);
                }
            }
        }
        values
    }

    /// Commands whose output is taken.
    fn substituted(&mut self, parts: &[Part], place: Place) {
        for part in parts {
            match &part.kind {
                PartKind::Substitution(list) | PartKind::Process(list) => self.list(list, place.asked(), None),
                PartKind::Double(inner) => self.substituted(inner, place),
                PartKind::Parameter(parameter) => self.substituted(&parameter.rest, place),
                PartKind::Literal(_) | PartKind::Quoted(_) | PartKind::Arithmetic(_) => {}
            }
        }
    }

    fn simple(&mut self, simple: &Simple, at: At, place: Place, following: &Following<'_>) {
        let line = Line::of(simple);
        if !line.words.is_empty() {
            self.judged.commands += 1;
            self.judged.known +=
                usize::from(!line.program().is_empty() && !line.program().contains(crate::scripts::UNKNOWN));
        }
        self.take_setting(&line);
        let keeps = line.words.is_empty() && place.is_repeated;
        let asked = Place { is_told: place.is_told || !keeps && !matches!(line.program(), "[" | "test"), ..place };
        tree::words_of(simple).for_each(|word| self.substituted(&word.parts, asked));
        if let Some(inner) = quoted_text(&line) {
            self.quoted(&line, inner, at, place, following);
        } else if let Some(mut wait) = waits::wait(&line) {
            if let Some(ends) = line.bound {
                wait.ends = ends;
            }
            self.gate(wait, at, place, following);
        }
    }

    /// `bash -c '…'`: a text of its own, in the same file.
    fn quoted(&mut self, line: &Line<'_>, inner: At, at: At, place: Place, following: &Following<'_>) {
        if place.depth >= QUOTED_DEPTH_MAX {
            return;
        }
        let script = shell::parse_within(self.text.as_str(), inner);
        let words: Vec<&str> =
            line.words.iter().map(|(word, _)| word.as_str()).take_while(|word| *word != "-c").collect();
        let container = Container { is_unattended: self.container.is_unattended, ..Container::of_command(&words) };
        let outside = std::mem::replace(&mut self.container, container);
        let before = self.judged.gates.len();
        let inner_place = Place {
            is_last: true,
            is_asked: place.is_asked,
            is_piped: false,
            is_bounded: place.is_bounded || line.bound.is_some(),
            depth: place.depth + 1,
            ..place
        };
        self.list(&script.body, inner_place, None);
        self.container = outside;
        let Some(inner) = self.judged.gates.get(before).filter(|_| line.bound.is_some()).cloned() else { return };
        let ends = line.bound.unwrap_or(Ends::Sometime);
        self.judged.gates.truncate(before);
        self.gate(Wait { ends, ..inner.wait }, at, place, following);
        if let Some(gate) = self.judged.gates.last_mut() {
            gate.namespace = inner.namespace;
        }
    }

    /// A command that waits, in its place.
    pub(super) fn gate(&mut self, wait: Wait, at: At, place: Place, following: &Following<'_>) {
        let span = self.span(at);
        let is_certain = (!place.is_asked || place.is_retried) && !place.is_conditional;
        let is_asked = place.is_asked && !place.is_retried && !place.is_negated;
        let is_retried = place.is_retried;
        let namespace = wait.on.as_ref().map(|on| on.namespace.clone()).unwrap_or_default();
        let gate = Gate { wait: wait.clone(), at: span, is_certain, is_asked, is_retried, namespace };
        self.judged.gates.push(gate);
        if place.is_asked {
            return;
        }
        if !place.is_repeated
            && let Some(applied) = existence::just_applied(self, &wait, following)
        {
            let shown = vec![self.span(applied)];
            self.fault(GateDefect::BeforeExists { wait: wait.clone() }, span, shown);
        }
        let why = if place.is_piped {
            Toothless::Piped
        } else if place.errexit
            || place.is_last
            || asks_how_it_ended(following)
            || matches!(wait.by, Waiter::Loop(_)) && wait.ends == Ends::Never
        {
            return;
        } else {
            Toothless::OnlyLastCounts
        };
        self.fault(GateDefect::Toothless { wait, why }, span, Vec::new());
    }
}

/// Whether what follows looks at `$?`.
pub(super) fn asks_how_it_ended(following: &Following<'_>) -> bool {
    let mut statements = following.statements.iter().take(2);
    statements.any(|statement| {
        statement.pipelines().any(|pipeline| tree::names_read_in(pipeline).iter().any(|name| name == "?"))
    })
}

/// The text that a shell is given in quotes.
fn quoted_text(line: &Line<'_>) -> Option<At> {
    if !matches!(line.program(), "bash" | "sh" | "dash") {
        return None;
    }
    let is_flag = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    let at = line.words.iter().position(|(word, _)| is_flag(word))?;
    text_in(line.words.get(at + 1)?.1)
}

/// What is between the quotes of a word that is nothing else.
fn text_in(word: &Word) -> Option<At> {
    match &word.parts[..] {
        [Part { kind: PartKind::Quoted(_) | PartKind::Double(_), at }] => Some(At::new(at.start + 1, at.end - 1)),
        _ => None,
    }
}
