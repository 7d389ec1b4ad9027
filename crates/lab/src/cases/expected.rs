//! What `check` says of a case (`expect.yaml`), and whether what the lab is told to see (`lab.yaml`) is the same claim.
//!
//! A case where the two disagree fails before a lab is started: the link between the linter's words and the controllers'
//! deeds is this file.

use serde::Deserialize;

use super::told::{CaseEnding, Told};

/// The part of `expect.yaml` that speaks of what happens. Its other keys are the linter's own business.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Expected {
    #[serde(default)]
    pub about: String,
    #[serde(default)]
    pub needs: Vec<ExpectedNeed>,
    #[serde(default)]
    pub deadlocks: Vec<Vec<String>>,
    #[serde(default)]
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ExpectedNeed {
    pub of: String,
    pub needs: String,
    #[serde(default)]
    pub verdict: String,
    #[serde(default)]
    pub consequence: String,
    #[serde(default)]
    pub seconds: Option<u64>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Finding {
    #[serde(default)]
    pub rule: String,
    #[serde(default)]
    pub severity: String,
    #[serde(default)]
    pub component: Option<String>,
}

/// Rules whose findings say that somebody waits for ever.
const BLOCKED_FOR_EVER: [&str; 5] =
    ["unknown-dependency", "wrong-kind-dependency", "suspended-dependency", "dependency-cycle", "undefined-variable"];

impl Expected {
    /// The worst that `check` says will happen.
    pub fn outcome(&self) -> CaseEnding {
        let blocked = |finding: &&Finding| {
            finding.severity == "error"
                && (BLOCKED_FOR_EVER.contains(&finding.rule.as_str()) || finding.rule.ends_with("deadlock"))
        };
        if !self.deadlocks.is_empty() || self.findings.iter().any(|finding| blocked(&finding)) {
            return CaseEnding::Deadlocks;
        }
        // Nothing is substituted where there is no variable: the loss is in the text, not in a need.
        let is_lost = |finding: &Finding| finding.rule == "undefined-variable" && finding.severity != "error";
        let text = self.findings.iter().any(is_lost).then_some(CaseEnding::Loses);
        let worst = self.needs.iter().map(|need| match (need.verdict.as_str(), need.consequence.as_str()) {
            // What nobody offers and nobody misses.
            ("unoffered", "none") => CaseEnding::Converges,
            (_, "deadlock") => CaseEnding::Deadlocks,
            (_, "terminal") | ("unoffered", _) => CaseEnding::Stalls,
            (_, "silent") => CaseEnding::Loses,
            (_, "slow") => CaseEnding::Recovers,
            _ => CaseEnding::Converges,
        });
        worst.chain(text).max().unwrap_or(CaseEnding::Converges)
    }

    /// Nothing but guarantees: then no controller may report a failure.
    pub fn all_guaranteed(&self) -> bool {
        let kept = |need: &ExpectedNeed| {
            matches!(need.verdict.as_str(), "guaranteed" | "bootstrap-only")
                && matches!(need.consequence.as_str(), "" | "none")
        };
        self.outcome() == CaseEnding::Converges && self.needs.iter().all(kept)
    }

    /// What the two files disagree about.
    pub fn disagreements(&self, told: &Told) -> Vec<String> {
        let mut wrong = Vec::new();
        if self.outcome() != told.outcome {
            wrong.push(format!("check says it {:?}, lab.yaml that it {:?}", self.outcome(), told.outcome));
        }
        let all: Vec<_> = std::iter::once(&told.happens).chain(told.then.iter().map(|then| &then.happens)).collect();
        if self.all_guaranteed() && !told.happens.clean {
            wrong.push("check guarantees all of it, and lab.yaml does not say `clean: true`".to_owned());
        }
        for need in self.needs.iter().filter(|need| need.consequence == "slow") {
            let rows: Vec<_> = all.iter().flat_map(|happens| &happens.slow).filter(|slow| slow.of == need.of).collect();
            if rows.is_empty() && told.outcome == CaseEnding::Recovers {
                wrong.push(format!(
                    "check calls {} slow for want of {}; lab.yaml has no `slow` of it",
                    need.of, need.needs
                ));
            }
            let Some(seconds) = need.seconds else { continue };
            if !rows.is_empty() && !rows.iter().any(|slow| slow.seconds == Some(seconds)) {
                wrong.push(format!("check says that {} waits {seconds} s, lab.yaml does not", need.of));
            }
        }
        for slow in all.iter().flat_map(|happens| &happens.slow) {
            let stated = |need: &ExpectedNeed| {
                need.of == slow.of
                    && need.consequence == "slow"
                    && (need.seconds.is_none() || slow.seconds.is_none() || need.seconds == slow.seconds)
            };
            if !self.needs.iter().any(stated) {
                wrong.push(format!("lab.yaml has {} wait {:?} s, which check does not say", slow.of, slow.seconds));
            }
        }
        let stops = told.bootstrap.helmfile.as_ref().is_some_and(|helmfile| helmfile.fails.is_some());
        let holds_still = stops || all.iter().any(|happens| !happens.stuck.is_empty());
        if matches!(told.outcome, CaseEnding::Deadlocks | CaseEnding::Stalls) && !holds_still {
            wrong.push("nothing is `stuck` in lab.yaml".to_owned());
        }
        wrong
    }
}
