//! A YAML or JSON structure as exact JSON.
//!
//! Configuration inside of a Secret passes through several hands that each quote in their own way; JSON on one line,
//! with every string quoted, survives all of them.

use source::Span;
use yaml::{Node, ScalarKind, Value};

use crate::SecretText;

/// Compact JSON with keys in the order of the file. A number that [`inexact`] finds becomes text.
pub fn to_json(node: &Node) -> SecretText {
    let mut out = SecretText::default();
    write(node, &mut out);
    out
}

fn write(node: &Node, out: &mut SecretText) {
    match &node.value {
        Value::Scalar(scalar) => match scalar.kind {
            ScalarKind::Null => out.push("null"),
            ScalarKind::Bool => out.push(&scalar.text.to_ascii_lowercase()),
            ScalarKind::Int | ScalarKind::Float => match number(&scalar.text) {
                Ok(number) => out.push(&number),
                Err(_) => string(&scalar.text, out),
            },
            ScalarKind::Str => string(&scalar.text, out),
        },
        Value::Seq(items) => {
            out.push("[");
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(",");
                }
                write(item, out);
            }
            out.push("]");
        }
        Value::Map(map) => {
            out.push("{");
            for (index, entry) in map.iter().enumerate() {
                if index > 0 {
                    out.push(",");
                }
                string(&entry.key, out);
                out.push(":");
                write(&entry.value, out);
            }
            out.push("}");
        }
    }
}

/// The first number that JSON does not carry as it stands, and why; as text it would be.
pub fn inexact(node: &Node) -> Option<(Span, Inexact)> {
    match &node.value {
        Value::Scalar(scalar) if matches!(scalar.kind, ScalarKind::Int | ScalarKind::Float) => {
            number(&scalar.text).err().map(|why| (node.span, why))
        }
        Value::Scalar(_) => None,
        Value::Seq(items) => items.iter().find_map(inexact),
        Value::Map(map) => map.iter().find_map(|entry| inexact(&entry.value)),
    }
}

/// Why a number can't be carried exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Inexact {
    #[error("a number of more than 64 bits")]
    TooLarge,
    #[error("a number that begins with a zero: some readers take it for octal, others for text")]
    LeadingZero,
    #[error("a number that JSON does not have")]
    NotJson,
    #[error("a number that is zero to most readers")]
    Underflow,
}

/// A number of YAML as JSON writes it, digit by digit.
fn number(text: &str) -> Result<String, Inexact> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.trim_start_matches('+')), |digits| ("-", digits));
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(rest) = digits.strip_prefix(prefix) {
            let whole = u64::from_str_radix(rest, radix).map_err(|_| Inexact::TooLarge)?;
            return Ok(format!("{sign}{whole}"));
        }
    }
    if digits.starts_with('0') && digits.as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
        return Err(Inexact::LeadingZero);
    }
    let value = digits.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or(Inexact::NotJson)?;
    let mantissa = digits.split(['e', 'E']).next().unwrap_or_default();
    if value == 0.0 && mantissa.contains(|c: char| matches!(c, '1'..='9')) {
        return Err(Inexact::Underflow);
    }
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(whole, rest)| (whole, Some(rest)));
    let zero = |part: &str| if part.is_empty() { "0".to_owned() } else { part.to_owned() };
    let fraction = fraction.map(|part| format!(".{}", zero(part))).unwrap_or_default();
    Ok(format!("{sign}{}{fraction}{}", zero(whole), &digits[mantissa.len()..]))
}

fn string(text: &str, out: &mut SecretText) {
    out.push("\"");
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '\\' || c < ' ') {
        let (before, after) = rest.split_at(at);
        out.push(before);
        let mut characters = after.chars();
        match characters.next() {
            Some('"') => out.push("\\\""),
            Some('\\') => out.push("\\\\"),
            Some('\n') => out.push("\\n"),
            Some('\r') => out.push("\\r"),
            Some('\t') => out.push("\\t"),
            Some(other) => out.push(&format!("\\u{:04x}", u32::from(other))),
            None => {}
        }
        rest = characters.as_str();
    }
    out.push(rest);
    out.push("\"");
}

#[cfg(test)]
mod tests {
    use source::FileId;
    use yaml::parse_value;

    use super::{inexact, to_json};

    fn json(text: &str) -> String {
        to_json(&parse_value(FileId::GENERATED, text).unwrap()).expose().to_owned()
    }

    #[test]
    fn strings_stay_strings_and_numbers_numbers() {
        let yaml = "clusters:\n  - url: https://pve:8006/api2/json\n    insecure: false\n    token_id: 'csi@pve!csi'\n    \
                    port: 8006\n    version: \"1.0\"\n    ratio: 1.50\n    region: null\n";
        assert_eq!(
            json(yaml),
            r#"{"clusters":[{"url":"https://pve:8006/api2/json","insecure":false,"token_id":"csi@pve!csi","port":8006,"version":"1.0","ratio":1.50,"region":null}]}"#
        );
    }

    #[test]
    fn odd_numbers_and_characters_are_json_too() {
        assert_eq!(
            json(
                "[0x1F, 0o17, +3, -0x10, 007, .5, 5., -.5e+3, .inf, 1e3, 0, 0.0, 0e0, 123456789012345678901234567890]"
            ),
            r#"[31,15,3,-16,"007",0.5,5.0,-0.5e+3,".inf",1e3,0,0.0,0e0,123456789012345678901234567890]"#
        );
        assert_eq!(json(r#""a\"b\\c\nd\te\u0001f""#), r#""a\"b\\c\nd\te\u0001f""#);
        for text in ["{}", "[]", "a", "\"\"", "{a: [1, {b: ~}]}", "[5., .5, +1.5, -0x1]"] {
            serde_json::from_str::<serde_json::Value>(&json(text)).unwrap();
        }
    }

    #[test]
    fn numbers_that_json_does_not_carry_are_found() {
        let found = |text: &str| inexact(&parse_value(FileId::GENERATED, text).unwrap()).map(|(span, _)| span.start);
        for text in
            ["01", "0123", "08", "-01", "00.5", "1e400", "-1e400", "1e-400", "0xFFFFFFFFFFFFFFFFF", ".inf", ".nan"]
        {
            assert_eq!(found(&format!("a: [x, {text}]")), Some(7), "{text}");
            assert_eq!(found(&format!("a: [x, '{text}']")), None, "{text}");
        }
        for text in ["0", "10", "0.5", "-0.0", "1e40", "0x1F", "0o17", "12345678901234567890", "null", "true", "a01"] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
