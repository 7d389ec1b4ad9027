//! Any bytes are taken apart as a sealed value, or refused; none of them opens.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seal::Envelope;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(envelope) = Envelope::from_bytes(bytes.to_vec()) {
        let again = Envelope::from_base64(&envelope.to_base64()).expect("what is written can be read");
        assert_eq!(again.key_bits(), envelope.key_bits());
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = Envelope::from_base64(text);
    }
});
