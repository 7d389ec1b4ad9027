//! A running lab.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::api::Kubernetes;
use crate::build::{self, Missing, Tool};
use crate::charts::ChartServer;
use crate::flags::{self, LabPlace, Ports};
use crate::git::GitServer;
use crate::pki::{Pki, write_private};
use crate::spawn::Guarded;
use crate::{LabError, Options, Process, failures, kubeconfig, spawn, stages, start};

/// How often to start anew when somebody took a port of ours first.
const ATTEMPTS: u32 = 3;

/// A control plane of its own on loopback. Everything of it ends with this value, and with this process.
#[derive(Debug)]
pub struct Lab {
    pub(crate) options: Options,
    pub(crate) place: LabPlace,
    pub(crate) kubernetes: Kubernetes,
    git: GitServer,
    charts: ChartServer,
    processes: Mutex<BTreeMap<Process, Guarded>>,
    pub(crate) started: Instant,
    took: Duration,
    // Dropped last: the servers and watches above live on it, and the files below them.
    pub(crate) runtime: Runtime,
    directory: Option<TempDir>,
}

impl Lab {
    /// Starts everything in `options` and returns when the control plane works and the controllers watch.
    #[expect(clippy::needless_pass_by_value, reason = "a lab is its options' last use, and callers read better")]
    pub fn start(options: Options) -> Result<Self, LabError> {
        let missing: Vec<Tool> = options
            .processes
            .iter()
            .map(|process| process.tool())
            .filter(|tool| build::binary(*tool).is_err())
            .collect();
        if !missing.is_empty() {
            return Err(Missing::Tools(missing).into());
        }
        let mut attempt = 1;
        loop {
            match Self::start_once(options.clone()) {
                Err(error) if error.is_port_taken() && attempt < ATTEMPTS => attempt += 1,
                outcome => return outcome,
            }
        }
    }

    fn start_once(options: Options) -> Result<Self, LabError> {
        let started = Instant::now();
        let (path, directory) = make_directory(&options)?;
        let pki = Pki::make(&path)?;
        let ports = Ports::free().map_err(LabError::io("find free ports"))?;
        let place = LabPlace { directory: path, ports, pki };
        write_private(&place.stages(), &stages::all()).map_err(LabError::io("write the stages"))?;
        kubeconfig::write(&place).map_err(LabError::io("write the kubeconfig"))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(LabError::io("start a runtime"))?;
        let (kubernetes, git, charts) = {
            let _inside = runtime.enter();
            let kubernetes = Kubernetes::connect(ports.api, place.pki.ca_der.clone(), &place.pki.token)?;
            let git = GitServer::start(&place.path("git"), runtime.handle())?;
            (kubernetes, git, ChartServer::start(runtime.handle())?)
        };
        let processes = Mutex::default();
        let took = Duration::ZERO;
        let mut lab = Self { options, place, kubernetes, git, charts, processes, started, took, runtime, directory };
        start::bring_up(&lab)?;
        lab.took = started.elapsed();
        Ok(lab)
    }

    pub fn name(&self) -> &str {
        &self.options.name
    }

    /// Where the lab keeps its files, logs among them.
    pub fn directory(&self) -> &Path {
        &self.place.directory
    }

    pub fn kubeconfig(&self) -> PathBuf {
        self.place.kubeconfig()
    }

    pub fn api_url(&self) -> String {
        format!("https://127.0.0.1:{}", self.place.ports.api)
    }

    /// From the call to [`Lab::start`] until all was ready.
    pub fn start_took(&self) -> Duration {
        self.took
    }

    /// The time since the lab was started; recordings count from there, too.
    pub fn now(&self) -> Duration {
        self.started.elapsed()
    }

    pub fn git(&self) -> &GitServer {
        &self.git
    }

    pub fn charts(&self) -> &ChartServer {
        &self.charts
    }

    /// Kills a process, at once and for good, until somebody starts it again.
    pub fn kill(&self, process: Process) -> Result<(), LabError> {
        let mut running = self.processes();
        running.remove(&process).map(drop).ok_or(LabError::NotInThisLab { process })
    }

    /// Starts a process that was killed, or that was not part of the lab, and waits until it works.
    pub fn start_process(&self, process: Process) -> Result<(), LabError> {
        self.launch(process)?;
        start::wait_until_it_works(self, process)
    }

    pub fn restart(&self, process: Process) -> Result<(), LabError> {
        self.kill(process)?;
        self.start_process(process)
    }

    pub fn stop_api_server(&self) -> Result<(), LabError> {
        self.kill(Process::ApiServer)
    }

    /// On the same port as before.
    pub fn start_api_server(&self) -> Result<(), LabError> {
        self.start_process(Process::ApiServer)
    }

    pub fn is_running(&self, process: Process) -> bool {
        self.processes().get_mut(&process).is_some_and(|running| !running.has_ended())
    }

    /// The process ids of what was started and not killed.
    pub fn process_ids(&self) -> BTreeMap<Process, u32> {
        self.processes().iter().map(|(process, running)| (*process, running.id())).collect()
    }

    /// Everything a process has written so far, over all its restarts.
    pub fn log(&self, process: Process) -> String {
        fs::read(self.log_path(process)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    pub(crate) fn log_path(&self, process: Process) -> PathBuf {
        self.place.path("logs").join(format!("{process}.log"))
    }

    pub(crate) fn launch(&self, process: Process) -> Result<(), LabError> {
        let program = build::binary(process.tool())?;
        let step = || format!("start {process}");
        let log = File::options().create(true).append(true).open(self.log_path(process));
        let log = log.map_err(LabError::io(step()))?;
        let errors = log.try_clone().map_err(LabError::io(step()))?;
        let wrapper = flags::wrapper(process, &self.place);
        let outer = wrapper.first().map_or(program.as_path(), Path::new);
        let child = spawn::spawn(outer, |command| {
            if let Some(inner) = wrapper.get(1..) {
                command.args(inner).arg(&program);
            }
            command.args(flags::arguments(process, &self.place, &self.options));
            command.envs(flags::environment(process, &self.place));
            command.current_dir(&self.place.directory).stdout(log).stderr(errors);
        });
        let child = child.map_err(LabError::io(step()))?;
        self.processes().insert(process, child);
        Ok(())
    }

    fn processes(&self) -> MutexGuard<'_, BTreeMap<Process, Guarded>> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if std::thread::panicking() {
            failures::keep(self);
        }
        // Clients before servers: a controller that loses its API server only writes a longer log.
        let mut processes = std::mem::take(&mut *self.processes());
        while let Some((_process, running)) = processes.pop_last() {
            drop(running);
        }
        if let Some(directory) = self.directory.take() {
            spawn::keep(directory.path());
        }
    }
}

fn make_directory(options: &Options) -> Result<(PathBuf, Option<TempDir>), LabError> {
    let step = || "make the lab's directory".to_owned();
    let (path, temporary) = if let Some(path) = &options.directory {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(LabError::io(step()))?;
        (path.clone(), None)
    } else {
        // Made with mode 0700.
        let made = tempfile::Builder::new().prefix(&format!("lab-{}-", options.name)).tempdir();
        let made = made.map_err(LabError::io(step()))?;
        spawn::remove_with_us(made.path());
        (made.path().to_owned(), Some(made))
    };
    for below in ["logs", "tmp", "artifacts"] {
        fs::create_dir_all(path.join(below)).map_err(LabError::io(step()))?;
    }
    Ok((path, temporary))
}
