//! Runs programs without a shell.

use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::child_environment::child_environment;
use super::output::{Lines, chunks};
use super::process_group::{Running, is_left, send, start};

/// Maximum interval between checks whether the program has ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// First interval after its output has ended; the program mostly ends then too. The interval doubles after each check.
const FIRST_LOOK: Duration = Duration::from_micros(100);
/// Time for a program to end after each signal, and for its children after its own end.
pub(super) const GRACE: Duration = Duration::from_secs(5);
/// Time to wait for the end of the output when no process of the group is left.
const SILENCE: Duration = Duration::from_millis(200);
/// Maximum chunks of output from processes that escaped from the group.
const MOST_CHUNKS_BEHIND: usize = 64;

/// Limits of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run.
    pub seconds: Option<u64>,
    /// Maximum bytes of output to pass on. Further output is read and dropped, and the program continues.
    pub output_bytes: u64,
}

/// The end of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It exited with this code.
    Code(i32),
    /// It was ended by this signal, which was not sent from here.
    Signal(i32),
    /// The program with this name does not exist.
    NotFound(String),
    /// It could not be started, for this reason.
    NotStarted(String),
    /// It exceeded the time limit, and was ended.
    TimeLimit,
    /// The user interrupted it.
    Interrupted,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    pub end: End,
    pub seconds: f64,
    /// The last 64 KiB of its output.
    pub tail: String,
}

/// Runs a program in a directory, and passes its output on line by line.
///
/// The program has its own process group and no input. It sees the variables of `share/applications.toml` and the
/// variables that are set for it. When it exceeds the time limit or is interrupted, its group gets SIGINT, 5 s later
/// SIGTERM, and 5 s later SIGKILL. Children that remain after its end have 5 s before the same happens to them. On
/// Linux, the program dies with this process.
pub fn run(
    words: &[String],
    environment: &[(String, String)],
    directory: &Path,
    limits: &Limits,
    is_interrupted: &dyn Fn() -> bool,
    on_line: &mut dyn FnMut(&str),
) -> Ended {
    run_by(&Instant::now, words, environment, directory, limits, is_interrupted, on_line)
}

/// [`run`] with a clock as argument, for tests.
pub(super) fn run_by(
    now: &dyn Fn() -> Instant,
    words: &[String],
    environment: &[(String, String)],
    directory: &Path,
    limits: &Limits,
    is_interrupted: &dyn Fn() -> bool,
    on_line: &mut dyn FnMut(&str),
) -> Ended {
    let begin = now();
    let elapsed = || now().duration_since(begin);
    let (mut child, output) = match begin_program(words, environment, directory) {
        Ok(started) => started,
        Err(end) => return Ended { end, seconds: elapsed().as_secs_f64(), tail: String::new() },
    };
    let _running = Running::new(&child);
    let mut lines = Lines::new(limits.output_bytes, on_line);
    let mut is_open = true;
    let mut status: Option<ExitStatus> = None;
    let mut reason: Option<End> = None;
    let mut stopping: Option<Stopping> = None;
    let mut ended_after = None;
    let mut pause = FIRST_LOOK;
    loop {
        is_open = is_open && pass_on(&output, &mut lines, LOOK_EVERY);
        if !is_open {
            std::thread::sleep(pause);
            pause = (pause * 2).min(LOOK_EVERY);
        }
        if status.is_none() {
            status = child.try_wait().unwrap_or_default();
            ended_after = status.map(|_| elapsed());
        }
        if status.is_some() && !is_left(child.id()) {
            break;
        }
        if stopping.is_none() {
            let is_over = limits.seconds.is_some_and(|seconds| elapsed() >= Duration::from_secs(seconds));
            let is_abandoned = ended_after.is_some_and(|after| elapsed() >= after + GRACE);
            // A program that exited by itself keeps its exit code, whatever becomes of its children.
            if is_interrupted() {
                reason = status.is_none().then_some(End::Interrupted);
                stopping = Some(Stopping::new(now()));
            } else if is_over || is_abandoned {
                reason = status.is_none().then_some(End::TimeLimit);
                stopping = Some(Stopping::new(now()));
            }
        }
        if stopping.as_mut().is_some_and(|stopping| stopping.go_on(now(), child.id())) {
            break;
        }
    }
    let mut behind = 0;
    while is_open && behind < MOST_CHUNKS_BEHIND {
        let Ok(chunk) = output.recv_timeout(SILENCE) else { break };
        lines.take(&chunk);
        behind += 1;
    }
    let end = reason.unwrap_or_else(|| status.map_or(End::Signal(9), end_of));
    Ended { end, seconds: ended_after.unwrap_or_else(elapsed).as_secs_f64(), tail: lines.finish() }
}

/// Passes on the available output; returns whether more may come.
fn pass_on(output: &Receiver<Vec<u8>>, lines: &mut Lines<'_>, wait: Duration) -> bool {
    match output.recv_timeout(wait) {
        Ok(chunk) => {
            lines.take(&chunk);
            true
        }
        Err(RecvTimeoutError::Timeout) => true,
        Err(RecvTimeoutError::Disconnected) => false,
    }
}

struct Stopping {
    begin: Instant,
    sent: usize,
}

impl Stopping {
    const STEPS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGKILL];

    fn new(begin: Instant) -> Self {
        Self { begin, sent: 0 }
    }

    /// Sends the next signal when it is due; returns whether no signal is left.
    fn go_on(&mut self, now: Instant, group: u32) -> bool {
        let due = GRACE * u32::try_from(self.sent).unwrap_or(u32::MAX);
        if now.duration_since(self.begin) < due {
            return false;
        }
        let Some(signal) = Self::STEPS.get(self.sent) else { return true };
        send(group, *signal);
        self.sent += 1;
        false
    }
}

fn begin_program(
    words: &[String],
    environment: &[(String, String)],
    directory: &Path,
) -> Result<(Child, Receiver<Vec<u8>>), End> {
    let Some((program, arguments)) = words.split_first() else { return Err(End::NotFound(String::new())) };
    if !directory.is_dir() {
        return Err(End::NotStarted(format!("{} is not a directory", directory.display())));
    }
    let not_piped = |error: io::Error| End::NotStarted(format!("no pipe for its output: {error}"));
    let (reader, writer) = io::pipe().map_err(not_piped)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .envs(child_environment(environment))
        .stdin(Stdio::null())
        .stdout(writer.try_clone().map_err(not_piped)?)
        .stderr(writer);
    let child = start(&mut command).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if program.contains('/') && directory.join(program).exists() => {
            End::NotStarted(format!("the interpreter or loader of {program} is missing"))
        }
        io::ErrorKind::NotFound => End::NotFound(program.clone()),
        io::ErrorKind::PermissionDenied => End::NotStarted(format!("{program} may not be executed: {error}")),
        _ => End::NotStarted(format!("{program}: {error}")),
    })?;
    // The command holds the pipe open.
    drop(command);
    Ok((child, chunks(reader)))
}

fn end_of(status: ExitStatus) -> End {
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return End::Signal(signal);
    }
    End::Code(status.code().unwrap_or(-1))
}
