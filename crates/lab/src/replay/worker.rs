//! A replay in this process.

use std::time::Instant;

use sha2::{Digest, Sha256};

use super::addresses::{rows, verdict};
use super::compare::{Expected, FILE_NUMBER, FoundVariable, compare};
use super::kernel::{Chosen, choose, symbol_of};
use super::outcome::{Environment, Execution, KernelFacts, MemoryFacts, Outcome, Replayed, Status, VariableFacts};
use super::request::{Mode, Request};
use super::runtime::{Code, Gpu, HeldAddresses, Hsa, Launch, Memory, Queue, RuntimeError};
use super::saving::save;
use super::statistics::Timing;
use wavesieve_captures::captures::{Capture, CaptureError, Check, MIN_PAGE, StoredBlob, Variable, spans};

const NAMED: usize = 3;

/// The reason why a replay ends early.
pub(super) struct Stop {
    status: Status,
    message: String,
}

impl Stop {
    pub(super) fn failed(message: String) -> Self {
        Self { status: Status::Failed, message }
    }

    pub(super) fn unsupported(message: String) -> Self {
        Self { status: Status::Unsupported, message }
    }
}

impl From<CaptureError> for Stop {
    fn from(error: CaptureError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<RuntimeError> for Stop {
    fn from(error: RuntimeError) -> Self {
        let status = if error.is_lack() { Status::Unsupported } else { Status::Failed };
        Self { status, message: error.to_string() }
    }
}

/// Replays a capture. The outcome is returned before the runtime is shut down, which may hang.
pub fn work(request: &Request, hand_over: impl FnOnce(&Outcome)) {
    let mut outcome = Outcome { capture: request.capture.clone(), ..Outcome::default() };
    let mut runtime = None;
    match run(request, &mut outcome, &mut runtime) {
        Ok(()) => {}
        Err(Stop { status, message }) => (outcome.status, outcome.message) = (status, Some(message)),
    }
    hand_over(&outcome);
    if let Some(runtime) = runtime {
        runtime.shut_down();
    }
}

fn run(request: &Request, outcome: &mut Outcome, runtime: &mut Option<Hsa>) -> Result<(), Stop> {
    let capture = Capture::read(&request.capture)?;
    let regions = &capture.regions.regions;
    if regions.is_empty() {
        outcome.notes.push("the capture has no memory regions".to_owned());
    }
    outcome.notes.extend(capture.dispatch.contradiction());
    let is_full = request.mode == Mode::Full;
    let blobs = if is_full { open_blobs(&capture, request.allows_missing, &mut outcome.notes)? } else { Vec::new() };
    let expected = request.expect.as_deref().filter(|_| is_full).map(Expected::open).transpose()?;
    // Before the runtime is loaded: it reserves large address ranges for itself.
    let held = HeldAddresses::take(&spans(regions, MIN_PAGE));
    let started = Hsa::start(request.runtime.as_deref());
    drop(held);
    let hsa = runtime.insert(started?);
    let gpu = Gpu::find(hsa, request.gpu)?;
    let spans = spans(regions, gpu.page);
    // Code that cannot run is rejected before memory is allocated.
    let chosen = if is_full { Some(choose(&capture, request, &gpu.isas, &mut outcome.notes)?) } else { None };
    let (mut memory, reserved) = Memory::reserve(hsa, &spans, regions);
    outcome.addresses = rows(&spans, &reserved);
    (outcome.status, outcome.message) = verdict(&outcome.addresses);
    let Some(chosen) = chosen.filter(|_| outcome.status == Status::Ok) else {
        memory.give_back();
        return Ok(());
    };
    memory.map(&gpu)?;
    let begin = Instant::now();
    memory.restore(&blobs, Check::Hashes, request.threads)?;
    let restore_seconds = begin.elapsed().as_secs_f64();
    let mut replay = Replay::prepare(hsa, &gpu, &capture, &chosen)?;
    let samples = replay.run(request, &mut memory, &blobs)?;
    let variables = replay.read_variables()?;
    let comparison = match &expected {
        Some(expected) => {
            let read = |region: usize, offset: u64, target: &mut [u8]| memory.read(region, offset, target);
            Some(compare(expected, regions, &variables, &request.tolerances, request.threads, &read)?)
        }
        None => None,
    };
    if comparison.as_ref().is_some_and(|comparison| !comparison.equal) {
        outcome.status = Status::Differs;
        outcome.message = Some("memory after the dispatch is not what is expected".to_owned());
    } else if comparison.as_ref().is_some_and(|comparison| comparison.regions.is_empty()) {
        return Err(Stop::failed("no region of the capture is among what is expected".to_owned()));
    } else if let Some(comparison) = comparison.as_ref().filter(|comparison| !comparison.is_whole()) {
        outcome.status = Status::Partial;
        outcome.message = Some(what_was_not_compared(&comparison.not_compared));
    }
    if let Some(directory) = &request.save {
        save(directory, &memory, regions, &variables, request.threads)
            .map_err(|error| Stop::failed(format!("{error:#}")))?;
    }
    let missing = regions.iter().zip(&blobs).filter(|(_, blob)| blob.is_none()).map(|(region, _)| region.base);
    let (kernel, variable_facts) = (replay.facts.clone(), replay.variables.clone());
    replay.queue.destroy();
    outcome.replayed = Some(Replayed {
        kernel,
        execution: Execution {
            iterations: request.iterations,
            mode: if request.is_stateful { "stateful" } else { "stateless" }.to_owned(),
            warm_up: request.warm_up,
        },
        timing: Timing::new(samples).ok_or_else(|| Stop::failed("no dispatch was measured".to_owned()))?,
        memory: MemoryFacts {
            regions: regions.len(),
            bytes: regions.iter().map(|region| region.size).sum(),
            missing: missing.collect(),
            is_direct: memory.is_direct(),
            restore_seconds,
        },
        variables: variable_facts,
        comparison,
        environment: Environment {
            gpu_agent: gpu.name.clone(),
            isa: gpu.isas.first().cloned().unwrap_or_default(),
            rocm_version: hsa.version(),
            runtime: hsa.path.clone(),
            pid: std::process::id(),
        },
    });
    Ok(())
}

/// A sentence that the compared part is right, and why the rest is unknown.
fn what_was_not_compared(reasons: &[String]) -> String {
    let named: Vec<&str> = reasons.iter().take(NAMED).map(String::as_str).collect();
    let more = match reasons.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("what was compared is as expected, but not all was compared: {}{more}", named.join(", "))
}

/// Opens the bytes of all regions; `None` for regions that were not captured, if that is allowed.
fn open_blobs(
    capture: &Capture,
    allows_missing: bool,
    notes: &mut Vec<String>,
) -> Result<Vec<Option<StoredBlob>>, Stop> {
    let mut blobs = Vec::new();
    for region in &capture.regions.regions {
        let opened = match &region.error {
            Some(reason) => Err(reason.clone()),
            None => match capture.open_region(region) {
                Ok(blob) => Ok(blob),
                Err(CaptureError::NoFile { path }) => Err(format!("{} is missing", path.display())),
                Err(error) => return Err(error.into()),
            },
        };
        match opened {
            Ok(blob) => blobs.push(Some(blob)),
            Err(reason) if allows_missing => {
                notes.push(format!("the region at {:#x} is zeros: {reason}", region.base));
                blobs.push(None);
            }
            Err(reason) => {
                let (base, size) = (region.base, region.size);
                let message = format!(
                    "the region at {base:#x} ({size} bytes) was not captured: {reason}; capture again, or take it for zeros with --allow-missing"
                );
                return Err(Stop::failed(message));
            }
        }
    }
    Ok(blobs)
}

fn found(variable: &Variable, executable_sha256: &str, bytes: Vec<u8>) -> FoundVariable {
    FoundVariable {
        executable_sha256: executable_sha256.to_owned(),
        name: variable.name.clone(),
        address: variable.address,
        is_loaded: true,
        bytes,
    }
}

/// A prepared kernel, with the steps before each dispatch.
struct Replay<'a> {
    code: Code<'a>,
    queue: Queue<'a>,
    facts: KernelFacts,
    variables: VariableFacts,
    values: Vec<FoundVariable>,
}

impl<'a> Replay<'a> {
    fn prepare(hsa: &'a Hsa, gpu: &Gpu, capture: &Capture, chosen: &Chosen) -> Result<Self, Stop> {
        let dispatch = &capture.dispatch;
        let code = Code::load(hsa, gpu, chosen.bytes.clone())?;
        let symbol = symbol_of(dispatch);
        let kernel = code
            .kernel(&symbol)
            .map_err(|error| Stop::failed(format!("{} has no kernel {symbol}: {error}", chosen.path.display())))?;
        let [group, dynamic, private] = chosen.sizes(dispatch, kernel.group, kernel.private);
        let launch = Launch { kernel, grid: dispatch.grid, block: dispatch.block, group, private };
        let queue = Queue::new(hsa, gpu, launch, &capture.kernarg)?;
        let facts = KernelFacts {
            name: dispatch.shown_name(),
            symbol,
            hsaco_path: chosen.path.clone(),
            grid: dispatch.grid,
            block: dispatch.block,
            group_segment_size: group,
            dynamic_group_segment_size: dynamic,
            private_segment_size: private,
        };
        let mut replay = Self { code, queue, facts, variables: VariableFacts::default(), values: Vec::new() };
        replay.find_variables(capture, chosen)?;
        Ok(replay)
    }

