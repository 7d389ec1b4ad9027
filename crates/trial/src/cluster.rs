//! A small cluster by its number: files as people write them, of operators that the catalogue knows, what they look after, and
//! applications that need both.
//!
//! The same number always writes the same bytes. Most clusters are sound: `check` has neither an error nor a warning for them,
//! and without a fault they come up. Every fifth has one [`Defect`].

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::dice::Dice;
use crate::manner;
use crate::operators::{OPERATORS, Operator};
use crate::texts;

/// One in so many clusters has a defect.
const DEFECT_EVERY: u64 = 5;
const APPLICATIONS: (u64, u64) = (2, 20);
/// Defects of one cluster that is to be fixed.
const BROKEN_MAX: u64 = 6;
/// Those that an edit puts right, at least in part.
const FIXABLE: [Defect; 6] =
    [Defect::NoOrder, Defect::NoOrder, Defect::NoWait, Defect::Beside, Defect::Typo, Defect::Circle];
const BROKEN_APPLICATIONS: (u64, u64) = (2, 9);

/// What is wrong with a cluster, by whoever wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Defect {
    /// An application is not ordered after what it uses.
    NoOrder,
    /// The Kustomization of an operator does not wait, and what follows it comes too early.
    NoWait,
    /// A custom resource stands beside the release that brings its kind.
    Beside,
    /// An application depends on a Kustomization that nobody has written.
    Unknown,
    /// An application depends on a Kustomization that is suspended.
    Suspended,
    /// An application is built from a source that nobody has written.
    NoSource,
    /// Sealed secrets, and nobody restores the key.
    NoKey,
    /// Two applications depend on each other.
    Circle,
    /// An application depends on another by a name with a letter too many.
    Typo,
}

impl Defect {
    pub const ALL: [Self; 8] = [
        Self::NoOrder,
        Self::NoWait,
        Self::Beside,
        Self::Unknown,
        Self::Suspended,
        Self::NoSource,
        Self::NoKey,
        Self::Circle,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::NoOrder => "no order",
            Self::NoWait => "no wait",
            Self::Beside => "custom resource beside its operator",
            Self::Unknown => "unknown dependency",
            Self::Suspended => "suspended dependency",
            Self::NoSource => "missing source",
            Self::NoKey => "no sealing key",
            Self::Circle => "circle",
            Self::Typo => "typo",
        }
    }

    /// No boot can come up with it.
    pub const fn is_fatal(self) -> bool {
        !matches!(self, Self::NoOrder | Self::NoWait)
    }
}

/// One Flux Kustomization.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) depends_on: Vec<(String, String)>,
    pub(crate) wait: bool,
    pub(crate) is_suspended: bool,
    pub(crate) source: &'static str,
    pub(crate) retry_seconds: Option<u64>,
    pub(crate) timeout_minutes: u64,
    pub(crate) interval_minutes: u64,
    /// File name and text.
    pub(crate) objects: Vec<(String, String)>,
}

impl Part {
    fn new(name: &str, namespace: &str) -> Self {
        Self {
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            depends_on: Vec::new(),
            wait: true,
            is_suspended: false,
            source: "flux-system",
            retry_seconds: Some(60),
            timeout_minutes: 5,
            interval_minutes: 60,
            objects: Vec::new(),
        }
    }

    fn address(&self) -> (String, String) {
        (self.name.clone(), self.namespace.clone())
    }
}

/// The files of a cluster, and what is known of it beforehand.
#[derive(Clone, Debug)]
pub struct Cluster {
    pub number: u64,
    pub defect: Option<Defect>,
    /// Kustomizations (`namespace/name`) that the defect keeps, or may keep, from coming up.
    pub spoilt: Vec<String>,
    /// By path.
    pub files: BTreeMap<String, String>,
}

struct Draft {
    dice: Dice,
    parts: Vec<Part>,
    spoilt: Vec<String>,
    has_key: bool,
}

/// The cluster of this number.
pub fn cluster(number: u64) -> Cluster {
    let mut draft = Draft::sound(number, "cluster", APPLICATIONS);
    let mut defect = None;
    if number % DEFECT_EVERY == DEFECT_EVERY - 1 {
        // Not every cluster has room for every defect.
        let first = draft.dice.index(Defect::ALL.len());
        let mut all = Defect::ALL.iter().cycle().skip(first).take(Defect::ALL.len());
        defect = all.find_map(|defect| draft.plant(*defect));
    }
    let files = crate::files::write(&mut draft.dice, &draft.parts, draft.has_key);
    Cluster { number, defect, spoilt: draft.spoilt, files }
}

