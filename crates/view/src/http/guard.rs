//! Refuses requests that do not come from a page of this server.

use super::head::Head;
use super::status::Status;

/// The conditions of an answer.
#[derive(Clone, Debug)]
pub struct Guard {
    token: String,
}

impl Guard {
    /// A guard with the token that every request must have.
    pub fn new(token: String) -> Self {
        Self { token }
    }

    /// Checks name, origin and token. The port of the name may be another one, because a tunnel has its own.
    ///
    /// # Errors
    /// When the request comes from elsewhere, or lacks the token.
    pub fn check(&self, head: &Head, is_page: bool) -> Result<(), Status> {
        // A name that an attacker points at this machine is still the attacker's name.
        if !is_own_host(&head.host) {
            return Err(Status::FORBIDDEN);
        }
        let own_origin = format!("http://{}", head.host);
        if head.origin.as_ref().is_some_and(|origin| !origin.eq_ignore_ascii_case(&own_origin)) {
            return Err(Status::FORBIDDEN);
        }
        let is_foreign = |site: &String| !matches!(site.as_str(), "same-origin" | "none");
        if !is_page && head.fetch_site.as_ref().is_some_and(is_foreign) {
            return Err(Status::FORBIDDEN);
        }
        let given = head.token.as_deref().or_else(|| head.target.get("token")).unwrap_or_default();
        if is_same(given.as_bytes(), self.token.as_bytes()) { Ok(()) } else { Err(Status::UNAUTHORIZED) }
    }
}

/// Whether a name with an optional port is this machine.
pub fn is_own_host(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !host.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    };
    let is_number = |port: &str| !port.is_empty() && port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_known = ["127.0.0.1", "localhost", "[::1]"].iter().any(|known| name.eq_ignore_ascii_case(known));
    is_known && port.is_none_or(is_number)
}

/// Compares in a time that does not depend on where the texts differ.
fn is_same(given: &[u8], own: &[u8]) -> bool {
    let differences = given.iter().zip(own).fold(0, |differences, (one, other)| differences | (one ^ other));
    given.len() == own.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::super::head::parse;
    use super::*;

    fn checked(target: &str, headers: &str) -> Result<(), Status> {
        let text = format!("GET {target} HTTP/1.1\r\n{headers}\r\n\r\n");
        let (head, _) = parse(text.as_bytes()).unwrap().unwrap();
        Guard::new("secret".to_owned()).check(&head, target.starts_with("/?"))
    }

    #[test]
    fn only_pages_of_this_server_are_answered() {
        let own = "Host: 127.0.0.1:8000";
        assert_eq!(checked("/?token=secret", own), Ok(()));
        assert_eq!(checked("/api/picture", &format!("{own}\r\nX-Wavesieve-Token: secret")), Ok(()));
        assert_eq!(checked("/?token=secret", &format!("{own}\r\nSec-Fetch-Site: cross-site")), Ok(()));
        assert_eq!(checked("/a?token=secret", &format!("{own}\r\nOrigin: http://127.0.0.1:8000")), Ok(()));
        for target in ["/", "/?token=", "/?token=secre", "/?token=secrets", "/?token=Secret"] {
            assert_eq!(checked(target, own), Err(Status::UNAUTHORIZED), "{target}");
        }
        for headers in [
            "Host: evil.example:8000",
            "Host: 127.0.0.1.evil.example",
            "Host: localhost:port",
            "Host: 127.0.0.1:8000\r\nOrigin: http://evil.example",
            "Host: 127.0.0.1:8000\r\nOrigin: null",
            "Host: 127.0.0.1:8000\r\nOrigin: http://127.0.0.1:8001",
            "Host: 127.0.0.1:8000\r\nSec-Fetch-Site: cross-site",
            "Host: 127.0.0.1:8000\r\nSec-Fetch-Site: same-site",
        ] {
            assert_eq!(checked("/a?token=secret", headers), Err(Status::FORBIDDEN), "{headers}");
        }
    }

    #[test]
    fn names_of_this_machine() {
        assert!(["127.0.0.1", "localhost:80", "LOCALHOST", "[::1]", "[::1]:99999"].into_iter().all(is_own_host));
        assert!(
            !["", ":80", "::1", "127.0.0.2", "localhost:", "localhost:123456", "[::1"].into_iter().any(is_own_host)
        );
    }
}
