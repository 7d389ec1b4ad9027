//! `coldstart.yaml`: what it changes, what it says of mistakes, and that its schema and its reader agree.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

mod story;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use story::{Tree, broken, check, run, sound};

fn with(settings: &str) -> Tree {
    broken().with(&[("coldstart.yaml", settings)])
}

/// What is said of a mistake, by place and words.
#[track_caller]
fn complains(settings: &str, words: &str) {
    check(&with(settings), &[]).exits(2).says(words).says("next: fix that file");
}

#[test]
fn a_rule_can_be_switched_off_or_weigh_less() {
    check(&with(""), &[]).exits(1).says("error[dependency-cycle]");
    check(&with("check:\n  rules: {dependency-cycle: off}\n"), &[]).exits(0).says("1 left out by coldstart.yaml");
    check(&with("check:\n  rules: {dependency-cycle: warning}\n"), &[]).exits(0).says("warning[dependency-cycle]");
    let quiet = check(&with("check:\n  rules: {dependency-cycle: info}\n"), &[]).exits(0);
    assert!(!quiet.stdout.contains("[dependency-cycle]"), "{}", quiet.stdout);
}

#[test]
fn paths_can_be_left_out_as_in_a_gitignore() {
    check(&with("check:\n  ignore-paths: [clusters/home/broken.yaml]\n"), &[]).exits(0);
    check(&with("check:\n  ignore-paths: ['clusters/*/broken.*', '!clusters/home/']\n"), &[]).exits(0);
    check(&with("check:\n  ignore-paths: [apps/]\n"), &[]).exits(1);
}

#[test]
fn the_command_line_has_the_last_word_on_severity() {
    let tree = with("check:\n  min-severity: pedantic\n  rules: {dependency-cycle: info}\n");
    check(&tree, &[]).exits(0).says("info[dependency-cycle]");
    let ran = check(&tree, &["--min-severity", "error"]).exits(0);
    assert!(!ran.stdout.contains("[dependency-cycle]"), "{}", ran.stdout);
    check(&with("check:\n  pedantic: true\n  rules: {dependency-cycle: pedantic}\n"), &[]).says("[dependency-cycle]");
}

#[test]
fn a_misspelt_key_is_understood() {
    complains("upp:\n  workers: [w1]\n", "did you mean `up`?");
    complains("check:\n  rule: {}\n", "did you mean `rules`?");
}

#[test]
fn mistakes_are_met_with_their_line_and_column() {
    complains(
        "check:\n  rules:\n    slow-rety: off\n",
        "coldstart.yaml:3:5: no rule is called `slow-rety`: did you mean `slow-retry`?",
    );
    complains("check:\n  rules:\n    slow-retry: loud\n", "coldstart.yaml:3:17: `loud` is not a severity");
    complains("check:\n  min-severity: low\n", "coldstart.yaml:2:17: `low` is not a severity");
    complains("check: {rulez: {}}\n", "coldstart.yaml:1:9: unknown field `rulez`");
    complains(
        "chek: {}\n",
        "coldstart.yaml:1:1: unknown field `chek`, expected `catalogue`, `check`, `entry-points`, `seal`",
    );
    complains("check: [a]\n", "coldstart.yaml:1:8: `check` must be a mapping");
    complains("check:\n  ignore-paths: apps\n", "coldstart.yaml:2:17: `ignore-paths` must be a list");
    complains("check:\n  pedantic: true\n  min-severity: info\n", "coldstart.yaml:3:3: ");
    complains("check: {\n", "coldstart.yaml:");
    // Steps are called after machines, directories and addresses.
    complains("up:\n  control-planes: [a, b]\n  workers: [c, a]\n", "coldstart.yaml:3:16: two machines are called `a`");
    complains("up: {control-planes: [etcd]}\n", "coldstart.yaml:1:23: no machine can be called `etcd`");
    complains(
        "up: {control-planes: [a], workers: [secrets]}\n",
        "coldstart.yaml:1:37: no machine can be called `secrets`",
    );
    complains("up: {workers: [w1]}\n", "coldstart.yaml:1:16: `workers` need `control-planes`");
    complains("up: {keys: [a/b, ./a/b/]}\n", "coldstart.yaml:1:18: the directory `a/b` is named twice");
    let twice = "up:\n  keys: [a]\n  configuration:\n    - directory: a\n";
    complains(twice, "coldstart.yaml:4:18: the directory `a` is named twice");
    complains("up: {outside: [https://a, https://a]}\n", "coldstart.yaml:1:27: `outside` names `https://a` twice");
    let addition = "catalogue:\n  additions:\n    - name: a\n      about: b\n      layer: cellar\n";
    complains(addition, "coldstart.yaml:5:14: unknown variant `cellar`");
    let provider = "catalogue:\n  providers:\n    - name: a\n      about: b\n      keeps: [x]\n";
    complains(provider, "coldstart.yaml:5:7: unknown field `keeps`");
}

