//! The only exit: redacts requests, logs them, and sends them unless the settings forbid it.

use std::cell::{Cell, OnceCell, RefCell};
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::error::LlmError;
use super::redaction::{KnownName, Redactor, Remembered};
use super::settings::Endpoint;
use super::transport::{Answer, Http, HttpFailure, Policy, Security, Wire, with_retries};
use wavesieve_files::regular;

/// Maximum bytes of a record's first line.
const MOST_FIRST_LINE: u64 = 64 << 20;

/// Options of the gate.
#[derive(Clone, Debug, Default)]
pub struct GateOptions {
    pub is_offline: bool,
    /// Whether requests are only shown.
    pub is_dry: bool,
    /// File to which sent requests are appended.
    pub audit: Option<PathBuf>,
    pub security: Security,
}

/// The only way out for requests.
pub struct Gate {
    options: GateOptions,
    redactor: RefCell<Redactor>,
    /// A client with the proxies of the environment.
    http: OnceCell<Http>,
    /// A client without proxies.
    direct: OnceCell<Http>,
    audit: RefCell<Option<File>>,
    shown: RefCell<String>,
}

/// Receives the bytes of an answer as they arrive, and reports whether they held any text.
pub struct Receiver<'a> {
    pub on_body: &'a mut dyn FnMut(&[u8]),
    pub has_text: &'a dyn Fn() -> bool,
    /// Reports the pause before the next attempt, with its reason.
    pub on_wait: &'a mut dyn FnMut(Duration, &str),
}

impl Gate {
    /// Makes a gate with its redactor.
    pub fn new(options: GateOptions, redactor: Redactor) -> Self {
        Self {
            options,
            redactor: RefCell::new(redactor),
            http: OnceCell::new(),
            direct: OnceCell::new(),
            audit: RefCell::new(None),
            shown: RefCell::new(String::new()),
        }
    }

    /// The requests that a dry run would have sent.
    pub fn shown(&self) -> String {
        self.shown.borrow().clone()
    }

    /// The redactor, for texts that are prepared before sending.
    pub fn redactor(&self) -> &RefCell<Redactor> {
        &self.redactor
    }

    /// An answer with names in place of its tokens.
    pub fn restored(&self, text: &str) -> String {
        self.redactor.borrow().map().restored(text)
    }

    /// Makes names of an earlier conversation known again.
    pub fn learn(&self, names: &[KnownName]) {
        self.redactor.borrow_mut().learn(names);
    }

    /// A text in the form that is stored on this machine.
    pub fn remembered(&self, text: &str) -> Remembered {
        self.redactor.borrow_mut().remembered(text)
    }

    /// Sends a body to a provider, with retries if they may help.
    ///
    /// # Errors
    /// When sending is forbidden, or no response arrived.
    pub fn post(&self, endpoint: &Endpoint, body: &Value, to: Receiver<'_>) -> Result<Answer, LlmError> {
        let bytes = self.passed(endpoint, body.to_string().as_bytes())?;
        let url = endpoint.shown_url();
        self.show(endpoint, &url, &endpoint.shown_headers(), &bytes)?;
        let http = self.http(endpoint)?;
        let wire = Wire { url: endpoint.url(), headers: endpoint.headers_with_key(), body: bytes };
        let policy = Policy {
            attempt: Duration::from_secs(endpoint.attempt_s),
            deadline: Duration::from_secs(endpoint.deadline_s),
        };
        let Receiver { on_body, has_text, on_wait } = to;
        let failed = Cell::new(None);
        let mut attempt = |limit: Duration| {
            if let Err(error) = self.write_audit(endpoint, &url, &endpoint.shown_headers(), &wire.body) {
                failed.set(Some(error));
                return Err(HttpFailure::Request(String::new()));
            }
            http.post(&wire, limit, on_body)
        };
        let result = with_retries(policy, &mut attempt, has_text, on_wait);
        if let Some(error) = failed.take() {
            return Err(error);
        }
        let provider = endpoint.provider.name.clone();
        let result = result.and_then(|answer| match answer.status {
            407 => Err(HttpFailure::Connection("the proxy wants a login (status 407)".to_owned())),
            _ => Ok(answer),
        });
        result.map_err(|failure| match failure {
            HttpFailure::Timeout => {
                LlmError::Timeout { provider, seconds: endpoint.attempt_s.min(endpoint.deadline_s) }
            }
            HttpFailure::Request(reason) => {
                let reason = endpoint.without_key(&reason);
                LlmError::Usage(format!("cannot ask {provider} at {url}: {reason}; correct its address or headers"))
            }
            HttpFailure::Connection(ref reason) => {
                let (reason, advice) = (endpoint.without_key(reason), failure.advice(&endpoint.advice));
                LlmError::Unreachable { provider, url, reason, advice }
            }
        })
    }

