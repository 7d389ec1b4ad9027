//! What a block has run: its provisioners, and the programs that `external` data asks.

use hcl_edit::expr::Expression;
use hcl_edit::structure::{Block as HclBlock, Body};
use repository::path;
use source::Span;

use super::script_text::{ScriptText, lines, script_text};
use crate::terraform::instance::{Each, Instance};
use crate::terraform::module::{Resource, span};
use crate::terraform::open_text::{in_repository, open_text};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProvisionerKind {
    /// On the machine that runs Terraform.
    Local,
    /// On another machine, through ssh.
    Remote,
    /// The program of an `external` data source: it runs whenever that is read.
    External,
}

/// One script that a block runs. Where there are several of the block, that of the first.
#[derive(Clone, Debug)]
pub struct Provisioner {
    pub kind: ProvisionerKind,
    /// Its first line.
    pub at: Span,
    /// What runs the text; nothing where it is the shell that Terraform takes: `/bin/sh -c`.
    pub interpreter: Vec<String>,
    /// The script. For `inline`, its lines one below the other; Terraform runs them as one script.
    pub script: ScriptText,
    /// Names and values, with gaps.
    pub environment: Vec<(String, String)>,
    /// Where it is run, as a path of the repository if it is one.
    pub directory: Option<String>,
    /// It runs when the block is destroyed, not when it is made.
    pub on_destroy: bool,
    /// `on_failure = continue`.
    pub ignores_failure: bool,
    /// Scripts of the repository that it starts by their path.
    pub starts: Vec<String>,
}

pub(super) fn provisioners(instance: &Instance<'_>, each: &Each, resource: &Resource) -> Vec<Provisioner> {
    let reader = Reader { instance, each, header: resource.at };
    let mut found: Vec<Provisioner> =
        resource.body.get_blocks("provisioner").filter_map(|block| reader.provisioner(block)).collect();
    if resource.is_data && resource.kind == "external" {
        found.extend(reader.external(&resource.body));
    }
    found
}

struct Reader<'r, 'w> {
    instance: &'r Instance<'w>,
    each: &'r Each,
    header: Span,
}

impl Reader<'_, '_> {
    fn provisioner(&self, block: &HclBlock) -> Option<Provisioner> {
        let kind = match block.labels.first()?.as_str() {
            "local-exec" => ProvisionerKind::Local,
            "remote-exec" => ProvisionerKind::Remote,
            _ => return None,
        };
        let body = &block.body;
        let has_word = |name: &str, word: &str| {
            let value = body.get_attribute(name).map(|attribute| &attribute.value);
            value.is_some_and(|value| match value {
                Expression::Variable(named) => named.as_str() == word,
                other => other.as_str() == Some(word),
            })
        };
        let header = span(self.header.file, &block.ident).unwrap_or(self.header);
        let script = self.script(body, header);
        let directory = body.get_attribute("working_dir").map(|it| self.open(&it.value));
        let directory = match directory {
            Some(written) => in_repository(self.instance.run_in(), &written),
            None => Some(self.instance.run_in().to_owned()).filter(|_| kind == ProvisionerKind::Local),
        };
        let environment = body.get_attribute("environment").map(|it| self.pairs(&it.value)).unwrap_or_default();
        let interpreter = body.get_attribute("interpreter").map(|it| self.words(&it.value)).unwrap_or_default();
        let starts = self.starts(&script, &interpreter, directory.as_deref());
        let (on_destroy, ignores_failure) = (has_word("when", "destroy"), has_word("on_failure", "continue"));
        Some(Provisioner {
            kind,
            at: header,
            interpreter,
            script,
            environment,
            directory,
            on_destroy,
            ignores_failure,
            starts,
        })
    }

