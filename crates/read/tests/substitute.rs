//! Substitution held against what `github.com/fluxcd/pkg/envsubst` 1.8.0 answers, and against what an object looks like
//! after `sigs.k8s.io/yaml` 1.6.0 wrote it, it was substituted, and was read again.

use coldstart_read::substitute::{
    SubstituteError, is_disabled, is_variable_name, substitute, substitute_node, variable_value,
};
use proptest::prelude::*;
use source::FileId;
use yaml::{Budget, EcoString, Node, ScalarKind, Value};

const VARIABLES: &[(&str, &str)] = &[
    ("name", "anna"),
    ("EMPTY", ""),
    ("N", "42"),
    ("path", "/var/lib/data/file.tar.gz"),
    ("url", "https://db.example.com:5432/main"),
    ("mixed", "HelloWorld"),
    ("uml", "äöü"),
    ("nested", "${name}"),
    ("dollar", "$"),
    ("word", "name"),
    ("dots", "a.b.c.d"),
    ("slash", "a/b/c"),
    ("sharp", "straße"),
    ("star", "a*b"),
    ("brace", "}"),
    ("off", "2"),
    ("class", "abc123"),
    ("back", "a\\b"),
    ("long", "aaaa"),
    ("esc", "a[b"),
    ("T", "true"),
    ("F", "false"),
    ("YES", "yes"),
    ("ON", "Off"),
    ("NULL", "null"),
    ("FLOAT", "1.5"),
    ("OCT", "0755"),
    ("HEX", "0x1f"),
    ("QUOTED", "\"7\""),
    ("SQUOTED", "'true'"),
    ("LIST", "[a, 1]"),
    ("MAP", "{a: 1}"),
    ("quote", "\""),
    ("SPACE", " 5 "),
    ("EXP", "1e3"),
    ("VERSION", "1.2.3"),
    ("DATE", "2024-01-02"),
    ("TILDE", "~"),
];

