//! The functions of templates that repositories use. Any other is a reason not to know the result.

use serde_json::{Map, Value};

use super::error::TemplateError;

/// How many spaces a line is indented by at most.
const INDENT_MAX: usize = 200;
/// The length of a Kubernetes label, which `slugify` keeps to.
const SLUG_CHARACTERS_MAX: usize = 63;
/// What one function may make of its arguments. Most give about as much as they got; these could multiply it.
const RESULT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Calls a function; a piped value is the last argument.
pub(super) fn call(name: &str, arguments: &[Value]) -> Result<Value, TemplateError> {
    let text = |at: usize| text_of(name, arguments, at);
    Ok(match (name, arguments.len()) {
        ("quote", 1) => Value::from(arguments[0].to_string_quoted()),
        ("squote", 1) => format!("'{}'", text(0)?).into(),
        ("lower", 1) => text(0)?.to_lowercase().into(),
        ("upper", 1) => text(0)?.to_uppercase().into(),
        ("trim", 1) => text(0)?.trim().into(),
        ("toString" | "print", 1) => text(0)?.into(),
        ("slugify", 1) => slugify(&text(0)?).into(),
        ("int" | "int64", 1) => integer(&arguments[0]).into(),
        ("toYaml" | "mustToYaml", 1) => to_yaml(&arguments[0]).into(),
        ("toJson" | "mustToJson", 1) => arguments[0].to_string().into(),
        ("indent", 2) => indent(&arguments[0], &text(1)?)?.into(),
        ("nindent", 2) => format!("\n{}", indent(&arguments[0], &text(1)?)?).into(),
        ("default", 2) => arguments[usize::from(is_true(&arguments[1]))].clone(),
        ("trimSuffix", 2) => {
            text(1)?.strip_suffix(&*text(0)?).map_or_else(|| text(1), |rest| Ok(rest.to_owned()))?.into()
        }
        ("trimPrefix", 2) => {
            text(1)?.strip_prefix(&*text(0)?).map_or_else(|| text(1), |rest| Ok(rest.to_owned()))?.into()
        }
        ("replace", 3) => replace(&text(2)?, &text(0)?, &text(1)?)?.into(),
        ("contains", 2) => text(1)?.contains(&*text(0)?).into(),
        ("hasPrefix", 2) => text(1)?.starts_with(&*text(0)?).into(),
        ("hasSuffix", 2) => text(1)?.ends_with(&*text(0)?).into(),
        ("trunc", 2) => {
            text(1)?.chars().take(usize::try_from(integer(&arguments[0])).unwrap_or(0)).collect::<String>().into()
        }
        ("splitList", 2) => text(1)?.split(&*text(0)?).map(Value::from).collect(),
        ("join", 2) => join(&text(0)?, &arguments[1])?.into(),
        ("printf", 1..) => printf(&text(0)?, &arguments[1..])?.into(),
        ("list", _) => arguments.to_vec().into(),
        ("ternary", 3) => arguments[usize::from(!is_true(&arguments[2]))].clone(),
        _ => return compare(name, arguments).or_else(|()| look_up(name, arguments)),
    })
}

fn compare(name: &str, arguments: &[Value]) -> Result<Value, ()> {
    Ok(match (name, arguments) {
        ("not" | "empty", [value]) => (!is_true(value)).into(),
        ("and", [first, ..]) => {
            arguments.iter().find(|value| !is_true(value)).or(arguments.last()).unwrap_or(first).clone()
        }
        ("or" | "coalesce", [first, ..]) => {
            arguments.iter().find(|value| is_true(value)).or(arguments.last()).unwrap_or(first).clone()
        }
        ("eq", [first, others @ ..]) if !others.is_empty() => others.contains(first).into(),
        ("ne", [first, second]) => (first != second).into(),
        ("lt", [first, second]) => (number(first)? < number(second)?).into(),
        ("le", [first, second]) => (number(first)? <= number(second)?).into(),
        ("gt", [first, second]) => (number(first)? > number(second)?).into(),
        ("ge", [first, second]) => (number(first)? >= number(second)?).into(),
        ("add", [_, _, ..]) => arguments.iter().map(integer).fold(0, i64::saturating_add).into(),
        ("sub", [first, second]) => integer(first).saturating_sub(integer(second)).into(),
        _ => return Err(()),
    })
}

fn look_up(name: &str, arguments: &[Value]) -> Result<Value, TemplateError> {
    let missing = || TemplateError::NothingFound(name.to_owned());
    match (name, arguments) {
        ("get", [Value::Object(map), Value::String(key)]) => Ok(map.get(key).cloned().unwrap_or_else(|| "".into())),
        ("hasKey", [Value::Object(map), Value::String(key)]) => Ok(map.contains_key(key).into()),
        ("keys", [Value::Object(map)]) => Ok(map.keys().cloned().collect()),
        ("first", [Value::Array(items)]) => items.first().cloned().ok_or_else(missing),
        ("last", [Value::Array(items)]) => items.last().cloned().ok_or_else(missing),
        ("has", [item, Value::Array(items)]) => Ok(items.contains(item).into()),
        ("len", [Value::Array(items)]) => Ok(items.len().into()),
        ("len", [Value::Object(map)]) => Ok(map.len().into()),
        ("len", [Value::String(text)]) => Ok(text.len().into()),
        ("index", [Value::Object(map), Value::String(key)]) => map.get(key).cloned().ok_or_else(missing),
        ("index", [Value::Array(items), at]) => {
            usize::try_from(integer(at)).ok().and_then(|at| items.get(at)).cloned().ok_or_else(missing)
        }
        ("dict", pairs) if pairs.len() % 2 == 0 => {
            let entries = pairs.chunks_exact(2).map(|pair| Some((printed(&pair[0])?, pair[1].clone())));
            entries.collect::<Option<Map<_, _>>>().map(Value::Object).ok_or_else(missing)
        }
        _ => Err(TemplateError::UnknownFunction(name.to_owned())),
    }
}

