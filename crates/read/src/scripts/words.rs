//! Shell commands into words, as far as that goes without a shell.

/// A word with the place where it begins in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) at: usize,
}

/// The commands of one line, each with its words: a pipeline per `;`, `&&` and `||`, its commands in order. `{{ … }}`,
/// `${…}` and `$(…)` stay whole; quotes are gone.
pub(crate) fn pipelines(line: &str, offset: usize) -> Vec<Vec<Vec<Word>>> {
    let mut reader = Reader { pipelines: vec![vec![Vec::new()]], word: None };
    let mut quote: Option<char> = None;
    let mut closers: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(next) = line[at..].chars().next() {
        let rest = &line[at..];
        let mut length = next.len_utf8();
        let opened = [("{{", "}}"), ("${", "}")].iter().find(|(open, _)| rest.starts_with(open));
        if let Some(closer) = closers.last().copied() {
            if rest.starts_with(closer) {
                length = closer.len();
                closers.pop();
            } else if let Some((open, close)) = opened {
                length = open.len();
                closers.push(close);
            }
            reader.push(&rest[..length], offset + at);
        } else if let (Some((open, close)), true) = (opened, quote != Some('\'') || rest.starts_with("{{")) {
            length = open.len();
            closers.push(close);
            reader.push(open, offset + at);
        } else if let Some(open) = quote {
            if next == open {
                quote = None;
            } else {
                reader.push(&rest[..length], offset + at);
            }
        } else {
            match next {
                '"' | '\'' => {
                    quote = Some(next);
                    reader.push("", offset + at);
                }
                ' ' | '\t' | '\n' | '\r' | '(' | ')' | '<' | '`' => reader.end_word(),
                '|' if rest.starts_with("||") => length = reader.end_pipeline(2),
                '&' if rest.starts_with("&&") => length = reader.end_pipeline(2),
                ';' => length = reader.end_pipeline(1),
                '|' => reader.end_command(),
                '$' if rest.starts_with("$(") => {
                    length = 2;
                    reader.end_word();
                }
                _ => reader.push(&rest[..length], offset + at),
            }
        }
        at += length;
    }
    reader.end_word();
    reader.pipelines
}

struct Reader {
    pipelines: Vec<Vec<Vec<Word>>>,
    word: Option<Word>,
}

impl Reader {
    fn push(&mut self, text: &str, at: usize) {
        self.word.get_or_insert_with(|| Word { text: String::new(), at }).text.push_str(text);
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take()
            && let Some(command) = self.pipelines.last_mut().and_then(|pipeline| pipeline.last_mut())
        {
            command.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        if let Some(pipeline) = self.pipelines.last_mut() {
            pipeline.push(Vec::new());
        }
    }

    fn end_pipeline(&mut self, length: usize) -> usize {
        self.end_word();
        self.pipelines.push(vec![Vec::new()]);
        length
    }
}

/// What a `kubectl apply` command applies: the values of `-f` and `-k`, `-` among them. Nothing for other commands.
pub(crate) fn applied(words: &[String]) -> Vec<String> {
    let Some(kubectl) = words.iter().position(|word| word == "kubectl" || word.ends_with("/kubectl")) else {
        return Vec::new();
    };
    let words = &words[kubectl + 1..];
    let acts = words.iter().any(|word| word == "apply" || word == "replace")
        || (words.iter().any(|word| word == "create") && !words.iter().any(|word| word == "secret"));
    if acts { flag_values(words, &["-f", "--filename", "-k", "--kustomize"]) } else { Vec::new() }
}

/// The values of flags, written `--flag value`, `--flag=value` or `-fvalue`.
pub(crate) fn flag_values(words: &[String], flags: &[&str]) -> Vec<String> {
    let mut values = Vec::new();
    for (at, word) in words.iter().enumerate() {
        for flag in flags {
            if word == flag {
                values.extend(words.get(at + 1).cloned());
            } else if let Some(value) = word.strip_prefix(flag).and_then(|rest| rest.strip_prefix('=')) {
                values.push(value.to_owned());
            }
        }
    }
    values
}
