//! Any text is read as lines of variables, or refused by the number of a line; no fault repeats what stands there.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seal::env_values;

fuzz_target!(|text: &str| match env_values(text) {
    Ok(values) => {
        for (key, value) in &values {
            let value = value.expose_text().expect("a line of text is text");
            assert!(!value.is_empty() && text.contains(&format!("{key}={value}")));
        }
        let again: String = values
            .iter()
            .map(|(key, value)| format!("{key}={}\n", value.expose_text().unwrap_or_default()))
            .collect();
        assert_eq!(env_values(&again).expect("what was read can be read again"), values);
    }
    Err(error) => assert!(error.line >= 1 && error.line <= text.lines().count()),
});
