//! One run of one case, in a lab of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fixtures::Fixture;

use super::bootstrap;
use super::copy::{self, Delays, Fill};
use super::names::object;
use super::record::Record;
use super::seal::SealingKey;
use super::standins::Standins;
use super::told::{Key, Late, Then, Told};
use super::verify::Verify;
use super::webhook::{Available, Webhooks};
use super::{Case, CaseError, charts};
use crate::{Lab, Object, Options, Until};

/// Where the cases' clusters begin.
const SYNC: &str = "clusters/test/flux-system/gotk-sync.yaml";
const CEPH_CHART: &str = "rook-ceph-cluster";
/// The Ceph cluster of the cases, as `delays` names it.
const CEPH: &str = "rook-ceph/rook-ceph";
/// `--requeue-dependency` as Flux has it, and what a lab may make of it.
const REQUEUE_SECONDS: f64 = 30.0;
const REQUEUE_SECONDS_IN_A_LAB: (f64, f64) = (0.5, 3.0);
const LATE_WITHIN: Duration = Duration::from_mins(1);
/// Of a workload's usual delay: where shuffled runs draw from.
const SHUFFLED_FROM: f64 = 0.2;
const SHUFFLED_TO: f64 = 2.0;

/// How a run went.
#[derive(Debug)]
pub struct Run {
    /// What was not as told; empty when all was.
    pub wrong: Vec<String>,
    /// Everything that was seen, a line each.
    pub story: String,
    pub took: Duration,
}

/// Runs a case. A seed shuffles how long workloads take to become ready.
pub fn run(case: &Case, seed: Option<u64>) -> Result<Run, CaseError> {
    let started = Instant::now();
    let mut wrong = case.expected.disagreements(&case.told);
    match &case.told.not_yet {
        Some(why) if wrong.is_empty() => wrong.push(format!("check says it now: take `not-yet` away (it said: {why})")),
        Some(_) => wrong.clear(),
        None => {}
    }
    if !wrong.is_empty() {
        return Ok(Run { wrong, story: String::new(), took: started.elapsed() });
    }
    let lab = Lab::start(options(case, seed))?;
    let files = tempfile::tempdir().map_err(CaseError::io("make", Path::new("a directory")))?;
    let record = Record::start(&lab);
    let available = Available::default();
    let webhooks = Webhooks::start(&lab, Arc::clone(&available))?;
    let stage = Stage::set(case, &lab, &record, &webhooks, files.path(), seed)?;
    let stop = AtomicBool::new(false);
    let stop = &stop;
    let wrong = std::thread::scope(|scope| {
        let mut standins = Standins {
            lab: &lab,
            record: &record,
            webhooks: &webhooks,
            available: Arc::clone(&available),
            takes: stage.takes.clone(),
            first_seen: BTreeMap::new(),
            crashes: stage.crashes.clone(),
            said: BTreeSet::new(),
        };
        scope.spawn(move || standins.play(stop));
        let wrong = stage.play();
        stop.store(true, Ordering::Relaxed);
        wrong
    })?;
    let mut story = String::new();
    for entry in record.entries() {
        let _never_fails = writeln!(story, "  {entry}");
    }
    if !wrong.is_empty() {
        let kept = crate::failures::directory_of(&lab);
        let _kept = lab.collect_logs(&kept);
        let _never_fails = writeln!(story, "  logs and objects: {}", kept.display());
    }
    Ok(Run { wrong, story, took: started.elapsed() })
}

fn options(case: &Case, seed: Option<u64>) -> Options {
    let name = seed.map_or_else(|| case.name.clone(), |seed| format!("{}-{seed}", case.name));
    let (least, most) = REQUEUE_SECONDS_IN_A_LAB;
    let requeue = (REQUEUE_SECONDS / case.told.pace).clamp(least, most);
    Options::named(name).requeue_dependency(Duration::from_secs_f64(requeue))
}

