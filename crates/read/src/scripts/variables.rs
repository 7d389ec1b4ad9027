//! Variables of scripts: where they are set, and where they stand in a text.

use memchr::memchr2;

use ::repository::path;

pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) at: usize,
}

/// `name=value` of a shell, `name := value` of just, `NAME: value` of a Taskfile.
pub(crate) fn assignment(path: &str, line: &str, at: usize) -> Option<Variable> {
    memchr2(b'=', b':', line.as_bytes())?;
    let text = after_pattern(line.trim());
    let words = ["if ", "! ", "export ", "local ", "readonly ", "declare ", "-r ", "-x "];
    let text = words.iter().fold(text, |text, word| text.strip_prefix(word).unwrap_or(text).trim_start());
    let end = text.find(|character: char| !(character.is_ascii_alphanumeric() || character == '_')).unwrap_or(0);
    let (name, rest) = text.split_at(end);
    let rest = rest.trim_start();
    let value = rest.strip_prefix(":=").or_else(|| rest.strip_prefix('=')).or_else(|| {
        let is_taskfile = path.ends_with("yaml") || path.ends_with("yml");
        rest.strip_prefix(": ").filter(|_| is_taskfile && name.chars().all(|letter| !letter.is_ascii_lowercase()))
    })?;
    // A shell takes no blanks around the sign, and the word ends where the shell says; elsewhere the line is the value.
    let is_shell = text[end..].starts_with('=') && !value.starts_with([' ', '\t']);
    let value = if is_shell { first_word(value) } else { value.trim() };
    let is_name = !name.is_empty() && !value.is_empty() && !value.starts_with(['=', '*', '&', '(']);
    is_name.then(|| Variable { name: name.to_owned(), value: value_of(path, value, is_shell), at })
}

fn value_of(path: &str, value: &str, is_shell: bool) -> String {
    if value.contains("git rev-parse --show-toplevel") {
        return "/".to_owned();
    }
    if value.contains("dirname") || value.contains("BASH_SOURCE") {
        let (up, names) = (value.matches("/..").count(), value.matches("dirname").count());
        // `$(dirname "$(dirname "$HERE")")` of a variable, or of the script itself.
        return match next_variable(value.rsplit("dirname").next().unwrap_or_default()) {
            Some((_, _, name)) if !matches!(name.as_str(), "" | "0" | "BASH_SOURCE") => {
                format!("${{{name}}}{}", "/..".repeat(up + names))
            }
            _ => format!("/{}{}", path::parent(path), "/..".repeat(up + names.saturating_sub(1))),
        };
    }
    if !is_shell && (path.ends_with("just") || path.ends_with("justfile")) {
        let parts = value.split('+').map(str::trim);
        let quoted = |part: &str| part.starts_with(['\'', '"']).then(|| part.trim_matches(['\'', '"']).to_owned());
        return parts.map(|part| quoted(part).unwrap_or_else(|| format!("{{{{{part}}}}}"))).collect();
    }
    if is_shell && !value.contains("$(") {
        return value.replace(['"', '\''], "");
    }
    value.trim_matches(['"', '\'']).to_owned()
}

/// What follows the pattern of a case branch on the same line.
fn after_pattern(line: &str) -> &str {
    let is_pattern = |before: &str| !before.contains([' ', '\t', '=', '(', '$', '{']);
    line.split_once(") ").filter(|(before, _)| is_pattern(before)).map_or(line, |(_, rest)| rest.trim_start())
}

/// The text up to a blank, or to what ends a command, outside of quotes, `$(…)`, `${…}` and `{{ … }}`.
fn first_word(text: &str) -> &str {
    const NESTS: [(&str, &str); 3] = [("{{", "}}"), ("${", "}"), ("$(", ")")];
    let mut closers: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        let mut length = next.len_utf8();
        let is_verbatim = closers.last() == Some(&"'");
        let nest = NESTS.iter().find(|(open, _)| rest.starts_with(open) && !is_verbatim);
        if let Some(closer) = closers.last().filter(|closer| rest.starts_with(**closer)) {
            length = closer.len();
            closers.pop();
        } else if let Some((open, close)) = nest {
            length = open.len();
            closers.push(close);
        } else if next == '"' && !is_verbatim {
            closers.push("\"");
        } else if next == '\'' && closers.last() != Some(&"\"") && !is_verbatim {
            closers.push("'");
        } else if closers.is_empty() && (next.is_whitespace() || matches!(next, ';' | '&' | '|')) {
            return &text[..at];
        }
        at += length;
    }
    text.trim_end()
}

/// The first `${name}`, `$name`, `{{.name}}` or `{{ name }}` of a text.
pub(crate) fn next_variable(text: &str) -> Option<(usize, usize, String)> {
    let (start, open) = ["{{", "${", "$(", "$"]
        .iter()
        .filter_map(|open| Some((text.find(open)?, *open)))
        .min_by_key(|(at, open)| (*at, std::cmp::Reverse(open.len())))?;
    let inner = &text[start + open.len()..];
    let (name, end) = match open {
        "$" => {
            let length =
                inner.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).unwrap_or(inner.len());
            (&inner[..length], length)
        }
        "$(" => inner.find(')').map(|at| ("", at + 1))?,
        "${" => inner.find('}').map(|at| (&inner[..at], at + 1))?,
        _ => inner.find("}}").map(|at| (&inner[..at], at + 2))?,
    };
    let name = name.trim_matches(['-', ' ']).trim_start_matches('.');
    let name = name.split([':', '[']).next().unwrap_or_default();
    Some((start, start + open.len() + end, name.to_owned()))
}
