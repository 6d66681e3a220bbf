//! A running server, as a browser sees it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::common::program;

/// A running server.
pub struct Server {
    pub child: Child,
    pub address: String,
    pub token: String,
}

/// An answer: status, headers and body.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Server {
    /// Starts the program and waits for its address.
    pub fn start(arguments: &[&str]) -> Self {
        let mut command = program(&[&["view"], arguments].concat());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let rest = line.trim().strip_prefix("http://").unwrap_or_else(|| panic!("no address: {line:?}"));
        let (address, token) = rest.split_once("/?token=").unwrap();
        assert!(address.starts_with("127.0.0.1:") && token.len() == 32, "{line}");
        Self { address: address.to_owned(), token: token.to_owned(), child }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        stream
    }

    /// Sends bytes on a connection of their own, and returns the first answer.
    pub fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // The server may answer and close before it was sent everything.
        let _ = stream.write_all(bytes);
        answer(&mut BufReader::new(stream))
    }

    /// The answer to a GET with the token.
    pub fn get(&self, target: &str) -> Answer {
        let (address, token) = (&self.address, &self.token);
        let head = format!("GET {target} HTTP/1.1\r\nHost: {address}\r\nX-Wavesieve-Token: {token}\r\n\r\n");
        self.raw(head.as_bytes())
    }

    /// The JSON of a GET that succeeds.
    pub fn json(&self, target: &str) -> Value {
        let answer = self.get(target);
        let text = String::from_utf8(answer.body).unwrap();
        assert_eq!(answer.status, 200, "{target}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// The status and the JSON of a POST with the token.
    pub fn post(&self, target: &str, body: &str) -> (u16, Value) {
        let (address, token, length) = (&self.address, &self.token, body.len());
        let head = format!(
            "POST {target} HTTP/1.1\r\nHost: {address}\r\nX-Wavesieve-Token: {token}\r\nContent-Length: {length}\r\n\r\n"
        );
        let answer = self.raw(&[head.as_bytes(), body.as_bytes()].concat());
        (answer.status, serde_json::from_slice(&answer.body).unwrap())
    }

    /// Asks until an answer has a value at a member.
    pub fn until(&self, target: &str, member: &str, wanted: &Value) -> Value {
        for _ in 0..600 {
            let answer = self.json(target);
            if answer[member] == *wanted {
                return answer;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{target} never has {member} {wanted}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads an answer from a connection.
pub fn answer(reader: &mut impl BufRead) -> Answer {
    let mut head = String::new();
    while reader.read_line(&mut head).unwrap_or(0) > 0 && !head.ends_with("\r\n\r\n") {}
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Answer { status, head, body }
}