/// What the original makes of a text: refused, or the result, and whether its strict mode finds every variable.
const TEXTS: &str = r#"
defined	""	""
defined	"plain text"	"plain text"
defined	"$name"	"$name"
defined	"$name ${name}"	"$name anna"
defined	"${name}"	"anna"
undefined	"${missing}"	""
defined	"${name}${name}"	"annaanna"
defined	"a${name}b"	"aannab"
defined	"$${name}"	"${name}"
defined	"$$${name}"	"$anna"
defined	"$$$${name}"	"$${name}"
defined	"$$"	"$"
defined	"$"	"$"
defined	"a$"	"a$"
defined	"$ {name}"	"$ {name}"
error	"${}"
error	"${"
error	"${name"
error	"${name }"
error	"${ name}"
error	"${na-me}"
error	"${na.me}"
undefined	"${1}"	""
undefined	"${_x}"	""
undefined	"${ünï}"	""
error	"${name-d}"
error	"${missing-d}"
defined	"${missing:-d}"	"d"
defined	"${name:-d}"	"anna"
defined	"${EMPTY:-d}"	"d"
defined	"${missing:-}"	""
defined	"${missing=d}"	"d"
defined	"${EMPTY=d}"	"d"
defined	"${name=d}"	"anna"
defined	"${missing=}"	""
defined	"${missing:=d}"	"d"
defined	"${EMPTY:=d}"	"d"
defined	"${missing:=d e f}"	"d e f"
defined	"${missing:=http://x:80/y}"	"http://x:80/y"
defined	"${missing:?need it}"	"need it"
defined	"${missing:?}"	""
defined	"${name:?need it}"	"anna"
defined	"${missing:+d}"	"d"
defined	"${name:+d}"	"anna"
error	"${name+d}"
defined	"${missing:-${name}}"	"anna"
undefined	"${missing:-${other}}"	""
undefined	"${name:-${other}}"	"anna"
defined	"${missing:-${other:-deep}}"	"deep"
defined	"${missing:-a${name}b}"	"aannab"
defined	"${missing:-a${name}b${N}c}"	"aannab42c"
defined	"${missing:-{x}}"	"{x}"
defined	"${missing:-$name}"	"$name"
defined	"${missing:-$$}"	"$$"
defined	"${missing:-$${name}}"	"$anna"
defined	"${missing:-\\/}"	"\\/"
defined	"${missing:=a=b}"	"a=b"
defined	"${missing:-\"q\"}"	"\"q\""
defined	"${missing:-'}"	"'"
defined	"${missing:- }"	" "
defined	"${#name}"	"4"
undefined	"${#missing}"	"0"
defined	"${#EMPTY}"	"0"
defined	"${#uml}"	"6"
error	"${#}"
error	"${#name:-d}"
error	"${##name}"
error	"${#na me}"
defined	"${name:0}"	"anna"
defined	"${name:1}"	"nna"
defined	"${name:1:2}"	"nn"
defined	"${name:9}"	""
defined	"${name:9:1}"	""
defined	"${name:0:9}"	"anna"
defined	"${name:-1}"	"anna"
defined	"${name: -1}"	"anna"
defined	"${name:x}"	"anna"
defined	"${name:1:x}"	"anna"
error	"${name::2}"
error	"${name:}"
error	"${name:1:}"
defined	"${name:1::2}"	"nn"
defined	"${name:+1:2}"	"anna"
defined	"${name:0:-1}"	"ann"
defined	"${name:${off}}"	"na"
defined	"${name:${off}:1}"	"n"
defined	"${name:1:${off}}"	"nn"
error	"${name:1${off}}"
undefined	"${missing:1}"	""
defined	"${uml:2:2}"	"ö"
defined	"${name:01}"	"nna"
defined	"${name:99999999999999999999}"	"anna"
defined	"${name:0:0}"	""
defined	"${name^}"	"Anna"
defined	"${name^^}"	"ANNA"
defined	"${mixed,}"	"helloWorld"
defined	"${mixed,,}"	"helloworld"
error	"${name^^^}"
defined	"${name,^}"	"anna"
defined	"${name^,}"	"anna"
error	"${name,,^}"
error	"${name^a}"
undefined	"${missing^^}"	""
defined	"${uml^}"	"Äöü"
defined	"${uml^^}"	"ÄÖÜ"
defined	"${sharp^^}"	"STRAßE"
defined	"${EMPTY^}"	""
defined	"${EMPTY^^}"	""
defined	"${path#/}"	"var/lib/data/file.tar.gz"
defined	"${path#/*/}"	"lib/data/file.tar.gz"
defined	"${path##/*/}"	"file.tar.gz"
defined	"${path##*/}"	"file.tar.gz"
defined	"${path#*/}"	"var/lib/data/file.tar.gz"
defined	"${path%.*}"	"/var/lib/data/file.tar"
defined	"${path%%.*}"	"/var/lib/data/file"
defined	"${path%/*}"	"/var/lib/data"
defined	"${path%%/*}"	""
defined	"${path%.gz}"	"/var/lib/data/file.tar"
defined	"${path%gz.}"	"/var/lib/data/file.tar.gz"
defined	"${path#nope}"	"/var/lib/data/file.tar.gz"
error	"${path#}"
error	"${path##}"
defined	"${path###}"	"/var/lib/data/file.tar.gz"
error	"${path%}"
error	"${path%%}"
defined	"${path%%%}"	"/var/lib/data/file.tar.gz"
defined	"${path#/}${path%.gz}"	"var/lib/data/file.tar.gz/var/lib/data/file.tar"
undefined	"${missing#a}"	""
defined	"${dots#*.}"	"b.c.d"
defined	"${dots##*.}"	"d"
defined	"${dots%.*}"	"a.b.c"
defined	"${dots%%.*}"	"a"
defined	"${dots#?}"	".b.c.d"
defined	"${dots%?}"	"a.b.c."
defined	"${class#[a-c]}"	"bc123"
defined	"${class##[a-c]*}"	""
defined	"${class#[^a]}"	"abc123"
defined	"${class#[^x]}"	"bc123"
defined	"${class%[0-9]}"	"abc123"
defined	"${class%]9-0[}"	"abc12"
defined	"${class#[}"	"abc123"
defined	"${class#[a}"	"abc123"
defined	"${class#[]a]}"	"abc123"
defined	"${class#[-a]}"	"abc123"
defined	"${class#\\\\a}"	"abc123"
defined	"${class#\\a}"	"bc123"
defined	"${back#a\\\\}"	"b"
defined	"${star#a\\*}"	"b"
defined	"${star%\\*b}"	"a*b"
defined	"${star%*\\b}"	"a"
defined	"${uml#?}"	"\ufffdöü"
defined	"${uml%?}"	"äö�"
defined	"${uml#ä}"	"öü"
defined	"${long#a*}"	"aaa"
defined	"${long##a*}"	""
defined	"${long#*a}"	"aaa"
defined	"${long##*a}"	""
defined	"${long%a*}"	"aaa"
defined	"${long#aa}"	"aa"
defined	"${path#*lib*data}"	"/file.tar.gz"
defined	"${path##*a*}"	""
defined	"${url#*://}"	"db.example.com:5432/main"
defined	"${url##*:}"	"5432/main"
defined	"${url%%:*}"	"https"
defined	"${url%:*}"	"https://db.example.com"
defined	"${url#https://*.}"	"example.com:5432/main"
defined	"${path#${slash}}"	"/var/lib/data/file.tar.gz"
error	"${path#/v${name}}"
defined	"${name/n/N}"	"aNna"
defined	"${name//n/N}"	"aNNa"
defined	"${name/n/}"	"ana"
defined	"${name//n/}"	"aa"
error	"${name/n}"
error	"${name//n}"
defined	"${name/#an/AN}"	"ANna"
defined	"${name/#na/AN}"	"anna"
defined	"${name/%na/NA}"	"anNA"
defined	"${name/%an/NA}"	"anna"
defined	"${name/#an/}"	"anna"
defined	"${name/%na/}"	"anna"
defined	"${name/x/y}"	"anna"
defined	"${slash/\\//-}"	"a-b/c"
defined	"${slash//\\//-}"	"a-b-c"
error	"${slash////-}"
defined	"${name/n//x}"	"axna"
defined	"${name/n/\\\\}"	"a\\na"
defined	"${name/n/\\/}"	"a/na"
defined	"${name/n/a\\/b}"	"aa/bna"
defined	"${name/n/$$}"	"a$na"
defined	"${name/n/${N}}"	"a42na"
defined	"${name/${word}/x}"	"anna"
defined	"${name//${EMPTY}/x}"	"xaxnxnxax"
defined	"${name/${EMPTY}/x}"	"xanna"
defined	"${name/#${EMPTY}/x}"	"xanna"
defined	"${name/%${EMPTY}/x}"	"annax"
error	"${name/a${N}/x}"
error	"${name/n/x${N}}"
error	"${name/}"
error	"${name//}"
error	"${name///}"
undefined	"${missing/a/b}"	""
defined	"${back/\\\\/x}"	"axb"
defined	"${name/n/}} tail"	"ana} tail"
defined	"${name/*/x}"	"anna"
defined	"${nested}"	"${name}"
defined	"${dollar}{name}"	"${name}"
defined	"${brace}"	"}"
defined	"a } b { c"	"a } b { c"
defined	"{{ .Values.x }}"	"{{ .Values.x }}"
defined	"${name}\n${missing:-two}\nthree"	"anna\ntwo\nthree"
defined	"\t${name}"	"\tanna"
defined	"${name}é"	"annaé"
defined	"é${name}"	"éanna"
defined	"${name:-}}"	"anna}"
defined	"$(name)"	"$(name)"
defined	"$name$"	"$name$"
defined	"$${"	"${"
defined	"$$$"	"$$"
defined	"$${name} ${name}"	"${name} anna"
defined	"\\${name}"	"\\anna"
defined	"\\\\${name}"	"\\\\anna"
defined	"${name/\\n/x}"	"anna"
defined	"${name:1:2:3}"	"anna"
defined	"a\u0000b${name}"	"a"
defined	"${missing:-a\nb}"	"a\nb"
undefined	"${name:-${missing:-${other}}}"	"anna"
undefined	"${missing^}${other,,}${third#x}"	""
defined	"${long%%*}"	""
defined	"${long##*}"	""
defined	"${long#*}"	"aaa"
defined	"${EMPTY#*}"	""
defined	"${name#a}${name%a}"	"nnaann"
error	"${name:=${}}"
defined	"${missing:-${name^^}-${path##*/}}"	"ANNA-file.tar.gz"
"#;

