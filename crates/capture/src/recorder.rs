//! The library's knowledge of the program: memory, code objects, kernels and queues.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use parking_lot::{Mutex, RwLock};
use wavesieve_captures::hsa::{HsaApiTable, Signal};

use crate::code::CodeObjects;
use crate::events::{Event, Events};
use crate::kernels::Kernels;
use crate::memory::Memory;
use crate::originals::Originals;
use crate::settings::Settings;
use crate::tables::Tables;

/// The recorder of the process.
pub(crate) struct Recorder {
    pub settings: Settings,
    pub originals: Originals,
    pub events: Events,
    pub memory: Mutex<Memory>,
    pub code: Mutex<CodeObjects>,
    pub kernels: Mutex<Kernels>,
    /// Signals of queues by the addresses of the queues: each counts the barriers that are not complete.
    pub queues: Mutex<BTreeMap<u64, Signal>>,
    /// Held while a capture is written: memory is not freed meanwhile, and no other queue continues.
    pub quiet: RwLock<()>,
    /// Forks are not followed: HSA does not work in them.
    process: u32,
}

static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// The recorder, unless this is a fork of the process that has it.
pub(crate) fn recorder() -> Option<&'static Recorder> {
    RECORDER.get().filter(|recorder| recorder.process == std::process::id())
}

/// The functions of the runtime, which a fork needs too.
pub(crate) fn originals() -> Option<&'static Originals> {
    RECORDER.get().map(|recorder| &recorder.originals)
}

/// Starts to record.
///
/// # Safety
/// The table belongs to the runtime.
pub(crate) unsafe fn begin(table: *mut HsaApiTable) -> bool {
    if RECORDER.get().is_some() {
        return false;
    }
    let settings = match Settings::of_environment() {
        Ok(settings) => settings,
        Err(reason) => {
            eprintln!("wavesieve capture: {reason}");
            return false;
        }
    };
    let events = Events::new(&settings.output);
    // SAFETY: as promised by the caller.
    let (tables, originals) = match unsafe { Tables::of(table) } {
        Ok(found) => found,
        Err(reason) => {
            eprintln!("wavesieve capture: {reason}");
            events.add(Event::Refused { reason });
            return false;
        }
    };
    events.add(Event::Loaded);
    let is_first = RECORDER
        .set(Recorder {
            settings,
            originals,
            events,
            memory: Mutex::default(),
            code: Mutex::default(),
            kernels: Mutex::default(),
            queues: Mutex::default(),
            quiet: RwLock::new(()),
            process: std::process::id(),
        })
        .is_ok();
    if is_first {
        // SAFETY: the runtime loads tools before the program can call it.
        unsafe { tables.install(&originals) };
    }
    is_first
}

/// Reports the number of dispatches of each kernel.
pub(crate) fn end() {
    if let Some(recorder) = recorder() {
        for (name, dispatches) in recorder.kernels.lock().counts() {
            recorder.events.add(Event::Dispatches { name, dispatches });
        }
    }
}
