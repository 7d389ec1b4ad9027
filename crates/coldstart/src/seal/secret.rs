//! `coldstart seal secret`.

use std::collections::BTreeMap;
use std::path::Path;

use ::seal::key::Certificate;
use ::seal::manifest::{
    Change, ObjectPlace, SealedSecret, SecretManifest, edit as edited, quoted, sealed_secrets, set,
};
use ::seal::{CLUSTER_WIDE, NAMESPACE_WIDE, Scope};
use draw::words::count;
use serde_json::{Value, json};
use source::FileId;
use yaml::{Document, Limits, Node};

use super::arguments::Secret;
use super::failure::{InputFailure, SealFailure, WriteFailure};
use super::{Home, children, commit, deploy, files, input, mixed, say};
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::output;

/// What a Secret is that says nothing of its type.
const TYPE_DEFAULT: &str = "Opaque";

pub(crate) fn run(options: &Secret) -> Result<Code, Failure> {
    if options.delivery.is_wanted() && options.out.is_none() {
        return Err(SealFailure::from(InputFailure::NothingToCommit).into());
    }
    children::keep_from(&options.from_env);
    let home = Home::open(&options.place)?;
    // What can't be written is told before anybody is asked for a value.
    let path = options.out.as_ref().map(|out| files::to_write(home.root(), &home.at(out))).transpose()?;
    commit::ready(home.root(), &options.delivery, path.as_slice())?;
    let secrets = input::secrets(options)?;
    let scope = |secret: &SecretManifest| options.scope.map_or_else(|| secret.scope(), Scope::from);
    let fault = |source| SealFailure::Secret { place: "the Secret".to_owned(), source };
    let certificate = home.certificate(options.certificate.as_deref())?;
    if options.raw {
        let secret = secrets.first().ok_or(SealFailure::Input(InputFailure::NothingToSeal))?;
        if secret.data.len() != 1 {
            return Err(SealFailure::from(InputFailure::RawTakesOne).into());
        }
        let mut secret = secret.clone();
        if secret.name.is_empty() && scope(&secret) != Scope::Strict {
            // Wider scopes are bound to no name.
            "any".clone_into(&mut secret.name);
        }
        for value in secret.seal(&certificate, scope(&secret)).map_err(fault)?.values() {
            say(value)?;
        }
        return Ok(exit::CLEAN);
    }
    let (Some(out), Some(path)) = (&options.out, path) else {
        let sealed = repository::parallel::map(&secrets, |secret| secret.to_sealed_yaml(&certificate, scope(secret)));
        let sealed: Result<String, _> = sealed.into_iter().collect();
        output::print_exactly(&sealed.map_err(fault)?)?;
        return Ok(exit::CLEAN);
    };
    let said = options.scope.map(Scope::from);
    let wrote = files::change(home.root(), &path, |before| {
        let (after, wrote) = put(&before.unwrap_or_default(), &secrets, said, &certificate, &path)?;
        Ok((Some(after), wrote))
    })?;
    for what in &wrote {
        say(&format!("{}: {what}", files::named(home.root(), &out.to_string_lossy(), &path)))?;
    }
    mixed::warn(&home, &path, &secrets);
    let message = format!("Seal {}", secrets.iter().map(name).collect::<Vec<_>>().join(", "));
    if let Some(told) = commit::deliver(home.root(), &[path], &message, &options.delivery)? {
        say(&told)?;
    }
    Ok(exit::CLEAN)
}

pub(crate) fn name(secret: &SecretManifest) -> String {
    secret.namespace.as_ref().map_or_else(|| secret.name.clone(), |namespace| format!("{namespace}/{}", secret.name))
}

/// What becomes of one Secret: changes of a SealedSecret that is there, or a document more.
enum Put {
    Changes(Vec<Change>, Vec<Setting>),
    Document(String),
}

/// Something of a template that is to be different from now on.
struct Setting {
    place: ObjectPlace,
    /// From the object's root.
    path: Vec<String>,
    /// As YAML.
    value: String,
}

