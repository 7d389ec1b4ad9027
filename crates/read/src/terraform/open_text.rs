//! Texts of which only parts are known: a name with a variable of the one who runs Terraform in it.

use hcl_edit::expr::{Expression, FuncCall, TraversalOperator};
use hcl_edit::template::{Element, Template};
use repository::path;

use super::instance::{Each, Instance};

/// Stands for a part that is not known. No text that is written holds it.
pub const GAP: char = '\u{e000}';
/// Locals that stand for locals.
const DEPTH_MAX: usize = 8;

/// What an expression is worth as a text, with gaps for what is not known.
pub(crate) fn open_text(instance: &Instance<'_>, expression: &Expression, each: &Each) -> String {
    let_open(instance, expression, each, 0)
}

fn let_open(instance: &Instance<'_>, expression: &Expression, each: &Each, depth: usize) -> String {
    if let Some(text) = instance.value(expression, each).to_text() {
        return text.to_string();
    }
    if depth >= DEPTH_MAX {
        return GAP.to_string();
    }
    match expression {
        Expression::StringTemplate(template) => elements(instance, template, each, depth),
        Expression::HeredocTemplate(heredoc) => elements(instance, &heredoc.template, each, depth),
        Expression::Parenthesis(inner) => let_open(instance, inner.inner(), each, depth + 1),
        Expression::FuncCall(call) => file(instance, call, each, depth),
        _ => match local(instance, expression) {
            Some(named) => let_open(instance, named, &Each::default(), depth + 1),
            None => GAP.to_string(),
        },
    }
}

fn elements(instance: &Instance<'_>, template: &Template, each: &Each, depth: usize) -> String {
    let mut text = String::new();
    for element in template {
        match element {
            Element::Literal(literal) => text.push_str(literal),
            Element::Interpolation(inner) => text.push_str(&let_open(instance, &inner.expr, each, depth + 1)),
            Element::Directive(_) => text.push(GAP),
        }
    }
    text
}

/// The expression behind `local.name`.
fn local<'i>(instance: &Instance<'i>, expression: &Expression) -> Option<&'i Expression> {
    let Expression::Traversal(traversal) = expression else { return None };
    let Expression::Variable(name) = &traversal.expr else { return None };
    let [only] = traversal.operators.as_slice() else { return None };
    let TraversalOperator::GetAttr(named) = only.value() else { return None };
    let written = (name.as_str() == "local").then(|| instance.module.locals.get(named.as_str())).flatten()?;
    Some(&written.value)
}

/// A file that a template is made of, whatever its variables are.
fn file(instance: &Instance<'_>, call: &FuncCall, each: &Each, depth: usize) -> String {
    let is_file = matches!(call.name.name.as_str(), "templatefile" | "file");
    let from = call.args.get(0).filter(|_| is_file);
    let place = from.map(|from| let_open(instance, from, each, depth + 1));
    let text = place.and_then(|place| instance.file(&place).map(str::to_owned));
    text.map_or_else(|| GAP.to_string(), |text| without_actions(&text))
}

/// A template with gaps instead of what it puts in.
fn without_actions(text: &str) -> String {
    let mut open = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        open.push_str(&rest[..start]);
        open.push(GAP);
        rest = rest[start..].find('}').map_or("", |end| &rest[start + end + 1..]);
    }
    open.push_str(rest);
    open
}

/// A name or a path with one `*` for all between its first and its last gap; nothing where that says too little.
pub(crate) fn pattern(text: &str) -> Option<String> {
    const KNOWN_CHARACTERS_MIN: usize = 4;
    let (Some(first), Some(last)) = (text.find(GAP), text.rfind(GAP)) else {
        return (!text.is_empty()).then(|| text.to_owned());
    };
    let (before, after) = (&text[..first], &text[last + GAP.len_utf8()..]);
    (before.len() + after.len() >= KNOWN_CHARACTERS_MIN).then(|| format!("{before}*{after}"))
}

/// The same of a file: how its name ends says nothing.
pub(crate) fn file_pattern(text: &str) -> Option<String> {
    let name = text.rsplit('/').next().unwrap_or(text);
    let ending = name.rfind('.').map_or("", |at| &name[at..]);
    let stem = text.strip_suffix(ending)?;
    Some(format!("{}{ending}", pattern(stem)?))
}

/// A path from where Terraform is run, as one of the repository.
pub(crate) fn in_repository(root: &str, written: &str) -> Option<String> {
    let is_outside = written.starts_with(['/', '~', GAP]);
    (!is_outside).then(|| path::join(root, written)).flatten()
}

#[cfg(test)]
mod tests {
    use super::{GAP, file_pattern, pattern, without_actions};

    #[test]
    fn a_name_with_gaps_is_a_pattern_if_enough_of_it_is_known() {
        assert_eq!(pattern("settings").as_deref(), Some("settings"));
        assert_eq!(pattern(&format!("eks-{GAP}-vars")).as_deref(), Some("eks-*-vars"));
        assert_eq!(pattern(&format!("clusters/{GAP}/{GAP}/vars.env")).as_deref(), Some("clusters/*/vars.env"));
        for unknown in [GAP.to_string(), format!("a-{GAP}"), String::new()] {
            assert_eq!(pattern(&unknown), None, "{unknown}");
        }
    }

    #[test]
    fn the_ending_of_a_file_is_no_pattern() {
        assert_eq!(file_pattern(&format!("{GAP}.yaml")), None);
        assert_eq!(file_pattern(&format!("clusters/{GAP}.yaml")).as_deref(), Some("clusters/*.yaml"));
        assert_eq!(file_pattern("clusters/one/vars.env").as_deref(), Some("clusters/one/vars.env"));
    }

    #[test]
    fn what_a_template_puts_in_is_a_gap() {
        assert_eq!(without_actions("name: ${name}\nkind: Secret"), format!("name: {GAP}\nkind: Secret"));
        assert_eq!(without_actions("a ${b"), format!("a {GAP}"));
    }
}