#[test]
fn a_file_that_can_not_be_read_is_not_passed_over() {
    let commands = [vec!["check"], vec!["graph"], vec!["plan"], vec!["simulate"], vec!["seal", "verify", "--path"]];
    let complain = |tree: &Tree, words: &str| {
        for command in &commands {
            let ran = run(story::command(command).arg(tree.path())).exits(2).says(words);
            assert!(ran.stderr.contains("next: fix that file, then coldstart"), "{command:?}: {}", ran.stderr);
        }
    };
    let tree = sound();
    tree.write("coldstart.yaml", b"check: {min-severity: \xff\xfe}\n");
    complain(&tree, "coldstart.yaml is not UTF-8 text");
    tree.write("coldstart.yaml", b"check: {}\n\0");
    complain(&tree, "coldstart.yaml is a binary file");
    std::fs::remove_file(tree.path().join("coldstart.yaml")).unwrap();
    std::fs::create_dir(tree.path().join("coldstart.yaml")).unwrap();
    complain(&tree, "coldstart.yaml is a directory");
    tree.write("coldstart.yaml/inner.yaml", b"a: b\n");
    complain(&tree, "coldstart.yaml is a directory");
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_not_passed_over() {
    let tree = sound();
    std::os::unix::fs::symlink("elsewhere.yaml", tree.path().join("coldstart.yaml")).unwrap();
    check(&tree, &[]).exits(2).says("coldstart.yaml is a symbolic link to a file that does not exist");
    tree.write("elsewhere.yaml", b"check: {min-severity: low}\n");
    check(&tree, &[]).exits(2).says("`low` is not a severity");
}

fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/coldstart.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// What the reader says of settings: nothing if it takes them.
fn refused(settings: &Value) -> Option<String> {
    let tree = sound().with(&[("coldstart.yaml", &settings.to_string())]);
    let ran = check(&tree, &[]);
    assert!(matches!(ran.code, 0 | 2), "{ran:?}");
    (ran.code == 2).then_some(ran.stderr)
}

/// Settings with every key there is.
fn everything() -> Value {
    let when = json!([{"value": "a.b", "equals": "c", "default": true, "not": true, "and": [{"value": "d"}]}]);
    let rules: serde_json::Map<String, Value> =
        check::rules::all().iter().map(|rule| (rule.id.to_owned(), json!("off"))).collect();
    json!({
        "check": {
            "min-severity": "info", "pedantic": false, "rules": rules, "ignore-paths": ["old/"],
            "baseline": "baseline.json",
        },
        "entry-points": ["clusters/home"],
        "seal": {
            "store": "age:keys.age", "backup": "dir:keys", "certificate": "sealing.crt", "recipients": ["age1abc"],
            "controller": {"namespace": "kube-system", "name": "sealed-secrets"},
            "generate": [{
                "path": "a.yaml", "name": "a", "namespace": "b", "scope": "strict", "type": "Opaque",
                "values": [{"key": "c", "kind": "password", "length": 20, "template": "x", "public-key": "d"}],
            }],
        },
        "catalogue": {"additions": [{
            "name": "ours", "about": "Ours.", "layer": "database", "charts": ["ours"], "images": ["ours/ours"],
            "startup-seconds": 30,
            "resource": {"kind": "a.example/A", "name-at": "a.name", "name": "{release}", "when": when},
            "crds": [{"kinds": ["a.example/*"], "via": "templates", "when": when}],
            "webhooks": [{"covers": ["a.example/*"], "fails-closed": true, "when": when}],
            "classes": [{"kind": "StorageClass", "name": "ours", "name-at": "a.name", "when": when, "item-when": when, "default-when": when}],
            "gives": [{"capability": "device", "name": "gpu", "when": when}],
            "makes": [{"for-kind": "a.example/A", "secrets": ["s"], "config-maps": ["c"], "services": ["v"], "objects": ["Pod:p"], "devices": ["d"], "node-labels": ["l"]}],
            "services": ["{release}"],
            "workloads": [{"name": "{fullname}", "kind": "StatefulSet", "answers-webhooks": true, "when": when}],
            "renders": [{"kind": "a.example/A", "name": "{namespace}"}],
            "healthy": ["Deployment:{release}"],
            "needs": [{"capability": "cluster-dns", "name": "x", "phase": "run", "soft": true, "when": when, "why": "w"}],
            "sources": ["https://example.com"],
        }], "providers": [provider()]},
    })
}

/// An entry about a provider of Terraform with every key there is.
fn provider() -> Value {
    let switch = json!({"argument": "wait", "equals": "false"});
    let need = json!({"what": "vault", "when": "plan", "unless": switch, "only-if": switch});
    json!({
        "name": "ours", "about": "Ours.", "addresses": ["ours/ours"], "needs": [need], "configures": [need],
        "wants-values": {"versions": ">= 1.0", "unless": switch, "source": "https://example.com"},
        "retries-seconds": 30,
        "types": [{
            "names": ["ours_*"], "data": true, "versions": "< 2.0", "needs": [need], "retries-seconds": 30,
            "proves": [{"what": "object", "of": "one", "strength": "exists", "unless": switch, "only-if": switch}],
            "waits": {"argument": "wait", "default": true, "implied-by": ["atomic"], "timeout-argument": "timeout", "timeout-seconds": 30},
            "keeps": ["token"],
            "source": "https://example.com",
        }],
        "sources": ["https://example.com"],
    })
}

/// The schema's own words at a place in the settings: references are followed, any item of a list is the first.
fn at<'a>(schema: &'a Value, pointer: &[String]) -> &'a Value {
    let follow = |mut node: &'a Value| {
        while let Some(reference) = node["$ref"].as_str() {
            node = schema.pointer(reference.trim_start_matches('#')).unwrap();
        }
        node
    };
    pointer.iter().fold(follow(schema), |node, step| {
        follow(if step.parse::<usize>().is_ok() { &node["items"] } else { &node["properties"][step] })
    })
}

