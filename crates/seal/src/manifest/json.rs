//! A YAML or JSON structure as exact JSON.
//!
//! Configuration inside of a Secret passes through several hands that each quote in their own way; JSON on one line,
//! with every string quoted, survives all of them.

use yaml::{Node, ScalarKind, Value};

use crate::SecretText;

/// Compact JSON with keys in the order of the file.
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
            ScalarKind::Int | ScalarKind::Float => number(&scalar.text, out),
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

/// A number digit by digit as it stands, if JSON knows such a number; else its value; else the text.
fn number(text: &str, out: &mut SecretText) {
    if serde_json::from_str::<serde_json::Number>(text).is_ok() {
        return out.push(text);
    }
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.trim_start_matches('+')), |digits| ("-", digits));
    let radix =
        |prefix: &str, radix| digits.strip_prefix(prefix).and_then(|rest| u64::from_str_radix(rest, radix).ok());
    let whole = radix("0x", 16).or_else(|| radix("0o", 8)).or_else(|| digits.parse().ok());
    if let Some(whole) = whole {
        return out.push(&format!("{sign}{whole}"));
    }
    match digits.parse::<f64>() {
        Ok(value) if value.is_finite() => out.push(&format!("{sign}{value}")),
        _ => string(text, out),
    }
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
    use yaml::{FileId, parse_value};

    use super::to_json;

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
        assert_eq!(json("[0x1F, 0o17, +3, -0x10, 007, .5, .inf, 1e3]"), r#"[31,15,3,-16,7,0.5,".inf",1e3]"#);
        assert_eq!(json(r#""a\"b\\c\nd\te\u0001f""#), r#""a\"b\\c\nd\te\u0001f""#);
        for text in ["{}", "[]", "a", "\"\"", "{a: [1, {b: ~}]}"] {
            serde_json::from_str::<serde_json::Value>(&json(text)).unwrap();
        }
    }
}
