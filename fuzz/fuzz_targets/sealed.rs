//! Any text is read as SealedSecrets without a panic; what is edited into it is all that changes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seal::Envelope;
use seal::manifest::{Change, SealedSecret, SecretManifest, edit, sealed_secrets, set};
use seal::renewal::{Renewal, switch_off};
use source::FileId;
use yaml::{Limits, Node, parse};

fuzz_target!(|text: &str| {
    let documents = parse(FileId(0), text, Limits { nodes_max: 20_000, depth_max: 60, documents_max: 50 });
    for (document, read) in documents.iter().enumerate() {
        let Some(root) = &read.root else { continue };
        let _ = SecretManifest::of(root);
        let _ = seal::sops::SopsFile::of(root);
        for rule in root.items_at("creation_rules") {
            let _ = seal::sops::rule_recipients(rule);
            let _ = rule.text_at(&["path_regex"]).map(seal::sops::pattern);
        }
        let _ = seal::manifest::to_json(root);
        let _ = set(text, document, &["spec", "values", "keyrenewperiod"], "\"0\"");
        let renewal = |root: &Node| Renewal::of_values(root.at(&["spec", "values"]));
        if let Ok(after) = switch_off(text, &renewal(root), root.span) {
            let again = parse(FileId(0), &after, Limits::default());
            let release = again[document].root.as_ref().expect("still a document");
            assert!(renewal(release).is_off());
        }
    }
    let _ = seal::sops::SopsFile::of(&seal::sops::of_env(text));
    let _ = seal::sops::SopsFile::of(&seal::sops::of_ini(text));
    for (place, sealed) in sealed_secrets(&documents) {
        for item in &sealed.items {
            let _ = Envelope::from_base64(&item.text);
        }
        let key = sealed.items.first().and_then(|item| item.key.clone()).or_else(|| Some("fuzz".to_owned()));
        let change = Change { place: place.clone(), key: key.clone(), value: "AgAfuzzed=".to_owned() };
        if let Ok(after) = edit(text, &[change]) {
            let again = parse(FileId(0), &after, Limits::default());
            let changed = place.node(&again).and_then(SealedSecret::of).expect("still a SealedSecret");
            let item = changed.items.iter().find(|item| item.key == key).expect("the item is there");
            assert_eq!(item.text, "AgAfuzzed=");
        }
    }
});
