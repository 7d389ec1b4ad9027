//! Every node knows its place: what a person would see underlined.

use coldstart_yaml::{Document, Limits, Node, ScalarKind, Value, parse, parse_leaving_out};
use source::{FileId, Position, Source, Span};

const FILE: FileId = FileId(7);

fn documents(text: &str) -> Vec<Document> {
    parse(FILE, text, Limits::default())
}

fn root(text: &str) -> Node {
    let mut documents = documents(text);
    assert_eq!(documents.len(), 1, "{documents:?}");
    let document = documents.remove(0);
    assert_eq!(document.problems, []);
    document.root.expect("a document")
}

/// Line and column, and the text underlined.
fn place(text: &str, span: Span) -> (u32, u32, String) {
    assert_eq!(span.file, FILE);
    let source = Source::new(text.to_owned());
    let Position { line, column } = source.position(span);
    (line, column, source.slice(span).expect("a range of the text").to_owned())
}

fn place_of(text: &str, path: &[&str]) -> (u32, u32, String) {
    place(text, root(text).at(path).expect("a value").span)
}

#[test]
fn plain_and_quoted_scalars() {
    let text = "a: one\nb:\n  c: 'it''s'\n  d: \"q\\n\"\n";
    assert_eq!(place_of(text, &["a"]), (1, 4, "one".to_owned()));
    assert_eq!(place_of(text, &["b", "c"]), (3, 6, "'it''s'".to_owned()));
    assert_eq!(place_of(text, &["b", "d"]), (4, 6, "\"q\\n\"".to_owned()));
    assert_eq!(root(text).text_at(&["b", "c"]), Some("it's"));
    let root = root(text);
    assert_eq!(place(text, root.as_map().unwrap().entry("b").unwrap().key_span), (2, 1, "b".to_owned()));
}

#[test]
fn columns_count_characters_and_bytes_are_bytes() {
    let text = "ä: ö\n\"ü\": {é: à}\n";
    let root = root(text);
    let inner = root.at(&["ü", "é"]).unwrap().span;
    assert_eq!(place(text, inner), (2, 10, "à".to_owned()));
    assert_eq!((inner.start, inner.end), (18, 20));
}

#[test]
fn block_containers_end_with_their_last_child() {
    let text = "a:\n  b: 1\n  c: [2, 3]\n\n# after\nd: 4\n";
    assert_eq!(place_of(text, &["a"]), (2, 3, "b: 1\n  c: [2, 3]".to_owned()));
    let text = "a:\n  - x: 1\n    y: 2\n  - z\nb: 1\n";
    assert_eq!(place_of(text, &["a"]).2, "- x: 1\n    y: 2\n  - z");
    assert_eq!(place(text, root(text).items_at("a")[0].span), (2, 5, "x: 1\n    y: 2".to_owned()));
}

#[test]
fn flow_containers_end_with_their_bracket() {
    let text = "a: {b: [1,\n  2], c: 3}\n";
    assert_eq!(place_of(text, &["a"]), (1, 4, "{b: [1,\n  2], c: 3}".to_owned()));
    assert_eq!(place_of(text, &["a", "b"]), (1, 8, "[1,\n  2]".to_owned()));
}

#[test]
fn scalars_of_many_lines() {
    let text = "a: one\n  two\nb: |\n  x\n   y\nc: >-\n  f\n  g\n\n  h\nd: 1\n";
    assert_eq!(place_of(text, &["a"]), (1, 4, "one\n  two".to_owned()));
    assert_eq!(root(text).text_at(&["a"]), Some("one two"));
    assert_eq!(root(text).text_at(&["b"]), Some("x\n y\n"));
    assert_eq!(root(text).text_at(&["c"]), Some("f g\nh"));
    let (line, column, slice) = place_of(text, &["b"]);
    assert_eq!((line, column), (3, 4));
    assert!(slice.starts_with("|\n  x\n   y"), "{slice:?}");
}

/// kustomize puts a blank line before `more` (its writer's doing, not YAML's).
#[test]
fn lines_further_in_are_not_folded() {
    assert_eq!(root("e: >-\n  a\n    more\n  b\n").text_at(&["e"]), Some("a\n  more\nb"));
}

