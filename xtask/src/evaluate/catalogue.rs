//! `cargo xtask evaluate catalogue`: what repositories deploy that the catalogue does not know, most deployed first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use catalogue::Catalogue;
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::deployed::{self, Deployed};
use super::trees::{self, Trees};
use crate::{parallel, table::Table};

/// Charts that deploy what their values say: there is nothing to know of them.
const GENERIC_CHARTS: [&str; 3] = ["app-template", "common", "raw"];

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Directories to read, each a repository
    #[arg(long, value_name = "DIR", num_args = 1.., required_unless_present = "mirrors")]
    trees: Vec<PathBuf>,
    /// Bare clones, as `DIR/<owner>+<name>/repo`: the newest commit of each is read
    #[arg(long, value_name = "DIR")]
    mirrors: Option<PathBuf>,
    /// Only these of the bare clones, as `<owner>/<name>`
    #[arg(long, value_name = "NAME", num_args = 1.., requires = "mirrors")]
    only: Vec<String>,
    /// Where trees from bare clones are kept [default: below the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Leave out what fewer repositories have
    #[arg(long, value_name = "N", default_value_t = 1)]
    at_least: usize,
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
}

/// What the catalogue does not cover, over all trees.
#[derive(Debug, Default, Serialize)]
struct Gaps {
    repositories: usize,
    components: usize,
    /// How many releases there are of charts that a component of the catalogue owns, and of others.
    releases_known: usize,
    releases_unknown: usize,
    /// Charts that no component owns.
    charts: Vec<Gap>,
    /// Kinds that nobody in their repository offers.
    kinds: Vec<Gap>,
    /// Classes, stores, devices and the like that nobody in their repository offers.
    names: Vec<Gap>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Gap {
    /// What sort of thing, where the list holds several.
    #[serde(skip_serializing_if = "str::is_empty")]
    noun: String,
    name: String,
    repositories: Vec<String>,
    uses: usize,
    /// Components that would bring it, were they deployed as the catalogue expects them to be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    known_to: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let trees = directories(options)?;
    let read =
        parallel::map(&trees, options.jobs, |(repository, tree)| Ok((repository.clone(), deployed::read(tree)?)));
    let read: Vec<(String, Deployed)> = read.into_iter().collect::<Result<_>>()?;
    let gaps = gaps(&read, Catalogue::embedded(), options.at_least);
    match options.format {
        Format::Json => println!("{}", serde_json::to_string_pretty(&gaps)?),
        Format::Text => print!("{}", text(&gaps)),
    }
    Ok(())
}

/// The trees, each with the repository it is of.
fn directories(options: &Options) -> Result<Vec<(String, PathBuf)>> {
    let mut directories = Vec::new();
    for tree in &options.trees {
        let tree = tree.canonicalize().with_context(|| format!("no tree at {}", tree.display()))?;
        let name = tree.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        directories.push((name.split('@').next().unwrap_or_default().replacen('+', "/", 1), tree));
    }
    if let Some(mirrors) = &options.mirrors {
        let trees = Trees::new(mirrors, options.cache.as_deref());
        let mut repositories: Vec<String> = trees.repositories()?.into_iter().collect();
        repositories.retain(|repository| options.only.is_empty() || options.only.contains(repository));
        ensure!(!repositories.is_empty(), "no such bare clone below {}", mirrors.display());
        for repository in repositories {
            let mirror = trees.mirror(&repository).with_context(|| format!("no bare clone of {repository}"))?;
            let tree = trees.lay(&repository, &trees::resolve(Path::new(&mirror), "HEAD")?)?;
            directories.push((repository, tree));
        }
    }
    Ok(directories)
}

fn gaps(read: &[(String, Deployed)], catalogue: &Catalogue, at_least: usize) -> Gaps {
    let is_known = |chart: &str| catalogue.by_chart(chart).is_some();
    let mut gaps = Gaps { components: catalogue.components().len(), ..Gaps::default() };
    let (mut charts, mut kinds, mut names) = (Counts::default(), Counts::default(), Counts::default());
    let mut repositories: Vec<&str> = Vec::new();
    for (repository, deployed) in read {
        repositories.push(repository);
        for (chart, uses) in &deployed.charts {
            if is_known(chart) {
                gaps.releases_known += uses;
            } else if !GENERIC_CHARTS.contains(&chart.as_str()) {
                gaps.releases_unknown += uses;
                charts.add("", chart, repository, *uses);
            }
        }
        for (kind, uses) in &deployed.kinds {
            kinds.add("", kind, repository, *uses);
        }
        for ((noun, name), uses) in &deployed.names {
            names.add(noun, name, repository, *uses);
        }
    }
    repositories.sort_unstable();
    repositories.dedup();
    gaps.repositories = repositories.len();
    gaps.charts = charts.list(at_least, |_| Vec::new());
    gaps.kinds = kinds.list(at_least, |kind| owners(catalogue, kind));
    gaps.names = names.list(at_least, |_| Vec::new());
    gaps
}

fn owners(catalogue: &Catalogue, kind: &str) -> Vec<String> {
    let (group, kind) = kind.split_once('/').unwrap_or_default();
    catalogue.crd_owners(group, kind).map(|component| component.name.clone()).collect()
}

/// Repositories and uses, by noun and name.
#[derive(Default)]
struct Counts(BTreeMap<(String, String), (Vec<String>, usize)>);

impl Counts {
    fn add(&mut self, noun: &str, name: &str, repository: &str, uses: usize) {
        let (repositories, sum) = self.0.entry((noun.to_owned(), name.to_owned())).or_default();
        if !repositories.iter().any(|known| known == repository) {
            repositories.push(repository.to_owned());
        }
        *sum += uses;
    }

