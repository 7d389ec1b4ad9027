//! What `coldstart.yaml` says about rules, made of words that mean something here.

use std::collections::BTreeMap;

use model::nearest;
use read::{Reading, Settings, SettingsError, Spelt};

use crate::finding::Severity;
use crate::{Report, order, rules};

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
            match self.rules.get(finding.rule) {
                Some(None) => return false,
                Some(Some(severity)) => finding.severity = *severity,
                None => {}
            }
            let path = finding.locations.first().and_then(|primary| reading.repository.path(primary.span.file));
            !path.is_some_and(|path| reading.settings.check.ignores(path))
        });
        report.left_out.by_settings += before - report.findings.len();
        report.findings.sort_by(|a, b| order(a).cmp(&order(b)));
    }
}

fn severity(said: &Spelt) -> Result<Severity, SettingsError> {
    let found = Severity::ALL.into_iter().find(|severity| severity.word() == said.text);
    let words = "error, warning, info, pedantic";
    found.ok_or_else(|| SettingsError::new(said.at, format!("`{}` is no severity: there is {words}", said.text)))
}

fn rule(said: &Spelt) -> Result<&'static str, SettingsError> {
    let found = rules::find(&said.text).map(|rule| rule.id);
    found.ok_or_else(|| SettingsError::new(said.at, unknown_rule(&said.text)))
}

/// `no rule is called …`, with the one that may have been meant.
pub(crate) fn unknown_rule(name: &str) -> String {
    let meant = nearest(name, rules::all().iter().map(|rule| rule.id));
    let meant = meant.map(|meant| format!(": did you mean `{meant}`?")).unwrap_or_default();
    format!("no rule is called `{name}`{meant}")
}
