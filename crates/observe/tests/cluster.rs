//! Stories with a scripted API server: what is seen when all is well, and what is told when something goes wrong.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

use std::net::TcpListener;
use std::time::{Duration, Instant};

use coldstart_observe as observe;
use fixtures::api_server::{ApiServer, Kind, Reply, Request, Step, World, kubeconfig};
use observe::{Fault, Handle, Item, Limits, Resource, Right, Session, Standing, Target, Wanted};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

const PODS: Wanted = Wanted::new("", "pods", &["v1"]);
const SECRETS: Wanted = Wanted::new("", "secrets", &["v1"]).metadata();
const EVENTS: Wanted = Wanted::new("", "events", &["v1"]).only("type!=Normal");
const THINGS: Wanted = Wanted::new("example.com", "things", &["v2", "v1"]);

/// A light type: everything of an object but its name and one field is dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Light {
    namespace: String,
    name: String,
    data: bool,
    node: String,
}

impl Item for Light {
    fn read(_: &Resource, json: &str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Wire {
            metadata: Metadata,
            data: Option<serde::de::IgnoredAny>,
            #[serde(default)]
            spec: Spec,
        }
        #[derive(Deserialize)]
        struct Metadata {
            name: String,
            #[serde(default)]
            namespace: String,
        }
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Spec {
            #[serde(default)]
            node_name: String,
        }
        let wire: Wire = serde_json::from_str(json)?;
        let Metadata { name, namespace } = wire.metadata;
        Ok(Self { namespace, name, data: wire.data.is_some(), node: wire.spec.node_name })
    }

    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn name(&self) -> &str {
        &self.name
    }
}

fn pod(number: usize) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "apps", "name": format!("pod-{number:03}")},
        "spec": {"nodeName": "worker-1"}})
}

fn world() -> World {
    let kinds = vec![
        Kind::new("", "v1", "pods", "Pod", true),
        Kind::new("", "v1", "secrets", "Secret", true),
        Kind::new("", "v1", "events", "Event", true),
        Kind::new("example.com", "v1", "things", "Thing", false),
    ];
    World::new(kinds).with((0..25).map(pod))
}

/// Everything shorter, or a story would take minutes.
fn limits() -> Limits {
    Limits {
        connect: Duration::from_millis(500),
        answer: Duration::from_millis(600),
        progress: Duration::from_millis(300),
        watch: Duration::from_secs(1),
        page: 10,
        pause: Duration::from_millis(10),
        pause_max: Duration::from_millis(50),
        rediscover: Duration::from_millis(200),
        ..Limits::default()
    }
}

fn target(kubeconfig: &str) -> (TempDir, Target) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("config");
    std::fs::write(&path, kubeconfig).unwrap();
    (home, Target { kubeconfigs: vec![path], must_be_there: true, context: None })
}

fn open(url: &str) -> Session {
    let (_home, target) = target(&kubeconfig(url));
    Session::open(&target, None, limits()).unwrap()
}

fn names(handle: &Handle<Light>) -> Vec<String> {
    handle.store().objects.values().map(|seen| seen.item.name.clone()).collect()
}

fn standing(handle: &Handle<Light>) -> Standing {
    handle.store().standing.clone()
}

fn faults(handle: &Handle<Light>) -> Vec<Fault> {
    handle.store().troubles.iter().map(|trouble| trouble.fault.clone()).collect()
}

/// Follows until it holds.
#[track_caller]
fn until(session: &mut Session, what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(10), "not in time: {what}");
        session.follow(Duration::from_millis(50));
    }
}

/// Looks once at pods of a server with this script.
#[track_caller]
fn look(script: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static) -> (ApiServer, Session, Handle<Light>) {
    let server = ApiServer::scripted(world(), script);
    let mut session = open(&server.url());
    let pods = session.want::<Light>(PODS);
    session.look();
    (server, session, pods)
}

/// A script for one of the requests for pods: the n-th list page, counted from 0.
fn at_page(page: usize, reply: impl Fn() -> Reply + Send + Sync) -> impl Fn(&Request) -> Option<Reply> + Send + Sync {
    move |request| (request.path == "/api/v1/pods" && !request.is_watch() && request.before == page).then(&reply)
}

