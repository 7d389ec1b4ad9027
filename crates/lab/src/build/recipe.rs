//! What a binary is made of: lock files, environment and arguments, and the name that follows from them.

use std::ffi::OsString;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::Tool;

/// The lock files are law: a build that would have to change them fails.
const ENVIRONMENT: [(&str, &str); 4] =
    [("GOFLAGS", "-mod=readonly"), ("GOTOOLCHAIN", "auto"), ("CGO_ENABLED", "0"), ("GOWORK", "off")];

/// No inlining: the compiler is a quarter faster, and nobody measures these programs.
const COMPILER_FLAGS: &str = "-gcflags=all=-l";

const LINKER_FLAGS: &str = "-ldflags=-s -w";

/// How one tool is built.
#[derive(Debug, Clone)]
pub(super) struct Recipe {
    pub(super) tool: Tool,
    pub(super) go_mod: &'static str,
    pub(super) go_sum: &'static str,
    pub(super) environment: Vec<(&'static str, &'static str)>,
    flags: Vec<String>,
}

impl Recipe {
    pub(super) fn of(tool: Tool) -> Self {
        let linker: Vec<String> = std::iter::once(LINKER_FLAGS.into()).chain(tool.stamps()).collect();
        Self {
            tool,
            go_mod: tool.go_mod(),
            go_sum: tool.go_sum(),
            environment: ENVIRONMENT.to_vec(),
            flags: vec![linker.join(" -X "), COMPILER_FLAGS.into()],
        }
    }

    /// The arguments of `go` that write the program to `output`.
    pub(super) fn arguments(&self, output: &Path) -> Vec<OsString> {
        let mut arguments = vec![OsString::from("build")];
        arguments.extend(self.flags.iter().map(OsString::from));
        arguments.extend([OsString::from("-o"), output.into(), self.tool.package().into()]);
        arguments
    }

    /// The directory of the cache that holds the result: another version, lock file or flag is another directory.
    pub(super) fn key(&self) -> String {
        format!("{}-{}-{}", self.tool.name(), self.tool.version(), self.hash())
    }

    fn hash(&self) -> String {
        let mut digest = Sha256::new();
        let mut add = |part: &str| {
            digest.update(part.len().to_le_bytes());
            digest.update(part.as_bytes());
        };
        add(self.go_mod);
        add(self.go_sum);
        add(&self.tool.package());
        self.flags.iter().for_each(|flag| add(flag));
        self.environment.iter().for_each(|(name, value)| add(&format!("{name}={value}")));
        self.tool.files().iter().for_each(|directory| add(directory));
        let [first, second, third, fourth, ..] = <[u8; 32]>::from(digest.finalize());
        format!("{:08x}", u32::from_be_bytes([first, second, third, fourth]))
    }
}

#[cfg(test)]
mod tests {
    use super::Recipe;
    use crate::build::Tool;

    #[test]
    fn the_key_names_the_tool_and_its_version() {
        let key = Recipe::of(Tool::Etcd).key();
        let hash = key.strip_prefix("etcd-v3.6.5-").unwrap();
        assert_eq!(hash.len(), 8, "{key}");
    }

    #[test]
    fn every_part_of_a_recipe_changes_its_key() {
        let plain = Recipe::of(Tool::Etcd);
        assert_eq!(plain.key(), Recipe::of(Tool::Etcd).key());
        let mut keys = vec![plain.key()];
        keys.push(Recipe { go_mod: "module lab\n", ..plain.clone() }.key());
        keys.push(Recipe { go_sum: "", ..plain.clone() }.key());
        keys.push(Recipe { flags: vec!["-race".into()], ..plain.clone() }.key());
        keys.push(Recipe { environment: vec![("CGO_ENABLED", "1")], ..plain }.key());
        let all = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), all, "{keys:?}");
    }

    #[test]
    fn kubernetes_is_told_its_version() {
        let arguments = Recipe::of(Tool::KubeApiserver).arguments("out".as_ref());
        let linker = arguments[1].to_str().unwrap();
        assert!(linker.starts_with("-ldflags=-s -w -X k8s.io/component-base/version.gitVersion=v1."), "{linker}");
        assert!(linker.contains(" -X k8s.io/component-base/version.gitMajor=1 "), "{linker}");
    }
}
