//! One request and its answer: what went wrong with it, and how far it came. Knows HTTP; does not know what is asked for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use serde::Deserialize;
use tokio::time::timeout;

use crate::access::{Access, AccessError};
use crate::fault::{Fault, Right};
use crate::limits::{Limits, RETRY_AFTER_MAX, STATUS_BYTES_MAX};
use crate::probe::Endpoint;
use crate::{Moment, blame};

/// A client that tells what went wrong.
#[derive(Clone)]
pub(crate) struct Wire {
    client: Client,
    endpoint: Arc<Endpoint>,
    pub(crate) limits: Limits,
    read: Arc<AtomicU64>,
    /// How far the API server's clock is ahead of ours, in milliseconds.
    skew: Arc<Mutex<Option<i64>>>,
}

/// An answer whose body is yet to come.
pub(crate) struct Answer {
    pub(crate) headers: HeaderMap,
    body: Body,
    read: u64,
}

impl Wire {
    pub(crate) fn new(access: Access, limits: Limits) -> Result<Self, AccessError> {
        let endpoint = Arc::new(Endpoint::of(&access.config));
        let client = Client::try_from(access.config).map_err(|error| blame::unusable(&error))?;
        Ok(Self { client, endpoint, limits, read: Arc::default(), skew: Arc::default() })
    }

    /// All bytes of all answers so far.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    pub(crate) fn skew(&self) -> Option<i64> {
        self.skew.lock().ok().and_then(|skew| *skew)
    }

    /// Asks, and answers as soon as the head of a successful answer is there. `right` is what it takes.
    pub(crate) async fn get(&self, path: &str, accept: &str, right: impl Fn() -> Right) -> Result<Answer, Fault> {
        let (status, answer) = self.ask(path, accept).await?;
        if status.is_success() { Ok(answer) } else { Err(self.refusal(status, answer, right).await) }
    }

    async fn ask(&self, path: &str, accept: &str) -> Result<(StatusCode, Answer), Fault> {
        let request = Request::get(path).header(header::ACCEPT, accept).body(Body::empty());
        let request = request.map_err(|error| Fault::Other { said: error.to_string() })?;
        let asked = Moment::now();
        let response = match timeout(self.limits.answer, self.client.send(request)).await {
            Err(_) => return Err(self.endpoint.why_silent(&self.limits).await),
            Ok(Err(error)) => {
                return Err(match blame::fault(&error) {
                    Fault::Silent { .. } => self.endpoint.why_silent(&self.limits).await,
                    other @ Fault::Other { .. } => self.endpoint.why_other(other, &self.limits).await,
                    fault => fault,
                });
            }
            Ok(Ok(response)) => response,
        };
        self.compare_clocks(response.headers(), asked);
        let (head, body) = response.into_parts();
        Ok((head.status, Answer { headers: head.headers, body, read: 0 }))
    }

    /// Asks for something small.
    pub(crate) async fn whole(
        &self,
        path: &str,
        accept: &str,
        bytes_max: u64,
        right: impl Fn() -> Right,
    ) -> Result<Vec<u8>, Fault> {
        let mut answer = self.get(path, accept, right).await?;
        self.rest(&mut answer, bytes_max).await
    }

    /// Asks whether something is ready, which is told in the same words with success and without.
    pub(crate) async fn readiness(&self, path: &str, right: impl Fn() -> Right) -> Result<String, Fault> {
        let (status, mut answer) = self.ask(path, "text/plain, */*").await?;
        if !status.is_success() && status != StatusCode::INTERNAL_SERVER_ERROR {
            return Err(self.refusal(status, answer, right).await);
        }
        let body = self.rest(&mut answer, STATUS_BYTES_MAX).await?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    /// The body of an answer, to its end.
    pub(crate) async fn rest(&self, answer: &mut Answer, bytes_max: u64) -> Result<Vec<u8>, Fault> {
        let mut all = Vec::new();
        while let Some(bytes) = self.next(answer, self.limits.progress).await? {
            if answer.read > bytes_max {
                return Err(Fault::TooLarge { bytes: answer.read });
            }
            all.extend_from_slice(&bytes);
        }
        Ok(all)
    }

    /// The next bytes of a body; none at its end.
    pub(crate) async fn next(&self, answer: &mut Answer, patience: Duration) -> Result<Option<Bytes>, Fault> {
        loop {
            let frame = match timeout(patience, answer.body.frame()).await {
                Err(_) => return Err(Fault::Stalled { bytes: answer.read, after: patience }),
                Ok(None) => return Ok(None),
                Ok(Some(Err(_))) => return Err(Fault::Cut { bytes: answer.read }),
                Ok(Some(Ok(frame))) => frame,
            };
            let Ok(bytes) = frame.into_data() else { continue };
            let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            answer.read = answer.read.saturating_add(count);
            self.read.fetch_add(count, Ordering::Relaxed);
            return Ok(Some(bytes));
        }
    }

    /// What an answer without success means.
    async fn refusal(&self, code: StatusCode, mut answer: Answer, right: impl Fn() -> Right) -> Fault {
        let retry_after = retry_after(&answer.headers);
        let body = self.rest(&mut answer, STATUS_BYTES_MAX).await.unwrap_or_default();
        let status: Option<Status> = serde_json::from_slice(&body).ok().filter(|it: &Status| it.kind == "Status");
        match code {
            StatusCode::UNAUTHORIZED => Fault::Unauthorized,
            StatusCode::FORBIDDEN => Fault::Forbidden(right()),
            StatusCode::NOT_FOUND => Fault::NotFound,
            StatusCode::GONE => Fault::Expired,
            StatusCode::TOO_MANY_REQUESTS => Fault::TooMany { retry_after },
            code if status.is_none() && !code.is_server_error() => Fault::NotKubernetes { code: code.as_u16() },
            code => {
                let reason = status.and_then(|status| status.reason).unwrap_or_default();
                Fault::Answered { code: code.as_u16(), reason, retry_after }
            }
        }
    }

    /// Answers carry the API server's time of day.
    fn compare_clocks(&self, headers: &HeaderMap, asked: Moment) {
        let date = headers.get(header::DATE).and_then(|date| date.to_str().ok()).and_then(crate::date::of_http);
        if let (Some(date), Ok(mut skew)) = (date, self.skew.lock()) {
            // It is cut to whole seconds: half of one is the best guess of what was cut off.
            *skew = Some(date.unix_milliseconds() + 500 - asked.unix_milliseconds());
        }
    }
}

/// What an API server says of a request that did not succeed, as far as it is used.
#[derive(Deserialize)]
struct Status {
    #[serde(default)]
    kind: String,
    reason: Option<String>,
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(RETRY_AFTER_MAX))
}