    /// Finds variables of the captured code object that the loaded one has too.
    fn find_variables(&mut self, capture: &Capture, chosen: &Chosen) -> Result<(), Stop> {
        if capture.variables.is_empty() {
            return Ok(());
        }
        let own: String = Sha256::digest(&chosen.captured).iter().map(|byte| format!("{byte:02x}")).collect();
        for variable in &capture.variables {
            if !variable.executable_sha256.is_empty() && !variable.executable_sha256.eq_ignore_ascii_case(&own) {
                continue;
            }
            let bytes = capture.read_variable(variable)?;
            let skipped = match self.code.variable(&variable.name) {
                Ok((_, size)) if size == bytes.len() as u64 => None,
                Ok((_, size)) if !chosen.is_other => {
                    Some(format!("{}: it has {size} bytes, not {}", variable.name, bytes.len()))
                }
                Ok((_, size)) => {
                    let name = &variable.name;
                    let message = format!("{name}: it has {size} bytes instead of {}", bytes.len());
                    return Err(Stop::failed(format!("{}: the variable {message}", chosen.path.display())));
                }
                // The compiler's id of a source file, which no kernel reads.
                Err(_) if variable.name.starts_with(FILE_NUMBER) => continue,
                Err(_) => {
                    self.values.push(FoundVariable { is_loaded: false, ..found(variable, &own, bytes) });
                    self.variables.skipped.push(format!("{}: the code object has no such variable", variable.name));
                    continue;
                }
            };
            match skipped {
                Some(reason) => self.variables.skipped.push(reason),
                None => self.values.push(found(variable, &own, bytes)),
            }
        }
        self.variables.restored = self.values.iter().filter(|variable| variable.is_loaded).count();
        Ok(())
    }

