//! The process of the tools, from the server's side.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use super::server::Event;
use super::worker::Task;
use crate::child::{program, wait};

/// Time for a process to remove its temporary files.
const PATIENCE: Duration = Duration::from_millis(500);

/// The process of the tools. It is started on demand, and again after it was stopped.
pub(super) struct Workers {
    /// Arguments of the server.
    arguments: Vec<OsString>,
    events: Sender<Event>,
    running: Option<Worker>,
    started: u64,
}

impl Workers {
    pub(super) fn new(arguments: Vec<OsString>, events: Sender<Event>) -> Self {
        Self { arguments, events, running: None, started: 0 }
    }

    pub(super) fn hand_over(&mut self, task: &Task) -> io::Result<()> {
        // A worker that ended while idle is restarted.
        if let Some(worker) = &mut self.running
            && worker.send(task).is_ok()
        {
            return Ok(());
        }
        self.stop();
        self.started += 1;
        let mut worker = Worker::start(self.started, self.arguments.clone(), self.events.clone())?;
        worker.send(task)?;
        self.running = Some(worker);
        Ok(())
    }

    pub(super) fn stop(&mut self) {
        self.running = None;
    }

    /// Returns whether an event belongs to the running process.
    pub(super) fn is_current(&self, number: u64) -> bool {
        self.running.as_ref().is_some_and(|worker| worker.number == number)
    }
}

/// A running process.
struct Worker {
    child: Child,
    /// `None` after the request to end.
    input: Option<ChildStdin>,
    /// Distinguishes its events from those of earlier workers.
    number: u64,
}

impl Worker {
    /// Starts this program with the server's arguments and the one that makes it a worker.
    fn start(number: u64, of_server: Vec<OsString>, events: Sender<Event>) -> io::Result<Self> {
        let mut child =
            Command::new(program()?).args(arguments(of_server)).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        thread::spawn(move || {
            for line in output.into_iter().flat_map(|output| BufReader::new(output).lines()).map_while(Result::ok) {
                if events.send(Event::Result(number, line)).is_err() {
                    return;
                }
            }
            // The server may have ended already.
            let _ = events.send(Event::WorkerGone(number));
        });
        Ok(Self { child, input, number })
    }

    /// Sends a call.
    fn send(&mut self, task: &Task) -> io::Result<()> {
        let mut line = serde_json::to_vec(task)?;
        line.push(b'\n');
        match &mut self.input {
            Some(input) => input.write_all(&line).and_then(|()| input.flush()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Drop for Worker {
    /// Ends the process: closing its input lets it clean up; if that takes too long, it is killed.
    fn drop(&mut self) {
        self.input = None;
        let _ = wait(&mut self.child, PATIENCE);
    }
}

/// The arguments with the one that makes a worker, inserted before the positional ones.
fn arguments(mut words: Vec<OsString>) -> Vec<OsString> {
    let at = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.insert(at, OsString::from("--worker"));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_has_the_arguments_of_the_server() {
        let of = |words: &[&str]| {
            let words = arguments(words.iter().map(OsString::from).collect());
            words.into_iter().map(|word| word.into_string().unwrap()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of(&["mcp", "a", "--max-rows", "9"]), "mcp a --max-rows 9 --worker");
        assert_eq!(of(&["mcp", "--", "--a"]), "mcp --worker -- --a");
    }
}
