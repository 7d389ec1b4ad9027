//! Any text is looked through for keys and certificates without a panic, and no error repeats it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seal::Ring;
use seal::key::{Certificate, from_text};
use seal::store::identities_of;

fuzz_target!(|bytes: &[u8]| {
    let _ = Certificate::from_der(bytes.to_vec());
    let _ = Ring::from_json(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = Certificate::from_pem(text);
        let _ = from_text(text);
        let _ = identities_of(text);
    }
});
