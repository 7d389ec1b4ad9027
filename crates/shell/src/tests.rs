//! Texts, and the trees of them.

use proptest::prelude::*;

use crate::{CommandKind, FaultKind, Joint, List, PartKind, RedirectKind, Script, Simple, Word, parse, parse_within};

fn clean(text: &str) -> Script {
    let script = parse(text);
    assert_eq!(script.faults, [], "{text}");
    script
}

/// The only command of a text.
fn only(text: &str) -> CommandKind {
    let script = clean(text);
    let [statement] = &script.body.statements[..] else { panic!("{:?}", script.body) };
    let [command] = &statement.first.commands[..] else { panic!("{:?}", statement.first) };
    command.kind.clone()
}

fn simple(text: &str) -> Simple {
    match only(text) {
        CommandKind::Simple(simple) => simple,
        other => panic!("{other:?}"),
    }
}

fn words(text: &str) -> Vec<String> {
    simple(text).words.iter().filter_map(Word::literal).collect()
}

#[test]
fn words_are_without_their_quotes() {
    assert_eq!(words("echo a 'b c' \"d e\" f\\ g 'h'\"i\"j"), ["echo", "a", "b c", "d e", "f g", "hij"]);
    assert_eq!(words("echo a \\\n  b # not this"), ["echo", "a", "b"]);
    assert_eq!(words("echo a#b $'c'"), ["echo", "a#b", "c"]);
    assert_eq!(
        words("kubectl wait node --for=condition=Ready\n"),
        ["kubectl", "wait", "node", "--for=condition=Ready"]
    );
    assert_eq!(words(r#"echo $"text""#), ["echo", "text"]);
}

#[test]
fn every_part_knows_its_place() {
    let text = "x=1 kubectl get \"${NODE:-none}\" | grep -q Ready && echo done\n";
    let script = clean(text);
    let statement = &script.body.statements[0];
    let place = |at: crate::At| &text[at.start..at.end];
    assert_eq!(place(statement.at), text.trim_end());
    assert_eq!(place(statement.first.at), "x=1 kubectl get \"${NODE:-none}\" | grep -q Ready");
    assert_eq!(place(statement.first.commands[1].at), "grep -q Ready");
    let CommandKind::Simple(simple) = &statement.first.commands[0].kind else { panic!() };
    assert_eq!(place(simple.assignments[0].at), "x=1");
    assert_eq!(place(simple.words[2].at), "\"${NODE:-none}\"");
    let PartKind::Double(inner) = &simple.words[2].parts[0].kind else { panic!() };
    let PartKind::Parameter(parameter) = &inner[0].kind else { panic!() };
    assert_eq!((parameter.name.as_str(), parameter.rest.len()), ("NODE", 1));
}

#[test]
fn lists_are_joined_as_they_are_written() {
    let script = clean("a && b || c; ! d | e &\nf");
    let [first, second, third] = &script.body.statements[..] else { panic!("{:?}", script.body) };
    assert_eq!(first.rest.iter().map(|(joint, _)| *joint).collect::<Vec<_>>(), [Joint::And, Joint::Or]);
    assert!(second.first.is_negated && second.is_background && second.first.commands.len() == 2);
    assert!(!third.is_background);
}

#[test]
fn compound_commands_hold_lists() {
    let text = "if a; then b; elif c; then d; else e; fi";
    assert!(matches!(only(text), CommandKind::If { branches, otherwise: Some(_) } if branches.len() == 2));
    assert!(matches!(only("until a\ndo\n b\ndone"), CommandKind::Loop { is_until: true, .. }));
    assert!(
        matches!(only("for x in 1 2; do a; done"), CommandKind::For { words: Some(words), .. } if words.len() == 2)
    );
    assert!(matches!(only("for x; do a; done"), CommandKind::For { words: None, .. }));
    assert!(
        matches!(only("for ((i=0; i<3; i++)); do a; done"), CommandKind::Count { header, .. } if header == "i=0; i<3; i++")
    );
    assert!(
        matches!(only("case $x in a|b) c ;; (d) ;; *) e\nesac"), CommandKind::Case { arms, .. } if arms.len() == 3)
    );
    assert!(matches!(only("f() { a; }"), CommandKind::Function { name, .. } if name == "f"));
    assert!(matches!(only("function f-g { a; }"), CommandKind::Function { name, .. } if name == "f-g"));
    assert!(matches!(only("(a; b)"), CommandKind::Subshell(List { statements }) if statements.len() == 2));
    assert!(matches!(only("((a > 1))"), CommandKind::Arithmetic(text) if text == "a > 1"));
    assert!(
        matches!(only("[[ $a == *x* && ( -n b || $c =~ ^(d|e)+$ ) ]]"), CommandKind::Test(words) if words.len() == 12)
    );
}

#[test]
fn substitutions_are_read_wherever_they_stand() {
    for text in
        ["echo $(a)", "echo \"$(a \"$(b)\")\"", "echo `a`", "x=$(a)", "echo ${x:-$(a)}", "cat <(a)", "echo \"`a`\""]
    {
        let simple = simple(text);
        let values = simple.assignments.iter().map(|it| match &it.value {
            crate::Value::Word(word) => word.clone(),
            crate::Value::Array(_) => Word::default(),
        });
        let found = values
            .chain(simple.words.clone())
            .any(|word| format!("{word:?}").contains("Substitution") || format!("{word:?}").contains("Process"));
        assert!(found, "{text}");
    }
    assert!(
        matches!(&simple("echo $((1 + (2)))").words[1].parts[0].kind, PartKind::Arithmetic(text) if text == "1 + (2)")
    );
    assert!(matches!(&simple("echo $( (a) )").words[1].parts[0].kind, PartKind::Substitution(_)));
    assert!(matches!(&simple("echo $((a) | b)").words[1].parts[0].kind, PartKind::Substitution(_)));
}

#[test]
fn documents_are_found_after_their_lines() {
    let text = "cat <<EOF | kubectl apply -f - <<-'END'\na: $x\nEOF\n\tb\n\tEND\necho after\n";
    let script = clean(text);
    let documents: Vec<(&str, bool)> = script
        .documents
        .iter()
        .map(|document| (&text[document.at.start..document.at.end], document.is_verbatim))
        .collect();
    assert_eq!(documents, [("a: $x\n", false), ("\tb\n", true)]);
    assert_eq!(script.body.statements.len(), 2);
    let redirect = &script.body.statements[0].first.commands[1].redirects[0];
    assert_eq!(redirect.kind, RedirectKind::Document(Some(1)));
    let inner = clean("x=$(cat <<EOF\n)\nEOF\n)\necho\n");
    assert_eq!((inner.documents.len(), inner.body.statements.len()), (1, 2));
}

#[test]
fn redirections_are_no_words() {
    let script = clean("a 2>&1 &>/dev/null >> b {fd}<c <<< \"d\" 3>&-");
    let command = &script.body.statements[0].first.commands[0];
    assert_eq!(command.redirects.len(), 6);
    assert!(matches!(&command.kind, CommandKind::Simple(simple) if simple.words.len() == 1));
}

#[test]
fn arrays_and_declarations_are_assignments() {
    let array = simple("local -r names=(a \"b c\"\n  # not this\n  d)");
    assert!(matches!(&array.assignments[0].value, crate::Value::Array(words) if words.len() == 3));
    assert_eq!(simple("levels[info]=1").assignments[0].name, "levels");
    assert!(simple("pids+=($!)").assignments[0].appends);
    assert!(simple("echo a=b").assignments.is_empty());
}

#[test]
fn what_is_not_understood_takes_only_itself_away() {
    let script = parse("a\nif true; then\nfi )\nb\n");
    assert_eq!(script.faults.len(), 1, "{:?}", script.faults);
    assert_eq!(script.body.statements.len(), 2);
    let script = parse("echo 'open\nkubectl get nodes\n");
    assert_eq!(script.faults.iter().map(|fault| fault.kind).collect::<Vec<_>>(), [FaultKind::Unclosed]);
    assert_eq!(script.body.statements.len(), 1);
    assert!(parse("for in a; do\n").faults.len() == 1);
}

#[test]
fn a_part_of_a_text_keeps_its_places() {
    let text = "timeout 5 bash -c 'until a; do b; done'";
    let at = crate::At::new(text.find("until").unwrap(), text.len() - 1);
    let script = parse_within(text, at);
    assert_eq!(script.faults, []);
    assert_eq!(script.body.statements[0].at, at);
    assert_eq!(parse_within("é", crate::At::new(1, 2)).faults.len(), 1);
}

#[test]
fn bombs_end_soon() {
    const TIMES: usize = 60_000;
    let bombs = [
        "(",
        "$(",
        "{ ",
        "if true; then ",
        "$((",
        "((",
        "`",
        "'",
        "\"$(",
        "${x:-",
        "case x in a) ",
        "f() ",
        "<<a ",
        "[[ (",
        "a=(",
        "! ",
        "while a; do ",
        "\"",
        "$((a) ",
    ];
    for bomb in bombs {
        let script = parse(&bomb.repeat(TIMES.min(crate::BYTES_MAX / bomb.len())));
        assert!(!script.faults.is_empty() || matches!(bomb, "! " | "`" | "'" | "\"" | "<<a "), "{bomb}");
    }
    for (open, close) in [("( ", " )"), ("$( ", " )"), ("{ ", "; }"), ("if a; then ", "; fi"), ("\"$(", ")\"")] {
        let text = format!("{}a{}\n", open.repeat(2000), close.repeat(2000));
        assert!(parse(&text).faults.iter().any(|fault| fault.kind == FaultKind::TooDeep), "{open}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in "\\PC{0,200}") {
        parse(&text);
    }

    #[test]
    fn any_mix_of_signs_is_read(signs in prop::collection::vec(prop::sample::select(vec![
        "if ", "then ", "fi", "do ", "done", "while ", "for ", "in ", "case ", "esac", ";;", ";", "\n", "&&", "||", "|", "&",
        "(", ")", "{", "}", "[[", "]]", "((", "))", "$(", "${", "$((", "`", "'", "\"", "\\", "<<", "<<-", "<", ">", "EOF", "a", " ",
        "=", "$", "#", "!", "é", "function ", "x=(", "-",
    ]), 0..60)) {
        let text = signs.concat();
        let script = parse(&text);
        for statement in &script.body.statements {
            prop_assert!(text.get(statement.at.start..statement.at.end).is_some());
        }
        for fault in &script.faults {
            prop_assert!(fault.at.end <= text.len());
        }
    }
}