#[test]
fn a_list_comes_in_pages_and_carries_when_it_was_seen() {
    let before = observe::Moment::now();
    let (server, session, pods) = look(|_| None);
    assert_eq!(names(&pods).len(), 25);
    assert_eq!(standing(&pods), Standing::Whole);
    assert!(pods.store().objects.values().all(|seen| seen.at >= before && seen.item.node == "worker-1"));
    assert_eq!(server.requests().iter().filter(|target| target.starts_with("/api/v1/pods")).count(), 3);
    assert_eq!(session.contact().version.as_deref(), Some("v1.35.0"));
    assert_eq!(session.contact().failing, Some(Vec::new()));
    assert!(faults(&pods).is_empty());
}

#[test]
fn a_continue_token_that_is_too_old_begins_the_list_anew() {
    let (_server, _session, pods) = look(at_page(1, || Reply::status(410, "Expired", "too old")));
    assert_eq!(names(&pods).len(), 25);
    assert_eq!(standing(&pods), Standing::Whole);
    assert_eq!(faults(&pods), [Fault::Expired]);
}

#[test]
fn a_list_that_never_gets_to_its_end_is_not_shown_by_half() {
    let always = |request: &Request| {
        let is_later = request.path == "/api/v1/pods" && request.query.contains_key("continue");
        is_later.then(|| Reply::status(410, "Expired", "too old"))
    };
    let (_server, _session, pods) = look(always);
    assert_eq!(names(&pods), [""; 0]);
    assert_eq!(standing(&pods), Standing::Lost(Fault::Expired));
}

#[test]
fn too_many_requests_are_asked_again_when_the_server_says() {
    let started = Instant::now();
    let busy = || Reply::status(429, "TooManyRequests", "later").with("Retry-After", "1");
    let (_server, _session, pods) = look(at_page(0, busy));
    assert_eq!(standing(&pods), Standing::Whole);
    assert!(started.elapsed() >= Duration::from_secs(1));
    assert_eq!(faults(&pods), [Fault::TooMany { retry_after: Some(Duration::from_secs(1)) }]);
}

#[test]
fn an_internal_error_is_recovered_from_and_told() {
    let (_server, _session, pods) = look(at_page(1, || Reply::status(500, "InternalError", "etcd")));
    assert_eq!(standing(&pods), Standing::Whole);
    let said = Fault::Answered { code: 500, reason: "InternalError".to_owned(), retry_after: None };
    assert_eq!(faults(&pods), [said]);
}

#[test]
fn a_body_that_stops_is_given_up_and_one_that_trickles_is_not() {
    let half = || Reply::json(&json!({"metadata": {}, "items": [pod(1)]}));
    let stops = at_page(0, move || half().broken(20, Step::Wait(Duration::from_secs(2))));
    let (_server, _session, pods) = look(stops);
    assert_eq!(standing(&pods), Standing::Whole);
    assert_eq!(faults(&pods), [Fault::Stalled { bytes: 20, after: Duration::from_millis(300) }]);

    // Each pause is shorter than the limit, all of them are longer.
    let started = Instant::now();
    let trickles = at_page(0, || {
        let mut reply = Reply::json(&json!({"metadata": {"resourceVersion": "2"}, "items": [pod(1)]}));
        for after in [10, 10, 10, 10] {
            reply = reply.broken(after, Step::Wait(Duration::from_millis(200)));
        }
        reply
    });
    let (_server, _session, pods) = look(trickles);
    assert!(started.elapsed() > Duration::from_millis(600));
    assert_eq!(names(&pods), ["pod-001"]);
    assert!(faults(&pods).is_empty());
}

#[test]
fn a_connection_that_is_cut_is_made_again() {
    let page = || Reply::json(&json!({"metadata": {}, "items": [pod(1)]})).broken(30, Step::Cut);
    let (_server, _session, pods) = look(at_page(0, page));
    assert_eq!((standing(&pods), names(&pods).len()), (Standing::Whole, 25));
    assert!(matches!(faults(&pods)[..], [Fault::Cut { .. }]), "{:?}", faults(&pods));
}