/// A lab that is ready for a case.
struct Stage<'a> {
    case: &'a Case,
    lab: &'a Lab,
    record: &'a Record,
    tree: PathBuf,
    takes: BTreeMap<String, Duration>,
    crashes: BTreeMap<String, Object>,
    staged: BTreeMap<String, PathBuf>,
    fill: Fill,
}

impl<'a> Stage<'a> {
    fn set(
        case: &'a Case,
        lab: &'a Lab,
        record: &'a Record,
        webhooks: &Webhooks,
        files: &Path,
        seed: Option<u64>,
    ) -> Result<Self, CaseError> {
        let told = &case.told;
        // Every lab has it for those who want it; here somebody must bring it.
        lab.delete(&Object::crd("sealedsecrets.bitnami.com"))?;
        lab.add_node("worker-1", &["worker"], &[], &[])?;
        let staged = charts::stage(&files.join("charts"))?;
        for (name, chart) in &staged {
            lab.charts().add(chart, name, &charts::version(chart)?)?;
        }
        let delays = delays(told, &staged, seed)?;
        let ceph = delays.of_charts.get(CEPH_CHART).and_then(|all| all.values().next()).copied();
        let takes = operators_take(&delays, ceph);
        let mut fill = Fill {
            git: lab.git().url(),
            charts: lab.charts().url(),
            oci: lab.charts().oci_url(),
            pace: told.pace,
            timeouts: told.timeouts,
            delays,
            webhook: (webhooks.url.clone(), webhooks.ca_bundle.clone()),
            sealed: BTreeMap::new(),
            sealing_key: None,
            crashing: told.crashes.keys().cloned().collect(),
        };
        if let Some(sealed) = &told.sealed {
            let key = SealingKey::make()?;
            fill.sealed = key.seal(&sealed.data, files)?;
            fill.sealing_key = (sealed.key == Key::Seeded).then_some((key.certificate, key.key));
        }
        let tree = files.join("repository");
        fs::create_dir_all(&tree).map_err(CaseError::io("make", &tree))?;
        for layer in Fixture::open(&case.directory)?.layers()? {
            copy::repository(&layer, &tree, &fill)?;
        }
        let crashes = told.crashes.iter().map(|(workload, until)| Ok((workload.clone(), object(until)?)));
        let crashes = crashes.collect::<Result<_, CaseError>>()?;
        Ok(Self { case, lab, record, tree, takes, crashes, staged, fill })
    }

    fn play(&self) -> Result<Vec<String>, CaseError> {
        let told = &self.case.told;
        if bootstrap::run(self.lab, self.record, told, &self.tree, &self.staged, &self.fill)? {
            self.start_flux()?;
        }
        let verify = Verify { lab: self.lab, record: self.record, pace: told.pace };
        let mut wrong = verify.happens(&told.happens, Duration::ZERO)?;
        for then in &told.then {
            if !wrong.is_empty() {
                break;
            }
            let since = self.record.now();
            self.act(then)?;
            wrong =
                verify.happens(&then.happens, since)?.into_iter().map(|one| format!("{}: {one}", then.act)).collect();
        }
        Ok(wrong)
    }

    /// The last step of a bootstrap: Flux gets its repository.
    fn start_flux(&self) -> Result<(), CaseError> {
        let late = self.case.told.late.as_ref();
        match late {
            None => self.push("the repository")?,
            Some(late) => self.push_without(&late.files)?,
        }
        let sync = self.tree.join(SYNC);
        self.lab.apply(&fs::read_to_string(&sync).map_err(CaseError::io("read", &sync))?)?;
        late.map_or(Ok(()), |late| self.late(late))
    }

    fn push(&self, what: &str) -> Result<(), CaseError> {
        let revision = self.lab.git().push(&self.tree)?;
        self.record.note("git", format!("push of {what}: {revision}"));
        Ok(())
    }

