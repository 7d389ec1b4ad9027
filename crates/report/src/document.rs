//! The document and its sections, in their order.

use graph::{Critical, Impact};
use model::Cluster;
use run::Layer;
use serde::Serialize;

use crate::boots::Boots;
use crate::changes::Changes;
use crate::checks::Check;
use crate::facts::Facts;
use crate::files::{Api, KeyFile, Version};
use crate::layers::LayerPart;
use crate::rules::{BrokenCycle, CycleAcross, CycleFound, DependencyRule};
use crate::stages::{Gap, Stage};
use crate::summary::Summary;
use crate::tiers::{Edge, Tier};
use crate::timeline::Milestone;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    pub path: String,
    pub line: u32,
}

/// The analysis of one cluster.
#[derive(Debug)]
pub struct Document<'a> {
    pub cluster: &'a Cluster,
    pub sections: Vec<Section<'a>>,
}

/// A part of the document. One that has nothing to say is not there.
#[derive(Debug)]
pub enum Section<'a> {
    Summary(Summary<'a>),
    Stages(Vec<Stage<'a>>),
    /// What is wrong in directories that nothing runs.
    NotRun(Vec<Gap<'a>>),
    /// What closes the gaps.
    Changes(Changes<'a>),
    Tiers(Vec<Tier>),
    Tree(Vec<Edge>),
    Layers(Vec<LayerPart<'a>>),
    Apis(Vec<Api>),
    /// What nothing comes up without, and what some do without.
    Rules {
        hard: Vec<DependencyRule>,
        soft: Vec<DependencyRule>,
    },
    Critical(Vec<(Critical, Impact)>),
    Cycles {
        found: Vec<CycleFound>,
        /// Through GitOps and back.
        across: Vec<CycleAcross>,
        broken: Vec<BrokenCycle>,
    },
    KeyFiles(Vec<KeyFile>),
    Versions(Vec<Version>),
    Timeline(Vec<Milestone>),
    /// The declared order once the changes are made.
    After(Vec<Edge>),
    Reliability(Boots),
    /// What to look at, layer by layer.
    Verification(Vec<Check>),
}

/// Everything there is to say of a cluster, or of one layer of it.
pub fn document(facts: Facts<'_>, only: Option<Layer>) -> Document<'_> {
    let cluster = facts.cluster;
    let stages = crate::stages::stages(&facts, only);
    if only.is_some() {
        return Document { cluster, sections: vec![Section::Stages(stages)] };
    }
    let (hard, soft) = crate::rules::rules(&facts);
    let (found, broken) = crate::rules::cycles(&facts);
    let across = crate::rules::across(&facts);
    let after = facts.after.map(|after| crate::tiers::edges(after.cluster)).filter(|_| !facts.repairs.made.is_empty());
    let mut sections = vec![
        Section::Summary(crate::summary::summary(&facts)),
        Section::Stages(stages),
        Section::NotRun(crate::stages::not_run(&facts)),
        Section::Changes(crate::changes::changes(&facts)),
        Section::Tiers(crate::tiers::tiers(cluster)),
        Section::Tree(crate::tiers::tree(&facts)),
        Section::Layers(crate::layers::layers(&facts)),
        Section::Apis(crate::files::apis(&facts)),
        Section::Rules { hard, soft },
        Section::Critical(Vec::new()),
        Section::Cycles { found, across, broken },
        Section::KeyFiles(crate::files::key_files(&facts)),
        Section::Versions(crate::files::versions(&facts)),
        // Of what does not come up there is no time to tell.
        Section::Timeline(if facts.headline.comes_up() { crate::timeline::timeline(&facts) } else { Vec::new() }),
        Section::After(after.unwrap_or_default()),
        Section::Verification(crate::checks::checks(&facts)),
    ];
    let Facts { critical, boots, .. } = facts;
    for section in &mut sections {
        if matches!(section, Section::Critical(_)) {
            *section = Section::Critical(critical);
            break;
        }
    }
    if let Some(boots) = boots {
        sections.insert(sections.len() - 1, Section::Reliability(boots));
    }
    sections.retain(|section| !section.is_empty());
    Document { cluster, sections }
}

impl Section<'_> {
    fn is_empty(&self) -> bool {
        match self {
            Self::Summary(_) | Self::Reliability(_) => false,
            Self::Stages(it) => it.is_empty(),
            Self::NotRun(it) => it.is_empty(),
            Self::Changes(it) => it.repairs.made.is_empty() && it.by_hand.is_empty() && it.left.is_empty(),
            Self::Tiers(it) => it.is_empty(),
            Self::Tree(it) | Self::After(it) => it.is_empty(),
            Self::Layers(it) => it.is_empty(),
            Self::Verification(it) => it.is_empty(),
            Self::Apis(it) => it.is_empty(),
            Self::Rules { hard, soft } => hard.is_empty() && soft.is_empty(),
            Self::Critical(it) => it.is_empty(),
            Self::Cycles { found, across, broken } => found.is_empty() && across.is_empty() && broken.is_empty(),
            Self::KeyFiles(it) => it.is_empty(),
            Self::Versions(it) => it.is_empty(),
            Self::Timeline(it) => it.is_empty(),
        }
    }
}