#[test]
fn a_missing_right_is_named_and_asked_for_once() {
    let server = ApiServer::scripted(world(), |request| {
        (request.path == "/api/v1/secrets").then(|| Reply::status(403, "Forbidden", "secrets is forbidden"))
    });
    let mut session = open(&server.url());
    let (pods, secrets) = (session.want::<Light>(PODS), session.want::<Light>(SECRETS));
    session.look();
    let right = Right { verb: "list", group: String::new(), resource: "secrets".to_owned(), namespace: None };
    assert_eq!(standing(&secrets), Standing::Lost(Fault::Forbidden(right)));
    assert_eq!(standing(&pods), Standing::Whole);
    let asked = server.requests().iter().filter(|target| target.starts_with("/api/v1/secrets")).count();
    assert_eq!(asked, 1);
}

#[test]
fn of_secrets_nothing_leaves_the_server_but_metadata() {
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "apps", "name": "token"},
        "data": {"password": "aHVudGVyMg=="}});
    let server = ApiServer::start(world().with([secret]));
    let mut session = open(&server.url());
    let secrets = session.want::<Light>(SECRETS);
    session.look();
    let store = secrets.store();
    let [seen] = store.objects.values().collect::<Vec<_>>()[..] else { panic!("{store:?}") };
    assert_eq!((seen.item.name.as_str(), seen.item.data), ("token", false));
}

#[test]
fn kinds_are_asked_for_in_a_version_that_is_served() {
    let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "one"}});
    let server = ApiServer::start(world().with([thing]));
    server.world().stale.push(("metrics.k8s.io".to_owned(), "v1beta1".to_owned()));
    let mut session = open(&server.url());
    let things = session.want::<Light>(THINGS);
    let newer = session.want::<Light>(Wanted::new("example.com", "things", &["v9"]));
    let metrics = session.want::<Light>(Wanted::new("metrics.k8s.io", "pods", &[]));
    let absent = session.want::<Light>(Wanted::new("absent.example.com", "things", &[]));
    session.look();
    assert_eq!(names(&things), ["one"]);
    assert_eq!(standing(&newer), Standing::NotServed { other_versions: vec!["v1".to_owned()] });
    assert_eq!(standing(&absent), Standing::NotServed { other_versions: Vec::new() });
    let stale = Standing::Stale { group: "metrics.k8s.io".to_owned(), version: "v1beta1".to_owned() };
    assert_eq!(standing(&metrics), stale);
}

#[test]
fn normal_events_are_not_asked_for() {
    let event = |name: &str, kind: &str| json!({"apiVersion": "v1", "kind": "Event", "type": kind, "metadata": {"namespace": "apps", "name": name}});
    let server = ApiServer::start(world().with([event("a", "Normal"), event("b", "Warning")]));
    let mut session = open(&server.url());
    let events = session.want::<Light>(EVENTS);
    session.look();
    assert_eq!(names(&events), ["b"]);
}

#[test]
fn changes_are_followed_through_compaction_and_dead_watches() {
    let server = ApiServer::scripted(world(), |request| {
        // The second watch hangs: nothing comes, and it does not end.
        let hangs = request.is_watch() && request.path == "/api/v1/pods" && request.before == 1;
        hangs.then(|| Reply::silent(Duration::from_secs(3)))
    });
    let mut session = open(&server.url());
    let pods = session.want::<Light>(PODS);
    session.look();
    until(&mut session, "the list", || names(&pods).len() == 25);
    server.put(pod(100));
    until(&mut session, "one more", || names(&pods).len() == 26);
    server.remove("pods", "apps", "pod-000");
    until(&mut session, "one fewer", || !names(&pods).contains(&"pod-000".to_owned()));

    server.compact();
    server.put(pod(101));
    let has_new = || names(&pods).contains(&"pod-101".to_owned());
    until(&mut session, "a new list after compaction", has_new);
    assert_eq!(names(&pods).len(), 26);
    let told = faults(&pods);
    assert!(told.iter().any(|fault| matches!(fault, Fault::Silent { .. } | Fault::Expired)), "{told:?}");
}

