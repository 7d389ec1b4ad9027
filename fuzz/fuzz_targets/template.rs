//! Any text is a template of a declared value, or is refused; templates that name each other end.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use seal::SecretBytes;
use seal::generated::{Declared, Kind, generate};

fuzz_target!(|texts: (&str, &str)| {
    let template = |key: &str, text: &str| Declared {
        key: key.to_owned(),
        kind: Kind::Template,
        length: 0,
        template: Some(text.to_owned()),
        public_key: None,
    };
    let declared = [template("a", texts.0), template("b", texts.1)];
    let known = BTreeMap::from([("known".to_owned(), SecretBytes::from("value"))]);
    if let Ok(made) = generate(&declared, &known) {
        assert!(made.contains_key("a") && made.contains_key("b"));
    }
});