trait Quoted {
    fn to_string_quoted(&self) -> String;
}

impl Quoted for Value {
    /// In double quotes; nothing at all for no value.
    fn to_string_quoted(&self) -> String {
        match self {
            Self::Null => String::new(),
            other => Self::from(printed(other).unwrap_or_default()).to_string(),
        }
    }
}

/// The text that a value is printed as. Lists and mappings have none worth knowing.
pub(super) fn printed(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => Some("<no value>".to_owned()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

fn text_of(function: &str, arguments: &[Value], at: usize) -> Result<String, TemplateError> {
    let value = arguments.get(at).unwrap_or(&Value::Null);
    printed(value).ok_or_else(|| TemplateError::OfStructure(function.to_owned()))
}

pub(super) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

/// What is no number counts as 0.
#[allow(clippy::cast_possible_truncation, reason = "fractions are cut off on purpose")]
fn integer(value: &Value) -> i64 {
    match value {
        Value::Number(number) => number.as_i64().or(number.as_f64().map(|number| number as i64)).unwrap_or(0),
        Value::String(text) => text.parse().or_else(|_| text.parse::<f64>().map(|number| number as i64)).unwrap_or(0),
        Value::Bool(flag) => i64::from(*flag),
        _ => 0,
    }
}

fn number(value: &Value) -> Result<f64, ()> {
    value.as_f64().ok_or(())
}

fn indent(spaces: &Value, text: &str) -> Result<String, TemplateError> {
    let spaces = usize::try_from(integer(spaces)).ok().filter(|spaces| *spaces <= INDENT_MAX);
    let pad = " ".repeat(spaces.ok_or(TemplateError::WideIndent)?);
    within_limit("indent", pad.len().saturating_mul(text.matches('\n').count()))?;
    Ok(format!("{pad}{}", text.replace('\n', &format!("\n{pad}"))))
}

fn join(separator: &str, items: &Value) -> Result<String, TemplateError> {
    let texts = items.as_array().map(|items| items.iter().map(printed).collect::<Option<Vec<_>>>());
    let texts = texts.flatten().ok_or(TemplateError::JoinOfOthers)?;
    within_limit("join", separator.len().saturating_mul(texts.len()))?;
    Ok(texts.join(separator))
}

fn replace(text: &str, from: &str, to: &str) -> Result<String, TemplateError> {
    within_limit("replace", text.matches(from).count().saturating_mul(to.len()))?;
    Ok(text.replace(from, to))
}

fn within_limit(function: &str, bytes: usize) -> Result<(), TemplateError> {
    if bytes <= RESULT_BYTES_MAX { Ok(()) } else { Err(TemplateError::MakesTooMuch(function.to_owned())) }
}

/// `%s`, `%d`, `%v` and `%q` only.
fn printf(format: &str, arguments: &[Value]) -> Result<String, TemplateError> {
    let mut arguments = arguments.iter();
    let mut output = String::new();
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            output.push(character);
            continue;
        }
        let verb = characters.next();
        if verb == Some('%') {
            output.push('%');
            continue;
        }
        let argument = arguments.next().ok_or(TemplateError::PrintfArguments)?;
        match verb {
            Some('s' | 'd' | 'v') => output.push_str(&text_of("printf", std::slice::from_ref(argument), 0)?),
            Some('q') => output.push_str(&argument.to_string_quoted()),
            _ => return Err(TemplateError::PrintfVerb),
        }
    }
    Ok(output)
}

/// Block style at the top, so that lines can follow; what is below is written as JSON, which YAML is.
fn to_yaml(value: &Value) -> String {
    let lines: Vec<String> = match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter().map(|(key, value)| format!("{}: {value}", Value::from(key.as_str()))).collect()
        }
        Value::Array(items) if !items.is_empty() => items.iter().map(|item| format!("- {item}")).collect(),
        other => vec![other.to_string()],
    };
    lines.join("\n") + "\n"
}

/// Lower case letters, digits and single dashes; cut between words when it is too long.
fn slugify(text: &str) -> String {
    let mut slug = String::new();
    for character in text.trim().to_lowercase().chars() {
        match character {
            'a'..='z' | '0'..='9' | '_' => slug.push(character),
            '&' => slug.push_str("and"),
            '@' => slug.push_str("at"),
            '\'' | '"' => {}
            _ if slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    let slug = slug.trim_matches(['-', '_']);
    if slug.len() <= SLUG_CHARACTERS_MAX {
        return slug.to_owned();
    }
    let cut = &slug[..SLUG_CHARACTERS_MAX];
    if slug[SLUG_CHARACTERS_MAX..].starts_with('-') {
        return cut.to_owned();
    }
    cut.rsplit_once('-').map_or(cut, |(words, _)| words).to_owned()
}