#[test]
fn anchors_may_be_redefined_and_aliases_show_what_they_stand_for() {
    let text = "a: &x 1\nb: *x\nc: &x 2\nd: *x\n";
    let root = root(text);
    assert_eq!((root.text_at(&["b"]), root.text_at(&["d"])), (Some("1"), Some("2")));
    assert_eq!(place(text, root.get("b").unwrap().span), (1, 7, "1".to_owned()));
    assert_eq!(place(text, root.get("d").unwrap().span), (3, 7, "2".to_owned()));
}

/// As kustomize reads it, here and below; YAML 1.2 wants more of a line than to be as far in as its key.
#[test]
fn further_lines_of_a_quoted_text_need_not_be_indented() {
    let text = "a:\n  one: 'first\n  second\n\n  third'\n  two: \"x\n  y\"\n  three: z\n";
    let root = root(text);
    let value = |key: &str| root.at(&["a", key]).unwrap();
    assert_eq!(value("one").text(), Some("first second\nthird"));
    assert_eq!(value("two").text(), Some("x y"));
    assert_eq!(place(text, value("three").span), (8, 10, "z".to_owned()));
    assert_eq!(place(text, value("two").span), (6, 8, "\"x\n  y\"".to_owned()));
}

#[test]
fn the_sign_of_a_block_may_stand_below_its_key() {
    let text = "data:\n  file:\n  |\n    one\n    two\n  other: x\n";
    let root = root(text);
    assert_eq!(root.text_at(&["data", "file"]), Some("one\ntwo\n"));
    assert_eq!(place(text, root.at(&["data", "other"]).unwrap().span), (6, 10, "x".to_owned()));
    // What can't be read either way is told as it was.
    let bad = documents("a:\n  b\n  c: [\n");
    assert!(bad[0].root.is_none() && bad[0].problems.len() == 1, "{bad:?}");
}

/// As kustomize reads it; by YAML 1.2 the colon would be part of the alias's name.
#[test]
fn an_alias_may_be_a_key_with_the_colon_right_behind_it() {
    let text =
        "name: &app web\ndata:\n  *app: 1\n  list:\n    - *app:\n        x: 2\n  note: |\n    *other: *app: stay\n";
    let root = root(text);
    assert_eq!(root.text_at(&["data", "web"]), Some("1"));
    assert_eq!(root.at(&["data", "list"]).unwrap().as_seq().unwrap()[0].text_at(&["web", "x"]), Some("2"));
    assert_eq!(root.text_at(&["data", "note"]), Some("*other: *app: stay\n"));
    assert_eq!(place(text, root.at(&["data", "web"]).unwrap().span), (3, 9, "1".to_owned()));
    let inner = root.at(&["data", "list"]).unwrap().as_seq().unwrap()[0].at(&["web", "x"]).unwrap().span;
    assert_eq!(place(text, inner), (6, 12, "2".to_owned()));
    let unknown = documents("a: &x 1\nb:\n  *y: 1\n");
    assert!(unknown[0].root.is_none(), "an alias of nothing stays a problem");
}

#[test]
fn merge_keys_give_way_to_own_keys_and_keep_the_place_they_came_from() {
    let text = "one: &one {k: 1, l: 1}\ntwo: &two {k: 2, m: 2}\nall:\n  <<: [*one, *two]\n  l: own\n";
    let root = root(text);
    let all = root.get("all").unwrap();
    let values = ["k", "l", "m"].map(|key| all.text_at(&[key]).unwrap());
    assert_eq!(values, ["1", "own", "2"]);
    assert_eq!(place(text, all.get("m").unwrap().span), (2, 21, "2".to_owned()));
    assert_eq!(all.as_map().unwrap().len(), 3);
}

