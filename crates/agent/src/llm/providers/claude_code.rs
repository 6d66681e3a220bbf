//! Claude Code: with a key, Anthropic's Messages API; otherwise the program on this machine, which has its own login.

use std::io::{ErrorKind, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::anthropic;
use super::by_text;
use super::exchange::authentication;
use crate::child::wait;
use crate::llm::chain::Listener;
use crate::llm::error::LlmError;
use crate::llm::gate::Gate;
use crate::llm::request::{Reply, Request};
use crate::llm::settings::Endpoint;
use crate::llm::usage::Usage;
use wavesieve_engine::findings::shortened;

const MOST_BYTES: u64 = 16 << 20;
/// Time for the end of the output after that of the program.
const GRACE: Duration = Duration::from_secs(1);

pub fn ask(gate: &Gate, endpoint: &Endpoint, request: &Request, listener: &dyn Listener) -> Result<Reply, LlmError> {
    if !endpoint.has_key() {
        return by_program(gate, endpoint, request);
    }
    let of_key = match anthropic::ask(gate, endpoint, request, listener) {
        Err(error @ (LlmError::Authentication { .. } | LlmError::Status { .. } | LlmError::Unreachable { .. })) => {
            error
        }
        other => return other,
    };
    by_program(gate, endpoint, request).map_err(|of_program| match of_program {
        LlmError::Program { reason, .. } => {
            authentication(endpoint, None, format!("with the key: {of_key}; with the program: {reason}"))
        }
        other => other,
    })
}

fn by_program(gate: &Gate, endpoint: &Endpoint, request: &Request) -> Result<Reply, LlmError> {
    if !request.tools.is_empty() {
        return by_text::ask(gate, request, &mut |request| by_program(gate, endpoint, request));
    }
    let provider = endpoint.provider.name.clone();
    let failed = |reason: String| LlmError::Program { provider: provider.clone(), reason };
    let texts: Vec<&str> = request.messages.iter().map(|message| message.text.as_str()).collect();
    let (system, texts) = gate.hand_over(endpoint, &request.system, &texts)?;
    // A single text has to hold all messages with their roles.
    let text = match texts.as_slice() {
        [only] => only.clone(),
        all => {
            let roles = request.messages.iter().map(|message| message.role.word());
            roles.zip(all).map(|(role, text)| format!("{role}: {text}")).collect::<Vec<String>>().join("\n\n")
        }
    };
    let directory = tempfile::tempdir().map_err(|error| failed(format!("cannot make a directory for it: {error}")))?;
    std::fs::write(directory.path().join("CLAUDE.md"), system)
        .map_err(|error| failed(format!("cannot write its instructions: {error}")))?;
    let program = endpoint.provider.program.clone().unwrap_or_default();
    // The question goes through a pipe: every user of the machine can see program arguments.
    let mut child = Command::new(&program)
        // Without the user's tools and servers, so that it only answers: it must not follow instructions in a trace.
        .args(["-p", "--output-format", "json", "--no-session-persistence", "--tools", "", "--strict-mcp-config"])
        .args(["--model", &endpoint.model])
        .current_dir(directory.path())
        .env_clear()
        .envs(endpoint.variables.iter().cloned())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| {
            failed(format!("{program} cannot be started: {error}; install it, or set {}", endpoint.key_variable))
        })?;
    let (output, errors, status) = finish(&mut child, &text, Duration::from_secs(endpoint.attempt_s))
        .map_err(|error| failed(format!("{program}: {error}")))?
        .ok_or_else(|| LlmError::Timeout { provider: provider.clone(), seconds: endpoint.attempt_s })?;
    let answer = serde_json::from_str::<Value>(&output).ok();
    let told = answer.as_ref().and_then(|answer| answer.get("result")).and_then(Value::as_str);
    let is_error = answer.as_ref().and_then(|answer| answer.get("is_error")).and_then(Value::as_bool) == Some(true);
    if !status.success() || is_error {
        let text = told.map(ToOwned::to_owned).filter(|text| !text.trim().is_empty()).unwrap_or(errors);
        let reason =
            if text.trim().is_empty() { "it does not say why".to_owned() } else { shortened(text.trim(), 300) };
        return Err(failed(format!("{program} failed ({status}): {reason}")));
    }
    let text = told.map_or_else(|| output.clone(), ToOwned::to_owned).trim().to_owned();
    if text.is_empty() {
        return Err(LlmError::Reply { provider, reason: "it has no text".to_owned() });
    }
    let mut usage = Usage::default();
    if let Some(reported) = answer.as_ref().and_then(|answer| answer.get("usage")) {
        usage.take_anthropic(reported);
    }
    Ok(Reply { text, provider, model: endpoint.model.clone(), usage, ..Reply::default() })
}

type Ended = Option<(String, String, std::process::ExitStatus)>;

/// Passes the text and waits for the end; `None` on a timeout, after which the program is ended. Its own children may
/// keep the pipes open for longer: what they write after the grace time is dropped.
fn finish(child: &mut Child, text: &str, limit: Duration) -> std::io::Result<Ended> {
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let text = text.to_owned();
    // One thread for each pipe: a program that writes before it has read everything must not wait for us.
    std::thread::spawn(move || {
        // If the program stops reading, its exit status gives the better reason.
        let _ = input.map(|mut input| input.write_all(text.as_bytes()));
    });
    fn reader(pipe: Option<impl std::io::Read + Send + 'static>) -> Receiver<Vec<u8>> {
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let Some(pipe) = pipe else { return };
            let (mut pipe, mut chunk) = (pipe.take(MOST_BYTES), [0; 8192]);
            loop {
                match pipe.read(&mut chunk) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Ok(0) | Err(_) => break,
                    // Also read when nobody listens: children that still write would fail.
                    Ok(read) => _ = sender.send(chunk.get(..read).unwrap_or_default().to_vec()),
                }
            }
        });
        receiver
    }
    let (output, errors) = (reader(output), reader(errors));
    let Some(status) = wait(child, limit)? else { return Ok(None) };
    let until = Instant::now() + GRACE;
    let all = |pipe: Receiver<Vec<u8>>| {
        let mut bytes: Vec<u8> = Vec::new();
        while let Ok(chunk) = pipe.recv_timeout(until.saturating_duration_since(Instant::now())) {
            bytes.extend(chunk);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ok(Some((all(output), all(errors), status)))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_grandchild_that_holds_the_output_open_is_not_waited_for() {
        let finished = |script: &str, milliseconds| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            finish(&mut command.spawn().unwrap(), "text", Duration::from_millis(milliseconds)).unwrap()
        };
        let (output, errors, status) = finished("cat; echo bad >&2", 60_000).unwrap();
        assert_eq!((output.as_str(), errors.as_str(), status.success()), ("text", "bad\n", true));
        let start = Instant::now();
        let (output, errors, status) = finished("echo done; sleep 20 &", 60_000).unwrap();
        assert_eq!((output.as_str(), errors.as_str(), status.success()), ("done\n", "", true));
        assert!(finished("exec sleep 20", 300).is_none());
        assert!(start.elapsed() < Duration::from_secs(15));
    }
}
