//! Status codes of answers.

/// A status code with its reason phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub u16, pub &'static str);

impl Status {
    /// The answer follows.
    pub const OK: Self = Self(200, "OK");
    /// The request cannot be understood.
    pub const BAD_REQUEST: Self = Self(400, "Bad Request");
    /// The token is missing or wrong.
    pub const UNAUTHORIZED: Self = Self(401, "Unauthorized");
    /// The request comes from another site, or under another name.
    pub const FORBIDDEN: Self = Self(403, "Forbidden");
    /// Unknown path.
    pub const NOT_FOUND: Self = Self(404, "Not Found");
    /// The path has another method.
    pub const METHOD_NOT_ALLOWED: Self = Self(405, "Method Not Allowed");
    /// The request did not arrive in time.
    pub const TIMEOUT: Self = Self(408, "Request Timeout");
    /// A body without its length.
    pub const LENGTH_REQUIRED: Self = Self(411, "Length Required");
    /// The body is too long.
    pub const TOO_LARGE: Self = Self(413, "Content Too Large");
    /// The address is too long.
    pub const URI_TOO_LONG: Self = Self(414, "URI Too Long");
    /// Expectations are not supported.
    pub const EXPECTATION_FAILED: Self = Self(417, "Expectation Failed");
    /// Values do not fit: an unknown query, a wrong option.
    pub const UNPROCESSABLE: Self = Self(422, "Unprocessable Content");
    /// Too many connections.
    pub const TOO_MANY: Self = Self(429, "Too Many Requests");
    /// Too many or too long headers.
    pub const HEADERS_TOO_LARGE: Self = Self(431, "Request Header Fields Too Large");
    /// The answer failed.
    pub const INTERNAL: Self = Self(500, "Internal Server Error");
    /// Other work must end first.
    pub const UNAVAILABLE: Self = Self(503, "Service Unavailable");
}
