//! Which finding had said what a simulated boot then showed.
//!
//! Knows the reasons of the simulated world and the findings. Does not know how either is worded.

use std::collections::{BTreeMap, BTreeSet};

use diagnostic::{Finding, Missed, Symptom};
use model::ObjectRef;
use simulate::{Blueprint, Counted, Id, Lost, Reason, Retried};

/// Simulated boots of one cluster, and what was found in it.
#[derive(Clone, Debug)]
pub struct Boots<'a> {
    pub blueprint: &'a Blueprint,
    findings: &'a [Finding],
    /// The findings without those that they speak for besides.
    alone: Vec<Finding>,
    /// By component: the findings that speak of it, each with the place among those it speaks for besides. Its own component comes last.
    speaking_of: BTreeMap<&'a ObjectRef, Vec<(usize, Option<usize>)>>,
}

/// Something that happened, and the finding that speaks of it.
#[derive(Clone, Debug)]
pub struct Explained {
    pub component: Option<ObjectRef>,
    /// What it comes down to, where its controller does not say it.
    pub fact: Option<Reason>,
    /// For one component alone.
    pub finding: Option<Finding>,
}

/// What is asked of the findings.
struct Question<'a> {
    /// Begins with the component that it is about.
    near: &'a [Id],
    /// What was seen, and what is missed; the most telling first.
    seen: Vec<(Symptom, Option<Missed>)>,
    /// From what the controller says down to the fact, where that is known.
    chain: &'a [Reason],
}

impl<'a> Boots<'a> {
    pub fn new(blueprint: &'a Blueprint, findings: &'a [Finding]) -> Self {
        let mut speaking_of: BTreeMap<&ObjectRef, Vec<(usize, Option<usize>)>> = BTreeMap::new();
        let mut alone = Vec::new();
        for (at, finding) in findings.iter().enumerate() {
            for (place, also) in finding.also.iter().enumerate() {
                speaking_of.entry(&also.component).or_default().push((at, Some(place)));
            }
            speaking_of.entry(&finding.component).or_default().push((at, None));
            alone.push(Finding { also: Vec::new(), ..finding.clone() });
        }
        Self { blueprint, findings, alone, speaking_of }
    }

    /// What some boots died of.
    pub fn cause(&self, cause: &Counted) -> Explained {
        let is_circle = !cause.circle.is_empty();
        let members = cause.circle.iter().filter(|member| **member != cause.id);
        // In a circle that its controllers do not see, whoever it leads through.
        let through = self.behind(cause).into_iter().filter(|_| cause.turns);
        let near: Vec<Id> = std::iter::once(cause.id).chain(members.copied()).chain(through).collect();
        // Pods that only take long were too late for something that has given up: that is no fact behind it.
        let passes = matches!(cause.chain.last(), Some(Reason::Starts(..) | Reason::UnderWay(_)));
        let question = Question {
            near: &near,
            seen: if is_circle { vec![(Symptom::Circle, None)] } else { self.seen(cause.reason, cause.turns) },
            chain: if is_circle || passes { &[] } else { &cause.chain },
        };
        self.explained(&question)
    }

    /// All that a cause waits for, and who would make that, up to what it comes down to.
    pub fn behind(&self, cause: &Counted) -> BTreeSet<Id> {
        self.ids(&cause.chain)
    }

    /// The findings that speak of the links between a cause and what it comes down to: each of them is a reason of the one that would have
    /// made what the link before it misses.
    pub fn links(&self, cause: &Counted) -> Vec<Finding> {
        let further = cause.chain.iter().skip(1);
        let of_makers = further.filter_map(|reason| {
            if matches!(reason, Reason::Sealed(_)) {
                return self.unsealable();
            }
            let owner = self.blueprint.maker(reason.about()?)?;
            let question = Question { near: &[owner], seen: self.seen(*reason, false), chain: &[] };
            self.explained(&question).finding
        });
        of_makers.collect()
    }

    /// A sealing key is missed by the whole cluster, whichever component a finding names.
    fn unsealable(&self) -> Option<Finding> {
        let speaks = |finding: &&Finding| {
            let near = std::slice::from_ref(&finding.component);
            Symptom::Unsealable.finding(std::slice::from_ref(*finding), near, None).is_some()
        };
        self.findings.iter().find(speaks).cloned()
    }

    /// What failed and came right by itself. `all` are all of the kind.
    pub fn retried(&self, it: &Retried, all: &BTreeMap<Id, &Retried>) -> Explained {
        // A Kustomization that waited for a release in vain has the release's reason.
        let of = it.reason.about().and_then(|about| all.get(&about));
        let reason = of.map_or(it.reason, |other| other.reason);
        let near: Vec<Id> = of.map(|other| other.id).into_iter().chain([it.id]).collect();
        let explained = self.explained(&Question { near: &near, seen: self.seen(reason, false), chain: &[] });
        Explained { component: Some(self.blueprint.thing(it.id).object()), ..explained }
    }

    /// What is missing though everything is ready.
    pub fn lost(&self, it: &Lost) -> Explained {
        self.explained(&Question { near: &[it.of], seen: vec![(Symptom::LeftOut, None)], chain: &[] })
    }

