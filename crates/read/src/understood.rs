//! How much of Terraform and of scripts is understood: a measure of the readers, for those who work on them. Nothing is concluded from it.

use ::repository::parallel;
use kustomize::Files as _;

use crate::gates::{self, Judged};
use crate::repository::Repository;
use crate::scripts::{self, Scripts};
use crate::terraform::{self, Syntax};

/// Numbers of one repository, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Understood {
    /// Files of Terraform, those with values among them.
    pub files: Share,
    /// Scalars of the arguments of all blocks that a run has: whether their value is known.
    pub arguments: Share,
    /// Texts for a shell: scripts, recipes, items of tasks, provisioners. Known is one without a place that is no shell.
    pub texts: Share,
    /// Their commands: whether it is known what the program does to the rest of the text.
    pub commands: Share,
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub known: usize,
    pub all: usize,
}

impl Share {
    pub fn add(&mut self, other: Self) {
        self.known += other.known;
        self.all += other.all;
    }

    fn count(&mut self, is_known: bool) {
        self.add(Self { known: usize::from(is_known), all: 1 });
    }
}

impl Understood {
    pub fn add(&mut self, other: &Self) {
        self.files.add(other.files);
        self.arguments.add(other.arguments);
        self.texts.add(other.texts);
        self.commands.add(other.commands);
    }

    fn text(&mut self, judged: &Judged) {
        self.texts.count(judged.unread.is_empty());
        self.commands.add(Share { known: judged.known, all: judged.commands });
    }
}

/// Reads all of it once more.
pub fn of(repository: &Repository) -> Understood {
    let mut found = Understood::default();
    for path in repository.paths() {
        if let Some(syntax) = Syntax::of(path) {
            found.files.count(is_read(repository, path, syntax));
        }
    }
    for chain in terraform::chains(repository) {
        let (known, all) = chain.understood;
        found.arguments.add(Share { known, all });
        for provisioner in chain.blocks.iter().flat_map(|block| &block.provisioners) {
            found.text(&gates::of_provisioner(repository, provisioner));
        }
    }
    let scripts = Scripts::read(repository);
    for script in scripts.found() {
        for judged in gates::judged(&scripts, script) {
            found.text(&judged);
        }
    }
    found
}

fn is_read(repository: &Repository, path: &str, syntax: Syntax) -> bool {
    let text = || std::str::from_utf8(repository.bytes(path)?).ok();
    text().is_some_and(|text| repository.id(path).is_some_and(|file| terraform::is_read(file, text, syntax)))
}

/// Parses every file of Terraform and every script once, on all cores, and gives how many: reading them can't cost less.
pub fn parse(repository: &Repository) -> usize {
    let paths: Vec<&str> =
        repository.paths().filter(|path| Syntax::of(path).is_some() || scripts::is_script(path)).collect();
    let is_shell = |path: &str| {
        let source = repository.id(path).and_then(|file| repository.source(file));
        source.is_some_and(|source| shell::parse(source.text()).faults.is_empty())
    };
    let read = parallel::map(&paths, |path| {
        Syntax::of(path).map_or_else(|| is_shell(path), |syntax| is_read(repository, path, syntax))
    });
    read.len()
}
