//! From what a finding advises to what is to be changed.
//!
//! Knows advice and components. Whether a file can be edited so is not known yet.

use diagnostic::{
    Advice, Also, BootAdvice, Finding, GateAdvice, Judging, NewDependency, OrderAdvice, OtherGate, PlainAdvice,
    WhyLeft, Written,
};
use ecow::EcoString;
use model::{Cluster, ComponentId, Gate, HealthExpression, ObjectRef, Role, TieTarget};
use read::Reading;
use source::Span;
use yaml::Node;

use crate::change::Change;
use crate::listing::kustomization_in;
use crate::split;

/// What closes a finding, or why nothing does.
type Changes = Result<Vec<Change>, WhyLeft>;

/// Finds what is to be changed in a cluster of a repository.
pub(crate) struct Intent<'a> {
    pub(crate) reading: &'a Reading,
    pub(crate) cluster: &'a Cluster,
}

impl Intent<'_> {
    /// What is to be changed for a finding.
    pub(crate) fn of(&self, finding: &Finding) -> Changes {
        let fix = finding.fix.as_ref().ok_or(WhyLeft::NoEdit)?;
        match &fix.advice {
            Advice::Order(advice) => self.order(finding, advice),
            Advice::Gate(advice) => self.gate(finding, advice),
            Advice::Plain(advice) => self.plain(finding, *advice),
            Advice::BringNamespace { component, namespace } => {
                Ok(vec![Change::BringNamespace { of: self.find(component)?, namespace: namespace.clone() }])
            }
            Advice::Resume { target } => Ok(vec![Change::Resume { of: self.find(target)? }]),
            Advice::SetRetryInterval { components } => {
                let of = |object| Ok(Change::RetryInterval { of: self.find(object)? });
                components.iter().map(of).collect()
            }
            // Moving the release is a person's to do; without that, trying again soon keeps the wait short.
            Advice::MoveRelease { component, has_no_retry: true, .. } => {
                Ok(vec![Change::RetryInterval { of: self.find(component)? }])
            }
            Advice::Boot(BootAdvice::GateStorage { driver }) => self.gate_driver(driver),
            Advice::MoveResources(moved) => split::changes(self.reading, self.cluster, finding, moved),
            _ => Err(WhyLeft::NoEdit),
        }
    }

    fn plain(&self, finding: &Finding, advice: PlainAdvice) -> Changes {
        match advice {
            PlainAdvice::RemoveDependencyOnParent | PlainAdvice::RemoveOrKeep => self.without_tie(finding),
            PlainAdvice::ListFileOrDelete => self.list(finding),
            PlainAdvice::SetReady => {
                Ok(vec![Change::AwaitReady { of: self.find(&finding.component)?, at: finding.primary.at.span() }])
            }
            _ => Err(WhyLeft::NoEdit),
        }
    }

    /// What applies a storage driver waits for it: for all that it applies, or for one more where it names what it waits for.
    fn gate_driver(&self, driver: &ObjectRef) -> Changes {
        let of = self.applier(self.find(driver)?);
        let gated = self.cluster.component(of);
        match gated.gate {
            _ if gated.role != Role::Kustomization => Err(WhyLeft::NoEdit),
            Gate::Listed(_) => self.check(of, driver, None),
            _ => Ok(vec![Change::Wait { of }]),
        }
    }

    /// The kustomization in the directory of a file, or above it, that is to list it.
    fn list(&self, finding: &Finding) -> Changes {
        let repository = &self.reading.repository;
        let file = finding.primary.at.file().and_then(|file| repository.path(file)).ok_or(WhyLeft::NoEdit)?;
        let mut directory = file;
        let by = loop {
            directory = directory.rsplit_once('/').map(|(above, _)| above).ok_or(WhyLeft::NoEdit)?;
            if let Some(by) = kustomization_in(repository, directory) {
                break by;
            }
        };
        // Which component applies the directory does not matter: the edit is of no object.
        let of = self.cluster.ids().next().ok_or(WhyLeft::NoEdit)?;
        Ok(vec![Change::List { of, file: file.to_owned(), by }])
    }

    fn order(&self, finding: &Finding, advice: &OrderAdvice) -> Changes {
        match advice {
            OrderAdvice::Add(new) | OrderAdvice::AddWithoutBootstrap(new) => {
                Ok(self.add(new)?.into_iter().chain(self.others(finding, new)).collect())
            }
            OrderAdvice::AddOrRetry(new) => self.add(new).or_else(|_| self.retry(finding)),
            OrderAdvice::AddToDependencies { gate, component } => self.depend(component, gate),
            OrderAdvice::ApplierDependsOn { gate, component } => {
                let (of, on) = (self.applier(self.find(component)?), self.applier(self.find(gate)?));
                Ok(vec![Change::Depend { of, on }])
            }
            OrderAdvice::DependOnApplierOf { object } => {
                let (of, on) = (self.find(&finding.component)?, self.applier(self.find(object)?));
                Ok(vec![Change::Depend { of, on }])
            }
            OrderAdvice::DependInstead { applier, resource, waits, by } => {
                let of = self.applier(self.find(&finding.component)?);
                let on = self.find(applier)?;
                let mut changes = vec![Change::Depend { of, on }];
                if !waits {
                    changes.extend(self.check(on, resource, by.as_ref())?);
                }
                Ok(changes)
            }
            OrderAdvice::DidYouMean { object } | OrderAdvice::DidYouMeanRelease { release: object } => {
                self.rename(finding, object.clone())
            }
            OrderAdvice::OtherNamespace { namespace } => {
                let missing = finding.provider.as_ref().ok_or(WhyLeft::NoEdit)?;
                let meant = ObjectRef { namespace: namespace.clone(), ..missing.clone() };
                self.rename(finding, meant)
            }
            OrderAdvice::Move { consumer, target } => {
                let moved = self.depend(consumer, target)?;
                Ok(moved.into_iter().chain(self.without_tie(finding)?).collect())
            }
            OrderAdvice::RemoveEntry { .. } => self.without_tie(finding),
            OrderAdvice::RemoveOnly { place } | OrderAdvice::RemoveThis { place } => Ok(vec![self.without(*place)?]),
            // Which of them is wrong only a person can tell.
            OrderAdvice::RemoveOneOf { .. } => Err(WhyLeft::NoEdit),
        }
    }

    fn add(&self, new: &NewDependency) -> Changes {
        let tie = self.depend(&new.consumer, &new.provider)?;
        let on = self.find(&new.provider)?;
        match &new.written {
            Written::Own(gate) | Written::Patch(_, gate) | Written::Needs(gate) => {
                Ok(tie.into_iter().chain(self.other_gate(on, gate)?).collect())
            }
            Written::Instead { place, gate } => {
                let without = self.without(*place)?;
                Ok(std::iter::once(without).chain(tie).chain(self.other_gate(on, gate)?).collect())
            }
            Written::Apart { .. } | Written::Nowhere { .. } => Err(WhyLeft::NoEdit),
        }
    }

    /// The same order for all that a finding speaks for, as far as it is as bad for them.
    fn others(&self, finding: &Finding, new: &NewDependency) -> Vec<Change> {
        let is_meant = |also: &&Also| also.severity >= finding.severity && also.component.kind == new.consumer.kind;
        let others = finding.also.iter().filter(is_meant);
        let on = self.find(&new.provider);
        others
            .filter_map(|also| Some(Change::Depend { of: self.find(&also.component).ok()?, on: on.clone().ok()? }))
            .collect()
    }

    fn depend(&self, of: &ObjectRef, on: &ObjectRef) -> Changes {
        Ok(vec![Change::Depend { of: self.find(of)?, on: self.find(on)? }])
    }

    fn retry(&self, finding: &Finding) -> Changes {
        let releases = std::iter::once(&finding.component).chain(&finding.provider);
        let release = releases.filter_map(|object| self.find(object).ok()).find(|id| self.is_release(*id));
        release.map(|of| vec![Change::RetryOnFailure { of }]).ok_or(WhyLeft::NoEdit)
    }

    fn other_gate(&self, on: ComponentId, gate: &OtherGate) -> Changes {
        match gate {
            OtherGate::Waits => Ok(Vec::new()),
            OtherGate::NeedsWait { judging, .. } => {
                let judging = judging.as_ref().map(|judging| Self::judge(on, judging)).transpose()?;
                Ok(std::iter::once(Change::Wait { of: on }).chain(judging).collect())
            }
            OtherGate::NeedsCheck { object, judging, waits_now: false } => {
                self.check(on, object, judging.as_ref().and_then(|judging| judging.by.as_ref()))
            }
            OtherGate::NeedsCheck { object, judging, waits_now: true } => {
                let by = judging.as_ref().and_then(|judging| judging.by.as_ref());
                Ok(self.listed_instead(on)?.into_iter().chain(self.check(on, object, by)?).collect())
            }
            OtherGate::NeedsExpression(judging) => Ok(vec![Self::judge(on, judging)?]),
        }
    }

    /// What a component applies, by name in place of all: `wait: true` would switch a list off.
    fn listed_instead(&self, of: ComponentId) -> Changes {
        let applied = self.cluster.ids().filter(|id| *id != of && self.cluster.component(*id).parent == Some(of));
        let mut changes = vec![Change::Unwait { of }];
        for id in applied {
            changes.extend(self.check(of, &self.cluster.component(id).object, None)?);
        }
        Ok(changes)
    }

    fn judge(of: ComponentId, judging: &Judging) -> Result<Change, WhyLeft> {
        let by = judging.by.clone().ok_or(WhyLeft::NoEdit)?;
        Ok(Change::Judge { of, kind: judging.kind.clone(), by })
    }

    fn check(&self, of: ComponentId, object: &ObjectRef, by: Option<&HealthExpression>) -> Changes {
        let api_version = by.map(|by| by.api_version.clone()).or_else(|| api_version(self.reading, object));
        let api_version = api_version.ok_or(WhyLeft::NoEdit)?;
        let judge = by.map(|by| Change::Judge { of, kind: object.kind.clone(), by: by.clone() });
        let check = Change::Check { of, object: object.clone(), api_version };
        Ok(std::iter::once(check).chain(judge).collect())
    }

    /// The expression on the status of a kind, where there is one for kinds of this name.
    fn expression(&self, object: &ObjectRef) -> Option<&HealthExpression> {
        let is_it = |name: &str| name.rsplit('/').next() == Some(object.kind.as_str());
        let mut known = self.cluster.facts.expressions.iter().filter(|(name, _)| is_it(name));
        known.next().filter(|_| known.next().is_none()).map(|(_, by)| by)
    }

    fn gate(&self, finding: &Finding, advice: &GateAdvice) -> Changes {
        match advice {
            GateAdvice::AddExpressions { judging, gate } => Ok(vec![Self::judge(self.find(gate)?, judging)?]),
            GateAdvice::HaveWait { applier, resource, by } => self.check(self.find(applier)?, resource, by.as_ref()),
            GateAdvice::ListOnly { gate, object, .. } | GateAdvice::ListInChecks { gate, object: Some(object) } => {
                // Of what a chart makes, no file here has the API version.
                let by = api_version(self.reading, object).is_none().then(|| self.expression(object)).flatten();
                self.check(self.find(gate)?, object, by)
            }
            GateAdvice::SetWait { gate, .. } | GateAdvice::ListInChecks { gate, object: None } => {
                Ok(vec![Change::Wait { of: self.find(gate)? }])
            }
            GateAdvice::RemoveDisableWait { gate } => Ok(vec![Change::HelmWaits { of: self.find(gate)? }]),
            GateAdvice::SetReadyAndWait { gate } | GateAdvice::SetWaitAndReady { gate } => {
                let of = self.find(&finding.component)?;
                let at = self.tie_at(of, gate).ok_or(WhyLeft::NoEdit)?;
                Ok(vec![Change::Wait { of: self.find(gate)? }, Change::AwaitReady { of, at }])
            }
            GateAdvice::TakeWaitOff { gate } => self.listed_instead(self.find(gate)?),
            GateAdvice::NoGate { .. } => Err(WhyLeft::NoEdit),
        }
    }

    fn rename(&self, finding: &Finding, to: ObjectRef) -> Changes {
        let from = finding.provider.clone().ok_or(WhyLeft::NoEdit)?;
        let (of, at) = (self.find(&finding.component)?, finding.primary.at.span());
        Ok(vec![Change::Rename { of, at, from, to }])
    }

    fn without_tie(&self, finding: &Finding) -> Changes {
        Ok(vec![self.without(finding.primary.at.span())?])
    }

    fn without(&self, at: Span) -> Result<Change, WhyLeft> {
        let tie = self.cluster.ties.iter().find(|tie| tie.at == at).ok_or(WhyLeft::NoEdit)?;
        let on = match &tie.to {
            TieTarget::Component(to) => self.cluster.component(*to).object.path().into(),
            TieTarget::Unknown(object) => object.path().into(),
        };
        Ok(Change::Undepend { of: tie.from, at, on })
    }

    fn tie_at(&self, of: ComponentId, to: &ObjectRef) -> Option<Span> {
        let to = self.find(to).ok()?;
        let mut ties = self.cluster.ties.iter();
        ties.find(|tie| tie.from == of && tie.to == TieTarget::Component(to)).map(|tie| tie.at)
    }

    fn find(&self, object: &ObjectRef) -> Result<ComponentId, WhyLeft> {
        self.cluster.find(object).ok_or(WhyLeft::NoEdit)
    }

    fn is_release(&self, id: ComponentId) -> bool {
        self.cluster.component(id).role == Role::HelmRelease
    }

    /// What applies a release; itself where it is none.
    fn applier(&self, id: ComponentId) -> ComponentId {
        let mut at = id;
        while self.is_release(at)
            && let Some(parent) = self.cluster.component(at).parent
            && parent != at
        {
            at = parent;
        }
        at
    }
}

/// The API version that an object is written with, wherever it is.
pub(crate) fn api_version(reading: &Reading, object: &ObjectRef) -> Option<EcoString> {
    let is_it = |root: &&Node| {
        root.text_at(&["kind"]) == Some(&object.kind) && root.text_at(&["metadata", "name"]) == Some(&object.name)
    };
    let documents = reading.repository.yaml_files().flat_map(|(_, _, documents)| documents);
    let mut roots = documents.filter_map(|document| document.root.as_ref());
    roots.find(is_it).and_then(|root| root.text_at(&["apiVersion"])).map(EcoString::from)
}