/// The cluster of this number with several defects that edits can put right, each file in the manner of another writer.
pub fn broken(number: u64) -> Cluster {
    let mut draft = Draft::sound(number, "broken", BROKEN_APPLICATIONS);
    let mut defect = None;
    // What is not tried again soon is worse, and found as such.
    let (dice, parts) = (&mut draft.dice, &mut draft.parts);
    parts.iter_mut().filter(|_| dice.is_in(60)).for_each(|part| part.retry_seconds = None);
    for _ in 0..=draft.dice.below(BROKEN_MAX) {
        let next = *draft.dice.one_of(&FIXABLE);
        defect = draft.plant(next).or(defect);
    }
    let files = crate::files::write(&mut draft.dice, &draft.parts, draft.has_key);
    let files = manner::of_many(&mut draft.dice, files);
    Cluster { number, defect, spoilt: draft.spoilt, files }
}

impl Draft {
    fn sound(number: u64, purpose: &str, applications: (u64, u64)) -> Self {
        let dice = Dice::new(number, purpose);
        let mut draft = Self { dice, parts: Vec::new(), spoilt: Vec::new(), has_key: true };
        draft.infrastructure();
        draft.applications(applications);
        draft.vary();
        draft
    }

    /// Operators, and behind each what it looks after.
    fn infrastructure(&mut self) {
        let mut parts: Vec<Part> = Vec::new();
        for operator in OPERATORS {
            if self.dice.is_in(operator.percent) {
                self.with_operator(operator, &mut parts);
            }
        }
        self.parts = parts;
    }

    fn with_operator(&mut self, operator: &Operator, parts: &mut Vec<Part>) {
        // What it needs itself comes with it.
        for name in operator.after {
            if let Some(other) = OPERATORS.iter().find(|other| other.name == *name && !has(parts, other)) {
                self.with_operator(other, parts);
            }
        }
        if has(parts, operator) {
            return;
        }
        let mut part = Part::new(operator.name, operator.namespace);
        part.depends_on = operator.after.iter().filter_map(|name| last_of(parts, name)).collect();
        part.objects = texts::release(operator.name, operator.chart, operator.values, self.policy());
        parts.push(part);
        if !operator.objects.is_empty() {
            let mut config = Part::new(&format!("{}-config", operator.name), operator.namespace);
            config.depends_on = vec![(operator.name.to_owned(), operator.namespace.to_owned())];
            config.depends_on.extend(operator.config_after.iter().filter_map(|name| last_of(parts, name)));
            config.objects = vec![("objects.yaml".to_owned(), operator.objects.to_owned())];
            config.timeout_minutes = 10;
            parts.push(config);
        }
    }

