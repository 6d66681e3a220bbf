//! A server on this machine that answers as configured, and stores the requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

/// A received request.
#[derive(Clone, Debug, Default)]
pub(super) struct Got {
    /// Method and path.
    pub line: String,
    /// Headers in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Got {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// All bytes.
    pub(super) fn bytes(&self) -> String {
        let headers: String = self.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        format!("{}\n{headers}\n{}", self.line, String::from_utf8_lossy(&self.body))
    }
}

/// The response to send.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    /// Parts of the body, each with the pause before it.
    pub parts: Vec<(Duration, Vec<u8>)>,
    /// Whether the connection breaks before the announced end.
    pub breaks: bool,
}

impl Answer {
    pub(super) fn json(value: &Value) -> Self {
        Self::status(200, &value.to_string())
    }

    pub(super) fn status(status: u16, body: &str) -> Self {
        Self {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            parts: vec![(Duration::ZERO, body.as_bytes().to_vec())],
            breaks: false,
        }
    }

    /// A stream of events with these data.
    pub(super) fn events(data: &[&str]) -> Self {
        let parts = data.iter().map(|data| (Duration::ZERO, format!("data: {data}\n\n").into_bytes()));
        Self {
            status: 200,
            headers: vec![("content-type", "text/event-stream; charset=utf-8".to_owned())],
            parts: parts.collect(),
            breaks: false,
        }
    }

    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(super) fn breaking(mut self) -> Self {
        self.breaks = true;
        self
    }
}

/// The server; it ends with the test.
pub(super) struct Server {
    pub url: String,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Server {
    /// Answers in order; the last one repeats.
    pub(super) fn new(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let got = Arc::new(Mutex::new(Vec::new()));
        let kept = got.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let Some(request) = read(&stream) else { continue };
                let place = {
                    let mut kept = kept.lock().unwrap();
                    kept.push(request);
                    kept.len() - 1
                };
                let answer = answers[place.min(answers.len() - 1)].clone();
                // Some tests are about a client that closed the connection.
                let _ = write(stream, &answer);
            }
        });
        Self { url, got }
    }

    pub(super) fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Option<Got> {
    let mut reader = BufReader::new(stream);
    let mut got = Got::default();
    reader.read_line(&mut got.line).ok()?;
    got.line = got.line.trim_end().to_owned();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().ok()?;
        }
        got.headers.push((name.to_lowercase(), value.to_owned()));
    }
    got.body = vec![0; length];
    reader.read_exact(&mut got.body).ok()?;
    Some(got)
}

fn write(mut stream: TcpStream, answer: &Answer) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Scripted\r\nconnection: close\r\n", answer.status);
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let length: usize = answer.parts.iter().map(|(_, part)| part.len()).sum();
    let length = if answer.breaks { length + 100 } else { length };
    head.push_str(&format!("content-length: {length}\r\n\r\n"));
    stream.write_all(head.as_bytes())?;
    for (wait, part) in &answer.parts {
        std::thread::sleep(*wait);
        stream.write_all(part)?;
        stream.flush()?;
    }
    Ok(())
}
