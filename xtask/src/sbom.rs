//! The list of the parts of a release, in CycloneDX: every crate that is in the binary of a target, with its version, licence and
//! checksum, and what it depends on. The same bytes for the same lock file: no time, and a serial number made of what is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// What a binary is built from.
const PACKAGE: &str = "coldstart";

/// The document for one target, as text.
pub(crate) fn of(root: &Path, target: &str) -> Result<String> {
    let metadata = metadata(root, target)?;
    let checksums = checksums(&fs::read_to_string(root.join("Cargo.lock"))?);
    let document = document(&metadata, &checksums)?;
    Ok(format!("{}\n", serde_json::to_string_pretty(&document)?))
}

fn metadata(root: &Path, target: &str) -> Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let words = ["metadata", "--format-version", "1", "--locked", "--filter-platform", target];
    let output = Command::new(cargo).args(words).current_dir(root).output().context("cannot run cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// By name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let mut all = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let field = |name: &str| {
            let value = package.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = \""));
            value.and_then(|value| value.strip_suffix('"')).map(str::to_owned)
        };
        if let (Some(name), Some(version), Some(sum)) = (field("name"), field("version"), field("checksum")) {
            all.insert((name, version), sum);
        }
    }
    all
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

fn list<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value[field].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn document(metadata: &Value, checksums: &BTreeMap<(String, String), String>) -> Result<Value> {
    let packages: BTreeMap<&str, &Value> =
        list(metadata, "packages").iter().map(|one| (text(one, "id"), one)).collect();
    let depends: BTreeMap<&str, Vec<&str>> =
        list(&metadata["resolve"], "nodes").iter().map(|node| (text(node, "id"), linked(node))).collect();
    let (root, main) = packages.iter().find(|(_, one)| text(one, "name") == PACKAGE).context("no package coldstart")?;
    let parts = closure(root, &depends);
    let reference = |id: &str| packages.get(id).map(|one| purl(one)).unwrap_or_default();
    let components = parts.iter().filter(|id| *id != root).filter_map(|id| packages.get(id));
    let mut components: Vec<Value> = components.map(|one| component(one, checksums)).collect();
    components.sort_by(|one, other| text(one, "bom-ref").cmp(text(other, "bom-ref")));
    let dependencies: BTreeMap<String, BTreeSet<String>> = parts
        .iter()
        .map(|id| (reference(id), depends.get(id).into_iter().flatten().map(|one| reference(one)).collect()))
        .collect();
    let dependencies: Vec<Value> = dependencies.iter().map(|(one, on)| json!({"ref": one, "dependsOn": on})).collect();
    let mut application = component(main, checksums);
    application["type"] = "application".into();
    let serial = serial(&json!([components, dependencies]));
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": serial,
        "version": 1,
        "metadata": {"component": application},
        "components": components,
        "dependencies": dependencies,
    }))
}

/// What a crate links: not what only its tests or its build use.
fn linked(node: &Value) -> Vec<&str> {
    let is_linked = |dependency: &&Value| list(dependency, "dep_kinds").iter().any(|kind| kind["kind"].is_null());
    list(node, "deps").iter().filter(is_linked).map(|dependency| text(dependency, "pkg")).collect()
}

fn closure<'m>(root: &'m str, depends: &BTreeMap<&'m str, Vec<&'m str>>) -> BTreeSet<&'m str> {
    let (mut found, mut open) = (BTreeSet::from([root]), vec![root]);
    while let Some(one) = open.pop() {
        for on in depends.get(one).into_iter().flatten() {
            if found.insert(on) {
                open.push(on);
            }
        }
    }
    found
}

fn purl(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", text(package, "name"), text(package, "version").replace('+', "%2B"))
}

fn component(package: &Value, checksums: &BTreeMap<(String, String), String>) -> Value {
    let (name, version) = (text(package, "name"), text(package, "version"));
    let mut component = json!({
        "type": "library",
        "bom-ref": purl(package),
        "name": name,
        "version": version,
        "purl": purl(package),
    });
    if let Some(licence) = package["license"].as_str() {
        // The slash is an older spelling.
        component["licenses"] = json!([{"expression": licence.replace('/', " OR ")}]);
    }
    if let Some(sum) = checksums.get(&(name.to_owned(), version.to_owned())) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    component
}

/// A UUID of version 8: made of what the document says.
fn serial(said: &Value) -> String {
    let digest = Sha256::digest(said.to_string());
    let mut hex: Vec<char> =
        digest.iter().take(16).flat_map(|byte| format!("{byte:02x}").chars().collect::<Vec<_>>()).collect();
    hex[12] = '8';
    hex[16] = 'a';
    let part = |range: std::ops::Range<usize>| hex[range].iter().collect::<String>();
    format!("urn:uuid:{}-{}-{}-{}-{}", part(0..8), part(8..12), part(12..16), part(16..20), part(20..32))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::Value;

    use super::of;

    #[test]
    fn every_crate_of_the_binary_is_listed_once_with_its_checksum() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let one = of(root, "x86_64-unknown-linux-gnu").unwrap();
        assert_eq!(one, of(root, "x86_64-unknown-linux-gnu").unwrap(), "same input, same bytes");
        let document: Value = serde_json::from_str(&one).unwrap();
        assert_eq!(document["metadata"]["component"]["name"], "coldstart");
        let components = document["components"].as_array().unwrap();
        let named = |name: &str| components.iter().filter(|one| one["name"] == name).count();
        assert_eq!((named("rustls"), named("coldstart-check"), named("insta"), named("coldstart-lab")), (1, 1, 0, 0));
        for one in components {
            let is_ours = one["name"].as_str().unwrap().starts_with("coldstart-");
            assert_eq!(one["hashes"].is_null(), is_ours, "{one}");
            assert!(one["licenses"].is_array(), "{one}");
        }
        let refs: Vec<&str> = components.iter().map(|one| one["bom-ref"].as_str().unwrap()).collect();
        assert!(refs.windows(2).all(|two| two[0] < two[1]));
        for dependency in document["dependencies"].as_array().unwrap() {
            for on in dependency["dependsOn"].as_array().unwrap() {
                assert!(refs.contains(&on.as_str().unwrap()), "{on}");
            }
        }
    }
}
