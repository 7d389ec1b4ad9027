//! Renders charts that are on this machine, with the `helm` that is on it: `helm template`, without a cluster, without the
//! network, without the user's plugins, repositories and logins.
//!
//! Knows helm's command line and where helm keeps what it downloaded. Does not know Flux, nor what the objects are for.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod archives;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use edit::Scratch;
use exec::{Environment, ExecError, Group, Input, Limits, Program, Runner as _, System};
use read::charts::{ChartFiles, Job, NotRendered, Renderer};

use archives::Archives;
use source::shown;

/// The largest charts take two seconds.
const RENDER_SECONDS_MAX: u64 = 30;
/// With the schemas of their CRDs the largest charts are a tenth of that.
const OUTPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Helm's own limit for the name of a release.
const RELEASE_NAME_CHARS_MAX: usize = 53;
/// What is shown of helm's reason.
const REASON_CHARS_MAX: usize = 300;
/// Nobody listens there: whatever would reach out after all is refused at once.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Why there is no helm to render with.
#[derive(Debug, thiserror::Error)]
pub enum HelmError {
    #[error(transparent)]
    NotRun(#[from] ExecError),
    #[error("`{} env` failed: {}", shown(.program), .said.as_deref().unwrap_or("it did not say why"))]
    Env { program: PathBuf, said: Option<String> },
    #[error("no temporary directory can be made: {0}")]
    Temporary(#[from] io::Error),
}

/// A helm, and the archives that it downloaded before.
#[derive(Debug)]
pub struct Helm {
    program: PathBuf,
    archives: Archives,
    /// An empty home for helm.
    home: Scratch,
    free: Mutex<usize>,
    freed: Condvar,
}

impl Helm {
    /// Asks `program`, or the `helm` on the path, where it keeps charts.
    pub fn find(program: Option<&Path>) -> Result<Self, HelmError> {
        let program = program.map_or_else(|| PathBuf::from("helm"), Path::to_path_buf);
        let environment = Environment::everything().with("HELM_NO_PLUGINS", "1");
        let env = System.run(&Program::new(&program).argument("env").environment(environment))?;
        if !env.is_success() {
            return Err(HelmError::Env { said: reason(env.said()), program });
        }
        let archives = Archives::from_env(&env.text());
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self { program, archives, home: Scratch::new()?, free: Mutex::new(cores), freed: Condvar::new() })
    }

    /// `helm template`, in an environment of its own.
    fn template<'j>(&self, job: &'j Job<'_>, chart: &Path) -> Program<'j> {
        let time = Some(Duration::from_secs(RENDER_SECONDS_MAX));
        Program::new(&self.program)
            .arguments(arguments(job, chart))
            .directory(self.home.path())
            .environment(self.environment())
            .input(Input::Bytes(job.values.as_bytes()))
            .limits(Limits { time, output_bytes_max: OUTPUT_BYTES_MAX, ..Limits::default() })
            .group(Group::Own)
    }

    fn environment(&self) -> Environment {
        let below = |name: &str| self.home.path().join(name);
        // Windows starts no program without it.
        let mut set = Environment::only(["SYSTEMROOT"])
            .with("HOME", self.home.path())
            .with("KUBECONFIG", below("no-cluster"))
            .with("HELM_NO_PLUGINS", "1");
        for name in [
            "HELM_CACHE_HOME",
            "HELM_CONFIG_HOME",
            "HELM_DATA_HOME",
            "HELM_PLUGINS",
            "HELM_REGISTRY_CONFIG",
            "HELM_REPOSITORY_CACHE",
            "HELM_REPOSITORY_CONFIG",
        ] {
            set = set.with(name, below(name));
        }
        let proxies = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];
        proxies.into_iter().fold(set, |set, name| set.with(name, NOWHERE))
    }

    /// Waits until fewer helms run than there are cores.
    fn permit(&self) -> Permit<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self.freed.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Permit(self)
    }
}

struct Permit<'a>(&'a Helm);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

