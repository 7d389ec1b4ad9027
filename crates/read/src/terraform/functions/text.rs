//! Functions on texts.

use std::collections::BTreeMap;

use regex::{Regex, RegexBuilder};
use yaml::EcoString;

use super::{Arguments, Outcome, Stop, text_of};
use crate::terraform::value::Value;

/// Of a compiled pattern.
const PATTERN_BYTES_MAX: usize = 256 * 1024;
/// `%0999d` is a way to make much of little.
const WIDTH_MAX: usize = 256;

pub(super) fn call(name: &str, given: &Arguments<'_>) -> Option<Outcome> {
    Some(match name {
        "chomp" => given.text(0).map(|text| Value::text(text.trim_end_matches(['\n', '\r']))),
        "endswith" => pair(given).map(|(text, end)| Value::Bool(text.ends_with(end.as_str()))),
        "startswith" => pair(given).map(|(text, start)| Value::Bool(text.starts_with(start.as_str()))),
        "strcontains" => pair(given).map(|(text, part)| Value::Bool(text.contains(part.as_str()))),
        "format" => given.text(0).and_then(|text| format(&text, given.from(1))),
        "formatlist" => format_list(given),
        "indent" => indent(given),
        "join" => join(given),
        "lower" => given.text(0).map(|text| Value::text(text.to_lowercase())),
        "upper" => given.text(0).map(|text| Value::text(text.to_uppercase())),
        "title" => given.text(0).map(|text| Value::text(title(&text))),
        "regex" => regex(given),
        "regexall" => regex_all(given),
        "replace" => replace(given),
        "split" => pair(given).map(|(by, text)| Value::list(split(&text, &by).into_iter().map(Value::text).collect())),
        "strrev" => given.text(0).map(|text| Value::text(text.chars().rev().collect::<String>())),
        "substr" => substring(given),
        "trim" => pair(given).map(|(text, set)| Value::text(text.trim_matches(|c| set.contains(c)))),
        "trimprefix" => {
            pair(given).map(|(text, start)| Value::text(text.strip_prefix(start.as_str()).unwrap_or(&text)))
        }
        "trimsuffix" => pair(given).map(|(text, end)| Value::text(text.strip_suffix(end.as_str()).unwrap_or(&text))),
        "trimspace" => given.text(0).map(|text| Value::text(text.trim())),
        "basename" => given.text(0).map(|text| Value::text(text.rsplit('/').next().unwrap_or_default())),
        "dirname" => {
            given.text(0).map(|text| Value::text(text.rsplit_once('/').map_or(".", |(directory, _)| directory)))
        }
        _ => return None,
    })
}

fn pair(given: &Arguments<'_>) -> Result<(EcoString, EcoString), Stop> {
    Ok((given.text(0)?, given.text(1)?))
}

fn split(text: &str, by: &str) -> Vec<String> {
    if by.is_empty() {
        return text.chars().map(String::from).collect();
    }
    text.split(by).map(str::to_owned).collect()
}

fn title(text: &str) -> String {
    let mut is_start = true;
    let mut raise = |c: char| {
        let raised = if is_start { c.to_uppercase().collect::<String>() } else { c.to_string() };
        is_start = !c.is_alphanumeric() && c != '\'';
        raised
    };
    text.chars().map(&mut raise).collect()
}

fn indent(given: &Arguments<'_>) -> Outcome {
    let (spaces, text) = (given.size(0)?.min(WIDTH_MAX), given.text(1)?);
    Ok(Value::text(text.replace("\n", &format!("\n{}", " ".repeat(spaces)))))
}

fn join(given: &Arguments<'_>) -> Outcome {
    let by = given.text(0)?;
    let mut parts = Vec::new();
    for index in 1..given.count() {
        for item in given.list(index)? {
            parts.push(text_of(item)?);
        }
    }
    Ok(Value::text(parts.join(by.as_str())))
}

fn substring(given: &Arguments<'_>) -> Outcome {
    let (text, offset, length) = (given.text(0)?, given.integer(1)?, given.integer(2)?);
    let characters: Vec<char> = text.chars().collect();
    let distance = usize::try_from(offset.unsigned_abs()).map_err(|_| Stop::Wrong)?;
    let start = if offset < 0 { characters.len().checked_sub(distance).ok_or(Stop::Wrong)? } else { distance };
    let from = characters.get(start..).ok_or(Stop::Wrong)?;
    let length = usize::try_from(length).unwrap_or(usize::MAX).min(from.len());
    Ok(Value::text(from.iter().take(length).collect::<String>()))
}

fn pattern(text: &str) -> Result<Regex, Stop> {
    RegexBuilder::new(text)
        .size_limit(PATTERN_BYTES_MAX)
        .dfa_size_limit(PATTERN_BYTES_MAX)
        .build()
        .map_err(|_| Stop::Unknown)
}

/// A text; with groups a list of what they caught, with named ones a map.
fn caught(pattern: &Regex, captures: &regex::Captures<'_>) -> Value {
    let group = |found: Option<regex::Match<'_>>| found.map_or(Value::Null, |found| Value::text(found.as_str()));
    let named: BTreeMap<EcoString, Value> =
        pattern.capture_names().flatten().map(|name| (name.into(), group(captures.name(name)))).collect();
    match pattern.captures_len() {
        1 => group(captures.get(0)),
        _ if !named.is_empty() => Value::map(named),
        _ => Value::list(captures.iter().skip(1).map(group).collect()),
    }
}

fn regex(given: &Arguments<'_>) -> Outcome {
    let (text, in_text) = pair(given)?;
    let pattern = pattern(&text)?;
    pattern.captures(&in_text).map(|captures| caught(&pattern, &captures)).ok_or(Stop::Wrong)
}