/// What an object's value becomes, as JSON.
const OBJECTS: &str = r##"
"${N}"	{"v":42}
"x${N}"	{"v":"x42"}
"${name}"	{"v":"anna"}
"${EMPTY}"	{"v":null}
"*.${name}"	{"v":"*.anna"}
"- ${N}"	{"v":"- 42"}
"${N}\n"	{"v":"42\n"}
" ${N}"	{"v":" 42"}
"${N} "	{"v":"42 "}
"a: ${N}"	{"v":"a: 42"}
"${T}"	{"v":true}
"${F}"	{"v":false}
"${YES}"	{"v":true}
"${ON}"	{"v":false}
"${NULL}"	{"v":null}
"${FLOAT}"	{"v":1.5}
"${OCT}"	{"v":493}
"${HEX}"	{"v":31}
"${QUOTED}"	{"v":"7"}
"${SQUOTED}"	{"v":"true"}
"${LIST}"	{"v":["a",1]}
"${MAP}"	{"v":{"a":1}}
"'${N}'"	{"v":"'42'"}
"\"${N}\""	{"v":"\"42\""}
"${N}:${N}"	{"v":"42:42"}
"${N}.${N}"	{"v":42.42}
"-${N}"	{"v":-42}
"${quote}${N}${quote}"	{"v":"42"}
"[${N}]"	{"v":"[42]"}
"{a: ${N}}"	{"v":"{a: 42}"}
"${N}#x"	{"v":"42#x"}
"${SPACE}"	{"v":5}
"pa$$word"	{"v":"pa$word"}
"@${N}"	{"v":"@42"}
"%${N}"	{"v":"%42"}
"!${N}"	{"v":"!42"}
"?${N}"	{"v":"?42"}
":${N}"	{"v":":42"}
"~${N}"	{"v":"~42"}
"${N}~"	{"v":"42~"}
"${N}:"	{"v":"42:"}
"${EXP}"	{"v":1000}
"$${N}"	{"v":"${N}"}
"line\n${N}"	{"v":"line\n42"}
"${VERSION}"	{"v":"1.2.3"}
"${DATE}"	{"v":"2024-01-02"}
"`${N}"	{"v":"`42"}
"|${N}"	{"v":"|42"}
"\u003e${N}"	{"v":"\u003e42"}
"#${N}"	{"v":"#42"}
",${N}"	{"v":",42"}
"=${N}"	{"v":"=42"}
"ä${N}"	{"v":"ä42"}
"${N}e${N}"	{"v":4.2e+43}
"0${N}"	{"v":34}
"0x${N}"	{"v":66}
"+${N}"	{"v":42}
"1_${N}"	{"v":142}
"${TILDE}"	{"v":null}
"##;