/// A Secret in the clear would stay in the file beside the sealed one: in Git for everybody to read, and a second writer of one object
/// in the cluster.
fn none_in_the_clear(
    documents: &[Document],
    secrets: &[SecretManifest],
    text: &str,
    path: &Path,
) -> Result<(), SealFailure> {
    let roots = documents.iter().filter_map(|document| document.root.as_ref());
    let objects = roots.flat_map(|root| match root.items_at("items") {
        [] => std::slice::from_ref(root),
        items => items,
    });
    let is_clear = |object: &&Node| object.text_at(&["kind"]) == Some("Secret") && object.get("sops").is_none();
    for object in objects.filter(is_clear) {
        let (own, namespace) = (object.text_at(&["metadata", "name"]), object.text_at(&["metadata", "namespace"]));
        let is_twin = |secret: &&SecretManifest| {
            own == Some(secret.name.as_str()) && (namespace.is_none() || namespace == secret.namespace.as_deref())
        };
        if let Some(twin) = secrets.iter().find(is_twin) {
            let (path, line) = (path.to_path_buf(), input::line(text, object.span));
            return Err(WriteFailure::InTheClear { path, line, name: name(twin) }.into());
        }
    }
    Ok(())
}

/// The text with the values of Secrets in it, each in the SealedSecret of its name, or as a document more; and what was
/// done. All or nothing.
pub(crate) fn put(
    before: &str,
    secrets: &[SecretManifest],
    scope: Option<Scope>,
    certificate: &Certificate,
    path: &Path,
) -> Result<(String, Vec<String>), SealFailure> {
    let documents = yaml::parse(FileId(0), before, Limits::default());
    if documents.iter().any(|document| !document.problems.is_empty()) {
        return Err(WriteFailure::NotYaml { path: path.to_path_buf() }.into());
    }
    none_in_the_clear(&documents, secrets, before, path)?;
    let there = There::new(sealed_secrets(&documents));
    let sealed = repository::parallel::map(secrets, |secret| {
        let there = there.find(secret, before, path)?;
        let object = there.and_then(|(place, _)| place.node(&documents));
        seal_one(secret, there.zip(object), scope, certificate, path)
    });
    let (mut changes, mut settings, mut added, mut wrote) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for one in sealed {
        let (put, what) = one?;
        wrote.push(what);
        match put {
            Put::Changes(more, set) => {
                changes.extend(more);
                settings.extend(set);
            }
            Put::Document(text) => added.push(text),
        }
    }
    let fault = |source| SealFailure::Edit { path: path.to_path_buf(), source };
    let mut after = if changes.is_empty() { before.to_owned() } else { edited(before, &changes).map_err(fault)? };
    for setting in &settings {
        after = apply(&after, setting, path)?;
    }
    Ok((append(&after, &added, path)?, wrote))
}

/// The text with more SealedSecrets in it.
fn append(before: &str, added: &[String], path: &Path) -> Result<String, SealFailure> {
    let is_json = path.extension().is_some_and(|ending| ending == "json") || before.trim_start().starts_with('{');
    let is_empty = before.trim().is_empty();
    match (added, is_json) {
        ([], _) => Ok(before.to_owned()),
        (_, true) if !is_empty => Err(WriteFailure::JsonHoldsOne { path: path.to_path_buf() }.into()),
        ([one], true) => Ok(format!("{:#}\n", deploy::to_json(one)?)),
        (several, true) => {
            let items: Result<Vec<Value>, SealFailure> = several.iter().map(|one| deploy::to_json(one)).collect();
            Ok(format!("{:#}\n", json!({"apiVersion": "v1", "kind": "List", "items": items?})))
        }
        (several, false) if is_empty => Ok(several.concat()),
        (several, false) => {
            let more = format!("\n{}", several.concat());
            Ok(format!("{}{}", before.trim_end(), edit::with_line_ends_of(before, &more)))
        }
    }
}

fn apply(text: &str, setting: &Setting, path: &Path) -> Result<String, SealFailure> {
    let keys: Vec<&str> = setting.path.iter().map(String::as_str).collect();
    let is_simple = setting.place.items.is_empty() && !text.trim_start().starts_with('{');
    let is_plain = keys.iter().all(|key| ::seal::manifest::is_plain(key));
    let done = (is_simple && is_plain).then(|| set(text, setting.place.document, &keys, &setting.value));
    done.and_then(Result::ok).ok_or_else(|| {
        let (path, field, value) = (path.to_path_buf(), keys.join("."), setting.value.clone());
        WriteFailure::NotSettable { path, field, value }.into()
    })
}