    /// Redacts texts for a program on this machine, in the same way as requests.
    ///
    /// # Errors
    /// When sending is forbidden.
    pub fn hand_over(
        &self,
        endpoint: &Endpoint,
        system: &str,
        texts: &[&str],
    ) -> Result<(String, Vec<String>), LlmError> {
        // All texts in one record, because they belong together.
        let bytes = self.passed(endpoint, json!({ "system": system, "user": texts }).to_string().as_bytes())?;
        let program = endpoint.provider.program.clone().unwrap_or_default();
        self.show(endpoint, &program, &[], &bytes)?;
        self.write_audit(endpoint, &program, &[], &bytes)?;
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let system = value.get("system").map(text).unwrap_or_default();
        let texts = value.get("user").and_then(Value::as_array).map(|texts| texts.iter().map(text).collect());
        Ok((system, texts.unwrap_or_default()))
    }

    fn passed(&self, endpoint: &Endpoint, bytes: &[u8]) -> Result<Vec<u8>, LlmError> {
        let provider = || endpoint.provider.name.clone();
        if self.options.is_offline && !self.options.is_dry {
            return Err(LlmError::Offline { provider: provider() });
        }
        let mut redactor = self.redactor.borrow_mut();
        let bytes = redactor.bytes(bytes);
        match redactor.leak(&bytes) {
            Some(token) => Err(LlmError::Leak { provider: provider(), token }),
            None => Ok(bytes),
        }
    }

    /// In a dry run, stores the request, and returns an error.
    fn show(&self, endpoint: &Endpoint, url: &str, headers: &[(String, String)], bytes: &[u8]) -> Result<(), LlmError> {
        if !self.options.is_dry {
            return Ok(());
        }
        let mut shown = self.shown.borrow_mut();
        let how = if endpoint.is_http() { "POST" } else { "run" };
        shown.push_str(&format!("{how} {url}\n"));
        for (name, value) in headers {
            shown.push_str(&format!("{name}: {value}\n"));
        }
        shown.push('\n');
        shown.push_str(&String::from_utf8_lossy(bytes));
        shown.push('\n');
        Err(LlmError::DryRun)
    }

    fn http(&self, endpoint: &Endpoint) -> Result<&Http, LlmError> {
        let kept = if endpoint.is_direct { &self.direct } else { &self.http };
        if let Some(http) = kept.get() {
            return Ok(http);
        }
        let http = Http::new(&self.options.security, endpoint.is_direct)?;
        Ok(kept.get_or_init(|| http))
    }

    /// Appends a line to the record before anything is sent.
    fn write_audit(
        &self,
        endpoint: &Endpoint,
        url: &str,
        headers: &[(String, String)],
        bytes: &[u8],
    ) -> Result<(), LlmError> {
        let Some(path) = &self.options.audit else { return Ok(()) };
        let failed =
            |error: std::io::Error| LlmError::Audit { path: path.display().to_string(), reason: error.to_string() };
        let mut audit = self.audit.borrow_mut();
        if audit.is_none() {
            let mut options = OpenOptions::new();
            options.create(true).append(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            if !is_record(path).map_err(failed)? {
                let reason = "it holds something else; name another file".to_owned();
                return Err(LlmError::Audit { path: path.display().to_string(), reason });
            }
            *audit = Some(options.open(path).map_err(failed)?);
        }
        let headers: serde_json::Map<String, Value> =
            headers.iter().map(|(name, value)| (name.clone(), Value::String(value.clone()))).collect();
        let line = json!({
            "provider": endpoint.provider.name,
            "model": endpoint.model,
            "to": url,
            "headers": headers,
            "body": String::from_utf8_lossy(bytes),
        });
        match audit.as_mut() {
            Some(file) => file.write_all(format!("{line}\n").as_bytes()).map_err(failed),
            None => Ok(()),
        }
    }
}

/// Returns whether a file can be appended to: it is new, empty, or starts with a record line.
fn is_record(path: &Path) -> std::io::Result<bool> {
    let file = match regular::open(path) {
        Ok(file) => file,
        // A pipe or a device cannot be checked, because records in it are not read again.
        Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => return Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    let mut first = Vec::new();
    BufReader::new(file.take(MOST_FIRST_LINE)).read_until(b'\n', &mut first)?;
    let first_value: Value = serde_json::from_slice(&first).unwrap_or_default();
    Ok(first.is_empty() || first_value.get("provider").is_some() && first_value.get("body").is_some())
}
