//! SOPS files: what they say of themselves, and whether an age identity opens them. Reads the metadata only; values
//! stay encrypted.

mod flat;
mod selection;

use age::armor::ArmoredReader;
use age::{Decryptor, x25519};
pub use flat::{of_env, of_ini};
pub use selection::{Selection, pattern};
use source::Span;
use yaml::Node;

use crate::SecretBytes;
use crate::age_program::{self, AgeProgramError, POST_QUANTUM_RECIPIENT};

/// The metadata of an encrypted file.
#[derive(Clone, Debug, Default)]
pub struct SopsFile {
    pub age: Vec<AgeRecipient>,
    /// Other ways to open it: `pgp`, `kms`, `hc_vault`, …
    pub others: Vec<&'static str>,
    /// Values that are in the clear and should not be, by what the metadata says.
    pub plain: Vec<(String, Span)>,
}

/// Somebody who can open it with age.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgeRecipient {
    pub recipient: String,
    /// The file's key, encrypted to them.
    pub encrypted: String,
}

impl AgeRecipient {
    /// Only `sops` (3.12 or later) or `age` (1.3 or later) can open it.
    pub fn is_post_quantum(&self) -> bool {
        self.recipient.starts_with(POST_QUANTUM_RECIPIENT)
    }

    /// Whether one of these identities opens it: the file's key comes out.
    pub fn opens_with(&self, identities: &[x25519::Identity]) -> bool {
        let Ok(decryptor) = Decryptor::new_buffered(ArmoredReader::new(self.encrypted.as_bytes())) else {
            return false;
        };
        let identities = identities.iter().map(|identity| identity as &dyn age::Identity);
        decryptor.decrypt(identities).is_ok()
    }

    /// Asks the `age` program whether the identities of an identity file open it.
    pub fn opens_with_program(&self, identities: &SecretBytes) -> Result<(), AgeProgramError> {
        age_program::decrypt(self.encrypted.as_bytes(), identities).map(drop)
    }
}

impl SopsFile {
    /// Reads a document; nothing if it was never encrypted.
    pub fn of(root: &Node) -> Option<Self> {
        const OTHERS: [&str; 6] = ["pgp", "kms", "gcp_kms", "azure_kv", "hc_vault", "hckms"];
        let metadata = root.get("sops").filter(|node| node.get("mac").is_some() || node.get("version").is_some())?;
        let text = |node: &Node, key: &str| node.get(key).and_then(Node::text).map(str::to_owned);
        let recipient =
            |node: &Node| Some(AgeRecipient { recipient: text(node, "recipient")?, encrypted: text(node, "enc")? });
        let others = OTHERS.into_iter().filter(|key| !metadata.items_at(key).is_empty()).collect();
        let plain = Selection::of(metadata).plain(root);
        Some(Self { age: metadata.items_at("age").iter().filter_map(recipient).collect(), others, plain })
    }
}

/// The recipients that a rule of `.sops.yaml` names, sorted.
pub fn rule_recipients(rule: &Node) -> Vec<String> {
    let mut all = Vec::new();
    let mut add = |node: &Node| match node.as_seq() {
        Some(items) => all.extend(items.iter().filter_map(Node::text).map(str::to_owned)),
        None => all.extend(node.text().into_iter().flat_map(|text| text.split(',')).map(|one| one.trim().to_owned())),
    };
    rule.get("age").into_iter().for_each(&mut add);
    rule.items_at("key_groups").iter().filter_map(|group| group.get("age")).for_each(&mut add);
    all.retain(|one| !one.is_empty());
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use age::armor::{ArmoredWriter, Format};
    use age::{Encryptor, x25519};
    use source::FileId;
    use yaml::parse_value;

    use super::{SopsFile, rule_recipients};

    fn armored(recipient: &x25519::Recipient) -> String {
        let encryptor = Encryptor::with_recipients(std::iter::once(recipient as &dyn age::Recipient)).unwrap();
        let mut out = Vec::new();
        let mut writer =
            encryptor.wrap_output(ArmoredWriter::wrap_output(&mut out, Format::AsciiArmor).unwrap()).unwrap();
        writer.write_all(&[7; 32]).unwrap();
        writer.finish().unwrap().finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_identity_opens_its_own_files_only() {
        let (mine, other) = (x25519::Identity::generate(), x25519::Identity::generate());
        let enc = armored(&mine.to_public()).replace('\n', "\n          ");
        let text = format!(
            "kind: Secret\nstringData:\n  a: ENC[AES256_GCM,data:x]\n  b: oops\nsops:\n  mac: ENC[x]\n  encrypted_regex: ^(data|stringData)$\n  age:\n    - recipient: {}\n      enc: |\n          {enc}\n",
            mine.to_public()
        );
        let file = SopsFile::of(&parse_value(FileId(0), &text).unwrap()).unwrap();
        assert_eq!(file.plain.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["stringData.b"]);
        assert!(file.age[0].opens_with(&[mine]));
        assert!(!file.age[0].opens_with(&[other]));
    }

    #[test]
    fn rules_name_recipients_in_several_ways() {
        let rule = |text: &str| rule_recipients(&parse_value(FileId(0), text).unwrap());
        assert_eq!(rule("age: age1b, age1a"), ["age1a", "age1b"]);
        assert_eq!(rule("age: [age1b]\nkey_groups: [{age: [age1a]}]"), ["age1a", "age1b"]);
        assert!(rule("pgp: ABC").is_empty());
    }

    #[test]
    fn a_file_that_was_never_encrypted_is_none() {
        assert!(SopsFile::of(&parse_value(FileId(0), "kind: Secret\nstringData: {a: b}\n").unwrap()).is_none());
    }
}