    fn push_without(&self, files: &[String]) -> Result<(), CaseError> {
        let mut kept = Vec::new();
        for file in files {
            let path = self.tree.join(file);
            kept.push((fs::read(&path).map_err(CaseError::io("read", &path))?, path.clone()));
            fs::remove_file(&path).map_err(CaseError::io("remove", &path))?;
        }
        self.push("the repository without what is late")?;
        for (content, path) in kept {
            fs::write(&path, content).map_err(CaseError::io("write", &path))?;
        }
        Ok(())
    }

    fn late(&self, late: &Late) -> Result<(), CaseError> {
        let until = object(&late.until)?;
        self.lab.wait_for(&until, &Until::exists(), LATE_WITHIN).map_err(|error| CaseError::step("late", error))?;
        self.push("what is late")?;
        self.look_at_the_source()
    }

    fn act(&self, then: &Then) -> Result<(), CaseError> {
        self.record.note("then", then.act.clone());
        for edit in &then.edit {
            let path = self.tree.join(&edit.file);
            let text = fs::read_to_string(&path).map_err(CaseError::io("read", &path))?;
            if !text.contains(&edit.replace) {
                return Err(CaseError::step(&then.act, format!("{} has no {:?}:\n{text}", edit.file, edit.replace)));
            }
            fs::write(&path, text.replace(&edit.replace, &edit.by)).map_err(CaseError::io("write", &path))?;
        }
        for file in &then.apply {
            let path = self.case.directory.join(file);
            self.lab.apply(&fs::read_to_string(&path).map_err(CaseError::io("read", &path))?)?;
        }
        if let Some(helmfile) = self.case.told.bootstrap.helmfile.as_ref().filter(|_| then.bootstrap_again) {
            bootstrap::sync(self.lab, self.record, helmfile, &self.tree)?;
            return self.start_flux();
        }
        if then.edit.is_empty() {
            return Ok(());
        }
        self.push(&then.act)?;
        self.look_at_the_source()
    }

    /// As a webhook from the Git server would: the source need not wait for its interval.
    fn look_at_the_source(&self) -> Result<(), CaseError> {
        Ok(self.lab.reconcile(&Object::git_repository("flux-system", "flux-system"))?)
    }
}

/// How long operators take with what they look after, by `namespace/name`.
fn operators_take(delays: &Delays, ceph: Option<f64>) -> BTreeMap<String, Duration> {
    let ceph = ceph.map(|seconds| (CEPH.to_owned(), seconds));
    let told = delays.of_workloads.iter().map(|(name, seconds)| (name.clone(), *seconds));
    // What is told comes last, so it wins.
    ceph.into_iter().chain(told).map(|(name, seconds)| (name, Duration::from_secs_f64(seconds))).collect()
}

/// What the catalogue says workloads take, at the lab's pace; shuffled where there is a seed.
fn delays(told: &Told, staged: &BTreeMap<String, PathBuf>, seed: Option<u64>) -> Result<Delays, CaseError> {
    let mut draw = Draw(seed.unwrap_or_default());
    let mut shuffled = |seconds: f64| match seed {
        Some(_) => seconds * (SHUFFLED_FROM + draw.next() * (SHUFFLED_TO - SHUFFLED_FROM)),
        None => seconds,
    };
    let mut delays = Delays::default();
    for (chart, path) in staged {
        let known = catalogue::Catalogue::embedded().by_chart(chart);
        let seconds = known.map_or(0.0, |component| f64::from(component.startup_seconds)) / told.pace;
        let mut names = charts::workloads(path)?;
        if chart == CEPH_CHART {
            names.push("ceph".to_owned());
        }
        delays.of_charts.insert(chart.clone(), names.into_iter().map(|name| (name, shuffled(seconds))).collect());
    }
    for (workload, seconds) in &told.delays {
        delays.of_workloads.insert(workload.clone(), shuffled(seconds / told.pace));
    }
    Ok(delays)
}

/// SplitMix64: the same seed, the same delays.
struct Draw(u64);

impl Draw {
    /// From 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        f64::from(u32::try_from(mixed >> 32).unwrap_or(u32::MAX)) / f64::from(u32::MAX)
    }
}
