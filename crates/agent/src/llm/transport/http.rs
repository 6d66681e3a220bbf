//! HTTP requests, with checked certificates and the proxies of the environment.

use std::error::Error as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Certificate, Client, Response, redirect};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::llm::error::LlmError;

/// Maximum bytes of a response: a hundred times the longest answer.
const MOST_BYTES: usize = 8 << 20;
/// Time limit for a connection.
const CONNECT: Duration = Duration::from_secs(15);

/// How the server proves its identity.
#[derive(Clone, Debug, Default)]
pub struct Security {
    /// Whether any certificate is accepted.
    pub is_insecure: bool,
    /// File with certificates to trust in addition to those of the system.
    pub authorities: Option<PathBuf>,
}

/// An outgoing request. It does not derive `Debug`, because it holds keys.
#[derive(Clone)]
pub struct Wire {
    pub url: String,
    /// Names and values, including keys.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// The response of the server.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub status: u16,
    /// Whether it is an event stream.
    pub is_events: bool,
    /// The requested pause before the next attempt, if any.
    pub retry_after: Option<Duration>,
    pub body: Vec<u8>,
    /// The reason why its end is missing, if it is.
    pub cut: Option<HttpFailure>,
}

/// Reasons why there is no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HttpFailure {
    /// There was no connection, or it broke.
    Connection(String),
    /// It took too long.
    Timeout,
    /// The request cannot be created.
    Request(String),
}

impl HttpFailure {
    /// Returns whether the server did not prove its identity, which a retry does not change.
    pub(crate) fn is_of_certificate(&self) -> bool {
        matches!(self, Self::Connection(reason) if reason.contains("certificate"))
    }

    /// Advice for the user; `usual` if nothing specific is known.
    pub fn advice(&self, usual: &str) -> String {
        match self {
            Self::Connection(reason) if self.is_of_certificate() => match reason.contains("not valid for") {
                true => "name the host in the address as its certificate does",
                false => "name a file with the certificate of its authority with --llm-ca",
            },
            _ => usual,
        }
        .to_owned()
    }
}

impl Security {
    /// Checks that the certificates are usable.
    ///
    /// # Errors
    /// [`LlmError::Usage`] when they cannot.
    pub fn check(&self) -> Result<(), LlmError> {
        match self.authorities {
            Some(_) => Http::new(self, false).map(drop),
            None => Ok(()),
        }
    }
}

/// A client with its connections.
pub struct Http {
    client: Client,
    runtime: Runtime,
}

impl Http {
    /// Makes a client, with the proxies of the environment unless it is direct. It does not follow redirects, because
    /// they would send the data to another server.
    pub fn new(security: &Security, is_direct: bool) -> Result<Self, LlmError> {
        let mut builder = Client::builder()
            .use_rustls_tls()
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT)
            .user_agent(concat!("wavesieve/", env!("CARGO_PKG_VERSION")))
            .danger_accept_invalid_certs(security.is_insecure);
        if is_direct {
            builder = builder.no_proxy();
        }
        if let Some(path) = &security.authorities {
            let refused = |reason: String| {
                LlmError::Usage(format!("--llm-ca {}: {reason}; name a file of certificates in PEM", path.display()))
            };
            let bytes = std::fs::read(path).map_err(|error| refused(format!("cannot be read: {error}")))?;
            let certificates = Certificate::from_pem_bundle(&bytes).map_err(|error| refused(causes(&error)))?;
            if certificates.is_empty() {
                return Err(refused("holds no certificate".to_owned()));
            }
            for certificate in certificates {
                builder = builder.add_root_certificate(certificate);
            }
        }
        let client = builder.build().map_err(|error| {
            let (reason, authorities) = (causes(&error), security.authorities.as_deref());
            let file = authorities.map(|path| format!(" {}", path.display())).unwrap_or_default();
            LlmError::Usage(format!("cannot prepare encryption: {reason}; check --llm-ca{file} and SSL_CERT_FILE"))
        })?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| LlmError::Internal(format!("cannot start the client: {error}")))?;
        Ok(Self { client, runtime })
    }

    /// Sends a request and reads the response; `on_body` gets the bytes of a successful one as they arrive.
    ///
    /// # Errors
    /// When no response arrived in time. A response with a missing end counts as an answer.
    pub fn post(&self, wire: &Wire, limit: Duration, on_body: &mut dyn FnMut(&[u8])) -> Result<Answer, HttpFailure> {
        let mut headers = HeaderMap::new();
        for (name, value) in &wire.headers {
            let refused = || HttpFailure::Request(format!("{name} is not a header that can be sent"));
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| refused())?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        let request = self.client.post(&wire.url).headers(headers).body(wire.body.clone());
        let mut answer = Answer::default();
        let exchange = async {
            let response = request.send().await.map_err(|error| failure(&error))?;
            take_head(&response, &mut answer);
            take_body(response, &mut answer, on_body).await;
            Ok(())
        };
        let ended = self.runtime.block_on(async { timeout(limit, exchange).await });
        match ended {
            Ok(Ok(())) => Ok(answer),
            Ok(Err(failure)) => Err(failure),
            // The head arrived, so the data so far may be useful.
            Err(_) if answer.status > 0 => Ok(Answer { cut: Some(HttpFailure::Timeout), ..answer }),
            Err(_) => Err(HttpFailure::Timeout),
        }
    }
}

fn take_head(response: &Response, answer: &mut Answer) {
    answer.status = response.status().as_u16();
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    answer.is_events = header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
    let milliseconds = header("retry-after-ms").and_then(|text| text.trim().parse::<u64>().ok());
    let text = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    answer.retry_after = milliseconds.map(Duration::from_millis).or_else(|| text.and_then(waiting_time));
}

async fn take_body(mut response: Response, answer: &mut Answer, on_body: &mut dyn FnMut(&[u8])) {
    loop {
        match response.chunk().await {
            Ok(Some(bytes)) => {
                if answer.body.len() + bytes.len() > MOST_BYTES {
                    answer.cut =
                        Some(HttpFailure::Connection(format!("the reply has more than {} MiB", MOST_BYTES >> 20)));
                    return;
                }
                answer.body.extend_from_slice(&bytes);
                if answer.status == 200 {
                    on_body(&bytes);
                }
            }
            Ok(None) => return,
            Err(error) => {
                answer.cut = Some(failure(&error));
                return;
            }
        }
    }
}

/// The pause in `Retry-After`: seconds, or a date.
fn waiting_time(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

fn failure(error: &reqwest::Error) -> HttpFailure {
    if error.is_timeout() {
        return HttpFailure::Timeout;
    }
    if error.is_builder() {
        return HttpFailure::Request(causes(error));
    }
    HttpFailure::Connection(causes(error))
}

/// The causes of an error without its address, which the caller adds.
fn causes(error: &reqwest::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut cause = error.source();
    while let Some(found) = cause {
        let text = found.to_string();
        if !parts.iter().any(|part| part.contains(&text)) {
            parts.push(text);
        }
        cause = found.source();
    }
    match parts.is_empty() {
        true if error.is_decode() || error.is_body() => "the reply is not complete".to_owned(),
        true => "the connection failed".to_owned(),
        false => parts.join(": "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_times_are_seconds_or_dates() {
        assert_eq!(waiting_time("3"), Some(Duration::from_secs(3)));
        assert_eq!(waiting_time(" 0.5 "), Some(Duration::from_millis(500)));
        assert_eq!(waiting_time("Thu, 01 Jan 1970 00:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(waiting_time("soon"), None);
        assert_eq!(waiting_time("-1"), None);
        assert_eq!(waiting_time("1e400"), None);
    }
}
