//! Whatever the values, names and texts are.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use coldstart_seal::manifest::{Change, ObjectPlace, SealedSecret, SecretManifest, edit, to_json};
use coldstart_seal::renewal::{Form, Renewal, Said, switch_off};
use coldstart_seal::sops::{SopsFile, of_env, of_ini};
use coldstart_seal::{Envelope, Scope, SecretBytes};
use proptest::prelude::*;
use source::{FileId, Span};
use support::key;
use yaml::{Node, parse_value};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_value_comes_back(value in proptest::collection::vec(any::<u8>(), 0..2_000), namespace in "[a-z-]{1,63}", name in "[a-z.-]{1,80}") {
        let pair = key("k1");
        for scope in Scope::ALL {
            let label = scope.label(&namespace, &name);
            let sealed = pair.certificate().seal(&label, &value).unwrap();
            let again = Envelope::from_base64(&sealed.to_base64()).unwrap();
            let opened = pair.open(&again, &label).unwrap();
            prop_assert_eq!(opened.expose(), value.as_slice());
        }
    }

    #[test]
    fn any_text_is_exact_json(text in any::<String>()) {
        let json = to_json(&Node::string(text.as_str(), Span::GENERATED));
        prop_assert_eq!(serde_json::from_str::<String>(json.expose()).unwrap(), text);
    }

    #[test]
    fn any_lines_are_read(text in "(sops_|\\[|\\]|=|a|__list_0__map_|\n|é| ){0,40}") {
        let _ = SopsFile::of(&of_env(&text));
        let _ = SopsFile::of(&of_ini(&text));
    }

    #[test]
    fn any_place_is_edited_right_or_not_at_all(before in "[a-zé: \n-]{0,20}", start in 0_u32..60, length in 0_u32..20) {
        let text = format!("{before}\nspec:\n  values:\n    args: [a, --key-renew-period=1h]\n");
        let span = Span::new(FileId(0), start, start + length);
        let said = |form| Renewal::Every(Said { every: "1h".to_owned(), span, form });
        for renewal in [Renewal::Unquoted(span), Renewal::UnsaidInArguments(span), said(Form::NextWord), said(Form::OneWord)] {
            if let Ok(after) = switch_off(&text, &renewal, span) {
                prop_assert!(parse_value(FileId(0), &after).is_some(), "{}", after);
            }
        }
    }

    #[test]
    fn any_secret_is_written_as_yaml_that_says_the_same(
        name in "[a-z0-9]([a-z0-9-]{0,9}[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]{0,9}[a-z0-9])?){0,3}", kind in any::<String>(), note in any::<String>(), item in "[A-Za-z0-9._-]{1,40}",
    ) {
        prop_assume!(item != "." && !item.starts_with(".."));
        let mut secret = SecretManifest {
            name: name.clone(), namespace: Some("apps".to_owned()), kind: Some(kind.clone()),
            annotations: [("note".to_owned(), note.clone())].into(), ..SecretManifest::default()
        };
        secret.put(&item, SecretBytes::from("x")).unwrap();
        let text = secret.to_sealed_yaml(key("k1").certificate(), Scope::Strict).unwrap();
        let root = parse_value(FileId(0), &text).unwrap();
        let sealed = SealedSecret::of(&root).unwrap();
        prop_assert_eq!(&sealed.name, &name);
        prop_assert_eq!(sealed.items[0].key.as_deref(), Some(item.as_str()));
        prop_assert_eq!(root.at(&["spec", "template", "type"]).unwrap().as_str(), Some(kind.as_str()));
        prop_assert_eq!(root.at(&["spec", "template", "metadata", "annotations", "note"]).unwrap().as_str(), Some(note.as_str()));
        // And another item goes in beside it.
        let change = Change { place: ObjectPlace::default(), key: Some("another.one".to_owned()), value: "AAAA".to_owned() };
        let after = edit(&text, &[change]).unwrap();
        let after = SealedSecret::of(&parse_value(FileId(0), &after).unwrap()).unwrap();
        prop_assert_eq!(after.items.len(), if item == "another.one" { 1 } else { 2 });
    }
}
