//! What a list of commands comes to, as far as that can be told without running it.
//!
//! Follows functions with the arguments of their calls, and conditions on what is known. Knows no value that a program gives.

use std::collections::BTreeMap;

use shell::{Command, CommandKind, Joint, List, Part, PartKind, Pipeline, Simple, Statement, Value, Word};

use super::library::Library;
use super::line::Line;
use super::outcomes::{Effect, Outcomes};

/// How deep functions may call each other.
const CALLS_DEPTH_MAX: usize = 6;
/// Programs that print, and builtins that change nothing outside.
const TELLS: [&str; 30] = [
    "echo", "printf", "cat", "true", ":", "sleep", "date", "tput", "local", "declare", "readonly", "export", "shift",
    "set", "unset", "tee", "head", "tail", "grep", "awk", "sed", "sort", "wc", "tr", "cut", "jq", "yq", "[", "test",
    "let",
];
/// What a word of kubectl, talosctl, helm or flux says that only looks.
const LOOKS: [&str; 17] = [
    "get",
    "describe",
    "logs",
    "log",
    "top",
    "version",
    "cluster-info",
    "config",
    "events",
    "status",
    "list",
    "ls",
    "dmesg",
    "service",
    "services",
    "stats",
    "explain",
];

/// What is known while a list is followed.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The arguments of the function, none inside for one that is not known. None if they are not known at all.
    arguments: Option<Vec<Option<String>>>,
    values: BTreeMap<String, Option<String>>,
}

pub(super) struct Follower<'all> {
    pub(super) library: &'all Library<'all>,
    pub(super) errexit: bool,
}

