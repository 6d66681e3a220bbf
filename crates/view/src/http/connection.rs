//! A connection: reads requests one after the other, each within its time, and writes answers.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::head::{Head, parse};
use super::response::Response;
use super::status::Status;

/// Time for a request to arrive after its first byte.
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// Time without any request after which a connection is closed: of a client that has shown the token, and of any other,
/// which may be another user of the machine that only takes up room.
const IDLE_TIME: Duration = Duration::from_secs(60);
const UNKNOWN_IDLE_TIME: Duration = Duration::from_secs(3);
/// Time for a client to take some bytes of an answer, and all of it.
const WRITE_TIME: Duration = Duration::from_secs(20);
const ANSWER_TIME: Duration = Duration::from_secs(300);
/// Bytes that are written at once.
const PIECE_BYTES: usize = 64 << 10;

/// Answers requests.
pub trait Service: Sync {
    /// Answers a request with its body.
    fn answer(&self, head: &Head, body: &[u8]) -> Response;
}

/// Answers the requests of a connection until it ends, asks for its end, or is wrong.
///
/// # Errors
/// When the client is gone.
pub fn serve_connection(mut stream: TcpStream, service: &dyn Service) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(WRITE_TIME))?;
    let mut read = Vec::new();
    let mut idle_time = UNKNOWN_IDLE_TIME;
    loop {
        let (head, body) = match request(&mut stream, &mut read, idle_time) {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(status) => {
                write(&mut stream, &Response::error(status, status.1), false)?;
                return drain(&mut stream);
            }
        };
        let reply = catch_unwind(AssertUnwindSafe(|| service.answer(&head, &body)));
        match reply {
            Ok(response) => {
                if !matches!(response.status, Status::UNAUTHORIZED | Status::FORBIDDEN) {
                    idle_time = IDLE_TIME;
                }
                write(&mut stream, &response, head.keeps_alive)?;
                if !head.keeps_alive {
                    return drain(&mut stream);
                }
            }
            Err(_) => {
                let message = "internal: the answer failed; the program goes on";
                write(&mut stream, &Response::error(Status::INTERNAL, message), false)?;
                return Ok(());
            }
        }
    }
}

/// The next request; `None` at the end of the connection. Bytes of later requests stay in `read`.
fn request(stream: &mut TcpStream, read: &mut Vec<u8>, idle_time: Duration) -> Result<Option<(Head, Vec<u8>)>, Status> {
    let mut deadline = if read.is_empty() { None } else { Some(Instant::now() + REQUEST_TIME) };
    loop {
        if let Some((head, length)) = parse(read)? {
            let mut rest = read.split_off(length);
            while rest.len() < head.body_bytes {
                let until = deadline.unwrap_or_else(|| Instant::now() + REQUEST_TIME);
                if more(stream, &mut rest, until)? == 0 {
                    return Err(Status::BAD_REQUEST);
                }
            }
            *read = rest.split_off(head.body_bytes);
            return Ok(Some((head, rest)));
        }
        let is_first = read.is_empty();
        let until = deadline.unwrap_or_else(|| Instant::now() + idle_time);
        match more(stream, read, until) {
            Ok(0) if is_first => return Ok(None),
            Ok(0) => return Err(Status::BAD_REQUEST),
            Ok(_) => {}
            // No request was begun.
            Err(_) if is_first => return Ok(None),
            Err(status) => return Err(status),
        }
        deadline = deadline.or_else(|| Some(Instant::now() + REQUEST_TIME));
    }
}

/// Reads some bytes before a deadline; 0 at the end.
fn more(stream: &mut TcpStream, read: &mut Vec<u8>, deadline: Instant) -> Result<usize, Status> {
    let mut piece = [0; 8 << 10];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return Err(Status::TIMEOUT);
        }
        match stream.read(&mut piece) {
            Ok(bytes) => {
                read.extend(piece.iter().take(bytes));
                return Ok(bytes);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Err(Status::TIMEOUT);
            }
            Err(_) => return Ok(0),
        }
    }
}

fn write(stream: &mut TcpStream, response: &Response, keeps_alive: bool) -> io::Result<()> {
    let deadline = Instant::now() + ANSWER_TIME;
    let head = response.head(keeps_alive).into_bytes();
    // Short answers are sent at once.
    let (first, rest) = response.body.split_at(response.body.len().min(PIECE_BYTES));
    for piece in std::iter::once([&head, first].concat().as_slice()).chain(rest.chunks(PIECE_BYTES)) {
        if Instant::now() > deadline {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.write_all(piece)?;
    }
    stream.flush()
}

/// Takes what the client still sends: closing a connection with unread bytes would discard the answer.
fn drain(stream: &mut TcpStream) -> io::Result<()> {
    stream.shutdown(std::net::Shutdown::Write)?;
    let deadline = Instant::now() + Duration::from_secs(1);
    let mut taken = Vec::new();
    while taken.len() < 1 << 20 && matches!(more(stream, &mut taken, deadline), Ok(1..)) {}
    Ok(())
}