    fn explained(&self, question: &Question<'_>) -> Explained {
        let objects: Vec<ObjectRef> = question.near.iter().flat_map(|id| self.blueprint.near(*id)).collect();
        let (all, of_chain) = (self.speaking(&objects, &[]), self.speaking(&objects, question.chain));
        let found = question.seen.iter().find_map(|(symptom, missed)| {
            // Where a finding must know what is missed, it may blame one that should have brought it and does not.
            let speaking = if missed.is_some() { &all } else { &of_chain };
            symptom.finding(speaking, &objects, missed.as_ref())
        });
        Explained {
            fact: question.chain.get(1..).and_then(<[Reason]>::last).copied(),
            finding: found.cloned(),
            component: objects.into_iter().next(),
        }
    }

    /// `turns` where what it comes down to waits for it.
    fn seen(&self, reason: Reason, turns: bool) -> Vec<(Symptom, Option<Missed>)> {
        let first = symptom(reason).map(|symptom| (symptom, self.missed(reason)));
        // What comes before its store comes before the kinds of the store's operator.
        let is_secret = |id: Id| self.blueprint.thing(id).group() == "external-secrets.io";
        let is_storeless = matches!(reason, Reason::NoMatch(id) if is_secret(id));
        let store = is_storeless.then_some((Symptom::NotHealthy, Some(Missed::SecretStore)));
        let missed = self.missed(reason);
        let circle = turns.then(|| (Symptom::Circle, missed.clone()));
        // A circle may be told by another of its links.
        let any = (turns && missed.is_some()).then_some((Symptom::Circle, None));
        first.into_iter().chain(store).chain(circle).chain(any).collect()
    }

    /// What is missed.
    fn missed(&self, reason: Reason) -> Option<Missed> {
        let thing = self.blueprint.thing(reason.about()?);
        match reason {
            Reason::NoMatch(_) | Reason::WebhookDown(..) => Some(Missed::Group(thing.group().to_owned())),
            Reason::ValuesNotFound(_) | Reason::VariablesNotFound(_) => Some(Missed::Name(thing.name.to_string())),
            Reason::NamespaceNotFound(_) => Some(Missed::Namespace(thing.namespace.to_string())),
            _ => None,
        }
    }

    /// The findings of these components that may speak of what a chain came down to, each for one component. One about a provider that
    /// the chain does not name is about something else; a chain of one came right behind its end, and names nobody.
    fn speaking(&self, of: &[ObjectRef], chain: &[Reason]) -> Vec<Finding> {
        let named = self.named(chain);
        let may_be =
            |provider: Option<&ObjectRef>| chain.len() < 2 || provider.is_none_or(|provider| named.contains(provider));
        let places = of.iter().filter_map(|component| self.speaking_of.get(component)).flatten();
        // In the order of the findings, those that one speaks for besides before its own component.
        let places: BTreeSet<(usize, usize)> =
            places.map(|(at, also)| (*at, also.unwrap_or(self.findings[*at].also.len()))).collect();
        let told = places.into_iter().filter_map(|(at, place)| {
            let alone = &self.alone[at];
            let Some(also) = self.findings[at].also.get(place) else {
                return may_be(alone.provider.as_ref()).then(|| alone.clone());
            };
            let speaks = alone.rule.speaks_for_several || may_be(also.provider.as_ref());
            let (component, provider) = (also.component.clone(), also.provider.clone());
            speaks.then(|| Finding { component, provider, ..alone.clone() })
        });
        told.collect()
    }

    /// Everything that a chain names, and who makes it.
    fn named(&self, chain: &[Reason]) -> BTreeSet<ObjectRef> {
        self.ids(chain).into_iter().map(|id| self.blueprint.thing(id).object()).collect()
    }

    fn ids(&self, chain: &[Reason]) -> BTreeSet<Id> {
        const MAKERS_MAX: usize = 3;
        let ids = chain.iter().flat_map(|reason| reason.names().into_iter().chain(self.blueprint.missed(*reason)));
        let with_makers = ids.flat_map(|id| {
            std::iter::successors(Some(id), |id| self.blueprint.maker(*id)).take(1 + MAKERS_MAX).collect::<Vec<Id>>()
        });
        with_makers.collect()
    }
}

fn symptom(reason: Reason) -> Option<Symptom> {
    Some(match reason {
        Reason::DependencyNotReady(_) => Symptom::DependencyNotReady,
        Reason::DependencyNotFound(_) => Symptom::DependencyNotFound,
        Reason::SourceNotFound(_) => Symptom::SourceNotFound,
        Reason::BuildFailed(_) => Symptom::BuildFailed,
        Reason::VariablesNotFound(_) => Symptom::VariablesNotFound,
        Reason::UndefinedVariable(_) => Symptom::UndefinedVariable,
        Reason::NoMatch(_) => Symptom::UnknownKind,
        Reason::NamespaceNotFound(_) => Symptom::NamespaceNotFound,
        Reason::WebhookDown(..) => Symptom::WebhookDown,
        Reason::HealthTimeout(_) | Reason::HealthStalled(_) => Symptom::NotHealthy,
        Reason::ValuesNotFound(_) => Symptom::ValuesNotFound,
        Reason::InstallTimeout(_) => Symptom::InstallFailed,
        Reason::NoSealingKey | Reason::Sealed(_) => Symptom::Unsealable,
        _ => return None,
    })
}
