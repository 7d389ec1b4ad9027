//! A Git server: smart HTTP around `git upload-pack`, fed by [`GitServer::push`].

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path as UrlPath, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use exec::{Environment, Input, System};
use flate2::read::GzDecoder;
use git::Git;
use tokio::runtime::Handle;

use crate::LabError;
use crate::server::Server;

/// The repository that [`GitServer::push`] writes and [`GitServer::url`] names.
const DEFAULT_REPOSITORY: &str = "cluster";
const BRANCH: &str = "main";
/// What `git upload-pack` wants before its first answer over HTTP: a packet with the service, then a flush.
const SERVICE_PREAMBLE: &[u8] = b"001e# service=git-upload-pack\n0000";

/// Bare repositories, served read-only at `http://127.0.0.1:PORT/NAME.git`.
#[derive(Debug)]
pub struct GitServer {
    root: PathBuf,
    server: Server,
}

impl GitServer {
    pub(crate) fn start(root: &Path, runtime: &Handle) -> Result<Self, LabError> {
        fs::create_dir_all(root).map_err(LabError::io("make a directory for repositories"))?;
        let routes = Router::new()
            .route("/{name}/info/refs", get(refs))
            .route("/{name}/git-upload-pack", post(upload_pack))
            .with_state(Arc::new(root.to_owned()));
        let server = Server::start(routes, runtime).map_err(LabError::io("start the Git server"))?;
        Ok(Self { root: root.to_owned(), server })
    }

    /// What a GitRepository is to name; its branch is `main`.
    pub fn url(&self) -> String {
        self.url_of(DEFAULT_REPOSITORY)
    }

    pub fn url_of(&self, repository: &str) -> String {
        format!("http://127.0.0.1:{}/{repository}.git", self.server.port)
    }

    /// Commits the content of a directory to `main`, as it is, and returns the commit.
    pub fn push(&self, tree: &Path) -> Result<String, LabError> {
        self.push_to(DEFAULT_REPOSITORY, tree)
    }

    /// The same for a repository of its own name, which is made when it is not there.
    pub fn push_to(&self, repository: &str, tree: &Path) -> Result<String, LabError> {
        let bare = self.root.join(format!("{repository}.git"));
        if !bare.is_dir() {
            git(&bare, tree, &["init", "--quiet", "--bare", "--initial-branch", BRANCH])?;
        }
        // An index left from the push before would only save time; without it the tree is exactly the directory.
        let _old = fs::remove_file(bare.join("index"));
        git(&bare, tree, &["add", "--all", "--force", "."])?;
        let written = git(&bare, tree, &["write-tree"])?;
        let branch = format!("refs/heads/{BRANCH}");
        let parent = git(&bare, tree, &["rev-parse", "--quiet", "--verify", &branch]).ok();
        let mut commit = vec!["commit-tree", "-m", "Push", &written];
        if let Some(parent) = &parent {
            commit.extend(["-p", parent]);
        }
        let revision = git(&bare, tree, &commit)?;
        git(&bare, tree, &["update-ref", &branch, &revision])?;
        Ok(revision)
    }

    /// From now on the server cannot be reached.
    pub fn cut_off(&self) {
        self.server.cut_off();
    }

    pub fn restore(&self) {
        self.server.restore();
    }
}

fn git(bare: &Path, tree: &Path, arguments: &[&str]) -> Result<String, LabError> {
    let failed = |output: String| LabError::Git { command: arguments.join(" "), output };
    let mut environment = without_settings().with("GIT_DIR", bare);
    if arguments.first() != Some(&"init") {
        environment = environment.with("GIT_WORK_TREE", tree);
    }
    let ran = Git::of_user(&System, tree, environment).run(arguments.iter().copied(), &[]);
    let finished = ran.map_err(|error| failed(error.to_string()))?;
    if finished.is_success() {
        Ok(finished.text().trim().to_owned())
    } else {
        Err(failed(finished.said().trim().to_owned()))
    }
}

/// Whoever runs the tests has settings of their own; none of them may show.
fn without_settings() -> Environment {
    let ours = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"];
    let none = Environment::all_but(ours).with("GIT_CONFIG_NOSYSTEM", "1").with("GIT_CONFIG_GLOBAL", "/dev/null");
    ["AUTHOR", "COMMITTER"].into_iter().fold(none, |environment, who| {
        environment.with(format!("GIT_{who}_NAME"), "lab").with(format!("GIT_{who}_EMAIL"), "lab@example.org")
    })
}

async fn refs(
    State(root): State<Arc<PathBuf>>,
    UrlPath(name): UrlPath<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    if query.as_deref() != Some("service=git-upload-pack") {
        return (StatusCode::FORBIDDEN, "read-only").into_response();
    }
    match run(&root, &name, &["--http-backend-info-refs"], &headers, Vec::new()).await {
        Ok(refs) => reply("application/x-git-upload-pack-advertisement", [SERVICE_PREAMBLE, &refs].concat()),
        Err(error) => error,
    }
}

async fn upload_pack(
    State(root): State<Arc<PathBuf>>,
    UrlPath(name): UrlPath<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = match headers.get(header::CONTENT_ENCODING) {
        Some(encoding) if encoding == "gzip" => {
            let mut plain = Vec::new();
            match std::io::Read::read_to_end(&mut GzDecoder::new(&body[..]), &mut plain) {
                Ok(_) => plain,
                Err(error) => return (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
            }
        }
        _ => body.to_vec(),
    };
    match run(&root, &name, &[], &headers, body).await {
        Ok(pack) => reply("application/x-git-upload-pack-result", pack),
        Err(error) => error,
    }
}

fn reply(content_type: &'static str, body: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, content_type), (header::CACHE_CONTROL, "no-cache")], Body::from(body)).into_response()
}

async fn run(
    root: &Path,
    name: &str,
    flags: &[&str],
    headers: &HeaderMap,
    input: Vec<u8>,
) -> Result<Vec<u8>, Response> {
    let bare = root.join(name);
    if name.contains("..") || !bare.is_dir() {
        return Err((StatusCode::NOT_FOUND, "no such repository").into_response());
    }
    let mut environment = without_settings();
    if let Some(protocol) = headers.get("git-protocol").and_then(|value| value.to_str().ok()) {
        environment = environment.with("GIT_PROTOCOL", protocol);
    }
    let words = ["upload-pack", "--stateless-rpc"].iter().chain(flags).map(OsString::from).chain([bare.into()]);
    let words: Vec<OsString> = words.collect();
    let root = root.to_owned();
    let serve = move || Git::of_user(&System, &root, environment).run_with(words, Input::Bytes(&input));
    let failed = |error: &dyn std::fmt::Display| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response();
    // upload-pack may have read enough, and end as it likes; what it says then is its answer.
    match tokio::task::spawn_blocking(serve).await {
        Ok(Ok(finished)) => Ok(finished.output),
        Ok(Err(error)) => Err(failed(&error)),
        Err(error) => Err(failed(&error)),
    }
}