fn seal_one(
    secret: &SecretManifest,
    there: Option<(&(ObjectPlace, SealedSecret), &Node)>,
    scope: Option<Scope>,
    certificate: &Certificate,
    path: &Path,
) -> Result<(Put, String), SealFailure> {
    let fault = |source| SealFailure::Secret { place: path.display().to_string(), source };
    let Some(((place, there), object)) = there else {
        let new = secret.to_sealed_yaml(certificate, scope.unwrap_or_else(|| secret.scope())).map_err(fault)?;
        return Ok((Put::Document(new), format!("sealed {} ({})", name(secret), count(secret.data.len(), "item"))));
    };
    // Items of one SealedSecret share its scope.
    if let Some(scope) = scope.or_else(|| secret.said_scope()).filter(|scope| *scope != there.scope) {
        let (path, name) = (path.to_path_buf(), there.name.clone());
        return Err(WriteFailure::OtherScope { path, name, there: there.scope, wanted: scope }.into());
    }
    let mut bound = secret.clone();
    bound.name.clone_from(&there.name);
    bound.namespace = there.namespace.clone().or_else(|| secret.namespace.clone());
    bound.check_size(there.value_bytes(|key| !bound.data.contains_key(key))).map_err(fault)?;
    let items = bound.seal(certificate, there.scope).map_err(fault)?;
    let change = |(key, value): (String, String)| Change { place: place.clone(), key: Some(key), value };
    let changes: Vec<Change> = items.into_iter().map(change).collect();
    let what = format!("sealed {} of {}", count(changes.len(), "item"), name(&bound));
    Ok((Put::Changes(changes, settings(secret, place, object)), what))
}

/// What the Secret says of its type, labels and annotations, and the template does not.
fn settings(secret: &SecretManifest, place: &ObjectPlace, object: &Node) -> Vec<Setting> {
    let mut wanted: Vec<(Vec<&str>, String)> = Vec::new();
    for (field, map) in [("labels", &secret.labels), ("annotations", &secret.annotations)] {
        let is_scope = |key: &str| [CLUSTER_WIDE, NAMESPACE_WIDE].contains(&key);
        for (key, value) in map.iter().filter(|(key, _)| !is_scope(key)) {
            wanted.push((vec!["spec", "template", "metadata", field, key], value.clone()));
        }
    }
    wanted.extend(secret.kind.iter().map(|kind| (vec!["spec", "template", "type"], kind.clone())));
    let is_there = |path: &[&str], value: &str| match object.text_at(path) {
        Some(there) => there == value,
        None => path.last() == Some(&"type") && value == TYPE_DEFAULT,
    };
    let mut settings: Vec<Setting> = Vec::new();
    for (path, value) in wanted.iter().filter(|(path, value)| !is_there(path, value)) {
        let path = path.iter().map(|key| (*key).to_owned()).collect();
        settings.push(Setting { place: place.clone(), path, value: quoted(value) });
    }
    let immutable = object.at(&["spec", "template", "immutable"]).and_then(Node::as_bool);
    if let Some(value) = secret.immutable.filter(|value| immutable.unwrap_or(false) != *value) {
        let path = ["spec", "template", "immutable"].map(str::to_owned).to_vec();
        settings.push(Setting { place: place.clone(), path, value: value.to_string() });
    }
    settings
}

/// The SealedSecrets of a file, to be found by their names.
struct There {
    all: Vec<(ObjectPlace, SealedSecret)>,
    by_name: BTreeMap<String, Vec<usize>>,
}

impl There {
    fn new(all: Vec<(ObjectPlace, SealedSecret)>) -> Self {
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, (_, sealed)) in all.iter().enumerate() {
            by_name.entry(sealed.name.clone()).or_default().push(index);
        }
        Self { all, by_name }
    }

    /// The SealedSecret that a Secret belongs into. There must be one at most: of two, one would keep the old value.
    fn find(
        &self,
        secret: &SecretManifest,
        text: &str,
        path: &Path,
    ) -> Result<Option<&(ObjectPlace, SealedSecret)>, SealFailure> {
        // A file of one SealedSecret is meant when nobody gave a name.
        if secret.name.is_empty() && self.all.len() == 1 {
            return Ok(self.all.first());
        }
        let named = self.by_name.get(&secret.name).into_iter().flatten().filter_map(|index| self.all.get(*index));
        let (same, other): (Vec<_>, Vec<_>) = named.partition(|(_, there)| there.namespace == secret.namespace);
        let is_open = |there: &SealedSecret| there.namespace.is_none() || secret.namespace.is_none();
        let open: Vec<_> = other.into_iter().filter(|(_, there)| is_open(there)).collect();
        let found = if same.is_empty() { open } else { same };
        let [(_, first), (_, second), ..] = &found[..] else { return Ok(found.first().copied()) };
        let (first, second) = (input::line(text, first.span), input::line(text, second.span));
        Err(WriteFailure::Twice { path: path.to_path_buf(), first, second, name: name(secret) }.into())
    }
}
