//! `cargo xtask dist`: what a release consists of for one target. The binary, completions, manual pages and licences go into
//! one archive, the same bytes for the same binary, with its checksum and the list of its parts beside it.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;
use flate2::{Compression, GzBuilder};
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};

const SHELLS: [(&str, &str); 5] = [
    ("bash", "coldstart.bash"),
    ("zsh", "_coldstart"),
    ("fish", "coldstart.fish"),
    ("elvish", "coldstart.elv"),
    ("powershell", "_coldstart.ps1"),
];
/// Files of the repository that go along.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The target to build for [default: this machine]
    #[arg(long)]
    target: Option<String>,
    /// Where the archive goes
    #[arg(long, default_value = "target/dist")]
    out: PathBuf,
    /// Pack this binary instead of building one; it must run here
    #[arg(long)]
    binary: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let target = options.target.clone().map_or_else(host, Ok)?;
    let binary = options.binary.clone().map_or_else(|| build(&target), Ok)?;
    let name = format!("coldstart-{target}");
    fs::create_dir_all(&options.out).with_context(|| format!("cannot create {}", options.out.display()))?;
    let archive = options.out.join(format!("{name}.tar.gz"));
    pack(&binary, &name, &archive)?;
    let sum = checksum(&archive)?;
    let line = format!("{sum}  {name}.tar.gz\n");
    fs::write(options.out.join(format!("{name}.tar.gz.sha256")), &line)?;
    let parts = options.out.join(format!("{name}.cdx.json"));
    fs::write(&parts, crate::sbom::of(root()?, &target)?)
        .with_context(|| format!("cannot write {}", parts.display()))?;
    println!("{}: {} bytes, sha256 {sum}", archive.display(), fs::metadata(&archive)?.len());
    Ok(())
}

fn root() -> Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has no parent directory")
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The target of this machine, as the compiler names it.
fn host() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("cannot run rustc")?;
    let text = String::from_utf8(output.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not name its host")?.to_owned())
}

fn build(target: &str) -> Result<PathBuf> {
    let status =
        cargo().args(["build", "--release", "--locked", "--package", "coldstart", "--target", target]).status()?;
    ensure!(status.success(), "cannot build for {target}: is it there? rustup target add {target}");
    let directory = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    Ok(directory.join(target).join("release").join(format!("coldstart{}", std::env::consts::EXE_SUFFIX)))
}

fn pack(binary: &Path, name: &str, archive: &Path) -> Result<()> {
    let binary = fs::canonicalize(binary).with_context(|| format!("there is no {}", binary.display()))?;
    // No name and no time in the header: same input, same bytes.
    let file = File::create(archive).with_context(|| format!("cannot write {}", archive.display()))?;
    let mut tar = Builder::new(GzBuilder::new().mtime(0).write(file, Compression::best()));
    add(&mut tar, &format!("{name}/coldstart{}", std::env::consts::EXE_SUFFIX), &fs::read(&binary)?, 0o755)?;
    for (shell, file) in SHELLS {
        let script = say(&binary, &["completions", shell])?;
        add(&mut tar, &format!("{name}/completions/{file}"), &script, 0o644)?;
    }
    for (page, text) in pages(&binary)? {
        add(&mut tar, &format!("{name}/man/{page}"), &text, 0o644)?;
    }
    let root = root()?;
    for document in DOCUMENTS {
        add(&mut tar, &format!("{name}/{document}"), &fs::read(root.join(document))?, 0o644)?;
    }
    tar.into_inner()?.finish()?.sync_all()?;
    Ok(())
}

fn add(tar: &mut Builder<impl std::io::Write>, path: &str, bytes: &[u8], mode: u32) -> Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(bytes.len() as u64);
    header.set_mode(mode);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    tar.append_data(&mut header, path, bytes).with_context(|| format!("cannot pack {path}"))
}

/// What the binary prints.
fn say(binary: &Path, words: &[&str]) -> Result<Vec<u8>> {
    let output =
        Command::new(binary).args(words).output().with_context(|| format!("cannot run {}", binary.display()))?;
    ensure!(output.status.success() && !output.stdout.is_empty(), "coldstart {} said nothing", words.join(" "));
    Ok(output.stdout)
}

/// The manual pages, sorted by name.
fn pages(binary: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let directory = std::env::temp_dir().join(format!("coldstart-man-{}", std::process::id()));
    let status = Command::new(binary).args(["man", "--out"]).arg(&directory).status()?;
    ensure!(status.success(), "coldstart man failed");
    let mut pages = Vec::new();
    for entry in fs::read_dir(&directory)? {
        let entry = entry?;
        pages.push((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?));
    }
    fs::remove_dir_all(&directory)?;
    pages.sort();
    Ok(pages)
}

fn checksum(path: &Path) -> Result<String> {
    let digest = Sha256::digest(fs::read(path)?);
    Ok(digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