impl Follower<'_> {
    /// What a list comes to where nothing is known.
    pub(super) fn list(&self, list: &List) -> Effect {
        self.followed(list, &mut Known::default(), CALLS_DEPTH_MAX)
    }

    pub(super) fn statements(&self, statements: &[Statement]) -> Effect {
        self.all(statements, &mut Known::default(), CALLS_DEPTH_MAX)
    }

    pub(super) fn pipeline_alone(&self, pipeline: &Pipeline) -> Effect {
        self.pipeline(pipeline, &mut Known::default(), CALLS_DEPTH_MAX)
    }

    pub(super) fn simple_alone(&self, simple: &Simple) -> Effect {
        self.simple(simple, &mut Known::default(), CALLS_DEPTH_MAX)
    }

    fn followed(&self, list: &List, known: &mut Known, depth: usize) -> Effect {
        self.all(&list.statements, known, depth)
    }

    fn all(&self, statements: &[Statement], known: &mut Known, depth: usize) -> Effect {
        let mut effect = Effect::NOTHING;
        for statement in statements {
            if !effect.outcomes.may(Outcomes::FALLS) {
                break;
            }
            effect = effect.then(self.statement(statement, known, depth));
        }
        effect
    }

    fn statement(&self, statement: &Statement, known: &mut Known, depth: usize) -> Effect {
        if statement.is_background {
            return Effect { acts: true, ..Effect::NOTHING };
        }
        let mut effect = self.pipeline(&statement.first, known, depth);
        let mut truth = truth(&statement.first, known);
        for (joint, next) in &statement.rest {
            let runs = truth.map(|truth| truth == (*joint == Joint::And));
            match runs {
                Some(false) => {}
                Some(true) => {
                    effect = effect.then(self.pipeline(next, known, depth));
                    truth = self::truth(next, known);
                }
                None => {
                    let after = self.pipeline(next, &mut known.clone(), depth);
                    effect = effect.then(after.or(Effect::NOTHING));
                    truth = None;
                }
            }
        }
        effect
    }

    fn pipeline(&self, pipeline: &Pipeline, known: &mut Known, depth: usize) -> Effect {
        let [command] = &pipeline.commands[..] else {
            // Each is a shell of its own: it can end nothing but itself.
            let mut effects = pipeline.commands.iter().map(|command| self.command(command, &mut known.clone(), depth));
            return Effect { acts: effects.any(|effect| effect.acts), ..Effect::NOTHING };
        };
        self.command(command, known, depth)
    }

    fn command(&self, command: &Command, known: &mut Known, depth: usize) -> Effect {
        match &command.kind {
            CommandKind::Simple(simple) => self.simple(simple, known, depth),
            CommandKind::Group(list) => self.followed(list, known, depth),
            CommandKind::Subshell(list) => {
                let inner = self.followed(list, &mut known.clone(), depth);
                let stays = inner.outcomes.only(Outcomes::FALLS | Outcomes::ENDS_WELL | Outcomes::RETURNS);
                let outcomes = if stays { Outcomes::FALLS } else { Outcomes::FALLS | Outcomes::UNKNOWN };
                Effect { outcomes, acts: inner.acts }
            }
            CommandKind::If { branches, otherwise } => {
                let mut effect = Effect::of(Outcomes::NONE);
                for branch in branches {
                    match truth_of_list(&branch.condition, known) {
                        Some(true) => return effect.or(self.followed(&branch.body, known, depth)),
                        Some(false) => {}
                        None => effect = effect.or(self.followed(&branch.body, &mut known.clone(), depth)),
                    }
                }
                let otherwise = otherwise.as_ref().map_or(Effect::NOTHING, |list| self.followed(list, known, depth));
                effect.or(otherwise)
            }
            CommandKind::Loop { condition, body, .. } => {
                let condition = self.followed(condition, &mut known.clone(), depth);
                let body = self.followed(body, &mut known.clone(), depth);
                Effect { acts: condition.acts || body.acts, ..looped(body) }
            }
            CommandKind::For { body, .. } | CommandKind::Count { body, .. } => {
                looped(self.followed(body, &mut known.clone(), depth))
            }
            CommandKind::Case { subject, arms } => {
                let subject = value(&subject.parts, known);
                let mut effect = Effect::of(Outcomes::NONE);
                for arm in arms {
                    match (&subject, matches(&arm.patterns, subject.as_deref())) {
                        (Some(_), Some(true)) => return effect.or(self.followed(&arm.body, known, depth)),
                        (Some(_), Some(false)) => {}
                        _ => effect = effect.or(self.followed(&arm.body, &mut known.clone(), depth)),
                    }
                }
                effect.or(Effect::NOTHING)
            }
            CommandKind::Function { .. } | CommandKind::Test(_) | CommandKind::Arithmetic(_) => Effect::NOTHING,
        }
    }

    fn simple(&self, simple: &Simple, known: &mut Known, depth: usize) -> Effect {
        for assignment in &simple.assignments {
            let value = match &assignment.value {
                Value::Word(word) if !assignment.appends => value(&word.parts, known),
                _ => None,
            };
            known.values.insert(assignment.name.clone(), value);
        }
        let line = Line::of(simple);
        let argument = line.words.get(1).map(|(_, word)| *word);
        match line.program() {
            "" => Effect::NOTHING,
            "exit" => Effect::of(ended(argument, known, Outcomes::ENDS_WELL, Outcomes::FAILS)),
            "return" => Effect::of(match argument {
                None => Outcomes::RETURNS,
                Some(_) => ended(argument, known, Outcomes::RETURNS, Outcomes::RETURNS_FAILURE),
            }),
            "break" | "continue" => Effect::of(Outcomes::LEAVES_LOOP),
            "false" if self.errexit => Effect::of(Outcomes::FAILS),
            "false" => Effect::of(Outcomes::FALLS | Outcomes::UNKNOWN),
            "shift" => {
                if let Some(arguments) = known.arguments.as_mut().filter(|arguments| !arguments.is_empty()) {
                    arguments.remove(0);
                }
                Effect::NOTHING
            }
            program => match self.library.get(program) {
                Some(function) => self.called(function.body, &line, known, depth),
                None => unknown_program(&line),
            },
        }
    }

    /// A function with the arguments of a call.
    fn called(&self, body: &Command, line: &Line<'_>, known: &Known, depth: usize) -> Effect {
        let Some(depth) = depth.checked_sub(1) else { return Effect::UNKNOWN };
        let arguments = line.words.iter().skip(1).map(|(_, word)| value(&word.parts, known)).collect();
        // An array may be any number of arguments.
        let spreads = line.words.iter().any(|(_, word)| spreads(&word.parts));
        let arguments = if spreads { None } else { Some(arguments) };
        let mut inner = Known { arguments, values: known.values.clone() };
        let effect = self.command(body, &mut inner, depth);
        let mut outcomes =
            effect.outcomes.without(Outcomes::RETURNS | Outcomes::RETURNS_FAILURE | Outcomes::LEAVES_LOOP);
        if effect.outcomes.may(Outcomes::RETURNS | Outcomes::LEAVES_LOOP) {
            outcomes = outcomes | Outcomes::FALLS;
        }
        if effect.outcomes.may(Outcomes::RETURNS_FAILURE) {
            outcomes = outcomes | if self.errexit { Outcomes::FAILS } else { Outcomes::FALLS | Outcomes::UNKNOWN };
        }
        Effect { outcomes, acts: effect.acts }
    }
}

