//! Any texts are looked through for pairs: what `terraform output -json` prints, states, items of `secret-tool`, Secrets, PEM. Marks in
//! them stand for keys and certificates that are good, plain, in JSON or in base64. No error repeats a key.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seal::key::{Source, from_sources};

#[path = "../planted.rs"]
mod planted;

fuzz_target!(|texts: (&str, &str)| {
    let (one, other) = (planted::fill(texts.0), planted::fill(texts.1));
    let sources = [Source { name: "one", text: &one }, Source { name: "other", text: &other }];
    for sources in [&sources[..], &sources[..1]] {
        match from_sources(sources, None) {
            Ok(adoption) => {
                assert!(!adoption.pairs.is_empty());
                assert!(adoption.pairs.iter().all(|one| one.pair.works()));
                adoption.left.iter().for_each(|left| planted::is_not_repeated(left));
            }
            Err(error) => planted::is_not_repeated(&error),
        }
    }
});