fn lookup(name: &str) -> Option<EcoString> {
    VARIABLES.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into())
}

fn rows(table: &str) -> impl Iterator<Item = &str> {
    table.lines().filter(|line| !line.is_empty())
}

fn object(text: &str) -> Node {
    yaml::parse_value(FileId(7), text).expect("a fixture that can be read")
}

fn json(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Map(map) => map.iter().map(|entry| (entry.key.to_string(), json(&entry.value))).collect(),
        Value::Seq(items) => items.iter().map(json).collect(),
        Value::Scalar(scalar) => match scalar.kind {
            ScalarKind::Null => serde_json::Value::Null,
            ScalarKind::Bool => (scalar.text == "true").into(),
            ScalarKind::Int => scalar.text.parse::<i64>().expect("an integer").into(),
            ScalarKind::Float => scalar.text.parse::<f64>().expect("a float").into(),
            ScalarKind::Str => scalar.text.as_str().into(),
        },
    }
}

#[test]
fn texts_come_out_as_the_original_writes_them() {
    let mut wrong = Vec::new();
    for row in rows(TEXTS) {
        let mut cells = row.split('\t');
        let verdict = cells.next().unwrap();
        let input: String = serde_json::from_str(cells.next().unwrap()).unwrap();
        let result = substitute(&input, &lookup);
        let right = match (&result, cells.next()) {
            (Err(_), None) => verdict == "error",
            (Ok(done), Some(expected)) => {
                serde_json::from_str::<String>(expected).unwrap() == done.text
                    && (verdict == "defined") == done.undefined.is_empty()
            }
            _ => false,
        };
        if !right {
            wrong.push(format!("{row}\n    got {result:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows(TEXTS).count() > 200);
}

#[test]
fn values_of_an_object_are_read_again_after_substitution() {
    let mut wrong = Vec::new();
    for row in rows(OBJECTS) {
        let (input, expected) = row.split_once('\t').unwrap();
        let mut node = object(&format!("v: {input}"));
        substitute_node(&mut node, &lookup, &mut Budget::of_build()).unwrap();
        let expected: serde_json::Value = serde_json::from_str(expected).unwrap();
        let (got, number) = (json(&node), |value: &serde_json::Value| value["v"].as_f64());
        if got != expected && (number(&got).is_none() || number(&got) != number(&expected)) {
            wrong.push(format!("{input}: wanted {expected}, got {got}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn undefined_variables_are_named_where_they_stand() {
    let text = "metadata:\n  name: ${APP}\n  labels:\n    ${KEY}: \"${APP}-${name}\"\n";
    let mut node = object(text);
    let undefined = substitute_node(&mut node, &lookup, &mut Budget::of_build()).unwrap();
    let found: Vec<(&str, &str)> = undefined
        .iter()
        .map(|undefined| (undefined.name.as_str(), &text[undefined.span.start as usize..undefined.span.end as usize]))
        .collect();
    assert_eq!(found, [("APP", "${APP}"), ("KEY", "${KEY}"), ("APP", "\"${APP}-${name}\"")]);
    assert!(node.at(&["metadata", "name"]).unwrap().is_null());
    assert_eq!(node.text_at(&["metadata", "labels", ""]), Some("-anna"));
}

#[test]
fn a_default_that_is_not_needed_is_looked_up_all_the_same() {
    assert_eq!(substitute("${name:-${other}}", &lookup).unwrap().undefined, ["other"]);
}

#[test]
fn keys_and_lists_keep_their_places() {
    let text = "spec:\n  ${name}: [\"${N}\", b]\n  hosts: ${LIST}\n";
    let mut node = object(text);
    substitute_node(&mut node, &lookup, &mut Budget::of_build()).unwrap();
    assert_eq!(node, object("spec:\n  anna: [42, b]\n  hosts: [a, 1]\n"));
    let hosts = node.at(&["spec", "hosts"]).unwrap();
    let slice = |node: &Node| &text[node.span.start as usize..node.span.end as usize];
    assert_eq!(slice(hosts), "${LIST}");
    assert_eq!(slice(&hosts.as_seq().unwrap()[1]), "${LIST}");
}

#[test]
fn a_value_that_would_break_out_stays_text() {
    for value in ["a: b", "one\ntwo", "x # y", "[open", "\"open", "{a: b"] {
        let mut node = object("v: ${X}");
        substitute_node(&mut node, &|_| Some(value.into()), &mut Budget::of_build()).unwrap();
        assert_eq!(node.text_at(&["v"]), Some(value), "{value}");
    }
}

#[test]
fn an_object_without_variables_is_not_copied() {
    let mut node = object("a: {b: [1, $x, 'y']}");
    let before = node.as_map().unwrap().as_slice().as_ptr();
    let twin = node.clone();
    assert_eq!(substitute_node(&mut node, &lookup, &mut Budget::of_build()).unwrap(), []);
    assert_eq!(node.as_map().unwrap().as_slice().as_ptr(), before);
    assert_eq!(node, twin);
}

#[test]
fn what_flux_refuses_is_refused_with_its_place() {
    let text = "a: fine\nb: ${name-d}\n";
    let error = substitute_node(&mut object(text), &lookup, &mut Budget::of_build()).unwrap_err();
    assert_eq!(error.to_string(), "missing closing brace");
    assert_eq!(&text[error.span.start as usize..error.span.end as usize], "${name-d}");
}

#[test]
fn a_label_or_an_annotation_switches_it_off() {
    let switch = "kustomize.toolkit.fluxcd.io/substitute";
    assert!(is_disabled(&object(&format!("metadata: {{annotations: {{{switch}: disabled}}}}"))));
    assert!(is_disabled(&object(&format!("metadata: {{labels: {{{switch}: disabled}}}}"))));
    assert!(!is_disabled(&object(&format!("metadata: {{labels: {{{switch}: enabled}}}}"))));
    assert!(!is_disabled(&object("kind: Secret")));
}

#[test]
fn nesting_and_growth_have_limits() {
    let deep = format!("{}x{}", "${a:-".repeat(5_000), "}".repeat(5_000));
    assert!(substitute(&deep, &lookup).is_err());
    let large = |_: &str| Some(EcoString::from("x".repeat(1024 * 1024)));
    assert!(substitute(&"${a}".repeat(64), &large).is_err());
    assert!(substitute("${a//x/${a}}", &large).is_err());
}

/// Matching every prefix anew would take the cube of these lengths.
#[test]
fn long_text_is_trimmed_by_long_patterns_or_refused() {
    let lookup = |name: &str| match name {
        "a" => Some(EcoString::from("a".repeat(4096))),
        "pattern" => Some(format!("*{}b", "a".repeat(512)).into()),
        "nettap" => Some(format!("b{}*", "a".repeat(512)).into()),
        "stars" => Some(format!("{}b", "*a".repeat(500)).into()),
        "longer" => Some(format!("*{}b", "a".repeat(2048)).into()),
        "umlauts" => Some("ä".repeat(4096).into()),
        "characters" => Some(format!("*{}b", "?".repeat(512)).into()),
        "classes" => Some(format!("*{}", "*[a-y]".repeat(512)).into()),
        "large" => Some(format!("{}/b/c", "a".repeat(1024 * 1024)).into()),
        _ => None,
    };
    for text in ["${a#${pattern}}", "${a##${pattern}}", "${a%${nettap}}", "${a%%${nettap}}", "${a#${stars}}"] {
        assert_eq!(substitute(text, &lookup).unwrap().text, "a".repeat(4096), "{text}");
    }
    assert_eq!(substitute("${large##*/}${large%%/*}${large#*/*/}", &lookup).unwrap().text.len(), 1024 * 1024 + 2);
    for text in ["${a#${longer}}", "${umlauts#${characters}}", "${umlauts##${classes}}", "${a#${pattern}}${a#x}"] {
        let text = text.repeat(8);
        assert_eq!(substitute(&text, &lookup), Err(SubstituteError::TooSlow), "{text}");
    }
}

#[test]
fn names_and_values_follow_the_controller() {
    assert!(["a", "_A9", "cluster_name"].iter().all(|name| is_variable_name(name)));
    assert!(["", "9a", "a-b", "a.b", "ä"].iter().all(|name| !is_variable_name(name)));
    assert_eq!(variable_value("one\ntwo\n"), "onetwo");
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "([a-z${}:/#%^,=?+*\\\\\\[\\]0-9 ä-]|\\$\\{){0,60}", value in "\\PC{0,20}") {
        let _ = substitute(&text, &|name| (name != "x").then(|| value.as_str().into()));
        let mut node = Node::string(text, source::Span::GENERATED);
        let _ = substitute_node(&mut node, &|_| Some(value.as_str().into()), &mut Budget::of_build());
    }
}
