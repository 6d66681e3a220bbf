//! Turns panics of the engine into errors without printing them. Every other panic is reported as before.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Once};
use std::thread;

/// Number of running calls of [`with_silent_panics`].
static RUNNING: AtomicUsize = AtomicUsize::new(0);
static HOOK: Once = Once::new();
/// Kind of the error in the text of a panic whose thread could not be started.
const MISSING_THREAD: &str = "kind: WouldBlock, message: \"Resource temporarily unavailable\"";
/// Start of the names of the engine's own threads: of its pool, whose name a variable can change, and of its streams.
static ENGINE_THREADS: LazyLock<[String; 2]> = LazyLock::new(|| {
    let pool = std::env::var("POLARS_THREAD_NAME").unwrap_or_else(|_| "polars".to_owned());
    [format!("{pool}-"), "async-executor-".to_owned()]
});

thread_local! {
    /// Number of running calls of [`with_silent_panics`].
    static HERE: Cell<usize> = const { Cell::new(0) };
}

/// Calls a function and returns the cause of a panic as text. The engine also works in threads of its own, and passes their panics on.
///
/// # Errors
/// When it panicked.
pub(crate) fn with_silent_panics<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    if !thread::panicking() {
        HOOK.call_once(chain_hook);
    }
    let _running = Running::begin();
    panic::catch_unwind(AssertUnwindSafe(run)).map_err(|cause| text_of(cause.as_ref()))
}

/// Installs a hook before the hook of the program, once. Removing and restoring hooks would lose one if two threads did it at the same
/// time.
fn chain_hook() {
    LazyLock::force(&ENGINE_THREADS);
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
        if !(becomes_error() || is_missing_thread(info.payload())) {
            report(info);
        }
    }));
}

/// Whether a panic of this thread will be an error: one inside of `with_silent_panics`, or one of a thread that works for it.
pub fn becomes_error() -> bool {
    let here = HERE.try_with(Cell::get).unwrap_or(0) > 0;
    here || RUNNING.load(Ordering::SeqCst) > 0 && is_of_engine(thread::current().name().unwrap_or_default())
}

fn is_of_engine(thread: &str) -> bool {
    ENGINE_THREADS.iter().any(|begin| thread.starts_with(begin))
}

/// Whether a thread of the engine could not start another one. The thread that waits for it fails with the same text.
fn is_missing_thread(cause: &(dyn Any + Send)) -> bool {
    is_of_engine(thread::current().name().unwrap_or_default()) && message(cause).contains(MISSING_THREAD)
}

fn text_of(cause: &(dyn Any + Send)) -> String {
    let text = message(cause);
    if text.contains(MISSING_THREAD) {
        return "the system starts no further threads; raise the limit of processes (ulimit -u) or of address space (ulimit -v), or use \
                --threads 1"
            .to_owned();
    }
    text.lines().next().unwrap_or_default().to_owned()
}

fn message(cause: &(dyn Any + Send)) -> &str {
    let text = cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref::<&str>().copied());
    text.unwrap_or("for an unknown reason")
}

/// Counts a call of [`with_silent_panics`] while it runs.
struct Running;

impl Running {
    fn begin() -> Self {
        HERE.with(|here| here.set(here.get() + 1));
        RUNNING.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::SeqCst);
        HERE.with(|here| here.set(here.get().saturating_sub(1)));
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;
    use std::sync::Arc;

    use super::*;

    /// Records the names of panicked threads that start with `begin`, by a hook of the program.
    fn record_panics(begin: &'static str) -> Arc<Mutex<Vec<String>>> {
        let recorded = Arc::new(Mutex::new(Vec::new()));
        let (previous, list) = (panic::take_hook(), Arc::clone(&recorded));
        panic::set_hook(Box::new(move |info| {
            let name = thread::current().name().unwrap_or_default().to_owned();
            if name.starts_with(begin) {
                list.lock().push(name);
            } else {
                previous(info);
            }
        }));
        recorded
    }

    fn fail(text: &str) {
        panic!("{text}")
    }

    fn panics_in(name: &str, what: impl FnOnce() + Send + 'static) -> bool {
        thread::Builder::new().name(name.to_owned()).spawn(what).unwrap().join().is_err()
    }

    #[test]
    fn only_what_becomes_an_error_is_silent() {
        let recorded = record_panics("panics-test-");
        assert_eq!(with_silent_panics(|| 1), Ok(1));
        let first_line = || assert_eq!(with_silent_panics(|| fail("first\nsecond")), Err("first".to_owned()));
        assert!(!panics_in("panics-test-caught", first_line));
        let inside = with_silent_panics(|| panics_in("panics-test-other", || fail("of another thread")));
        assert_eq!(inside, Ok(true));
        assert!(panics_in("panics-test-after", || {
            assert!(with_silent_panics(|| fail("an error")).is_err());
            fail("no error");
        }));
        assert_eq!(*recorded.lock(), ["panics-test-other", "panics-test-after"]);
    }

    #[test]
    fn a_thread_that_cannot_start_is_a_limit_of_the_system() {
        let text = || fail(&format!("{:?}", std::io::Error::from_raw_os_error(11)));
        assert!(with_silent_panics(text).unwrap_err().starts_with("the system starts no further threads;"));
    }

    #[test]
    fn threads_of_the_engine_work_for_what_is_caught() {
        let is_silent = |name: &str| {
            let thread = thread::Builder::new().name(name.to_owned()).spawn(becomes_error);
            thread.unwrap().join().unwrap()
        };
        let silent = with_silent_panics(|| ["polars-0", "async-executor-3", "polarsy", "worker"].map(is_silent));
        assert_eq!(silent, Ok([true, true, false, false]));
    }
}