fn regex_all(given: &Arguments<'_>) -> Outcome {
    let (text, in_text) = pair(given)?;
    let pattern = pattern(&text)?;
    Ok(Value::list(pattern.captures_iter(&in_text).map(|captures| caught(&pattern, &captures)).collect()))
}

/// Between slashes it is a pattern.
fn replace(given: &Arguments<'_>) -> Outcome {
    let (text, wanted, with) = (given.text(0)?, given.text(1)?, given.text(2)?);
    let inner = wanted.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let found = inner.map_or_else(|| text.matches(wanted.as_str()).count(), |_| text.len());
    if found.saturating_mul(with.len()) > 1024 * 1024 {
        return Err(Stop::Unknown);
    }
    Ok(match inner {
        Some(inner) => Value::text(pattern(inner)?.replace_all(&text, with.as_str())),
        None => Value::text(text.replace(wanted.as_str(), &with)),
    })
}

fn format_list(given: &Arguments<'_>) -> Outcome {
    let text = given.text(0)?;
    let lists = given.from(1).iter().filter_map(Value::as_list).map(<[Value]>::len);
    let count = lists.max().unwrap_or(1);
    let row = |row: usize| {
        let pick = |value: &Value| match value.as_list() {
            Some(items) => items.get(row).cloned().ok_or(Stop::Wrong),
            None => Ok(value.clone()),
        };
        format(&text, &given.from(1).iter().map(pick).collect::<Result<Vec<_>, _>>()?)
    };
    Ok(Value::list((0..count).map(row).collect::<Result<Vec<_>, _>>()?))
}

/// What stands between `%` and the verb.
#[derive(Default)]
struct Verb {
    is_left: bool,
    is_zero: bool,
    is_signed: bool,
    width: usize,
    precision: Option<usize>,
}

impl Verb {
    /// The verb that a text begins with, and how long it is.
    fn read(text: &str) -> Result<(Self, char, usize), Stop> {
        let mut verb = Self::default();
        let mut after_dot = false;
        for (at, c) in text.char_indices() {
            match c {
                '-' => verb.is_left = true,
                '+' => verb.is_signed = true,
                '0' if verb.width == 0 && !after_dot => verb.is_zero = true,
                '.' => {
                    after_dot = true;
                    verb.precision = Some(0);
                }
                '0'..='9' => verb.digit(c, after_dot)?,
                c if c.is_ascii_alphabetic() || c == '%' => return Ok((verb, c, at + 1)),
                // Arguments by number, flags that are not used.
                _ => return Err(Stop::Unknown),
            }
        }
        Err(Stop::Wrong)
    }

    fn digit(&mut self, digit: char, after_dot: bool) -> Result<(), Stop> {
        let digit = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok()).unwrap_or(0);
        let field = if after_dot { self.precision.get_or_insert(0) } else { &mut self.width };
        *field = *field * 10 + digit;
        if *field > WIDTH_MAX { Err(Stop::Unknown) } else { Ok(()) }
    }

    fn written(&self, verb: char, value: &Value) -> Result<String, Stop> {
        let number = || value.to_number().ok_or(if value.is_whole() { Stop::Wrong } else { Stop::Unknown });
        let integer = || number().and_then(|number| crate::terraform::value::whole(number).ok_or(Stop::Wrong));
        let plain = match verb {
            'd' => integer()?.to_string(),
            'x' => format!("{:x}", integer()?),
            'X' => format!("{:X}", integer()?),
            'o' => format!("{:o}", integer()?),
            'b' => format!("{:b}", integer()?),
            'f' => format!("{:.*}", self.precision.unwrap_or(6), number()?),
            't' => value.to_bool().ok_or(Stop::Wrong)?.to_string(),
            's' => text_of(value)?.to_string(),
            'q' => serde_json::Value::from(text_of(value)?.as_str()).to_string(),
            'v' if value.is_whole() => {
                value.to_text().map_or_else(|| value.to_json().to_string(), |text| text.to_string())
            }
            _ => return Err(Stop::Unknown),
        };
        Ok(self.padded(plain, verb))
    }

    fn padded(&self, mut text: String, verb: char) -> String {
        if verb == 's'
            && let Some(precision) = self.precision
        {
            text = text.chars().take(precision).collect();
        }
        let is_number = matches!(verb, 'd' | 'f' | 'x' | 'X' | 'o' | 'b');
        if self.is_signed && is_number && !text.starts_with('-') {
            text.insert(0, '+');
        }
        let missing = self.width.saturating_sub(text.chars().count());
        if self.is_left {
            text + &" ".repeat(missing)
        } else if self.is_zero && is_number {
            let sign = usize::from(text.starts_with(['-', '+']));
            let (sign, digits) = text.split_at(sign);
            format!("{sign}{}{digits}", "0".repeat(missing))
        } else {
            " ".repeat(missing) + &text
        }
    }
}

fn format(text: &str, values: &[Value]) -> Outcome {
    let mut out = String::new();
    let (mut rest, mut values) = (text, values.iter());
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let (verb, name, length) = Verb::read(after)?;
        rest = &after[length..];
        if name == '%' {
            out.push('%');
            continue;
        }
        match values.next() {
            Some(Value::Unknown) => return Err(Stop::Unknown),
            Some(value) => out.push_str(&verb.written(name, value)?),
            None => return Err(Stop::Wrong),
        }
    }
    out.push_str(rest);
    if values.next().is_some() { Err(Stop::Wrong) } else { Ok(Value::text(out)) }
}
