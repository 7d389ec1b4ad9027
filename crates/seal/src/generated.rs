//! Values that nobody needs to know: made once, in the right format, sealed, never printed.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use aws_lc_rs::rand;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use diagnostic::Next;
use diagnostic::next::{Again, Edit};
use zeroize::Zeroizing;

use crate::key::{KeyError, private_key_of_pem, rsa_private_key, rsa_public_key_pem};
use crate::{SecretBytes, SecretText, openssh};
use source::clean;

/// Characters of a password: none that a shell, a URL or YAML reads in its own way.
const ALPHANUMERIC: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// The same with signs, where a policy asks for them.
const SYMBOLS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~!*+=";
const RSA_BITS: u32 = 4096;
/// Longer than any program asks for.
pub const LENGTH_MAX: usize = 4096;

/// What kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Letters and digits. The length counts characters.
    Password,
    /// Letters, digits and signs.
    Symbols,
    /// Random bytes in hexadecimal. From here on, the length counts bytes.
    Hex,
    /// In base64.
    Base64,
    /// In base64 for URLs, without padding.
    Base64Url,
    /// As they are.
    Bytes,
    /// A private key as OpenSSH writes it, and its public half as a line of `authorized_keys`.
    SshEd25519,
    /// An age identity, and its recipient.
    Age,
    /// A private RSA key of 4096 bits in PKCS#8, and its public half as PEM.
    Rsa,
    /// Other values of the same Secret in a text: `${key}`.
    Template,
}

impl Kind {
    pub const ALL: [(&'static str, Self); 10] = [
        ("password", Self::Password),
        ("symbols", Self::Symbols),
        ("hex", Self::Hex),
        ("base64", Self::Base64),
        ("base64url", Self::Base64Url),
        ("bytes", Self::Bytes),
        ("ssh-ed25519", Self::SshEd25519),
        ("age", Self::Age),
        ("rsa", Self::Rsa),
        ("template", Self::Template),
    ];

    /// Whether it has a public half.
    pub fn is_pair(self) -> bool {
        matches!(self, Self::SshEd25519 | Self::Age | Self::Rsa)
    }
}

/// A word that names no kind of value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not a kind of value: {}", Kind::ALL.map(|(word, _)| word).join(", "))]
pub struct UnknownKind {
    pub word: String,
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(word: &str) -> Result<Self, UnknownKind> {
        let found = Self::ALL.iter().find(|(name, _)| *name == word).map(|(_, kind)| *kind);
        found.ok_or_else(|| UnknownKind { word: word.to_owned() })
    }
}

/// A value that is to be there.
#[derive(Clone, Debug)]
pub struct Declared {
    pub key: String,
    pub kind: Kind,
    pub length: usize,
    pub template: Option<String>,
    /// Where the public half of a pair goes.
    pub public_key: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    #[error("the operating system provides no random numbers")]
    NoRandomness,
    #[error("the length of `{it}` must be 1 to {LENGTH_MAX}", it = clean(.0))]
    Length(String),
    #[error("`{it}` is a template without a text", it = clean(.0))]
    NoTemplate(String),
    #[error("the template of `{key}` names `{missing}`, which is not a value of this Secret", key = clean(.key), missing = clean(.missing))]
    Unknown { key: String, missing: String },
    #[error("the template of `{key}` uses `{other}`, which is not text", key = clean(.key), other = clean(.other))]
    NotText { key: String, other: String },
    #[error("the template of `{it}` is not closed: `${{` without `}}`", it = clean(.0))]
    Unclosed(String),
    #[error("`{public}` exists, but `{key}`, its private half, does not", public = clean(.public), key = clean(.key))]
    Half { key: String, public: String },
    #[error("`{it}` is not a key of its kind, so its public half can't be derived", it = clean(.0))]
    NotOfKind(String),
    #[error("templates refer to each other in a cycle: {}", .0.join(", "))]
    Circle(Vec<String>),
    #[error(transparent)]
    Key(#[from] KeyError),
}

impl GenerateError {
    /// What to type next.
    pub fn next(&self) -> Next {
        match self {
            Self::NoRandomness => Next::Again(Again::Same),
            Self::Key(error) => error.next(),
            Self::Half { key, public } => Next::Edit(Edit::BringHalfBack { key: key.clone(), public: public.clone() }),
            Self::Length(_)
            | Self::NoTemplate(_)
            | Self::Unknown { .. }
            | Self::NotText { .. }
            | Self::Unclosed(_)
            | Self::NotOfKind(_)
            | Self::Circle(_) => Next::Edit(Edit::Generate),
        }
    }
}

impl Declared {
    /// Where its public half goes, if it has one.
    fn public(&self) -> Option<&String> {
        self.public_key.as_ref().filter(|_| self.kind.is_pair())
    }