/// A loop ends what it holds; how often it is run is not known.
fn looped(body: Effect) -> Effect {
    Effect { outcomes: body.outcomes.without(Outcomes::LEAVES_LOOP) | Outcomes::FALLS, acts: body.acts }
}

/// `exit` and `return` by what follows them.
fn ended(argument: Option<&Word>, known: &Known, well: Outcomes, badly: Outcomes) -> Outcomes {
    match argument.and_then(|word| value(&word.parts, known)).as_deref() {
        Some("0") => well,
        Some(_) => badly,
        None => well | badly | Outcomes::UNKNOWN,
    }
}

fn unknown_program(line: &Line<'_>) -> Effect {
    let program = line.program();
    let second = line.words.get(1).map_or("", |(word, _)| word.as_str());
    let is_fatal = line.words.iter().any(|(word, _)| word == "fatal");
    match program {
        // gum ends with 1 after a line of level fatal; which level a variable has is not followed.
        "just" | "gum" if second == "log" && (is_fatal || has_open_level(line)) => {
            Effect::of(Outcomes::FALLS | Outcomes::FAILS)
        }
        "just" if second == "log" => Effect::NOTHING,
        "gum" if matches!(second, "log" | "style" | "format") => Effect::NOTHING,
        "kubectl" | "oc" | "talosctl" | "helm" | "flux" | "cilium" | "argocd"
            if line.words.iter().skip(1).any(|(word, _)| LOOKS.contains(&word.as_str())) =>
        {
            Effect::NOTHING
        }
        _ if TELLS.contains(&program) => Effect::NOTHING,
        _ => Effect::UNKNOWN,
    }
}

/// Whether a variable decides the level of a line that gum logs.
fn has_open_level(line: &Line<'_>) -> bool {
    let level = line.words.windows(2).find(|two| matches!(two[0].0.as_str(), "--level" | "-l"));
    let joined = line.words.iter().find(|(word, _)| word.starts_with("--level="));
    level.map(|two| two[1].1).or(joined.map(|(_, word)| *word)).is_some_and(|word| word.literal().is_none())
}

/// Whether a word may stand for several: `"$@"`, `"${list[@]}"`.
fn spreads(parts: &[Part]) -> bool {
    parts.iter().any(|part| match &part.kind {
        PartKind::Parameter(parameter) => {
            matches!(parameter.name.as_str(), "@" | "*")
                || shell_rest(&parameter.rest).is_some_and(|rest| rest.starts_with('['))
        }
        PartKind::Double(inner) => spreads(inner),
        _ => false,
    })
}

/// The text after the name of a parameter, if nothing in it is expanded.
fn shell_rest(rest: &[Part]) -> Option<String> {
    Word { parts: rest.to_vec(), at: shell::At::default() }.literal()
}

/// What parts say, if all of it is known.
fn value(parts: &[Part], known: &Known) -> Option<String> {
    let mut text = String::new();
    for part in parts {
        match &part.kind {
            PartKind::Literal(literal) | PartKind::Quoted(literal) => text.push_str(literal),
            PartKind::Double(inner) => text.push_str(&value(inner, known)?),
            PartKind::Parameter(parameter) if parameter.prefix.is_none() => {
                text.push_str(&parameter_value(parameter, known)?);
            }
            _ => return None,
        }
    }
    (!text.contains(crate::scripts::UNKNOWN)).then_some(text)
}

