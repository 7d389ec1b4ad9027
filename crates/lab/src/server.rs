//! Small HTTP servers on loopback that can be cut off from the network and come back on the same port.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::serve::Listener;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;

/// Serves as long as the runtime lives.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) port: u16,
    cut_off: Arc<AtomicBool>,
}

impl Server {
    pub(crate) fn start(routes: Router, runtime: &Handle) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let cut_off = Arc::new(AtomicBool::new(false));
        let _inside = runtime.enter();
        let gate = Gate { listener: TcpListener::from_std(listener)?, cut_off: Arc::clone(&cut_off) };
        let routes = routes.layer(middleware::from_fn_with_state(Arc::clone(&cut_off), refuse_on_open_connections));
        runtime.spawn(async move { axum::serve(gate, routes).await });
        Ok(Self { port, cut_off })
    }

    /// New connections are closed at once; what comes in over old ones is refused.
    pub(crate) fn cut_off(&self) {
        self.cut_off.store(true, Ordering::SeqCst);
    }

    pub(crate) fn restore(&self) {
        self.cut_off.store(false, Ordering::SeqCst);
    }
}

async fn refuse_on_open_connections(State(cut_off): State<Arc<AtomicBool>>, request: Request, next: Next) -> Response {
    if cut_off.load(Ordering::SeqCst) {
        return (StatusCode::SERVICE_UNAVAILABLE, [("connection", "close")]).into_response();
    }
    next.run(request).await
}

struct Gate {
    listener: TcpListener,
    cut_off: Arc<AtomicBool>,
}

impl Listener for Gate {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            let accepted = Listener::accept(&mut self.listener).await;
            if !self.cut_off.load(Ordering::SeqCst) {
                return accepted;
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}