    /// Most repositories first.
    fn list(self, at_least: usize, known_to: impl Fn(&str) -> Vec<String>) -> Vec<Gap> {
        let mut gaps: Vec<Gap> = self
            .0
            .into_iter()
            .filter(|(_, (repositories, _))| repositories.len() >= at_least)
            .map(|((noun, name), (repositories, uses))| {
                let known_to = known_to(&name);
                Gap { noun, name, repositories, uses, known_to }
            })
            .collect();
        gaps.sort_by_key(|gap| (std::cmp::Reverse(gap.repositories.len()), std::cmp::Reverse(gap.uses)));
        gaps
    }
}

fn text(gaps: &Gaps) -> String {
    let Gaps { repositories, components, releases_known, releases_unknown, .. } = gaps;
    let mut text = format!(
        "{repositories} repositories, {components} components\n\
         {releases_known} releases of charts that one of them owns, {releases_unknown} of others\n"
    );
    let tables = [
        ("charts that no component owns", "", &gaps.charts),
        ("kinds that nobody in the repository offers", "known to", &gaps.kinds),
        ("names that nobody in the repository offers", "", &gaps.names),
    ];
    for (title, last, list) in tables {
        let mut table = Table::new([title, "repositories", "uses", last]);
        for gap in list {
            let name = if gap.noun.is_empty() { gap.name.clone() } else { format!("{} {}", gap.noun, gap.name) };
            table.row([name, gap.repositories.len().to_string(), gap.uses.to_string(), gap.known_to.join(", ")]);
        }
        text.push('\n');
        text.push_str(&table.render());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployed(charts: &[(&str, usize)], kinds: &[&str]) -> Deployed {
        Deployed {
            charts: charts.iter().map(|(name, uses)| ((*name).to_owned(), *uses)).collect(),
            kinds: kinds.iter().map(|kind| ((*kind).to_owned(), 1)).collect(),
            names: [(("StorageClass", "fast".to_owned()), 2)].into(),
        }
    }

    #[test]
    fn what_most_repositories_have_comes_first_and_what_is_known_is_only_counted() {
        let read = [
            (
                "o/one".to_owned(),
                deployed(&[("cert-manager", 2), ("rare", 9), ("often", 1)], &["cert-manager.io/Issuer"]),
            ),
            ("o/two".to_owned(), deployed(&[("often", 1), ("app-template", 30)], &["example.com/Thing"])),
        ];
        let gaps = gaps(&read, Catalogue::embedded(), 1);
        assert_eq!((gaps.repositories, gaps.releases_known, gaps.releases_unknown), (2, 2, 11));
        assert_eq!(gaps.charts.iter().map(|gap| gap.name.as_str()).collect::<Vec<_>>(), ["often", "rare"]);
        let known: Vec<_> = gaps.kinds.iter().map(|gap| (gap.name.as_str(), gap.known_to.join(","))).collect();
        assert_eq!(
            known,
            [("cert-manager.io/Issuer", "cert-manager".to_owned()), ("example.com/Thing", String::new())]
        );
        assert_eq!((gaps.names[0].uses, gaps.names[0].repositories.len()), (4, 2));
        assert!(text(&gaps).contains("StorageClass fast"));
    }

    #[test]
    fn what_few_repositories_have_can_be_left_out() {
        let read = [("o/one".to_owned(), deployed(&[("rare", 1)], &[]))];
        assert!(gaps(&read, Catalogue::embedded(), 2).charts.is_empty());
    }
}
