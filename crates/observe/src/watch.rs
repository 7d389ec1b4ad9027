//! One watch: changes since a list, until the API server ends it or something goes wrong.

use bytes::BytesMut;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::Moment;
use crate::fault::Fault;
use crate::item::{Item, Key, Seen};
use crate::limits::EVENT_BYTES_MAX;
use crate::list::Ask;
use crate::resource::{Form, Resource};
use crate::wire::Wire;

/// A watch that was not ended in time is dead.
const GRACE_SECONDS: u64 = 5;

/// What a watch says.
pub(crate) enum Change<T> {
    /// It is there, or it is there again.
    Put(Seen<T>),
    Gone(Key),
    /// An object that can't be read.
    Unread,
    /// Nothing changed; the watch is alive.
    Alive,
}

/// Watches until the API server ends it, which it does by itself. `version` goes along with what was heard.
pub(crate) async fn watch<T: Item>(
    wire: &Wire,
    ask: &Ask,
    version: &mut String,
    hear: &(dyn Fn(Change<T>) + Sync),
) -> Result<(), Fault> {
    let seconds = wire.limits.watch.as_secs().max(1);
    let path = format!(
        "{}?watch=1&allowWatchBookmarks=true&timeoutSeconds={seconds}&resourceVersion={version}{}",
        ask.path(),
        ask.selector()
    );
    let mut answer = wire.get(&path, accept(ask), || ask.right("watch")).await?;
    hear(Change::Alive);
    let patience = wire.limits.watch + std::time::Duration::from_secs(GRACE_SECONDS);
    let mut pending = BytesMut::new();
    while let Some(bytes) = wire.next(&mut answer, patience).await? {
        let mut searched = pending.len();
        pending.extend_from_slice(&bytes);
        while let Some(end) = pending[searched..].iter().position(|byte| *byte == b'\n') {
            let line = pending.split_to(searched + end + 1);
            searched = 0;
            event(&ask.resource, &line, version, hear)?;
        }
        if pending.len() > EVENT_BYTES_MAX {
            return Err(Fault::TooLarge { bytes: u64::try_from(pending.len()).unwrap_or(u64::MAX) });
        }
    }
    hear(Change::Alive);
    Ok(())
}

fn accept(ask: &Ask) -> &'static str {
    match ask.wanted.form {
        Form::Whole => "application/json",
        Form::Metadata => "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    }
}

fn event<T: Item>(
    resource: &Resource,
    line: &[u8],
    version: &mut String,
    hear: &(dyn Fn(Change<T>) + Sync),
) -> Result<(), Fault> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(());
    }
    let event: Event<'_> = serde_json::from_slice(line).map_err(|error| crate::unreadable(&error))?;
    if event.kind == "ERROR" {
        let status: Status = serde_json::from_str(event.object.get()).unwrap_or_default();
        return Err(match status.code {
            410 => Fault::Expired,
            429 => Fault::TooMany { retry_after: None },
            code => Fault::Answered { code, reason: status.reason, retry_after: None },
        });
    }
    if let Ok(marked) = serde_json::from_str::<Marked>(event.object.get())
        && !marked.metadata.resource_version.is_empty()
    {
        *version = marked.metadata.resource_version;
    }
    hear(match event.kind.as_str() {
        "BOOKMARK" => Change::Alive,
        kind => match T::read(resource, event.object.get()) {
            Err(_) => Change::Unread,
            Ok(item) if kind == "DELETED" => Change::Gone(Key::of(&item)),
            Ok(item) => Change::Put(Seen { at: Moment::now(), item }),
        },
    });
    Ok(())
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Default, Deserialize)]
struct Status {
    #[serde(default)]
    code: u16,
    #[serde(default)]
    reason: String,
}

#[derive(Deserialize)]
struct Marked {
    metadata: Mark,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Mark {
    #[serde(default)]
    resource_version: String,
}
