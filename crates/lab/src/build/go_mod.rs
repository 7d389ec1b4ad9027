//! Just enough of go.mod to know what a tool's module asks for.

/// The modules that a go.mod requires, with their versions. Go's own tools write one of two forms: `require M V` or a block.
pub(super) fn requirements(go_mod: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut in_block = false;
    for line in go_mod.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        match line.strip_prefix("require") {
            Some(rest) if rest.trim() == "(" => in_block = true,
            Some(rest) => found.extend(pair(rest)),
            None if line == ")" => in_block = false,
            None if in_block => found.extend(pair(line)),
            None => {}
        }
    }
    found
}

fn pair(text: &str) -> Option<(&str, &str)> {
    let mut words = text.split_whitespace();
    Some((words.next()?, words.next()?))
}

#[cfg(test)]
mod tests {
    use super::requirements;

    #[test]
    fn both_forms_of_require_are_read() {
        let text = "module lab\n\ngo 1.25.0\n\nrequire a.example/one v1.0.0 // why\n\nrequire (\n\tb.example/two v2.0.0\n)\n\nreplace c => d v3.0.0\n";
        assert_eq!(requirements(text), [("a.example/one", "v1.0.0"), ("b.example/two", "v2.0.0")]);
    }
}
