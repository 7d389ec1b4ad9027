//! `cargo xtask packaging`: what package managers read to install a release, rendered from one version and the targets of
//! a release. Knows the names of archives, as [`crate::dist`] gives them; knows nothing of what is in the program.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;

const VERSION: &str = env!("CARGO_PKG_VERSION");
const HOME: &str = "https://github.com/coldstart-dev/coldstart";
const ABOUT: &str = "Find out whether a Flux cluster comes up from nothing";
const DIRECTORY: &str = "packaging";
/// What stands for a checksum before there is an archive.
const UNKNOWN: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A target of a release, in the words of each package manager.
#[derive(Debug)]
struct Target {
    name: &'static str,
    /// Of krew and Go.
    os: &'static str,
    arch: &'static str,
    /// Blocks of a Homebrew formula.
    brew_os: &'static str,
    brew_arch: &'static str,
}

const TARGETS: [Target; 4] = [
    Target { name: "aarch64-apple-darwin", os: "darwin", arch: "arm64", brew_os: "macos", brew_arch: "arm" },
    Target { name: "x86_64-apple-darwin", os: "darwin", arch: "amd64", brew_os: "macos", brew_arch: "intel" },
    Target { name: "aarch64-unknown-linux-musl", os: "linux", arch: "arm64", brew_os: "linux", brew_arch: "arm" },
    Target { name: "x86_64-unknown-linux-musl", os: "linux", arch: "amd64", brew_os: "linux", brew_arch: "intel" },
];

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Write nothing; fail when a file differs from what would be written
    #[arg(long, conflicts_with_all = ["dist", "out"])]
    check: bool,
    /// Take the checksums of the archives from this directory, as `cargo xtask dist` leaves them
    #[arg(long)]
    dist: Option<PathBuf>,
    /// Where the files go
    #[arg(long, default_value = DIRECTORY)]
    out: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let sums = options.dist.as_deref().map(checksums).transpose()?.unwrap_or_default();
    let files = files(&sums);
    if options.check {
        return check(&root().join(DIRECTORY), &files);
    }
    fs::create_dir_all(&options.out).with_context(|| format!("cannot create {}", options.out.display()))?;
    for (name, text) in &files {
        let path = options.out.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

fn check(directory: &Path, files: &BTreeMap<&'static str, String>) -> Result<()> {
    for (name, text) in files {
        let is_fresh = fs::read_to_string(directory.join(name)).is_ok_and(|written| written == *text);
        ensure!(is_fresh, "{DIRECTORY}/{name} is not what version {VERSION} gives: run `cargo xtask packaging`");
    }
    Ok(())
}

/// The checksum of every target's archive. All must be there: a manifest with a wrong one installs nothing.
fn checksums(directory: &Path) -> Result<BTreeMap<&'static str, String>> {
    let sum = |target: &Target| {
        let path = directory.join(format!("{}.sha256", archive(target)));
        let line = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let sum = line.split_whitespace().next().unwrap_or_default().to_owned();
        ensure!(
            sum.len() == UNKNOWN.len() && sum.bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{} holds no SHA-256 checksum",
            path.display()
        );
        Ok((target.name, sum))
    };
    TARGETS.iter().map(sum).collect()
}

fn files(sums: &BTreeMap<&str, String>) -> BTreeMap<&'static str, String> {
    BTreeMap::from([("coldstart.rb", formula(sums)), ("krew.yaml", krew(sums)), ("aqua-registry.yaml", aqua())])
}

fn archive(target: &Target) -> String {
    format!("coldstart-{}.tar.gz", target.name)
}

fn address(target: &Target) -> String {
    format!("{HOME}/releases/download/v{VERSION}/{}", archive(target))
}

fn sum<'a>(sums: &'a BTreeMap<&str, String>, target: &Target) -> &'a str {
    sums.get(target.name).map_or(UNKNOWN, String::as_str)
}

/// Homebrew unpacks the archive and enters its only directory.
fn formula(sums: &BTreeMap<&str, String>) -> String {
    let mut out = format!(
        "# Written by `cargo xtask packaging`. The release fills in the checksums; take the file from there.\n\
         class Coldstart < Formula\n  desc \"{ABOUT}\"\n  homepage \"{HOME}\"\n  version \"{VERSION}\"\n  \
         license any_of: [\"MIT\", \"Apache-2.0\"]\n"
    );
    for os in ["macos", "linux"] {
        let _ = writeln!(out, "\n  on_{os} do");
        for target in TARGETS.iter().filter(|target| target.brew_os == os) {
            let _ = write!(
                out,
                "    on_{} do\n      url \"{}\"\n      sha256 \"{}\"\n    end\n",
                target.brew_arch,
                address(target),
                sum(sums, target)
            );
        }
        out.push_str("  end\n");
    }
    out.push_str(
        r##"
  def install
    bin.install "coldstart"
    man1.install Dir["man/*"]
    bash_completion.install "completions/coldstart.bash" => "coldstart"
    zsh_completion.install "completions/_coldstart"
    fish_completion.install "completions/coldstart.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/coldstart --version")
  end
end
"##,
    );
    out
}

