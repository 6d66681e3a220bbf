//! `/api/events`: keeps a window open, and notifies it of news.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::http::event_stream_head;
use crate::session::Session;

/// Time between looks at the connection, and between signs of life.
const LOOK: Duration = Duration::from_millis(500);
const ALIVE: Duration = Duration::from_secs(10);

/// Sends events until the window is closed.
///
/// # Errors
/// When the connection fails, which is the usual end.
pub fn stream(session: &Arc<Session>, connection: &mut TcpStream) -> io::Result<()> {
    let _window = session.windows.open();
    connection.write_all(event_stream_head().as_bytes())?;
    let mut known = session.windows.wait_for_news(u64::MAX, Duration::ZERO);
    connection.write_all(format!("data: {known}\n\n").as_bytes())?;
    connection.set_read_timeout(Some(Duration::from_millis(1)))?;
    let mut last = Instant::now();
    loop {
        let news = session.windows.wait_for_news(known, LOOK);
        if news != known {
            known = news;
            connection.write_all(format!("data: {known}\n\n").as_bytes())?;
        } else if last.elapsed() >= ALIVE {
            last = Instant::now();
            connection.write_all(b": \n\n")?;
        }
        match connection.read(&mut [0; 256]) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(error),
        }
    }
}