    fn script(&self, body: &Body, header: Span) -> ScriptText {
        let value = |name: &str| body.get_attribute(name).map(|attribute| &attribute.value);
        if let Some(command) = value("command") {
            return script_text(self.instance, self.each, command, header);
        }
        if let Some(inline) = value("inline") {
            return lines(self.instance, self.each, inline, header);
        }
        // A script that is copied and run: its own text.
        let named = value("script").or_else(|| value("scripts")).cloned();
        let list = match named {
            Some(Expression::Array(items)) => items.iter().cloned().collect(),
            Some(other) => vec![other],
            None => Vec::new(),
        };
        let mut args = hcl_edit::expr::FuncArgs::new();
        let Some(first) = list.into_iter().next() else { return ScriptText::default() };
        args.push(first);
        let call = hcl_edit::expr::FuncCall::new(hcl_edit::Ident::new("file"), args);
        script_text(self.instance, self.each, &Expression::from(call), header)
    }

    /// `program = ["bash", "-c", <<EOF …]`, or a program by its path.
    fn external(&self, body: &Body) -> Option<Provisioner> {
        let program = &body.get_attribute("program")?.value;
        let header = self.instance.at(self.header, hcl_edit::Span::span(program));
        let items: Vec<&Expression> = program.as_array().map(|items| items.iter().collect()).unwrap_or_default();
        let words: Vec<String> = items.iter().map(|item| self.open(item)).collect();
        let flag =
            words.iter().position(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'));
        let script = flag.and_then(|flag| items.get(flag + 1));
        let script = script.map(|script| script_text(self.instance, self.each, script, header)).unwrap_or_default();
        let directory = Some(self.instance.run_in().to_owned());
        let mut starts = self.starts(&script, &words, directory.as_deref());
        starts.sort();
        let interpreter = flag.map_or_else(|| words.clone(), |flag| words[..=flag].to_vec());
        Some(Provisioner {
            kind: ProvisionerKind::External,
            at: header,
            interpreter,
            script,
            environment: Vec::new(),
            directory,
            on_destroy: false,
            ignores_failure: false,
            starts,
        })
    }

    /// Words that are files of the repository, from where the script is run.
    fn starts(&self, script: &ScriptText, interpreter: &[String], directory: Option<&str>) -> Vec<String> {
        let Some(directory) = directory else { return Vec::new() };
        let repository = self.instance.world().repository;
        let words =
            script.text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '(' | ')' | '&' | '|'));
        let words = words.chain(interpreter.iter().map(String::as_str));
        let is_path = |word: &&str| word.contains('/') && !word.starts_with('/') && !word.contains("://");
        let mut found: Vec<String> = Vec::new();
        for place in words.filter(is_path).filter_map(|word| path::join(directory, word)) {
            let is_script = place.rsplit_once('.').is_some_and(|(_, end)| matches!(end, "sh" | "bash" | "py" | "zsh"));
            if is_script && repository.id(&place).is_some() && !found.contains(&place) {
                found.push(place);
            }
        }
        found
    }

    fn open(&self, expression: &Expression) -> String {
        open_text(self.instance, expression, self.each)
    }

    fn words(&self, expression: &Expression) -> Vec<String> {
        match expression {
            Expression::Array(items) => items.iter().map(|item| self.open(item)).collect(),
            other => {
                let value = self.instance.value(other, self.each);
                let texts = value.as_list().into_iter().flatten();
                texts.filter_map(|item| Some(item.to_text()?.to_string())).collect()
            }
        }
    }

    fn pairs(&self, expression: &Expression) -> Vec<(String, String)> {
        if let Expression::Object(object) = expression {
            let pair = |(key, value): (&hcl_edit::expr::ObjectKey, &hcl_edit::expr::ObjectValue)| {
                Some((crate::terraform::module::key_text(key)?.to_owned(), self.open(value.expr())))
            };
            return object.iter().filter_map(pair).collect();
        }
        let value = self.instance.value(expression, self.each);
        let entries = value.as_map().into_iter().flatten();
        entries.filter_map(|(key, value)| Some((key.to_string(), value.to_text()?.to_string()))).collect()
    }
}