    /// Runs all dispatches; returns the times of the measured ones, in microseconds.
    fn run(
        &mut self,
        request: &Request,
        memory: &mut Memory<'_>,
        blobs: &[Option<StoredBlob>],
    ) -> Result<Vec<f64>, Stop> {
        let mut samples = Vec::new();
        self.set_variables()?;
        let mut is_fresh = true;
        for number in 0..request.warm_up.saturating_add(request.iterations.max(1)) {
            // A warm-up leaves nothing behind in either mode.
            if !is_fresh && (!request.is_stateful || number <= request.warm_up) {
                memory.restore(blobs, Check::Nothing, request.threads)?;
                self.set_variables()?;
            }
            is_fresh = false;
            let time = self.queue.dispatch(memory)?;
            if number >= request.warm_up {
                samples.push(time);
            }
        }
        Ok(samples)
    }

    fn set_variables(&self) -> Result<(), Stop> {
        for variable in self.values.iter().filter(|variable| variable.is_loaded) {
            self.code.set_variable(&variable.name, &variable.bytes)?;
        }
        Ok(())
    }

    fn read_variables(&self) -> Result<Vec<FoundVariable>, Stop> {
        let mut found = Vec::new();
        for variable in &self.values {
            let bytes = match variable.is_loaded {
                true => self.code.read_variable(&variable.name)?,
                false => variable.bytes.clone(),
            };
            found.push(FoundVariable { bytes, ..variable.clone() });
        }
        Ok(found)
    }
}
