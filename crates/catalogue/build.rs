//! Reads `components/*.yaml` and `providers/*.yaml`, checks them against their schemas and leaves a JSON array of each for the program to
//! embed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[path = "src/decode.rs"]
#[allow(unreachable_pub, reason = "shared with the library, which exports it")]
mod decode;
#[path = "src/provider.rs"]
#[allow(unreachable_pub, reason = "shared with the library, which exports it")]
mod provider;
#[path = "src/schema.rs"]
#[allow(unreachable_pub, reason = "shared with the library, which exports it")]
mod schema;

use provider::Provider;
use schema::Component;
use serde::Serialize;
use serde::de::DeserializeOwned;
use source::{FileId, Source};
use yaml::Limits;

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            say(&format!("cargo::error={problem}"));
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), String> {
    say("cargo::rerun-if-changed=components");
    say("cargo::rerun-if-changed=providers");
    say("cargo::rerun-if-changed=build.rs");
    let out = std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
    let components: Vec<Component> = all("components", |component: &Component| &component.name)?;
    write(Path::new(&out).join("catalogue.json"), &components)?;
    let providers: Vec<Provider> = all("providers", |provider: &Provider| &provider.name)?;
    write(Path::new(&out).join("providers.json"), &providers)
}

/// All of a directory, sorted by name.
fn all<T: DeserializeOwned>(directory: &str, name: impl Fn(&T) -> &String) -> Result<Vec<T>, String> {
    let mut all = Vec::new();
    for path in files(Path::new(directory))? {
        all.push(one(&path, &name)?);
    }
    all.sort_by(|one, other| name(one).cmp(name(other)));
    Ok(all)
}

fn write<T: Serialize>(path: PathBuf, all: &[T]) -> Result<(), String> {
    let json = serde_json::to_string(all).map_err(|error| error.to_string())?;
    fs::write(path, json).map_err(|error| error.to_string())
}

/// The YAML files, in an order that does not depend on the file system.
fn files(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |error: std::io::Error| format!("{}: {error}", directory.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn one<T: DeserializeOwned>(path: &Path, name: impl Fn(&T) -> &String) -> Result<T, String> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
    let source = Source::new(text);
    let wrong = |message: &str, span| format!("{shown}:{}: {message}", source.position(span).line);
    let mut documents = yaml::parse(FileId(0), source.text(), Limits::default());
    if documents.len() != 1 {
        return Err(format!("{shown}: holds {} documents, not one", documents.len()));
    }
    let document = documents.remove(0);
    if let Some(problem) = document.problems.first() {
        return Err(wrong(&problem.message, problem.span));
    }
    let root = document.root.ok_or_else(|| format!("{shown}: is empty"))?;
    let one: T = decode::decode(&root).map_err(|error| wrong(&error.message, error.span.unwrap_or(root.span)))?;
    if path.file_stem().is_none_or(|stem| stem != name(&one).as_str()) {
        return Err(format!("{shown}: is named after something else than `{}`", name(&one)));
    }
    Ok(one)
}

fn say(line: &str) {
    println!("{line}");
}
