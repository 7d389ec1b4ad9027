//! Renders charts that are on this machine, with the `helm` that is on it: `helm template`, without a cluster, without the
//! network, without the user's plugins, repositories and logins.
//!
//! Knows helm's command line, where helm keeps what it downloaded, and how to end a program in time. Does not know Flux,
//! nor what the objects are for.

mod archives;
mod limited;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use read::charts::{ChartFiles, Job, NotRendered, Renderer};
use tempfile::TempDir;

use archives::Archives;
use limited::Ended;

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
    #[error("the program `{}` can't be started: {source}", .program.display())]
    NotStarted { program: PathBuf, source: io::Error },
    #[error("`{} env` failed: {said}", .program.display())]
    Env { program: PathBuf, said: String },
    #[error("no temporary directory can be made: {0}")]
    Temporary(#[from] io::Error),
}

/// A helm, and the archives that it downloaded before.
#[derive(Debug)]
pub struct Helm {
    program: PathBuf,
    archives: Archives,
    /// An empty home for helm.
    home: TempDir,
    free: Mutex<usize>,
    freed: Condvar,
}

impl Helm {
    /// Asks `program`, or the `helm` on the path, where it keeps charts.
    pub fn find(program: Option<&Path>) -> Result<Self, HelmError> {
        let program = program.map_or_else(|| PathBuf::from("helm"), Path::to_path_buf);
        let mut command = Command::new(&program);
        command.arg("env").env("HELM_NO_PLUGINS", "1").stdin(Stdio::null());
        let output = command.output().map_err(|source| HelmError::NotStarted { program: program.clone(), source })?;
        if !output.status.success() {
            return Err(HelmError::Env { said: reason(&String::from_utf8_lossy(&output.stderr)), program });
        }
        let archives = Archives::from_env(&String::from_utf8_lossy(&output.stdout));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self { program, archives, home: TempDir::new()?, free: Mutex::new(cores), freed: Condvar::new() })
    }

    /// `helm template`, in an environment of its own.
    fn template(&self, job: &Job<'_>, chart: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().current_dir(self.home.path()).args(arguments(job, chart));
        for (name, value) in self.environment() {
            command.env(name, value);
        }
        command
    }

    fn environment(&self) -> Vec<(&'static str, OsString)> {
        let below = |name: &str| self.home.path().join(name).into_os_string();
        let mut set = vec![
            ("HOME", self.home.path().as_os_str().to_owned()),
            ("KUBECONFIG", below("no-cluster")),
            ("HELM_NO_PLUGINS", "1".into()),
        ];
        for name in [
            "HELM_CACHE_HOME",
            "HELM_CONFIG_HOME",
            "HELM_DATA_HOME",
            "HELM_PLUGINS",
            "HELM_REGISTRY_CONFIG",
            "HELM_REPOSITORY_CACHE",
            "HELM_REPOSITORY_CONFIG",
        ] {
            set.push((name, below(name)));
        }
        set.extend(["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].map(|name| (name, NOWHERE.into())));
        // Windows starts no program without it.
        set.extend(std::env::var_os("SYSTEMROOT").map(|root| ("SYSTEMROOT", root)));
        set
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
                let failed = |error: io::Error| NotRendered::Failed(format!("its files can't be copied: {error}"));
                staged = TempDir::new().map_err(failed)?;
                stage(staged.path(), files, archives).map_err(failed)?;
                staged.path()
            }
        };
        let limit = Duration::from_secs(RENDER_SECONDS_MAX);
        match limited::run(self.template(job, chart), job.values.as_bytes(), limit, OUTPUT_BYTES_MAX) {
            Ok(Ended::Well(text)) => Ok(text),
            Ok(Ended::Badly(said)) => Err(NotRendered::Failed(without(&reason(&said), chart))),
            Ok(Ended::TooSlow) => Err(NotRendered::TooSlow(RENDER_SECONDS_MAX)),
            Ok(Ended::TooLarge) => Err(NotRendered::TooLarge(OUTPUT_BYTES_MAX)),
            Err(error) => Err(NotRendered::Failed(format!("helm can't be started: {error}"))),
        }
    }
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
fn reason(said: &str) -> String {
    let from = said.rfind("Error: ").map_or(0, |at| at + "Error: ".len());
    let line = said[from..].lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let line = line.split(" Use --debug flag").next().unwrap_or_default();
    if line.is_empty() { "it did not say why".to_owned() } else { line.chars().take(REASON_CHARS_MAX).collect() }
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
        assert_eq!(reason(said), "execution error at (a/b.yaml:1:3): set a host");
        assert_eq!(reason(""), "it did not say why");
    }
}