fn parameter_value(parameter: &shell::Parameter, known: &Known) -> Option<String> {
    let set: Option<Option<String>> = match parameter.name.parse::<usize>() {
        Ok(0) => return None,
        Ok(number) => match known.arguments.as_ref()?.get(number - 1) {
            Some(argument) => Some(Some(argument.clone()?)),
            None => Some(None),
        },
        Err(_) => known.values.get(&parameter.name).map(|value| value.clone().map(Some)).and_then(|value| value),
    };
    let set = set?;
    let rest = shell_rest(&parameter.rest)?;
    let default = rest.strip_prefix(":-").or_else(|| rest.strip_prefix('-'));
    match (set, default, rest.as_str()) {
        (Some(text), None, "") => Some(text),
        (None, None, "") => Some(String::new()),
        (Some(text), None, "^^") => Some(text.to_uppercase()),
        (Some(text), None, ",,") => Some(text.to_lowercase()),
        (Some(text), Some(_), _) if !text.is_empty() => Some(text),
        (_, Some(default), _) => Some(default.to_owned()),
        _ => None,
    }
}

/// Whether a condition holds where its variables are as these say: all that `&&` joins.
pub(super) fn holds(condition: &List, values: &BTreeMap<String, String>) -> bool {
    let values = values.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
    let known = Known { arguments: None, values };
    let [statement] = &condition.statements[..] else { return false };
    statement.rest.iter().all(|(joint, _)| *joint == Joint::And)
        && statement.pipelines().all(|pipeline| truth(pipeline, &known) == Some(true))
}

fn truth_of_list(list: &List, known: &Known) -> Option<bool> {
    let [statement] = &list.statements[..] else { return None };
    statement.rest.is_empty().then(|| truth(&statement.first, known))?
}

/// Whether a pipeline succeeds, where that is known.
fn truth(pipeline: &Pipeline, known: &Known) -> Option<bool> {
    let [command] = &pipeline.commands[..] else { return None };
    let plain = match &command.kind {
        CommandKind::Test(words) => tested(&words.iter().collect::<Vec<_>>(), known),
        CommandKind::Simple(simple) => match &simple.words[..] {
            [first, words @ .., _] if first.is_bare_text("[") => tested(&words.iter().collect::<Vec<_>>(), known),
            [first, words @ ..] if first.is_bare_text("test") => tested(&words.iter().collect::<Vec<_>>(), known),
            [first, ..] if ["true", ":", "echo", "printf"].iter().any(|word| first.is_bare_text(word)) => Some(true),
            [first, ..] if first.is_bare_text("false") => Some(false),
            _ => None,
        },
        _ => None,
    };
    plain.map(|truth| truth != pipeline.is_negated)
}

fn tested(words: &[&Word], known: &Known) -> Option<bool> {
    let said = |word: &Word| value(&word.parts, known);
    match words {
        [flag, word] if flag.is_bare_text("-n") => said(word).map(|text| !text.is_empty()),
        [flag, word] if flag.is_bare_text("-z") => said(word).map(|text| text.is_empty()),
        [left, sign, right] => {
            let is_equal = sign.is_bare_text("=") || sign.is_bare_text("==");
            let is_other = sign.is_bare_text("!=");
            let is_glob = right.is_bare() && right.literal().is_none_or(|text| text.contains(['*', '?', '[']));
            if !(is_equal || is_other) || is_glob {
                return None;
            }
            Some((said(left)? == said(right)?) == is_equal)
        }
        _ => None,
    }
}

/// Whether a subject fits one of the patterns.
fn matches(patterns: &[Word], subject: Option<&str>) -> Option<bool> {
    let subject = subject?;
    let mut is_clear = true;
    for pattern in patterns {
        match pattern.literal() {
            Some(text) if text == "*" && pattern.is_bare() => return Some(true),
            Some(text) if !text.contains(['*', '?', '[']) || !pattern.is_bare() => {
                if text == subject {
                    return Some(true);
                }
            }
            _ => is_clear = false,
        }
    }
    is_clear.then_some(false)
}
