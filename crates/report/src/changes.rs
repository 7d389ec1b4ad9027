//! What closes the gaps: edits that were tried by checking again, and what a person has to write.

use diagnostic::{Finding, Left, Repairs};

use crate::facts::Facts;

/// Everything that closes something.
#[derive(Clone, Debug)]
pub struct Changes<'a> {
    pub repairs: &'a Repairs,
    /// Steps of the boot that a person has to write or to move, the worst first.
    pub by_hand: Vec<ByHandChange<'a>>,
    /// What stays, and the reason.
    pub left: Vec<&'a Left>,
}

/// A finding of the boot that no edit closes.
#[derive(Clone, Copy, Debug)]
pub struct ByHandChange<'a> {
    pub finding: &'a Finding,
    /// Why no edit was made.
    pub left: &'a Left,
}

pub(crate) fn changes<'a>(facts: &Facts<'a>) -> Changes<'a> {
    let of_cluster = facts.repairs.left.iter().filter(|left| left.finding.cluster == facts.cluster.name);
    let is_boot = |finding: &&Finding| matches!(finding.component.kind.as_str(), "Script" | "Terraform");
    let of_boot = |left: &Left| {
        let is_it = |finding: &&Finding| {
            finding.rule.id == left.finding.rule
                && finding.component == left.finding.component
                && finding.primary.at.span() == left.finding.at
        };
        facts.findings.iter().filter(is_boot).find(is_it).filter(|finding| finding.fix.is_some())
    };
    let (mut by_hand, mut left) = (Vec::new(), Vec::new());
    for one in of_cluster {
        match of_boot(one) {
            Some(finding) => by_hand.push(ByHandChange { finding, left: one }),
            None => left.push(one),
        }
    }
    by_hand.sort_by_key(|one| std::cmp::Reverse(one.finding.severity));
    Changes { repairs: facts.repairs, by_hand, left }
}
