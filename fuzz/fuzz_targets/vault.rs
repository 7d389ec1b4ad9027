//! Any answer of a server is a ring of keys or a refusal, and a ring that is read can be written and read again. `@RING@` stands for one
//! that is good: bytes alone do not come upon a key.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seal::store::VaultAnswer;

#[path = "../planted.rs"]
mod planted;

fuzz_target!(|answer: (u16, &str)| {
    let (status, body) = (answer.0, planted::fill(answer.1));
    // The statuses that mean something, more often than chance has them.
    for status in [status, 200, 404] {
        let answer = VaultAnswer::new(status, body.as_bytes());
        let (_, _) = (answer.is_written(), answer.is_outrun());
        planted::is_not_repeated(&answer.refusal());
        match answer.kept() {
            Ok(kept) => {
                let json = kept.ring.to_json().expect("what was read can be written");
                let again = seal::Ring::from_json(json.expose()).expect("and read again");
                assert!(again.holds_all_of(&kept.ring) && kept.ring.holds_all_of(&again));
            }
            Err(refusal) => planted::is_not_repeated(&refusal),
        }
    }
});