fn krew(sums: &BTreeMap<&str, String>) -> String {
    let mut out = format!(
        "# Written by `cargo xtask packaging`. The release fills in the checksums; take the file from there.\n\
         apiVersion: krew.googlecontainertools.github.com/v1alpha2\nkind: Plugin\nmetadata:\n  name: coldstart\nspec:\n  \
         version: v{VERSION}\n  homepage: {HOME}\n  shortDescription: {ABOUT}\n  description: |\n    \
         Reads the Git repository of a Flux cluster and says which dependencies are guaranteed\n    \
         when the cluster is rebuilt, which are a race, what a lost race costs, and which line to\n    \
         edit. It does not contact a cluster.\n  platforms:\n"
    );
    for target in &TARGETS {
        let directory = format!("coldstart-{}", target.name);
        let _ = write!(
            out,
            "    - selector:\n        matchLabels:\n          os: {}\n          arch: {}\n      uri: {}\n      \
             sha256: \"{}\"\n      files:\n        - from: {directory}/coldstart\n          to: .\n        \
             - from: {directory}/LICENSE-MIT\n          to: .\n        - from: {directory}/LICENSE-APACHE\n          to: .\n      \
             bin: coldstart\n",
            target.os,
            target.arch,
            address(target),
            sum(sums, target)
        );
    }
    out
}

/// aqua finds versions and checksums on the page of the releases by itself.
fn aqua() -> String {
    let (owner, name) = HOME.trim_start_matches("https://github.com/").split_once('/').unwrap_or_default();
    format!(
        "# Written by `cargo xtask packaging`. A local registry for aqua.\n\
         packages:\n  - type: github_release\n    repo_owner: {owner}\n    repo_name: {name}\n    \
         description: {ABOUT}\n    asset: coldstart-{{{{.Arch}}}}-{{{{.OS}}}}.tar.gz\n    format: tar.gz\n    \
         replacements:\n      amd64: x86_64\n      arm64: aarch64\n      darwin: apple-darwin\n      linux: unknown-linux-musl\n    \
         supported_envs: [darwin, linux]\n    files:\n      - name: coldstart\n        src: \"{{{{.AssetWithoutExt}}}}/coldstart\"\n    \
         checksum:\n      type: github_release\n      asset: \"{{{{.Asset}}}}.sha256\"\n      algorithm: sha256\n"
    )
}

#[cfg(test)]
mod tests {
    use source::FileId;

    use super::*;

    fn text(path: &str) -> String {
        fs::read_to_string(root().join(path)).unwrap()
    }

    #[test]
    fn the_files_are_those_of_this_version() {
        run(&Options { check: true, dist: None, out: DIRECTORY.into() }).unwrap();
    }

    #[test]
    fn a_file_of_another_version_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let files = files(&BTreeMap::new());
        for (name, text) in &files {
            fs::write(directory.path().join(name), text.replace(VERSION, "9.9.9")).unwrap();
        }
        let error = check(directory.path(), &files).unwrap_err().to_string();
        assert!(error.contains("run `cargo xtask packaging`"), "{error}");
    }

    #[test]
    fn every_archive_has_its_checksum() {
        let directory = tempfile::tempdir().unwrap();
        for (index, target) in TARGETS.iter().enumerate() {
            let sum = (index + 1).to_string().repeat(UNKNOWN.len());
            fs::write(
                directory.path().join(format!("{}.sha256", archive(target))),
                format!("{sum}  {}\n", archive(target)),
            )
            .unwrap();
        }
        let sums = checksums(directory.path()).unwrap();
        let files = files(&sums);
        for name in ["coldstart.rb", "krew.yaml"] {
            assert!(sums.values().all(|sum| files[name].contains(sum.as_str())), "{name}");
            assert!(!files[name].contains(UNKNOWN), "{name}");
        }
        fs::remove_file(directory.path().join(format!("{}.sha256", archive(&TARGETS[2])))).unwrap();
        assert!(checksums(directory.path()).is_err(), "a release without one of its archives");
    }

    #[test]
    fn manifests_are_yaml() {
        for (name, text) in files(&BTreeMap::new())
            .iter()
            .filter(|(name, _)| Path::new(name).extension().is_some_and(|it| it == "yaml"))
        {
            let node = yaml::parse_value(FileId(0), text).unwrap();
            assert!(node.get("packages").or_else(|| node.get("spec")).is_some(), "{name}");
        }
    }

    /// One list of targets in four places.
    #[test]
    fn the_release_and_the_action_have_the_same_targets() {
        let (release, action) = (text(".github/workflows/release.yml"), text("action.yml"));
        for target in &TARGETS {
            assert!(release.contains(target.name), "release.yml builds no {}", target.name);
            assert!(action.contains(target.name), "action.yml knows no {}", target.name);
        }
        assert!(action.contains(HOME), "action.yml installs from elsewhere");
    }

    #[test]
    fn the_page_names_the_version_of_today() {
        let page = text("docs/install.md");
        assert!(page.contains(&format!("v{VERSION}")), "docs/install.md names another version than {VERSION}");
    }
}
