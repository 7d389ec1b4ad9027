//! Any text that a keyring or a file gives back is a ring of keys, or refused without a word of what is in it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seal::Ring;

#[path = "../planted.rs"]
mod planted;

fuzz_target!(|text: &str| {
    match Ring::from_json(planted::fill(text).as_bytes()) {
        Ok(ring) => {
            let json = ring.to_json().expect("what was read can be written");
            let again = Ring::from_json(json.expose()).expect("and read again");
            assert_eq!(again.keys().len(), ring.keys().len());
            assert_eq!(again.recipients, ring.recipients);
            assert_eq!(again.newest().map(seal::key::KeyPair::id), ring.newest().map(seal::key::KeyPair::id));
        }
        Err(error) => planted::is_not_repeated(&error),
    }
});