/// Every place in a value, itself first.
fn places(value: &Value, here: &[String], found: &mut Vec<Vec<String>>) {
    found.push(here.to_vec());
    let step = |name: String| here.iter().cloned().chain([name]).collect::<Vec<_>>();
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| places(value, &step(key.clone()), found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| places(value, &step(index.to_string()), found));
        }
        _ => {}
    }
}

fn json_pointer(place: &[String]) -> String {
    place.iter().fold(String::new(), |pointer, step| pointer + "/" + step)
}

#[test]
fn schema_and_reader_know_the_same_keys() {
    let (schema, everything) = (schema(), everything());
    let valid = jsonschema::validator_for(&schema).unwrap();
    assert!(valid.is_valid(&everything), "{:?}", valid.validate(&everything));
    // A baseline that is not there is another matter.
    let mut readable = everything.clone();
    readable["check"].as_object_mut().unwrap().remove("baseline");
    assert_eq!(refused(&readable), None);
    let mut all = Vec::new();
    places(&everything, &[], &mut all);
    let objects = all.iter().filter(|place| everything.pointer(&json_pointer(place)).unwrap().is_object());
    let mut seen = 0;
    for place in objects.filter(|place| place.last().is_none_or(|last| last != "rules")) {
        seen += 1;
        // The same place and nothing else, with a key that nobody knows.
        let stranger = place.iter().rev().fold(json!({"zzz": 1}), |inner, step| match step.parse::<usize>() {
            Ok(_) => json!([inner]),
            Err(_) => json!({ step.as_str(): inner }),
        });
        assert!(!valid.is_valid(&stranger), "the schema takes {stranger}");
        let said = refused(&stranger).unwrap_or_else(|| panic!("the reader takes {stranger}"));
        let expected = said.split_once("expected ").unwrap_or_else(|| panic!("{said}")).1.lines().next().unwrap();
        let read: BTreeSet<&str> = expected.split('`').skip(1).step_by(2).collect();
        let written: BTreeSet<&str> =
            at(&schema, place)["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let tried: BTreeSet<&str> =
            everything.pointer(&json_pointer(place)).unwrap().as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(read, written, "at {place:?}");
        assert!(tried.is_subset(&written), "at {place:?}");
    }
    assert!(seen > 10, "only {seen} places were tried");
}

#[test]
fn schema_and_reader_refuse_the_same() {
    let (schema, mut everything) = (schema(), everything());
    everything["check"].as_object_mut().unwrap().remove("baseline");
    let valid = jsonschema::validator_for(&schema).unwrap();
    let mut all = Vec::new();
    places(&everything, &[], &mut all);
    for place in all.iter().filter(|place| !place.is_empty() && !place.contains(&"rules".to_owned())) {
        let pointer = json_pointer(place);
        // A mapping where something else belongs, and a list where a mapping does.
        let mut wrong = everything.clone();
        let target = wrong.pointer_mut(&pointer).unwrap();
        *target = if target.is_object() { json!(["x"]) } else { json!({"x": {"y": 1}}) };
        let refused_by = (!valid.is_valid(&wrong), refused(&wrong).is_some());
        assert_eq!(refused_by, (true, true), "(schema, reader) of another type at {pointer}");
        // Without it: whoever requires it, both do.
        let (parent, last) = pointer.rsplit_once('/').unwrap();
        let mut without = everything.clone();
        if let Some(map) = without.pointer_mut(parent).unwrap().as_object_mut() {
            map.remove(last);
            assert_eq!(valid.is_valid(&without), refused(&without).is_none(), "without {pointer}");
        }
        if let Some(words) = at(&schema, place)["enum"].as_array() {
            for word in words {
                let mut other = everything.clone();
                *other.pointer_mut(&pointer).unwrap() = word.clone();
                assert_eq!(refused(&other), None, "{word} at {pointer}");
            }
        }
    }
}

#[test]
fn every_kind_that_can_be_made_can_be_declared() {
    let known: Vec<&str> = seal::generated::Kind::ALL.iter().map(|(word, _)| *word).collect();
    assert_eq!(known, settings::GENERATED_KINDS);
    let schema = schema();
    assert_eq!(schema["definitions"]["generated-value"]["properties"]["kind"]["enum"], json!(known));
}

#[test]
fn the_schema_names_every_rule() {
    let schema = schema();
    let written = schema.pointer("/definitions/rules/properties").unwrap().as_object().unwrap();
    let rules: BTreeSet<&str> = check::rules::all().iter().map(|rule| rule.id).collect();
    assert_eq!(written.keys().map(String::as_str).collect::<BTreeSet<_>>(), rules, "run `cargo xtask docs`");
    for level in ["off", "error", "warning", "info", "pedantic"] {
        let settings = json!({"check": {"rules": {"slow-retry": level}}});
        assert_eq!(refused(&settings), None);
        assert!(jsonschema::is_valid(&schema, &settings));
    }
    let loud = json!({"check": {"rules": {"slow-retry": "loud"}}});
    assert!(refused(&loud).is_some() && !jsonschema::is_valid(&schema, &loud));
}
