//! `coldstart seal generate`: values that belong together, and the formats that other programs read.

mod sealing;
mod story;

use sealing::Desk;

fn declare(desk: &Desk, values: &str) {
    let head = "seal:\n  generate:\n    - path: app.yaml\n      name: app\n      namespace: db\n      values:\n";
    desk.write("coldstart.yaml", &format!("{head}{values}"));
}

#[test]
fn a_key_that_is_declared_twice_is_refused_where_it_stands() {
    let desk = Desk::with_key("k1");
    let refused = |values: &str, said: &str| {
        declare(&desk, values);
        desk.seal(&["generate", "--yes"]).exits(2).says(said).says("next: mend that file");
        assert!(!desk.path("app.yaml").exists());
    };
    refused(
        "        - {key: id, kind: age, public-key: id}\n",
        "coldstart.yaml:7:44: `id` of Secret `app` is declared already, in line 7",
    );
    refused(
        "        - {key: id, kind: age, public-key: pub}\n        - {key: pub, kind: hex}\n",
        "coldstart.yaml:8:17: `pub` of Secret `app` is declared already, in line 7",
    );
    refused(
        "        - {key: a, kind: hex}\n        - {key: a, kind: password}\n",
        "coldstart.yaml:8:17: `a` of Secret `app` is declared already, in line 7",
    );
    let again = "    - {path: app.yaml, name: app, values: [{key: a, kind: hex}]}\n";
    refused(&format!("        - {{key: a, kind: hex}}\n{again}"), "coldstart.yaml:8:50: `a` of Secret `app`");
    declare(&desk, &format!("        - {{key: a, kind: hex}}\n{}", again.replace("app.yaml", "other.yaml")));
    desk.seal(&["generate"]).exits(2).says("--yes");
}
