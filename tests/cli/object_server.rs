//! A server of objects on loopback with the part of S3's protocol that datasets need, and with faults on demand.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Faults that the server shows in place of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing else: it answers.
    None,
    /// The next requests get 503.
    Busy(u32),
    /// The connection ends in the middle of each body.
    Cut,
    /// Each request is refused with this code of S3.
    Refused(&'static str),
    /// No answer comes.
    Silent,
}

struct State {
    objects: BTreeMap<String, Vec<u8>>,
    fault: Fault,
    /// The end of the names of the affected files.
    affected: &'static str,
    sent_bytes: u64,
    puts: usize,
}

/// The server, with objects by bucket and key. It ends with the test.
pub struct ObjectServer {
    state: Arc<Mutex<State>>,
    pub port: u16,
}

impl ObjectServer {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = State { objects: BTreeMap::new(), fault: Fault::None, affected: "", sent_bytes: 0, puts: 0 };
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                // A client that leaves is not a failure of the server.
                thread::spawn(move || drop(answer(stream, &state)));
            }
        });
        Self { state, port }
    }

    /// Puts all files of a folder below a key.
    pub fn hold(&self, directory: &Path, key: &str) {
        let mut folders = vec![directory.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                if entry.path().is_dir() {
                    folders.push(entry.path());
                } else {
                    let below = entry.path().strip_prefix(directory).unwrap().to_str().unwrap().to_owned();
                    self.state
                        .lock()
                        .unwrap()
                        .objects
                        .insert(format!("{key}/{below}"), fs::read(entry.path()).unwrap());
                }
            }
        }
    }

    pub fn set(&self, fault: Fault) {
        self.state.lock().unwrap().fault = fault;
    }

    /// A fault that comes after the manifest and the facts were read.
    pub fn set_in_queries(&self, fault: Fault) {
        self.set_for(".parquet", fault);
    }

    /// A fault of the files whose names end like this.
    pub fn set_for(&self, ending: &'static str, fault: Fault) {
        let mut state = self.state.lock().unwrap();
        (state.fault, state.affected) = (fault, ending);
    }

    pub fn change(&self, key: &str, change: impl FnOnce(&mut Vec<u8>)) {
        change(self.state.lock().unwrap().objects.get_mut(key).unwrap());
    }

    pub fn remove(&self, key: &str) {
        self.state.lock().unwrap().objects.remove(key).unwrap();
    }

    pub fn keys(&self) -> Vec<String> {
        self.state.lock().unwrap().objects.keys().cloned().collect()
    }

    /// Bytes of objects that were sent, and objects that were put, since this was asked last.
    pub fn take_counts(&self) -> (u64, usize) {
        let mut state = self.state.lock().unwrap();
        (std::mem::take(&mut state.sent_bytes), std::mem::take(&mut state.puts))
    }
}

fn answer(stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split(' ');
    let (method, target) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let mut body = vec![0; headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let fault = {
        let mut state = state.lock().unwrap();
        let fault = if path.ends_with(state.affected) { state.fault } else { Fault::None };
        if let Fault::Busy(left) = fault {
            state.fault = if left > 1 { Fault::Busy(left - 1) } else { Fault::None };
        }
        fault
    };
    match fault {
        Fault::Busy(_) => {
            return respond(&stream, "503 Service Unavailable", "", b"<Error><Code>SlowDown</Code></Error>", None);
        }
        Fault::Refused(code) => {
            let body = format!("<Error><Code>{code}</Code><Message>not for you</Message></Error>");
            return respond(&stream, "403 Forbidden", "", body.as_bytes(), None);
        }
        Fault::Silent => {
            thread::sleep(Duration::from_secs(20));
            return Ok(());
        }
        Fault::None | Fault::Cut => {}
    }
    let key = path.trim_start_matches('/').to_owned();
    let mut state = state.lock().unwrap();
    let (status, header, content) = match method.as_str() {
        "PUT" => {
            state.puts += 1;
            state.objects.insert(key, body);
            ("200 OK", "ETag: \"1\"\r\n".to_owned(), Vec::new())
        }
        "DELETE" => {
            state.objects.remove(&key);
            ("204 No Content", String::new(), Vec::new())
        }
        "POST" => {
            let text = String::from_utf8(body).unwrap();
            let keys = text.split("<Key>").skip(1).filter_map(|rest| rest.split_once("</Key>"));
            let mut deleted = String::new();
            for (name, _) in keys {
                state.objects.remove(&format!("{key}/{name}"));
                deleted.push_str(&format!("<Deleted><Key>{name}</Key></Deleted>"));
            }
            ("200 OK", String::new(), format!("<DeleteResult>{deleted}</DeleteResult>").into_bytes())
        }
        _ if query.contains("list-type=2") => ("200 OK", String::new(), list(&state.objects, &key, query).into_bytes()),
        _ => match state.objects.get(&key).cloned() {
            None => ("404 Not Found", String::new(), b"<Error><Code>NoSuchKey</Code></Error>".to_vec()),
            Some(object) => {
                let last = "Last-Modified: Fri, 27 Nov 2026 10:00:00 GMT\r\nETag: \"1\"\r\nAccept-Ranges: bytes\r\n";
                match headers.get("range").and_then(|range| part_of(range, object.len())) {
                    Some((start, end)) => {
                        let range = format!("{last}Content-Range: bytes {start}-{}/{}\r\n", end - 1, object.len());
                        ("206 Partial Content", range, object[start..end].to_vec())
                    }
                    None => ("200 OK", last.to_owned(), object),
                }
            }
        },
    };
    state.sent_bytes += content.len() as u64;
    drop(state);
    respond(&stream, status, &header, &content, (fault == Fault::Cut).then_some(content.len() / 2))
}

fn part_of(range: &str, length: usize) -> Option<(usize, usize)> {
    let (start, end) = range.strip_prefix("bytes=")?.split_once('-')?;
    let end = end.parse::<usize>().map_or(length, |last| (last + 1).min(length));
    Some((start.parse().ok()?, end)).filter(|(start, end)| start < end)
}

fn list(objects: &BTreeMap<String, Vec<u8>>, bucket: &str, query: &str) -> String {
    let prefix = query.split('&').find_map(|pair| pair.strip_prefix("prefix=")).unwrap_or_default();
    let prefix = format!("{}/{}", bucket.trim_end_matches('/'), prefix.replace("%2F", "/"));
    let (mut contents, mut folders) = (String::new(), Vec::new());
    for (key, object) in objects.iter().filter(|(key, _)| key.starts_with(&prefix)) {
        let name = key.split_once('/').unwrap().1;
        match key.strip_prefix(&prefix).unwrap().split_once('/') {
            Some((folder, _)) => {
                let folder = format!("{}{folder}/", prefix.split_once('/').unwrap().1);
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
            None => contents.push_str(&format!(
                "<Contents><Key>{name}</Key><LastModified>2026-11-27T10:00:00.000Z</LastModified><ETag>\"1\"</ETag><Size>{}</Size></Contents>",
                object.len()
            )),
        }
    }
    let folders: String =
        folders.iter().map(|folder| format!("<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>")).collect();
    format!("<ListBucketResult><IsTruncated>false</IsTruncated>{contents}{folders}</ListBucketResult>")
}

/// Sends an answer, or the beginning of its body.
fn respond(
    mut stream: &TcpStream,
    status: &str,
    headers: &str,
    body: &[u8],
    cut_at: Option<usize>,
) -> std::io::Result<()> {
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body[..cut_at.unwrap_or(body.len())])?;
    stream.flush()
}