    /// What follows a failed install or upgrade.
    fn policy(&mut self) -> &'static str {
        texts::POLICIES[self.dice.index(texts::POLICIES.len())]
    }

    fn applications(&mut self, (least, most): (u64, u64)) {
        let count = least + self.dice.below(most - least + 1);
        let mut earlier: Vec<(String, String)> = Vec::new();
        for at in 0..count {
            let name = format!("app-{at:02}");
            let mut part = Part::new(&name, &format!("team-{}", at % 3));
            let uses: Vec<&Operator> = OPERATORS
                .iter()
                .filter(|operator| !operator.uses.is_empty() && has(&self.parts, operator))
                .filter(|operator| self.dice.is_in(operator.percent / 2))
                .collect();
            let mut values = String::new();
            for operator in &uses {
                part.depends_on.extend(last_of(&self.parts, operator.name));
                for (file, text) in operator.uses {
                    part.objects.push(((*file).to_owned(), text.replace("NAME", &name)));
                }
                values.push_str(&operator.app_values.replace("NAME", &name));
            }
            let chart = if self.dice.is_in(80) { "app-template" } else { "podinfo" };
            let values = texts::application(&name, chart, &values);
            part.objects.extend(texts::release(&name, chart, &values, self.policy()));
            for _ in 0..self.dice.below(3) {
                if !earlier.is_empty() {
                    part.depends_on.push(earlier[self.dice.index(earlier.len())].clone());
                }
            }
            part.depends_on.sort();
            part.depends_on.dedup();
            earlier.push(part.address());
            self.parts.push(part);
        }
    }

    /// Intervals, timeouts, retries, and for leaves whether anybody waits.
    fn vary(&mut self) {
        let needed: Vec<(String, String)> = self.parts.iter().flat_map(|part| part.depends_on.clone()).collect();
        for part in &mut self.parts {
            part.interval_minutes = *self.dice.one_of(&[10, 30, 60]);
            part.retry_seconds = *self.dice.one_of(&[Some(30), Some(60), Some(120), Some(300)]);
            part.timeout_minutes = part.timeout_minutes.max(*self.dice.one_of(&[5, 10, 15]));
            if !needed.contains(&part.address()) && self.dice.is_in(25) {
                part.wait = false;
            }
        }
    }

    fn plant(&mut self, defect: Defect) -> Option<Defect> {
        let app = self.parts.iter().rposition(is_application)?;
        match defect {
            Defect::NoOrder => self.plant_no_order()?,
            Defect::NoWait => self.plant_no_wait()?,
            Defect::Beside => self.plant_beside()?,
            Defect::Unknown => {
                self.parts[app].depends_on.push(("nobody".to_owned(), "team-0".to_owned()));
                self.spoil(app);
            }
            Defect::Suspended => self.plant_suspended(app),
            Defect::NoSource => {
                self.parts[app].source = "elsewhere";
                self.spoil(app);
            }
            Defect::NoKey => self.plant_no_key()?,
            Defect::Circle => self.plant_circle(app)?,
            Defect::Typo => self.plant_typo()?,
        }
        Some(defect)
    }

    fn plant_no_order(&mut self) -> Option<()> {
        let is_late = |part: &Part| is_application(part) && part.objects.len() > 1 && !part.depends_on.is_empty();
        let app = self.parts.iter().rposition(is_late)?;
        self.parts[app].depends_on.clear();
        self.spoil(app);
        Some(())
    }

    fn plant_typo(&mut self) -> Option<()> {
        let app = self.parts.iter().rposition(|part| is_application(part) && !part.depends_on.is_empty())?;
        self.parts[app].depends_on[0].0.push('x');
        self.spoil(app);
        Some(())
    }

    fn plant_no_wait(&mut self) -> Option<()> {
        let config = self.last_config()?;
        self.parts[config - 1].wait = false;
        self.spoil(config);
        let loose = self.parts[config - 1].address();
        for at in 0..self.parts.len() {
            if self.parts[at].depends_on.contains(&loose) {
                self.spoil(at);
            }
        }
        Some(())
    }

    fn plant_beside(&mut self) -> Option<()> {
        let config = self.last_config()?;
        let moved = self.parts[config].objects.clone();
        self.parts[config - 1].objects.extend(moved);
        self.parts[config].objects = vec![("settings.yaml".to_owned(), texts::config_map("settings"))];
        self.spoil(config - 1);
        Some(())
    }

    fn plant_suspended(&mut self, app: usize) {
        let mut idle = Part::new("idle", "team-0");
        idle.is_suspended = true;
        idle.objects = vec![("settings.yaml".to_owned(), texts::config_map("idle"))];
        self.parts[app].depends_on.push(idle.address());
        self.spoil(app);
        self.parts.push(idle);
        self.spoil(self.parts.len() - 1);
    }

    fn plant_no_key(&mut self) -> Option<()> {
        let is_sealed = |part: &Part| part.objects.iter().any(|(_, text)| text.contains("kind: SealedSecret"));
        let sealed: Vec<usize> = (0..self.parts.len()).filter(|at| is_sealed(&self.parts[*at])).collect();
        if sealed.is_empty() {
            return None;
        }
        self.has_key = false;
        for at in sealed {
            self.spoil(at);
        }
        Some(())
    }

    fn plant_circle(&mut self, app: usize) -> Option<()> {
        let other = self.parts.iter().position(is_application).filter(|other| *other != app)?;
        let (one, two) = (self.parts[app].address(), self.parts[other].address());
        self.parts[other].depends_on.push(one);
        self.parts[app].depends_on.push(two);
        Some(())
    }

    /// What follows an operator right after it.
    fn last_config(&self) -> Option<usize> {
        self.parts.iter().rposition(|part| part.name.ends_with("-config"))
    }

    fn spoil(&mut self, at: usize) {
        let mut path = String::new();
        let _ = write!(path, "{}/{}", self.parts[at].namespace, self.parts[at].name);
        self.spoilt.push(path);
    }
}

fn is_application(part: &Part) -> bool {
    part.name.starts_with("app-")
}

fn has(parts: &[Part], operator: &Operator) -> bool {
    parts.iter().any(|part| part.name == operator.name)
}

/// The Kustomization to depend on for whatever an operator brings.
fn last_of(parts: &[Part], operator: &str) -> Option<(String, String)> {
    let config = format!("{operator}-config");
    let named = |name: &str| parts.iter().find(|part| part.name == name).map(Part::address);
    named(&config).or_else(|| named(operator))
}