    /// The values that its template names.
    fn uses(&self) -> Vec<&str> {
        let parts = self.template.as_deref().and_then(parts).unwrap_or_default();
        parts.into_iter().filter_map(|part| if let Part::Value(name) = part { Some(name) } else { None }).collect()
    }
}

/// The keys that are to be made, where `has` says what is there.
pub fn missing(declared: &[Declared], has: impl Fn(&str) -> bool) -> Vec<String> {
    let keys = declared.iter().flat_map(|one| [Some(&one.key), one.public()]).flatten();
    keys.filter(|key| !has(key)).cloned().collect()
}

/// Templates that are there and use a value that is about to be made, each with the first such value: what they hold
/// would no longer match it.
pub fn outdated(declared: &[Declared], has: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let mut new: BTreeSet<String> = missing(declared, &has).into_iter().collect();
    let mut found: Vec<(String, String)> = Vec::new();
    // Templates may use templates: until a round finds no more.
    loop {
        let before = found.len();
        for one in declared.iter().filter(|one| one.kind == Kind::Template && has(&one.key)) {
            if let Some(used) = one.uses().into_iter().find(|name| new.contains(*name))
                && !new.contains(&one.key)
            {
                found.push((one.key.clone(), used.to_owned()));
                new.insert(one.key.clone());
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Whether values that are there have to be known to make what is missing: for a template, or for a public half.
pub fn needs_values(declared: &[Declared], has: impl Fn(&str) -> bool) -> bool {
    let is_halved = |one: &Declared| has(&one.key) && one.public().is_some_and(|public| !has(public));
    !outdated(declared, &has).is_empty()
        || declared.iter().any(|one| if one.kind == Kind::Template { !has(&one.key) } else { is_halved(one) })
}

/// Makes every declared value that `have` does not hold yet, and templates anew that use one of these. Returns only what
/// is new. The halves of a pair belong together: a public half that is lost is told from the private one, and not the
/// other way round.
pub fn generate(
    declared: &[Declared],
    have: &BTreeMap<String, SecretBytes>,
) -> Result<BTreeMap<String, SecretBytes>, GenerateError> {
    let outdated = outdated(declared, |key| have.contains_key(key));
    let mut have = have.clone();
    have.retain(|key, _| !outdated.iter().any(|(template, _)| template == key));
    let mut all = have.clone();
    for one in declared.iter().filter(|one| one.kind != Kind::Template) {
        make_missing(one, &have, &mut all)?;
    }
    let templates = declared.iter().filter(|one| one.kind == Kind::Template && !have.contains_key(&one.key));
    fill_all(templates.collect(), &mut all)?;
    all.retain(|key, _| !have.contains_key(key));
    Ok(all)
}

fn make_missing(
    one: &Declared,
    have: &BTreeMap<String, SecretBytes>,
    all: &mut BTreeMap<String, SecretBytes>,
) -> Result<(), GenerateError> {
    match (have.get(&one.key), one.public().filter(|public| have.contains_key(*public))) {
        (None, Some(public)) => {
            return Err(GenerateError::Half { key: one.key.clone(), public: public.clone() });
        }
        (None, None) => {
            let (value, public) = make(one)?;
            all.insert(one.key.clone(), value);
            if let (Some(public), Some(key)) = (public, one.public()) {
                all.insert(key.clone(), public);
            }
        }
        (Some(private), None) => {
            if let Some(key) = one.public() {
                all.insert(key.clone(), public_of(one, private)?);
            }
        }
        (Some(_), Some(_)) => {}
    }
    Ok(())
}

/// Templates may use templates: as many rounds as there are.
fn fill_all(mut waiting: Vec<&Declared>, all: &mut BTreeMap<String, SecretBytes>) -> Result<(), GenerateError> {
    while !waiting.is_empty() {
        let names: Vec<String> = waiting.iter().map(|one| one.key.clone()).collect();
        let mut later = Vec::new();
        for one in waiting {
            let text = one.template.as_deref().ok_or_else(|| GenerateError::NoTemplate(one.key.clone()))?;
            match fill(&one.key, text, all) {
                Ok(value) => _ = all.insert(one.key.clone(), value),
                Err(GenerateError::Unknown { missing, .. }) if names.contains(&missing) => later.push(one),
                Err(error) => return Err(error),
            }
        }
        if later.len() == names.len() {
            return Err(GenerateError::Circle(names));
        }
        waiting = later;
    }
    Ok(())
}

fn make(one: &Declared) -> Result<(SecretBytes, Option<SecretBytes>), GenerateError> {
    if one.length == 0 || one.length > LENGTH_MAX {
        return Err(GenerateError::Length(one.key.clone()));
    }
    let alone = |text: Result<SecretBytes, GenerateError>| text.map(|text| (text, None));
    let encoded = |encode: &dyn Fn(&[u8]) -> String| random(one.length).map(|bytes| SecretBytes::from(encode(&bytes)));
    match one.kind {
        Kind::Password => alone(characters(one.length, ALPHANUMERIC)),
        Kind::Symbols => alone(characters(one.length, SYMBOLS)),
        Kind::Hex => alone(encoded(&crate::hex)),
        Kind::Base64 => alone(encoded(&|bytes| STANDARD.encode(bytes))),
        Kind::Base64Url => alone(encoded(&|bytes| URL_SAFE_NO_PAD.encode(bytes))),
        Kind::Bytes => alone(random(one.length).map(|bytes| SecretBytes::copy_of(&bytes))),
        Kind::SshEd25519 => ssh_pair(),
        Kind::Age => Ok(age_pair()),
        Kind::Rsa => {
            let (private, public) = rsa_private_key(RSA_BITS)?;
            Ok((private.into_bytes(), Some(SecretBytes::from(public))))
        }
        Kind::Template => Err(GenerateError::NoTemplate(one.key.clone())),
    }
}

fn random(length: usize) -> Result<Zeroizing<Vec<u8>>, GenerateError> {
    let mut bytes = Zeroizing::new(vec![0; length]);
    rand::fill(&mut bytes).map_err(|_| GenerateError::NoRandomness)?;
    Ok(bytes)
}

/// Each character as likely as any other: bytes that would favour the first ones are thrown away.
fn characters(length: usize, alphabet: &[u8]) -> Result<SecretBytes, GenerateError> {
    let fair = 256 - 256 % alphabet.len();
    let mut text = Vec::with_capacity(length);
    while text.len() < length {
        for byte in random(length)?.iter().map(|byte| usize::from(*byte)).filter(|byte| *byte < fair) {
            if text.len() < length {
                text.push(alphabet[byte % alphabet.len()]);
            }
        }
    }
    Ok(SecretBytes::new(text))
}

fn ssh_pair() -> Result<(SecretBytes, Option<SecretBytes>), GenerateError> {
    let seed = random(openssh::SEED_BYTES)?;
    let pair = Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|_| GenerateError::NoRandomness)?;
    let mut check = [0; 4];
    rand::fill(&mut check).map_err(|_| GenerateError::NoRandomness)?;
    let public = pair.public_key().as_ref();
    Ok((openssh::private_key(&seed, public, check).into_bytes(), Some(ssh_public(public))))
}

fn ssh_public(public: &[u8]) -> SecretBytes {
    SecretBytes::from(openssh::public_key(public))
}

/// The public half of a private key that is there.
fn public_of(one: &Declared, private: &SecretBytes) -> Result<SecretBytes, GenerateError> {
    let wrong = || GenerateError::NotOfKind(one.key.clone());
    let text = private.expose_text().ok_or_else(wrong)?;
    match one.kind {
        Kind::SshEd25519 => {
            if let Some(public) = openssh::public_of(text) {
                return Ok(ssh_public(&public));
            }
            // As it was made before, and as other programs make it.
            let pkcs8 = private_key_of_pem(text).map_err(|_| wrong())?;
            let pair = Ed25519KeyPair::from_pkcs8(pkcs8.expose()).map_err(|_| wrong())?;
            Ok(ssh_public(pair.public_key().as_ref()))
        }
        Kind::Age => {
            let identity: age::x25519::Identity = text.trim().parse().map_err(|_| wrong())?;
            Ok(SecretBytes::from(identity.to_public().to_string()))
        }
        Kind::Rsa => rsa_public_key_pem(text).map(SecretBytes::from).map_err(|_| wrong()),
        _ => Err(wrong()),
    }
}

fn age_pair() -> (SecretBytes, Option<SecretBytes>) {
    use age::secrecy::ExposeSecret as _;
    let identity = age::x25519::Identity::generate();
    let mut text = SecretText::default();
    text.push(identity.to_string().expose_secret());
    text.push("\n");
    (text.into_bytes(), Some(SecretBytes::from(identity.to_public().to_string())))
}

/// A piece of a template.
enum Part<'a> {
    Text(&'a str),
    Value(&'a str),
}

/// A template taken apart: `${key}` stands for a value, `$$` for a dollar sign.
fn parts(template: &str) -> Option<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        parts.push(Part::Text(&rest[..at]));
        let after = &rest[at + 1..];
        rest = match after.chars().next() {
            Some('{') => {
                let (name, behind) = after[1..].split_once('}')?;
                parts.push(Part::Value(name));
                behind
            }
            next => {
                parts.push(Part::Text("$"));
                if next == Some('$') { &after[1..] } else { after }
            }
        };
    }
    parts.push(Part::Text(rest));
    Some(parts)
}

fn fill(key: &str, template: &str, values: &BTreeMap<String, SecretBytes>) -> Result<SecretBytes, GenerateError> {
    let mut text = SecretText::default();
    for part in parts(template).ok_or_else(|| GenerateError::Unclosed(key.to_owned()))? {
        match part {
            Part::Text(plain) => text.push(plain),
            Part::Value(name) => {
                let unknown = || GenerateError::Unknown { key: key.to_owned(), missing: name.to_owned() };
                let value = values.get(name).ok_or_else(unknown)?;
                let not_text = || GenerateError::NotText { key: key.to_owned(), other: name.to_owned() };
                text.push(value.expose_text().ok_or_else(not_text)?);
            }
        }
    }
    Ok(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use aws_lc_rs::rand;
    use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};

    use super::{Declared, GenerateError, Kind, generate, needs_values, outdated};
    use crate::SecretBytes;

    fn declared(key: &str, kind: Kind, length: usize) -> Declared {
        Declared { key: key.to_owned(), kind, length, template: None, public_key: None }
    }

    fn template(key: &str, text: &str) -> Declared {
        Declared { template: Some(text.to_owned()), ..declared(key, Kind::Template, 1) }
    }

    fn make(all: &[Declared], have: &[(&str, &str)]) -> Result<BTreeMap<String, SecretBytes>, GenerateError> {
        let have = have.iter().map(|(key, value)| ((*key).to_owned(), SecretBytes::from(*value))).collect();
        generate(all, &have)
    }

    fn text(values: &BTreeMap<String, SecretBytes>, key: &str) -> String {
        values[key].expose_text().unwrap().to_owned()
    }

    #[test]
    fn every_kind_has_its_format() {
        let mut all: Vec<Declared> = Kind::ALL
            .iter()
            .filter(|(_, kind)| !matches!(kind, Kind::Template | Kind::Rsa))
            .map(|(name, kind)| declared(name, *kind, 32))
            .collect();
        for one in all.iter_mut().filter(|one| one.kind.is_pair()) {
            one.public_key = Some(format!("{}.pub", one.key));
        }
        let made = make(&all, &[]).unwrap();
        assert_eq!(text(&made, "password").len(), 32);
        assert!(text(&made, "password").bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_eq!(text(&made, "hex").len(), 64);
        assert_eq!(text(&made, "base64").len(), 44);
        assert_eq!(text(&made, "base64url").len(), 43);
        assert_eq!(made["bytes"].expose().len(), 32);
        assert!(text(&made, "ssh-ed25519").starts_with("-----BEGIN OPENSSH PRIVATE KEY-----\n"));
        assert!(text(&made, "ssh-ed25519.pub").starts_with("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI"));
        assert!(text(&made, "age").starts_with("AGE-SECRET-KEY-1"));
        assert!(text(&made, "age.pub").starts_with("age1"));
        assert_ne!(make(&all, &[]).unwrap()["password"], made["password"]);
    }

    #[test]
    fn templates_combine_values_and_each_other() {
        let all = [
            template("url", "${dsn}?sslmode=require"),
            template("dsn", "postgres://app:${password}@db/$$app"),
            declared("password", Kind::Password, 20),
        ];
        let made = make(&all, &[]).unwrap();
        assert_eq!(text(&made, "url"), format!("postgres://app:{}@db/$app?sslmode=require", text(&made, "password")));
    }

    #[test]
    fn what_is_there_stays() {
        let all = [declared("password", Kind::Password, 20), template("dsn", "x:${password}")];
        let made = make(&all, &[("password", "old")]).unwrap();
        assert_eq!(made.keys().collect::<Vec<_>>(), ["dsn"]);
        assert_eq!(text(&made, "dsn"), "x:old");
    }

    #[test]
    fn a_template_follows_the_values_it_uses() {
        let all = [
            declared("password", Kind::Password, 20),
            template("url", "${dsn}?ssl"),
            template("dsn", "x:${password}"),
            template("host", "db"),
        ];
        let there = [("dsn", "x:old"), ("url", "x:old?ssl"), ("host", "elsewhere")];
        let has = |key: &str| there.iter().any(|(name, _)| *name == key);
        let again = [("dsn", "password"), ("url", "dsn")].map(|(key, used)| (key.to_owned(), used.to_owned()));
        assert_eq!(outdated(&all, has), again);
        assert!(needs_values(&all, has));
        let made = make(&all, &there).unwrap();
        assert_eq!(made.keys().collect::<Vec<_>>(), ["dsn", "password", "url"]);
        assert_eq!(text(&made, "url"), format!("x:{}?ssl", text(&made, "password")));
        assert!(outdated(&all, |_| true).is_empty());
    }

    #[test]
    fn mistakes_are_named() {
        let said = |all: &[Declared]| make(all, &[]).unwrap_err().to_string();
        assert!(said(&[template("a", "${b}"), template("b", "${a}")]).contains("in a cycle: a, b"));
        assert!(said(&[template("a", "${nobody}")]).contains("`nobody`"));
        assert!(said(&[template("a", "${open")]).contains("not closed"));
        assert!(said(&[declared("a", Kind::Hex, 0)]).contains("must be 1 to"));
        assert!("passphrase".parse::<Kind>().unwrap_err().to_string().contains("password, symbols"));
    }

    #[test]
    fn halves_of_a_pair_belong_together() {
        for kind in [Kind::SshEd25519, Kind::Age] {
            let pair = Declared { public_key: Some("public".to_owned()), ..declared("private", kind, 32) };
            let all = [pair];
            let made = make(&all, &[]).unwrap();
            let (private, public) = (text(&made, "private"), text(&made, "public"));
            let again = make(&all, &[("private", &private)]).unwrap();
            assert_eq!(text(&again, "public"), public, "the lost half is the same again");
            assert_eq!(again.len(), 1);
            let refused = make(&all, &[("public", &public)]).unwrap_err();
            assert!(matches!(refused, GenerateError::Half { .. }), "{refused}");
            let refused = make(&all, &[("private", "x")]).unwrap_err();
            assert!(matches!(refused, GenerateError::NotOfKind(_)), "{refused}");
        }
    }

    #[test]
    fn the_public_half_of_a_key_in_pkcs8_is_told() {
        let document = Ed25519KeyPair::generate_pkcs8v1(&rand::SystemRandom::new()).unwrap();
        let public = Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap().public_key().as_ref().to_vec();
        let mut pkcs8 = crate::SecretText::default();
        crate::key::pem_encode("PRIVATE KEY", document.as_ref(), &mut pkcs8);
        let pair = Declared { public_key: Some("public".to_owned()), ..declared("private", Kind::SshEd25519, 32) };
        let made = make(&[pair], &[("private", pkcs8.expose())]).unwrap();
        assert_eq!(text(&made, "public"), crate::openssh::public_key(&public));
    }

    #[test]
    fn the_public_half_of_an_rsa_key_is_a_public_key() {
        let pair = Declared { public_key: Some("public".to_owned()), ..declared("private", Kind::Rsa, 32) };
        let all = [pair];
        let made = make(&all, &[]).unwrap();
        let (private, public) = (text(&made, "private"), text(&made, "public"));
        assert!(private.starts_with("-----BEGIN PRIVATE KEY-----\n"));
        assert!(public.starts_with("-----BEGIN PUBLIC KEY-----\n"), "{public}");
        assert_eq!(text(&make(&all, &[("private", &private)]).unwrap(), "public"), public);
    }
}
