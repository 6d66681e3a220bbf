//! Events as JSON lines for other programs.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;
use std::time::SystemTime;

use serde_json::Value;

use super::error::FaceError;
use crate::interactive::sessions::utc_fraction;

pub(super) struct Events {
    out: Box<dyn Write>,
    session: Option<String>,
}

impl Events {
    /// Opens a file to append to, so that a resumed session has one log; `-` is standard output.
    pub(super) fn open(path: &Path) -> Result<Self, FaceError> {
        if path.as_os_str() == "-" {
            return Ok(Self::to(Box::new(io::stdout())));
        }
        let failed = |error| FaceError::Events { path: path.to_owned(), error };
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(failed)?;
        // An incomplete line of an earlier run stays separate.
        if file.metadata().is_ok_and(|data| data.is_file()) && ends_within_line(path).map_err(failed)? {
            file.write_all(b"\n").map_err(failed)?;
        }
        Ok(Self::to(Box::new(file)))
    }

    pub(super) fn to(out: Box<dyn Write>) -> Self {
        Self { out, session: None }
    }

    pub(super) fn set_session(&mut self, id: &str) {
        self.session = Some(id.to_owned());
    }

    pub(super) fn write(&mut self, name: &str, fields: Value, now: SystemTime) -> io::Result<()> {
        let session = self.session.as_deref().map_or(Value::Null, Value::from);
        let first = [("event", Value::from(name)), ("session", session), ("time", Value::from(utc_fraction(now)))];
        let given = match fields {
            Value::Object(fields) => fields.into_iter().collect(),
            Value::Null => Vec::new(),
            other => vec![("value".to_owned(), other)],
        };
        let own = first.map(|(name, value)| (name.to_owned(), value));
        let is_own = |name: &str| matches!(name, "event" | "session" | "time");
        let fields = own.into_iter().chain(given.into_iter().filter(|(name, _)| !is_own(name)));
        let fields: Vec<String> = fields.map(|(name, value)| format!("{}:{value}", Value::from(name))).collect();
        self.out.write_all(format!("{{{}}}\n", fields.join(",")).as_bytes())?;
        self.out.flush()
    }
}

fn ends_within_line(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use serde_json::json;

    use super::*;

    #[test]
    fn events_are_lines_and_logs_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        std::fs::write(&path, "{\"event\":\"cut").unwrap();
        let mut events = Events::open(&path).unwrap();
        events.write("start", Value::Null, UNIX_EPOCH).unwrap();
        events.set_session("s\n1");
        events.write("run", json!({ "session": "x", "code": 0 }), UNIX_EPOCH).unwrap();
        events.write("list", json!([1]), UNIX_EPOCH).unwrap();
        let expected = "{\"event\":\"cut\n\
            {\"event\":\"start\",\"session\":null,\"time\":\"1970-01-01T00:00:00.000Z\"}\n\
            {\"event\":\"run\",\"session\":\"s\\n1\",\"time\":\"1970-01-01T00:00:00.000Z\",\"code\":0}\n\
            {\"event\":\"list\",\"session\":\"s\\n1\",\"time\":\"1970-01-01T00:00:00.000Z\",\"value\":[1]}\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        assert!(Events::open(folder.path()).is_err());
    }
}