#[test]
fn nothing_seen_is_lost_while_the_server_is_away_and_lists_show_no_emptiness() {
    let server = ApiServer::start(world());
    let mut session = open(&server.url());
    let pods = session.want::<Light>(PODS);
    until(&mut session, "the list", || names(&pods).len() == 25);
    drop(server);
    let lost = || matches!(standing(&pods), Standing::Lost(_));
    until(&mut session, "the loss", lost);
    assert_eq!(names(&pods).len(), 25, "what was seen stays, with its age");
}

#[test]
fn a_kind_that_comes_later_is_found_and_one_that_goes_is_gone() {
    let server = ApiServer::start(world());
    let mut session = open(&server.url());
    let things = session.want::<Light>(THINGS);
    until(&mut session, "things are served", || standing(&things) == Standing::Whole);
    server.world().unserve("example.com");
    let gone = || standing(&things) == Standing::NotServed { other_versions: Vec::new() };
    until(&mut session, "things are served no more", gone);
}

#[test]
fn refused_silent_and_dropped_are_three_facts() {
    let refused = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let mut session = open(&format!("http://{refused}"));
    session.look();
    assert_eq!(session.contact().fault, Some(Fault::Refused));

    let server = ApiServer::scripted(world(), |_| Some(Reply::silent(Duration::from_secs(5))));
    let mut session = open(&server.url());
    session.look();
    assert_eq!(session.contact().fault, Some(Fault::Silent { after: limits().answer }));

    // A queue of connections that nobody takes any more: further ones get no answer from the kernel.
    let full = Full::new();
    let mut session = open(&full.url());
    session.look();
    let fault = session.contact().fault;
    assert!(matches!(fault, Some(Fault::Dropped { .. })), "{fault:?}");
}

/// A port whose queue of connections is full, so that packets are dropped.
struct Full {
    _listener: TcpListener,
    address: std::net::SocketAddr,
    _connections: Vec<std::net::TcpStream>,
}

impl Full {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connect = |_| std::net::TcpStream::connect_timeout(&address, Duration::from_millis(100)).ok();
        // The standard library asks for a queue of 128; the kernel takes one more.
        let connections = (0..200).map_while(connect).collect();
        Self { _listener: listener, address, _connections: connections }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

#[test]
fn an_answer_of_something_else_is_no_api_server() {
    let (_server, session, _pods) = look(|_| Some(Reply::text(200, "<html>welcome</html>")));
    assert_eq!(session.contact().fault, Some(Fault::NotKubernetes { code: 200 }));
    let (_server, session, _pods) = look(|_| Some(Reply::status(401, "Unauthorized", "who?")));
    assert_eq!(session.contact().fault, Some(Fault::Unauthorized));
    assert!(session.contact().fault.unwrap().is_access());
}

#[test]
fn the_api_servers_own_checks_are_told() {
    let server = ApiServer::start(world());
    server.world().unready.push("etcd".to_owned());
    let mut session = open(&server.url());
    session.look();
    assert_eq!(session.contact().failing, Some(vec!["etcd".to_owned()]));
}

#[test]
fn its_clock_is_compared_with_ours() {
    let (_server, session, _pods) = look(|request| {
        let date = "Thu, 01 Jan 1970 00:00:00 GMT";
        (request.path == "/version").then(|| Reply::json(&json!({"gitVersion": "v1.35.0"})).with("Date", date))
    });
    assert!(session.skew_milliseconds().unwrap() < -1_000_000_000);
}

#[test]
fn one_namespace_is_asked_for_where_one_is_named() {
    let server = ApiServer::start(world());
    let (_home, target) = target(&server.kubeconfig());
    let mut session = Session::open(&target, Some("other".to_owned()), limits()).unwrap();
    let pods = session.want::<Light>(PODS);
    session.look();
    assert_eq!((standing(&pods), names(&pods).len()), (Standing::Whole, 0));
    assert!(server.requests().iter().any(|target| target.starts_with("/api/v1/namespaces/other/pods")));
}
