//! A key-value engine of version 2 as the documentation of its API has it: paths, headers, bodies and status codes. Shared with the
//! tests of the command.
#![allow(dead_code, clippy::unwrap_used, reason = "each test uses its own part, and helpers of tests are tests")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

pub(crate) const TOKEN: &str = "hvs.planted-token";

/// What the server keeps, and what it was asked.
#[derive(Debug, Default)]
pub(crate) struct Engine {
    pub(crate) versions: Vec<Value>,
    pub(crate) deleted: bool,
    pub(crate) sealed: bool,
    pub(crate) asked: Vec<String>,
}

impl Engine {
    fn answer(&mut self, method: &str, path: &str, token: &str, body: &Value) -> (u16, Value) {
        self.asked.push(format!("{method} {path}"));
        if self.sealed {
            return (503, json!({"errors": ["Vault is sealed"]}));
        }
        if token != TOKEN {
            return (403, json!({"errors": ["permission denied"]}));
        }
        if !path.starts_with("/v1/secret/") {
            return (
                404,
                json!({"errors": ["no handler for route \"other/data/clusters/home\". route entry not found."]}),
            );
        }
        if path != "/v1/secret/data/clusters/home" {
            return (404, json!({"errors": []}));
        }
        let version = self.versions.len();
        match (method, self.versions.last()) {
            ("GET", None) => (404, json!({"errors": []})),
            ("GET", Some(_)) if self.deleted => (
                404,
                json!({"data": {"data": null, "metadata": {"deletion_time": "2026-01-01T00:00:00Z", "version": version}}}),
            ),
            ("GET", Some(data)) => (
                200,
                json!({"data": {"data": data, "metadata": {"created_time": "2026-01-01T00:00:00Z", "version": version}}}),
            ),
            ("POST", _) if body["options"]["cas"] != version => {
                (400, json!({"errors": ["check-and-set parameter did not match the current version"]}))
            }
            ("POST", _) => {
                self.versions.push(body["data"].clone());
                (200, json!({"data": {"version": version + 1}}))
            }
            _ => (405, json!({"errors": ["unsupported operation"]})),
        }
    }
}

pub(crate) fn serve(engine: Arc<Mutex<Engine>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _closed = one(&stream, &engine);
        }
    });
    url
}

fn one(stream: &TcpStream, engine: &Mutex<Engine>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let (mut length, mut token) = (0, String::new());
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "x-vault-token" => value.clone_into(&mut token),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let (status, answer) = engine.lock().unwrap().answer(&method, &path, &token, &body);
    let answer = answer.to_string();
    write!(
        &*stream,
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{answer}",
        answer.len()
    )
}
