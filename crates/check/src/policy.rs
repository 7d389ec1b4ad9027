//! What `coldstart.yaml` says about rules, made of words that mean something here.

use std::collections::BTreeMap;

use diagnostic::{Report, Severity};
use model::nearest;
use read::Reading;
use settings::{Problem, Settings, SettingsError, Word};

use crate::rules;

/// Which rules count, and how much.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Findings that matter less are not shown, unless the command line says otherwise.
    pub min_severity: Option<Severity>,
    /// Nothing for a rule that is switched off.
    rules: BTreeMap<&'static str, Option<Severity>>,
}

impl Policy {
    pub fn of(settings: &Settings) -> Result<Self, SettingsError> {
        let check = &settings.check;
        let min_severity = check.min_severity.as_ref().map(severity).transpose()?;
        let mut rules = BTreeMap::new();
        for (name, level) in &check.rules {
            let level = if level.text == "off" { None } else { Some(severity(level)?) };
            rules.insert(rule(name)?, level);
        }
        Ok(Self { min_severity, rules })
    }

    /// Changes severities, and leaves out what is switched off or in a path that is ignored.
    pub fn apply(&self, report: &mut Report, reading: &Reading) {
        let before = report.findings.len();
        report.findings.retain_mut(|finding| {
            match self.rules.get(finding.rule.id) {
                Some(None) => return false,
                Some(Some(severity)) => finding.severity = *severity,
                None => {}
            }
            let path = finding.primary.at.file().and_then(|file| reading.repository.path(file));
            !path.is_some_and(|path| reading.settings.check.ignores(path))
        });
        report.left_out.by_settings += before - report.findings.len();
        report.sort();
    }
}

fn severity(said: &Word) -> Result<Severity, SettingsError> {
    let found = Severity::ALL.into_iter().find(|severity| severity.word() == said.text);
    let known = || Severity::ALL.into_iter().rev().map(Severity::word).collect();
    found.ok_or_else(|| {
        SettingsError::new(said.at, Problem::UnknownSeverity { word: said.text.clone(), known: known() })
    })
}

fn rule(said: &Word) -> Result<&'static str, SettingsError> {
    let found = rules::find(&said.text).map(|rule| rule.id);
    let unknown = || Problem::UnknownRule { name: said.text.clone(), nearest: nearest_rule(&said.text) };
    found.ok_or_else(|| SettingsError::new(said.at, unknown()))
}

/// The rule that may have been meant.
pub(crate) fn nearest_rule(name: &str) -> Option<&'static str> {
    nearest(name, rules::all().iter().map(|rule| rule.id))
}
