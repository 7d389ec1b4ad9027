//! A headless Chromium, driven by WebDriver: HTTP on the loopback interface.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

pub(crate) const ENTER: &str = "\u{e007}";
pub(crate) const ESCAPE: &str = "\u{e00c}";
pub(crate) const LEFT: &str = "\u{e012}";
pub(crate) const DOWN: &str = "\u{e015}";

/// Ends with its driver.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    directory: tempfile::TempDir,
}

impl Browser {
    /// Nothing where there is no Chromium, which is said.
    #[expect(clippy::print_stderr, reason = "the reader of a test run must see it")]
    pub(crate) fn start() -> Option<Self> {
        let (Some(chromium), Some(driver)) = (found("chromium"), found("chromedriver")) else {
            eprintln!(
                "SKIPPED: no chromium and chromedriver on PATH (Debian: apt-get install chromium chromium-driver)"
            );
            return None;
        };
        let directory = tempfile::tempdir().expect("a directory");
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver");
        let output = driver.stdout.take().expect("its output");
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        let started = lines.find(|line| line.contains("started successfully on port")).expect("a port");
        let port = started.trim_end_matches('.').rsplit(' ').next().and_then(|port| port.parse().ok()).expect("a port");
        let profile = directory.path().join("profile");
        let profile = format!("--user-data-dir={}", profile.display());
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--window-size=1400,900",
            &profile,
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": arguments, "binary": chromium },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let mut browser = Self { driver, port, session: String::new(), directory };
        let session = browser.ask("POST", "/session", Some(&wanted));
        session["sessionId"].as_str().expect("a session").clone_into(&mut browser.session);
        Some(browser)
    }

    /// Writes a page and opens it. Says where it is.
    pub(crate) fn open(&self, name: &str, html: &str, hash: &str) -> String {
        let path = self.directory.path().join(name);
        fs::write(&path, html).expect("a page");
        let url = format!("file://{}", path.display());
        self.visit(&format!("{url}{hash}"));
        url
    }

    pub(crate) fn visit(&self, url: &str) {
        self.command("url", &json!({ "url": url }));
    }

    /// As [`Self::command`]; what went wrong where the driver says so.
    pub(crate) fn attempt(&self, name: &str, body: &Value) -> Result<Value, String> {
        self.answer("POST", &format!("/session/{}/{name}", self.session), Some(body))
    }

    pub(crate) fn command(&self, name: &str, body: &Value) -> Value {
        self.ask("POST", &format!("/session/{}/{name}", self.session), Some(body))
    }

    pub(crate) fn cdp(&self, command: &str, parameters: &Value) {
        self.command("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }));
    }

    pub(crate) fn run(&self, script: &str) -> Value {
        self.command("execute/sync", &json!({ "script": script, "args": [] }))
    }

    pub(crate) fn text(&self, script: &str) -> String {
        self.run(script).as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn number(&self, script: &str) -> i64 {
        self.run(script).as_i64().expect("a number")
    }

    /// Presses keys one after another.
    pub(crate) fn keys(&self, keys: &[&str]) {
        let press = |key: &&str| [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })];
        let actions: Vec<Value> = keys.iter().flat_map(press).collect();
        self.command("actions", &json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] }));
    }

    /// What the console has heard that is not mere information.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let log = self.command("se/log", &json!({ "type": "browser" }));
        let entries = log.as_array().expect("a log").iter();
        entries.filter(|entry| entry["level"] != "INFO").map(|entry| entry["message"].to_string()).collect()
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        self.answer(method, path, body).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn answer(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, String> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("chromedriver");
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()).expect("sent");
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        for line in answer.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()) {
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut text = vec![0; length];
        answer.read_exact(&mut text).expect("an answer");
        let mut answer: Value = serde_json::from_slice(&text).expect("JSON");
        let value = answer["value"].take();
        if value.get("error").is_some() { Err(value["message"].to_string()) } else { Ok(value) }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.ask("DELETE", &format!("/session/{}", self.session), None);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// A program on the PATH.
fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| Path::new(file).is_file())
}