#[test]
fn one_bad_document_is_one_problem_and_the_rest_is_read() {
    let text = "a: 1\n---\nb: [1\nc: }\n---\nd: 2\n---\ne: *nothing\n---\nf: 3\n";
    let documents = documents(text);
    let read: Vec<bool> = documents.iter().map(|document| document.root.is_some()).collect();
    assert_eq!(read, [true, false, true, false, true]);
    let problems: Vec<usize> = documents.iter().map(|document| document.problems.len()).collect();
    assert_eq!(problems, [0, 1, 0, 1, 0]);
    assert_eq!(place(text, documents[1].problems[0].span).0, 4);
    assert_eq!(documents[3].problems[0].message, "alias `*nothing` names no anchor of this document");
    assert_eq!(place(text, documents[3].problems[0].span), (8, 4, "*nothing".to_owned()));
    assert_eq!(documents[4].root.as_ref().unwrap().text_at(&["f"]), Some("3"));
}

#[test]
fn windows_lines_and_a_byte_order_mark() {
    let text = "\u{feff}a: 1\r\nb: |\r\n  x\r\n  y\r\nc: 'u\r\n  v'\r\n";
    let root = root(text);
    assert_eq!(root.text_at(&["a"]), Some("1"));
    assert_eq!(root.text_at(&["b"]), Some("x\ny\n"));
    assert_eq!(root.text_at(&["c"]), Some("u v"));
    let span = root.get("c").unwrap().span;
    assert_eq!(&text[span.start as usize..span.end as usize], "'u\r\n  v'");
    assert_eq!(Source::new(text.to_owned()).position(span), Position { line: 5, column: 4 });
}

#[test]
fn a_tab_indents_nothing_and_separates_well() {
    assert_eq!(root("a:\t1\nb: 2\t# x\n").text_at(&["a"]), Some("1"));
    let documents = documents("a:\n\tb: 1\n");
    assert!(documents[0].root.is_none());
    assert_eq!(documents[0].problems[0].span.start, 4);
}

#[test]
fn kinds_follow_the_core_schema() {
    let kind = |text: &str| root(&format!("a: {text}\n")).get("a").unwrap().as_scalar().unwrap().kind;
    for (text, expected) in [
        ("1", ScalarKind::Int),
        ("\"1\"", ScalarKind::Str),
        ("0x1f", ScalarKind::Int),
        ("1.5", ScalarKind::Float),
        ("yes", ScalarKind::Str),
        ("true", ScalarKind::Bool),
        ("~", ScalarKind::Null),
        ("!!str 1", ScalarKind::Str),
        ("1.2.3", ScalarKind::Str),
    ] {
        assert_eq!(kind(text), expected, "{text}");
    }
}

#[test]
fn values_are_equal_wherever_they_stand() {
    assert_eq!(root("a: 1\nb: [x]\n"), root("b:\n- x\na: 1\n"));
    assert!(matches!(root("[]").value, Value::Seq(_)));
}

#[test]
fn what_is_left_out_leaves_every_other_place_where_it_is() {
    let text = "a:\n  gone:\n    x: 1\n    y: [2]\n  b: |\n    block\nc: {d: 1}\n---\ngone:\n  z: 1\n# said\ne: ü\n";
    let range = |from: &str, to: &str| text.find(from).unwrap()..text.find(to).unwrap();
    let ranges = [range("    x: 1", "  b: |"), range("  z: 1", "# said")];
    let documents = parse_leaving_out(FILE, text, &ranges, Limits::default());
    let whole = parse(FILE, text, Limits::default());
    assert_eq!(documents.len(), 2);
    let (first, second) = (documents[0].root.as_ref().unwrap(), documents[1].root.as_ref().unwrap());
    assert!(first.at(&["a", "gone"]).unwrap().is_null());
    for path in [vec!["a"], vec!["a", "b"], vec!["c"], vec!["c", "d"]] {
        assert_eq!(first.at(&path).unwrap().span, whole[0].root.as_ref().unwrap().at(&path).unwrap().span, "{path:?}");
    }
    assert_eq!(place(text, second.at(&["e"]).unwrap().span), (12, 4, "ü".to_owned()));
    let broken = text.replace("e: ü", "e: [ü");
    let problem = &parse_leaving_out(FILE, &broken, &ranges, Limits::default())[1].problems[0];
    assert_eq!(problem.span, parse(FILE, &broken, Limits::default())[1].problems[0].span);
}
