//! Answers with the headers that all of them have.

use super::status::Status;

/// An answer.
#[derive(Clone, Debug)]
pub struct Response {
    /// Status code.
    pub status: Status,
    /// Type of the body.
    pub content_type: &'static str,
    /// The rights of a page, if it is one.
    pub policy: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

/// Headers of every answer: nothing is kept by the browser, guessed, or passed on to another site.
const COMMON: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n";

impl Response {
    /// JSON.
    pub fn json(status: Status, body: Vec<u8>) -> Self {
        Self { status, content_type: "application/json; charset=utf-8", policy: None, body }
    }

    /// `{"error": …}`.
    pub fn error(status: Status, message: &str) -> Self {
        Self::json(status, serde_json::json!({ "error": message }).to_string().into_bytes())
    }

    /// Plain text.
    pub fn text(status: Status, body: &str) -> Self {
        let body = body.as_bytes().to_vec();
        Self { status, content_type: "text/plain; charset=utf-8", policy: None, body }
    }

    /// The head and the body as they are sent.
    pub fn head(&self, keeps_alive: bool) -> String {
        let Status(code, reason) = self.status;
        let policy = self.policy.as_deref().unwrap_or("default-src 'none'; frame-ancestors 'none'");
        let connection = if keeps_alive { "keep-alive" } else { "close" };
        format!(
            "HTTP/1.1 {code} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\nContent-Security-Policy: {policy}\r\n{COMMON}\
             Connection: {connection}\r\n\r\n",
            self.content_type,
            self.body.len()
        )
    }
}