impl Renderer for Helm {
    fn archive(&self, name: &str, version: &str) -> Option<PathBuf> {
        self.archives.find(name, version)
    }

    fn asks_for_apis(&self, archive: &Path) -> bool {
        archives::asks_for_apis(archive)
    }

    fn render(&self, job: &Job<'_>) -> Result<String, NotRendered> {
        let _permit = self.permit();
        let staged;
        let chart = match job.chart {
            ChartFiles::Archive(path) => path.as_path(),
            ChartFiles::Files { files, archives } => {
                let failed = |error: io::Error| NotRendered::NotCopied(error.to_string());
                staged = Scratch::new().map_err(failed)?;
                stage(staged.path(), files, archives).map_err(failed)?;
                staged.path()
            }
        };
        match System.run(&self.template(job, chart)) {
            Ok(finished) if finished.is_success() => Ok(text(finished.output)),
            Ok(finished) => {
                let reason = reason(finished.said());
                Err(reason.map_or(NotRendered::Silent, |reason| NotRendered::Failed(without(&reason, chart))))
            }
            Err(ExecError::TimedOut { .. }) => Err(NotRendered::TooSlow(RENDER_SECONDS_MAX)),
            Err(ExecError::TooMuchOutput { .. }) => Err(NotRendered::TooLarge(OUTPUT_BYTES_MAX)),
            Err(ExecError::NotFound { source, .. } | ExecError::NotStarted { source, .. }) => {
                Err(NotRendered::NotStarted(source.to_string()))
            }
            Err(error) => Err(NotRendered::NotRun(error.to_string())),
        }
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Values go through standard input: an argument can be seen by everybody on the machine.
fn arguments(job: &Job<'_>, chart: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = ["template", "--values=-", "--skip-tests"].map(OsString::from).to_vec();
    arguments.push(format!("--namespace={}", job.namespace).into());
    arguments.push(if job.skips_crds { "--skip-crds" } else { "--include-crds" }.into());
    arguments.push(format!("--kube-version={}", job.kube_version).into());
    arguments.extend(job.api_versions.iter().map(|api| format!("--api-versions={api}").into()));
    arguments.push("--".into());
    arguments.push(job.release.chars().take(RELEASE_NAME_CHARS_MAX).collect::<String>().into());
    arguments.push(chart.as_os_str().to_owned());
    arguments
}

#[expect(clippy::disallowed_methods, reason = "helm reads charts from a directory of its own")]
fn stage(
    directory: &Path,
    files: &[(String, std::borrow::Cow<'_, [u8]>)],
    archives: &[(String, PathBuf)],
) -> io::Result<()> {
    let place = |path: &str| -> io::Result<PathBuf> {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap_or(directory))?;
        Ok(path)
    };
    for (path, bytes) in files {
        fs::write(place(path)?, bytes)?;
    }
    for (path, archive) in archives {
        fs::copy(archive, place(path)?)?;
    }
    Ok(())
}

/// What helm said last and most clearly: the line that begins with `Error:`, and what belongs to it.
fn reason(said: &str) -> Option<String> {
    let from = said.rfind("Error: ").map_or(0, |at| at + "Error: ".len());
    let line = said[from..].lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let line = line.split(" Use --debug flag").next().unwrap_or_default();
    (!line.is_empty()).then(|| line.chars().take(REASON_CHARS_MAX).collect())
}

/// A reason is the same wherever the chart's files were put.
fn without(reason: &str, chart: &Path) -> String {
    reason.replace(&format!("{}/", chart.display()), "").replace(&*chart.to_string_lossy(), "the chart")
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn the_reason_is_what_follows_the_last_error() {
        let said = "coalesce.go:289: warning: destination for x is a table\nError: execution error at (a/b.yaml:1:3): set a host\n\nUse --debug flag to render out invalid YAML\n";
        assert_eq!(reason(said).as_deref(), Some("execution error at (a/b.yaml:1:3): set a host"));
        assert_eq!(reason(""), None);
    }
}
