//! The head of a request: its line and headers.

use super::status::Status;
use super::target::Target;

/// Maximum length of a head.
pub const MAX_HEAD_BYTES: usize = 48 << 10;
/// Maximum number of headers.
const MAX_HEADERS: usize = 64;
/// Maximum length of a body.
const MAX_BODY_BYTES: usize = 1 << 20;

/// Method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Reads with a long text, such as a statement.
    Post,
}

/// The parts of a head that decide about the answer.
#[derive(Clone, Debug)]
pub struct Head {
    /// The method.
    pub method: Method,
    /// Path and parameters.
    pub target: Target,
    /// The name under which the client reached the server.
    pub host: String,
    /// The site that sent the request, if a browser names one.
    pub origin: Option<String>,
    /// Relation of that site to this one, if a browser names it.
    pub fetch_site: Option<String>,
    /// The token in a header.
    pub token: Option<String>,
    /// Bytes of the body.
    pub body_bytes: usize,
    /// Whether the connection stays open.
    pub keeps_alive: bool,
}

/// Reads a head from the start of `bytes`. Returns it with its length, or `None` if its end is missing.
///
/// # Errors
/// When it is too long, wrong, or requests something that this server does not do.
pub fn parse(bytes: &[u8]) -> Result<Option<(Head, usize)>, Status> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let length = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) if length <= MAX_HEAD_BYTES => length,
        Ok(httparse::Status::Partial) if bytes.len() < MAX_HEAD_BYTES => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(Status::HEADERS_TOO_LARGE),
        Err(_) => return Err(Status::BAD_REQUEST),
    };
    let method = match request.method {
        Some("GET") => Method::Get,
        Some("POST") => Method::Post,
        _ => return Err(Status::METHOD_NOT_ALLOWED),
    };
    let target = Target::parse(request.path.unwrap_or_default())?;
    let one = |name: &str| -> Result<Option<String>, Status> {
        let mut values = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        let Some(first) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(Status::BAD_REQUEST);
        }
        let text = std::str::from_utf8(first.value).map_err(|_| Status::BAD_REQUEST)?;
        Ok(Some(text.trim().to_owned()))
    };
    if one("transfer-encoding")?.is_some() {
        return Err(Status::LENGTH_REQUIRED);
    }
    if one("expect")?.is_some() {
        return Err(Status::EXPECTATION_FAILED);
    }
    let body_bytes = match one("content-length")? {
        None if method == Method::Post => return Err(Status::LENGTH_REQUIRED),
        None => 0,
        Some(text) if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) => {
            return Err(Status::BAD_REQUEST);
        }
        Some(text) => text.parse().map_err(|_| Status::TOO_LARGE)?,
    };
    if body_bytes > MAX_BODY_BYTES {
        return Err(Status::TOO_LARGE);
    }
    if method == Method::Get && body_bytes > 0 {
        return Err(Status::BAD_REQUEST);
    }
    let connection = one("connection")?.unwrap_or_default().to_ascii_lowercase();
    let is_new = request.version == Some(1);
    let keeps_alive = if is_new { connection != "close" } else { connection == "keep-alive" };
    let head = Head {
        method,
        target,
        host: one("host")?.ok_or(Status::BAD_REQUEST)?,
        origin: one("origin")?,
        fetch_site: one("sec-fetch-site")?,
        token: one("x-wavesieve-token")?,
        body_bytes,
        keeps_alive,
    };
    Ok(Some((head, length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(text: &str) -> Option<Status> {
        parse(text.as_bytes()).err()
    }

    #[test]
    fn a_head_is_read_when_it_is_complete() {
        let text = "GET /api/lanes?pixels=9 HTTP/1.1\r\nHost: 127.0.0.1:1\r\nOrigin: http://127.0.0.1:1\r\n\r\nrest";
        for end in 0..text.len() - "rest".len() {
            assert!(parse(&text.as_bytes()[..end]).unwrap().is_none(), "{end}");
        }
        let (head, length) = parse(text.as_bytes()).unwrap().unwrap();
        assert_eq!(text.get(length..), Some("rest"));
        assert_eq!((head.method, head.host.as_str(), head.keeps_alive), (Method::Get, "127.0.0.1:1", true));
        assert_eq!(head.target.get("pixels"), Some("9"));
    }

    #[test]
    fn unusual_heads_are_refused() {
        let with = |line: &str| format!("POST /api/sql HTTP/1.1\r\nHost: localhost\r\n{line}\r\n\r\n");
        for (line, expected) in [
            ("Transfer-Encoding: chunked", Status::LENGTH_REQUIRED),
            ("X: 1", Status::LENGTH_REQUIRED),
            ("Content-Length: 1\r\nContent-Length: 2", Status::BAD_REQUEST),
            ("Content-Length: -1", Status::BAD_REQUEST),
            ("Content-Length: +1", Status::BAD_REQUEST),
            ("Content-Length: 99999999999999999999999", Status::TOO_LARGE),
            ("Content-Length: 1048577", Status::TOO_LARGE),
            ("Content-Length: 1\r\nExpect: 100-continue", Status::EXPECTATION_FAILED),
            ("Content-Length: 0\r\nHost: other", Status::BAD_REQUEST),
        ] {
            assert_eq!(status(&with(line)), Some(expected), "{line}");
        }
        assert_eq!(status("PUT / HTTP/1.1\r\nHost: a\r\n\r\n"), Some(Status::METHOD_NOT_ALLOWED));
        assert_eq!(status("GET / HTTP/1.1\r\n\r\n"), Some(Status::BAD_REQUEST));
        assert_eq!(status("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n"), Some(Status::BAD_REQUEST));
        assert_eq!(status("\u{16}\u{3}\u{1}"), Some(Status::BAD_REQUEST));
        let many = "X: 1\r\n".repeat(MAX_HEADERS + 1);
        assert_eq!(status(&with(&many)), Some(Status::HEADERS_TOO_LARGE));
        assert_eq!(status(&format!("GET /{}", "a".repeat(MAX_HEAD_BYTES))), Some(Status::HEADERS_TOO_LARGE));
    }
}
