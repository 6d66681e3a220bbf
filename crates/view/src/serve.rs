//! The server: listens on this machine only, and ends after the last window is closed.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use wavesieve_report::analysis::AnalysisOptions;

use crate::api::Api;
use crate::background::STACK_BYTES;
use crate::http::{Guard, Response, Status, serve_connection};
use crate::session::{Session, Side};
use crate::statements::Workers;

/// Maximum number of connections; browsers use six for a page.
const MAX_CONNECTIONS: usize = 64;

/// Time without a look from a window after which it counts as closed. Browsers let pages that are not shown act once a minute.
const SILENCE: Duration = Duration::from_secs(180);

/// The session that is served, and its settings.
pub struct ViewOptions {
    /// The viewed trace, and the one it is compared with.
    pub sides: Vec<Side>,
    /// The words that name the other one on the command line.
    pub compared: Vec<String>,
    /// Queries, rules and sections.
    pub analysis: AnalysisOptions,
    /// Where it listens, see [`listen`].
    pub listener: TcpListener,
    /// Time after the last window is closed until the server ends; `None` if it goes on.
    pub grace: Option<Duration>,
    /// Whether other pages may show this one in a frame.
    pub in_frames: bool,
    /// Bytes of events in memory.
    pub memory_bytes: usize,
    /// Directory for sums, if the user named one.
    pub cache: Option<PathBuf>,
    /// This program, and words that let it call [`answer_statements`](crate::answer_statements) over the same sides.
    pub worker: (PathBuf, Vec<OsString>),
}

/// Listens on a port of 127.0.0.1, or on any free one if it is 0.
///
/// # Errors
/// When the port is in use or reserved.
pub fn listen(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: String,
    grace: Option<Duration>,
    session: Arc<Session>,
    api: Api,
}

impl Server {
    /// Makes a token, and starts to sum up the trace.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn new(options: ViewOptions) -> Result<Self> {
        let token = random_token().context("cannot read random numbers of the system")?;
        let listener = options.listener;
        let address = listener.local_addr().context("cannot find the port")?;
        let (cache, memory_bytes) = (options.cache.as_deref(), options.memory_bytes);
        let workers = Workers::new(options.worker.0.into_os_string(), options.worker.1);
        let session = Session::new(options.sides, options.compared, options.analysis, cache, memory_bytes, workers);
        session.start_sums(0);
        let api = Api::new(Arc::clone(&session), Guard::new(token.clone()), options.in_frames)?;
        Ok(Self { listener, address, token, grace: options.grace, session, api })
    }

    /// The address of the page.
    pub fn address(&self) -> String {
        format!("http://{}/?token={}", self.address, self.token)
    }

    /// Answers requests until the last window is closed.
    ///
    /// # Errors
    /// When no more connections can be accepted.
    pub fn run(self) -> Result<()> {
        let ended = Arc::new(AtomicBool::new(false));
        if let Some(grace) = self.grace {
            let (session, ended, address) = (Arc::clone(&self.session), Arc::clone(&ended), self.address);
            let wait = move || {
                session.windows.wait_for_end(grace, SILENCE);
                ended.store(true, Ordering::SeqCst);
                // Wakes the loop, which waits for a connection.
                let _ = TcpStream::connect(address);
            };
            thread::Builder::new().spawn(wait).context("cannot start a thread")?;
        }
        let api = Arc::new(self.api);
        let open = Arc::new(AtomicUsize::new(0));
        loop {
            let accepted = self.listener.accept();
            if ended.load(Ordering::SeqCst) {
                return Ok(());
            }
            match accepted {
                Ok((stream, peer)) if peer.ip().is_loopback() => connect(stream, &api, &open),
                Ok(_) => {}
                Err(error) if is_of_one(&error) => {}
                // Too many open files: others may close soon.
                Err(_) => thread::sleep(Duration::from_millis(50)),
            }
        }
    }
}

fn is_of_one(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::Interrupted)
}

/// Serves a connection in a thread of its own.
fn connect(mut stream: TcpStream, api: &Arc<Api>, open: &Arc<AtomicUsize>) {
    if open.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
        open.fetch_sub(1, Ordering::SeqCst);
        let response = Response::error(Status::TOO_MANY, "too many connections");
        let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
        let _ = stream.write_all(response.head(false).as_bytes()).and_then(|()| stream.write_all(&response.body));
        return;
    }
    let (api, counted) = (Arc::clone(api), Open(Arc::clone(open)));
    let serve = move || {
        // A client that is gone needs no answer.
        let _ = serve_connection(stream, &*api);
        drop(counted);
    };
    // Without a thread the connection is closed, and the count is given back with it.
    let _ = thread::Builder::new().stack_size(STACK_BYTES).spawn(serve);
}

/// Counts an open connection until it is dropped.
struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// 128 random bits in hexadecimal digits.
fn random_token() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
